#!/bin/sh
# How many people one process signs in each second, one after the other: through `auth-apple lines`, and as AWS Lambda's bootstrap on a
# Runtime API on loopback (throughput.py). Figures only; a wrong answer ends it.
#
#   Tests/Benchmarks/throughput.sh [EVENTS]      2000 by default
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
events=${1:-2000}
cd "$(dirname "$0")/../.."

for program in auth-apple apple-simulator; do
    [ -x "dist/$program" ] || { echo "throughput.sh: dist/$program is missing; run deploy/build.sh" >&2; exit 69; }
done
mkdir -p .build
folder=$(mktemp -d "$PWD/.build/throughput.XXXXXX")
memory=
finish() {
    rm -rf "$folder"
    [ -z "$memory" ] || rm -rf "$memory"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export APPLE_SIMULATOR_KEYS="$folder/apple-private-keys.json" APPLE_SIMULATOR_AUDIENCE=com.example.app
export AUTH_APPLE_MODE=development AUTH_APPLE_AUDIENCES=com.example.app
export AUTH_APPLE_SIGNING_KEYS_FILE="$folder/signing-keys.json"
export AUTH_APPLE_TOKEN_ISSUER=https://auth.example.com AUTH_APPLE_TOKEN_AUDIENCE=https://api.example.com
export AUTH_APPLE_KEYS_URL="file://$folder/apple-keys.json" AUTH_APPLE_KEY_CACHE="$folder/cache/apple-keys.json"
dist/apple-simulator keys >"$folder/apple-keys.json"
dist/auth-apple keys new >/dev/null
token=$(dist/apple-simulator token --subject 001234.known.0001 --email ana@example.com)

echo "$(nproc) processors, $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg), $events sign-ins of a person who has an account"
measure() {
    export AUTH_APPLE_STORE="sqlite:$1/store.sqlite"
    printf '%s' "$token" | python3 Tests/Benchmarks/throughput.py dist/auth-apple "$events" "$2"
}
measure "$folder" "on disk"
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    memory=$(mktemp -d /dev/shm/auth-apple-throughput.XXXXXX)
    measure "$memory" "in memory"
fi
