#!/bin/sh
# What one sign-in costs: auth-apple beside programs in C, Go, Rust, Node and Python that do the same work (peers/), all in turn.
#
#   Tests/Benchmarks/run.sh [ROUNDS [FOLDER]]      200 rounds; the results go beside this file
#
# Installs what is missing, builds the peers, holds each of them against auth-apple's answers and rows (a program that is wrong is
# not fast), and writes results.md and results.svg into FOLDER: medians, spread and ratios of one process a request and of one
# process for all, on disk and in memory (/dev/shm), peak memory, and a cold key cache. The goals are printed with met or missed;
# nothing fails by time. Let nothing else run meanwhile; 200 rounds take some ten minutes.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
rounds=${1:-200}
cd "$(dirname "$0")/../.."
results=$(cd "${2:-Tests/Benchmarks}" && pwd)

deploy/packages.sh core sqlite benchmarks
peers=$PWD/.build/peers
Tests/Benchmarks/peers/build.sh "$peers"
deploy/build.sh --static-libcrypto >/dev/null
install dist/auth-apple "$peers/auth-apple-static"
echo "auth-apple-static $peers/auth-apple-static" >>"$peers/commands"
deploy/build.sh

folder=$(mktemp -d "$PWD/.build/benchmarks.XXXXXX")
memory=none
finish() {
    rm -rf "$folder"
    [ "$memory" = none ] || rm -rf "$memory"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE
if [ -d /dev/shm ] && [ -w /dev/shm ]; then memory=$(mktemp -d /dev/shm/auth-apple-benchmarks.XXXXXX); fi

cd Tests/Benchmarks
mkdir "$folder/check"
echo "Checking"
/usr/bin/python3 check.py "$folder/check" "$peers"

cc -std=c11 -O2 -Wall -Wextra -o "$folder/race" race.c
cc -std=c11 -O2 -Wall -Wextra -o "$folder/bound" bound.c -lcrypto
cc -std=c11 -O2 -Wall -Wextra -o "$folder/fetch" fetch.c -lcurl
/usr/bin/python3 measure.py "$folder" "$peers" "$rounds" "$memory" >"$folder/measured.json"
/usr/bin/python3 results.py "$folder/measured.json" "$results/results.md" "$results/results.svg"
echo "Written: $results/results.md and results.svg"
