#!/bin/sh
# What one sign-in costs, whole processes in turn: auth-apple, and beside it a C program that does the same work with the
# same libraries (peer.c). Figures only; nothing here passes or fails by time.
#
#   Tests/Benchmarks/run.sh [ROUNDS]       300 by default
#
# The keys are in the cache. On disk most of the time is the disk's: two fsyncs a transaction at synchronous=FULL. In memory
# (/dev/shm) the programs themselves are to be seen. The goal: a median of at most 1.25 times the C program's, a peak of
# at most 12 MiB.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
rounds=${1:-300}
cd "$(dirname "$0")/../.."

for program in auth-apple apple-simulator; do
    [ -x "dist/$program" ] || { echo "run.sh: dist/$program is missing; run deploy/build.sh" >&2; exit 69; }
done
mkdir -p .build
folder=$(mktemp -d .build/benchmarks.XXXXXX)
folder=$PWD/$folder
memory=
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
    [ -z "$memory" ] || rm -rf "$memory"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE

cc -std=c11 -O2 -Wall -Wextra -o "$folder/peer" Tests/Benchmarks/peer.c -lcrypto -lsqlite3
cc -std=c11 -O2 -Wall -Wextra -o "$folder/race" Tests/Benchmarks/race.c

export APPLE_SIMULATOR_KEYS="$folder/apple-private-keys.json"
export AUTH_APPLE_MODE=development AUTH_APPLE_AUDIENCES=com.example.app
export AUTH_APPLE_SIGNING_KEYS_FILE="$folder/signing-keys.json"
export AUTH_APPLE_TOKEN_ISSUER=https://auth.example.com AUTH_APPLE_TOKEN_AUDIENCE=https://api.example.com
export PEER_KEY_SET="$folder/apple-keys.json"
(umask 077 && dist/apple-simulator keys >"$PEER_KEY_SET")
export AUTH_APPLE_KEYS_URL="file://$PEER_KEY_SET" AUTH_APPLE_KEY_CACHE="$folder/cache/apple-keys.json"
dist/auth-apple keys new >/dev/null

event() {
    token=$(dist/apple-simulator token --subject "$1" --email "$2" --nonce benchmark)
    body="{\\\"identity_token\\\":\\\"$token\\\",\\\"nonce\\\":\\\"benchmark\\\",\\\"full_name\\\":\\\"Ana García\\\",\\\"deviceInfo\\\":{\\\"platform\\\":\\\"ios\\\",\\\"model\\\":\\\"iPhone17,1\\\",\\\"app_version\\\":\\\"1.0.0\\\"}}"
    printf '{"method":"POST","path":"/auth/apple","headers":{"content-type":"application/json"},"body":"%s"}' "$body"
}
echo "Making $((rounds + 6)) events …"
mkdir "$folder/known" "$folder/new"
event 001234.known.0001 ana@example.com >"$folder/known/0.json"
round=0
while [ $round -lt $((rounds + 5)) ]; do
    event "001234.new.$round" "person$round@example.com" >"$folder/new/$round.json"
    round=$((round + 1))
done

# Both start from the same database: the schema is made by auth-apple.
race() {
    stores=$1
    for program in peer auth-apple; do
        mkdir -p "$stores/$program"
        chmod 700 "$stores/$program"
        AUTH_APPLE_STORE="sqlite:$stores/$program/store.db" dist/auth-apple store migrate >/dev/null
        for program_file in "$folder/peer" "$PWD/dist/auth-apple"; do
            [ "$(basename "$program_file")" = "$program" ] || continue
            AUTH_APPLE_STORE="sqlite:$stores/$program/store.db" "$program_file" <"$folder/known/0.json" >/dev/null 2>&1
        done
    done
    echo "$2, a person who has an account"
    "$folder/race" "$rounds" 200 "$folder/known" "peer=$folder/peer=sqlite:$stores/peer/store.db" \
        "auth-apple=$PWD/dist/auth-apple=sqlite:$stores/auth-apple/store.db"
    echo "$2, a new person each time"
    "$folder/race" "$rounds" 201 "$folder/new" "peer=$folder/peer=sqlite:$stores/peer/store.db" \
        "auth-apple=$PWD/dist/auth-apple=sqlite:$stores/auth-apple/store.db"
}

echo "$(nproc) processors, $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg)"
race "$folder/stores" "On disk"
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    memory=$(mktemp -d /dev/shm/auth-apple-benchmarks.XXXXXX)
    race "$memory" "In memory"
fi
