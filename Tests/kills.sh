#!/bin/sh
# Kills the release at random moments, so many requests under each store (SQLite, PostgreSQL, DynamoDB by moto, memory:), and while
# it fetches Apple's keys; then refuses it memory as often. Nothing that was answered may be undone, nothing be there by half, and
# the next request must work. Prints how many were answered and how many lost.
#
#   Tests/kills.sh [COUNT]      1000
#
# PROGRAM names the release, built with --traits default,PostgreSQL (dist/auth-apple). `swift test` does a few of each. Not part of
# Tests/run.sh: it takes the better part of an hour.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."
program=$(realpath -e "${PROGRAM:-dist/auth-apple}" 2>/dev/null) || {
    echo "kills.sh: dist/auth-apple is missing; run deploy/build.sh --traits default,PostgreSQL" >&2
    exit 69
}
deploy/packages.sh core sqlite test
Tests/tools.sh || echo "kills.sh: left out: DynamoDB"
AUTH_APPLE_KILLS=${1:-1000} AUTH_APPLE_KILLED_PROGRAM=$program \
    swift test --traits default,PostgreSQL --filter 'IntegrationTests\.(Killed|Memory)'
