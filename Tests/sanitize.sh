#!/bin/sh
# Runs the tests under a sanitizer, in a build of its own (.build/sanitize-…), and fails on what the sanitizer reports.
#
#   Tests/sanitize.sh address|thread [OPTION FOR swift test]...      for example: thread --filter KeyCacheTests
#
# The programs that the tests start are sanitized as well, and what is reported of them is found whatever became of their
# output. Not part of Tests/run.sh: each takes a whole build.
set -eu
case ${1-} in
address | thread) sanitizer=$1 ;;
*) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 64 ;;
esac
shift
cd "$(dirname "$0")/.."

# Swift's own report of a crash waits for a debugger that a sanitized program never lets in.
export SWIFT_BACKTRACE=enable=no
scratch=$PWD/.build/sanitize-$sanitizer
reports=$scratch/reports
rm -rf "$reports"
mkdir -p "$reports"

# The tests give their programs an environment of their own, so the options are linked into every program.
# Deliberate: libcurl and libcrypto keep what they made for the whole process.
cat >"$scratch/options.c" <<END
const char *__asan_default_options(void) { return "log_path=$reports/report:abort_on_error=1:detect_leaks=0"; }
const char *__tsan_default_options(void) { return "log_path=$reports/report"; }
END
clang -c -o "$scratch/options.o" "$scratch/options.c"
linked="-Xlinker $scratch/options.o"
if [ "$sanitizer" = thread ]; then
    clang -O1 -c -o "$scratch/mutex.o" Tests/Sanitizers/mutex.c
    # shellcheck disable=SC2016 # a dollar sign of Swift's
    mutex='$s15Synchronization12_MutexHandleV'
    linked="$linked -Xlinker $scratch/mutex.o"
    linked="$linked -Xlinker --wrap=${mutex}9_lockSlowyys6UInt32VF -Xlinker --wrap=${mutex}11_unlockSlowyyF"
fi

# As in Tests/run.sh. lld, because gold warns of every function of the sanitizer's.
how="--traits default,PostgreSQL --sanitize $sanitizer --scratch-path $scratch $linked"
# shellcheck disable=SC2086 # options
swift build $how --build-tests -Xswiftc -use-ld=lld

# Left out: a test that crashes a program on purpose, with Swift's report of it switched on, which then waits for ever; one
# that measures time; and those that refuse memory, as a sanitizer allocates in its own way.
left_out="--skip MemoryTests --skip CGIProcessTests/aCrashPrintsNothing --skip OpenWhiskEventTests/aBodyOfManyMembersTakesNoLongerThanItMust"
if [ "$sanitizer" = thread ]; then
    # Tests with `ulimit -f`, under which no program of this sanitizer's begins; and one that kills processes sooner than most
    # of them have begun here.
    left_out="$left_out --skip CommandTests/aRotationThatFailsSaysNothingElse --skip MachineFaultTests"
    left_out="$left_out --skip StoreKillTests/nothingThatWasAcknowledgedIsUndoneByAKill"
fi

failed=0
tests() {
    # shellcheck disable=SC2086 # options
    swift test $how --skip-build $left_out "$@" || failed=$?
}
if [ $# -gt 0 ]; then
    tests "$@"
else
    # The client's tests are asynchronous, and the others block the pool's few threads: each apart.
    asynchronous='^XidTests|AuthAppleClientTests'
    tests --filter "$asynchronous"
    tests --skip "$asynchronous"
fi

for report in "$reports"/*; do
    [ -e "$report" ] || continue
    printf '\n%s\n' "$report"
    cat "$report"
    failed=1
done
exit "$failed"
