#!/bin/sh
# Fuzzes every target, as many at once as there are processors, and fails when one found something.
#
#   Tests/Fuzz/run.sh [SECONDS [TARGET...]]     each for so long; 60 without
#
# Each starts from its seeds in Tests/Fuzz/Corpus and from what earlier runs on this machine found worth keeping
# (.build/fuzz/corpus). What breaks a rule is put in .build/fuzz/finds; to see it again:
#
#   FUZZ_TARGET=json .build/fuzz/fuzz .build/fuzz/finds/json-crash-…
#
# When it is mended, the input goes into the corpus as find-…, where `swift test` reads it from then on.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/../.."

seconds=${1-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(ls Tests/Fuzz/Corpus)
[ "${FUZZ_ONE-}" ] || Tests/Fuzz/build.sh

work=$PWD/.build/fuzz
mkdir -p "$work/finds" "$work/logs"
# Swift's own report of a crash waits for a debugger that a sanitized program never lets in.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 seconds work
run() {
    target=$1
    mkdir -p "$work/corpus/$target"
    status=0
    FUZZ_TARGET=$target "$work/fuzz" "$work/corpus/$target" "Tests/Fuzz/Corpus/$target" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=16384 \
        -dict=Tests/Fuzz/words.dict -artifact_prefix="$work/finds/$target-" -print_final_stats=1 \
        >"$work/logs/$target" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        grep -E 'Fatal error|ERROR|SUMMARY|Test unit written' "$work/logs/$target" | sed "s/^/$target: /" >&2
        return 1
    fi
    echo "$target: $(sed -n 's/.*executed_units: *//p' "$work/logs/$target") inputs, $(
        sed -n 's/.*DONE *\(cov: [0-9]*\).*/\1/p' "$work/logs/$target"), nothing found"
}
if [ "${FUZZ_ONE-}" ]; then run "$FUZZ_ONE"; exit; fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} env FUZZ_ONE={} "$0" "$seconds" {}
