#!/bin/sh
# Runs the tests under a sanitizer, in a build of its own (.build/sanitize-…), and fails on what the sanitizer reports.
#
#   Tests/sanitize.sh address|thread [OPTION FOR swift test]...      for example: thread --filter KeyCacheTests
#
# The programs that the tests start are sanitized as well. Not part of Tests/run.sh: each takes a whole build.
set -eu
case ${1-} in
address | thread) sanitizer=$1 ;;
*) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 64 ;;
esac
shift
cd "$(dirname "$0")/.."

# Swift's own report of a crash waits for a debugger that a sanitized program never lets in. A limit of the address space, as
# some tests set, is none that a sanitizer can live with.
export SWIFT_BACKTRACE=enable=no
# Deliberate: libcurl and libcrypto keep what they made for the whole process.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 TSAN_OPTIONS=halt_on_error=1
scratch=.build/sanitize-$sanitizer
# lld, because gold warns of every function of the sanitizer's.
swift build --build-tests --sanitize "$sanitizer" --scratch-path "$scratch" -Xswiftc -use-ld=lld
swift test --skip-build --sanitize "$sanitizer" --scratch-path "$scratch" "$@"
