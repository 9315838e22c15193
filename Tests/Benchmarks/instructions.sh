#!/bin/sh
# Counts the instructions of dist/auth-apple for a handful of requests with callgrind, and compares them with what is on record
# in instructions.txt. Unlike times, they repeat.
#
#   Tests/Benchmarks/instructions.sh [check|record|show|order]
#
# check    (default) exits 1 when a count has grown by more than 3 %
# record   writes what is counted here into instructions.txt: after a change that is worth its price, or that saved something;
#          commit the file with the change, and say why in its message
# show     prints and judges nothing
# order    writes the functions that those requests run into deploy/link/order.txt, by which the linker puts them together. Of a
#          program that has its symbols still: deploy/build.sh -Xlinker --strip-debug
#
# "own" is what runs in the program itself, with Swift's library and SQLite in it: it is the same on every machine with the same
# two, within half a per cent. "all" has the libraries and the dynamic linker in it, and is compared only where their versions are those on
# record, and the processor has the same of what libcrypto chooses its code by.
set -eu
case ${1-check} in
check | record | show | order) wanted=${1-check} ;;
--help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;;
*) echo "instructions.sh: there is no $1; see --help" >&2; exit 64 ;;
esac
tolerance=3
cd "$(dirname "$0")/../.."
record=$PWD/Tests/Benchmarks/instructions.txt
program=$PWD/dist/auth-apple

for each in "$program" dist/apple-simulator; do
    [ -x "$each" ] || { echo "instructions.sh: $each is missing; run deploy/build.sh" >&2; exit 69; }
done
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing; run deploy/packages.sh test" >&2; exit 69; }

mkdir -p .build
folder=$(mktemp -d "$PWD/.build/instructions.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Nothing but these variables, and the hashes of dictionaries not seeded at random.
cat >"$folder/environment" <<VARIABLES
SWIFT_DETERMINISTIC_HASHING=1
APPLE_SIMULATOR_KEYS=$folder/apple-private-keys.json
AUTH_APPLE_MODE=development
AUTH_APPLE_AUDIENCES=com.example.app
AUTH_APPLE_SIGNING_KEYS_FILE=$folder/signing-keys.json
AUTH_APPLE_TOKEN_ISSUER=https://auth.example.com
AUTH_APPLE_TOKEN_AUDIENCE=https://api.example.com
AUTH_APPLE_KEYS_URL=file://$folder/apple-keys.json
AUTH_APPLE_KEY_CACHE=$folder/cache/apple-keys.json
VARIABLES
run() {
    # shellcheck disable=SC2046 # words without spaces
    env -i PATH=/usr/bin:/bin $(cat "$folder/environment") "$@"
}
run dist/apple-simulator keys >"$folder/apple-keys.json"
run "$program" keys new >/dev/null

# $1 method, $2 path, $3 body with its quotes escaped
event() {
    printf '{"method":"%s","path":"%s","headers":{"content-type":"application/json"},"body":"%s"}\n' "$1" "$2" "$3"
}
sign_in() {
    token=$(run dist/apple-simulator token --subject 001234.known.0001 --email ana@example.com --nonce benchmark "$@")
    event POST /auth/apple "{\\\"identity_token\\\":\\\"$token\\\",\\\"nonce\\\":\\\"benchmark\\\",\\\"full_name\\\":\\\"Ana García\\\",\\\"deviceInfo\\\":{\\\"platform\\\":\\\"ios\\\",\\\"model\\\":\\\"iPhone17,1\\\"}}"
}
# The state that each request finds: one account with one session, and the keys in the cache.
mkdir -m 700 "$folder/state"
store=AUTH_APPLE_STORE=sqlite:$folder/state/store.db
sign_in >"$folder/known"
run "$store" "$program" <"$folder/known" >"$folder/answer" 2>/dev/null
refresh=$(sed -n 's/.*\\"refresh_token\\":\\"\([^\\]*\)\\".*/\1/p' "$folder/answer")
event POST /auth/refresh "{\\\"refresh_token\\\":\\\"$refresh\\\"}" >"$folder/refresh"
sign_in --bad bad-signature >"$folder/refused"
event GET /health "" >"$folder/health"
number=0
while [ $number -lt 100 ]; do
    cat "$folder/known"
    number=$((number + 1))
done >"$folder/loop"

# Prints a line: the case, instructions of the program itself, all of them. $1 case, $2 status of the answers, $3 store, then arguments
count() {
    name=$1 status=$2 at=$3
    shift 3
    rm -rf "$folder/copy"
    cp -R "$folder/state" "$folder/copy"
    run "AUTH_APPLE_STORE=$at" valgrind --tool=callgrind --callgrind-out-file="$folder/counts" --compress-strings=no \
        --compress-pos=no --demangle=no --log-file=/dev/null "$program" "$@" <"$folder/$name" >"$folder/answer" 2>/dev/null
    [ "$(grep -c "^{\"statusCode\":$status" "$folder/answer")" -eq "$(wc -l <"$folder/$name")" ] || {
        echo "instructions.sh: $name is not answered with $status" >&2
        exit 1
    }
    # The same function may stand there twice, as one that calls itself.
    awk -v program="ob=$program" '
        /^ob=/ { own = $0 == program }
        own && /^fn=[A-Za-z_$]/ { sub(/^fn=/, ""); sub(/\x27[0-9]+$/, ""); print }' "$folder/counts" >>"$folder/functions"
    # Costs stand below their object; the line after `calls=` is the cost of what was called, which is counted there.
    awk -v program="ob=$program" -v name="$name" '
        /^ob=/ { own = $0 == program }
        /^calls=/ { getline; next }
        /^[0-9]/ { all += $2; if (own) mine += $2 }
        END { printf "%s %d %d\n", name, mine, all }' "$folder/counts"
}
sqlite=sqlite:$folder/copy/store.db
{
    count known 200 "$sqlite"
    count refresh 200 "$sqlite"
    count refused 401 "$sqlite"
    count health 200 "$sqlite"
    count loop 20 memory: lines
} >"$folder/found"

if [ "$wanted" = order ]; then
    LC_ALL=C sort -u "$folder/functions" >"$folder/order"
    [ "$(wc -l <"$folder/order")" -gt 100 ] || {
        echo "instructions.sh: $program has no symbols; run deploy/build.sh -Xlinker --strip-debug" >&2
        exit 65
    }
    cp "$folder/order" deploy/link/order.txt
    exit 0
fi

swift="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/\1/p'), SQLite $(dpkg-query -W -f '${Version}' libsqlite3-dev 2>/dev/null || true)"
libraries="$(dpkg-query -W -f '${Version} ' libc6 libssl3 2>/dev/null || true)$(grep -o -m 1 -w avx2 /proc/cpuinfo || true)"
if [ "$wanted" != check ]; then
    {
        echo "# Instructions of dist/auth-apple, counted by callgrind. Written by Tests/Benchmarks/instructions.sh record."
        echo "swift $swift"
        echo "libraries $libraries"
        echo "# case own all"
        cat "$folder/found"
    } >"$folder/record"
    if [ "$wanted" = record ]; then cp "$folder/record" "$record"; fi
    cat "$folder/record"
    exit 0
fi
if [ "$(sed -n 's/^swift //p' "$record")" != "$swift" ]; then
    echo "The counts on record are of another Swift than $swift, and are not compared. To record anew: $0 record"
    exit 0
fi
[ "$(sed -n 's/^libraries //p' "$record")" = "$libraries" ] && same=1 || same=0
awk -v tolerance=$tolerance -v same=$same '
    function judge(found, recorded) {
        change = (found / recorded - 1) * 100
        if (change > tolerance) failed = 1
        return sprintf("%11d %+6.1f %%", found, change)
    }
    NR == FNR { if (NF == 3 && $1 !~ /^(#|swift|libraries)/) { own[$1] = $2; all[$1] = $3 }; next }
    !($1 in own) { printf "%-8s is not on record\n", $1; failed = 1; next }
    { printf "%-8s own %s   all %s\n", $1, judge($2, own[$1]), same ? judge($3, all[$1]) : "not compared: other libraries" }
    END { exit failed }' "$record" "$folder/found" || {
    echo "More than $tolerance % above what is on record. If it is worth it: $0 record, and commit instructions.txt" >&2
    exit 1
}
