#!/bin/sh
# Everything that is checked, from nothing: on a Debian 12 with Swift it installs the missing packages, checks the format,
# type-checks the client for Apple's systems, builds with every store (warnings are errors), makes the release, which has the
# default ones, for the linkage tests, builds and tests without any, fuzzes, and ends with all tests, whose own summary is the last
# thing printed. The first step that fails ends the run, and says at the end what failed.
#
#   Tests/run.sh        FUZZ_SECONDS says how long each target is fuzzed: 60 without
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."

package_root=$PWD
logs=$(mktemp -d)
step=
began=0

# On any way out: say which step failed, if one did, and leave nothing behind.
finish() {
    status=$?
    # shellcheck disable=SC2046 # what still runs in the background
    kill $(jobs -p) 2>/dev/null || :
    rm -rf "$logs"
    [ $status -eq 0 ] || echo "FAILED: ${step:-start} (exit $status)" >&2
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE

begin() {
    step=$1
    began=$(date +%s)
    printf '\n== %s\n' "$step"
}

end() {
    printf '   done in %d s\n' $(($(date +%s) - began))
}

# Runs a build quietly; shows its output when it fails or warns. Swift's warnings are errors already; this one catches those
# of the C compiler and of the package manager.
build() {
    if ! "$@" >"$logs/build" 2>&1; then
        cat "$logs/build"
        return 1
    fi
    if grep -n 'warning:' "$logs/build"; then
        echo "the build warns" >&2
        return 1
    fi
}

# Runs tests quietly but for their summary. Of those that fail it shows everything and then, as the last lines that a reader of
# a long log sees, what failed. $1 names their log, then the command
tests() {
    log=$logs/$1
    shift
    if "$@" >"$log" 2>&1; then
        tail -n 1 "$log"
        return
    fi
    cat "$log"
    printf '\nWhat failed:\n'
    grep -a -A 4 -E 'recorded an issue|Fatal error|error: Exited' "$log" | cut -c 1-600 | head -n 200
    grep -a -E '^✘|error:' "$log" | cut -c 1-300 | tail -n 60
    return 1
}

begin "Packages"
deploy/packages.sh core sqlite test
swift --version 2>&1 | head -n 1
end

# They come over the network while what is ours is built.
Tests/tools.sh >"$logs/tools" 2>&1 &
fetching=$!

begin "Format"
swift format lint --strict --recursive --parallel Sources Tests Package.swift
end

# Not a build for Apple's systems: Tests/AppleTypecheck/README.md says what it is.
begin "Apple's systems, against stubs"
Tests/AppleTypecheck/check.sh
end

# One build for all tests has the trait that is off by default as well; a third would take a third as long again.
traits="--traits default,PostgreSQL"
begin "Build"
# shellcheck disable=SC2086 # options
build swift build $traits --build-tests
end

# What needs them is skipped without them, and says so.
begin "Tools"
tools=0
wait "$fetching" || tools=$?
cat "$logs/tools"
[ $tools -eq 0 ] || [ $tools -eq 69 ] || exit $tools
[ $tools -eq 0 ] || echo "left out: the store contract over DynamoDB, signatures, the Lambda emulator, the templates"
end

begin "Templates"
if [ $tools -eq 0 ]; then
    .build/tools/bin/cfn-lint --non-zero-exit-code informational deploy/lambda/template.yaml
    echo "deploy/lambda/template.yaml: cfn-lint has nothing to say"
else
    echo "deploy/lambda/template.yaml: not checked, as cfn-lint cannot be had"
fi
end

begin "Release"
build deploy/build.sh
tail -n 6 "$logs/build"
if [ $tools -eq 0 ]; then
    .build/tools/bin/pyspdxtools --infile dist/auth-apple.spdx.json
    echo "dist/auth-apple.spdx.json: valid SPDX"
fi
end

begin "Guards"
python3 Tests/Guards/run.py check
end

# What the release executes for a few requests, beside what is on record.
begin "Instructions"
Tests/Benchmarks/instructions.sh check
end

# On a machine without SQLite nothing of it can be read or linked, nor libpq's header. Here they may well be installed, so
# they are hidden: headers and a library that fail whoever touches them are found before the system's. First that they do fail.
begin "Without SQLite"
absent=$package_root/Tests/WithoutSQLite
if echo '#include <sqlite3.h>' | clang -I "$absent" -fsyntax-only -x c - 2>/dev/null; then
    echo "sqlite3.h is not hidden" >&2
    exit 1
fi
if echo '#include <postgresql/libpq-fe.h>' | clang -I "$absent" -fsyntax-only -x c - 2>/dev/null; then
    echo "libpq-fe.h is not hidden" >&2
    exit 1
fi
if echo 'int main(void) { return 0; }' | clang -L "$absent" -o "$logs/probe" -x c - -lsqlite3 2>/dev/null; then
    echo "libsqlite3 is not hidden" >&2
    exit 1
fi
without_sqlite="--scratch-path .build/without-sqlite --disable-default-traits"
# Without what a debugger reads, which takes long to write.
# shellcheck disable=SC2086 # options
build swift build $without_sqlite --build-tests -Xswiftc -gnone -Xcc -I"$absent" -Xlinker -L"$absent"
# shellcheck disable=SC2086 # options
# The stores of this build, and whole programs; all else is the same code, and is tested below.
tests without swift test $without_sqlite --skip-build \
    --filter '^UserStoresTests\.(AccountContract|StoreContract|StoreURL)|^IntegrationTests\.(Command|GoldenEvent|SignIn)|^LinkageTests'
end

begin "Fuzzing"
Tests/Fuzz/run.sh "${FUZZ_SECONDS-60}"
end

# The client's tests are asynchronous, and the others block the pool's few threads: each apart.
asynchronous='^XidTests|AuthAppleClientTests'
begin "Tests of the client"
# shellcheck disable=SC2086 # options
tests client swift test $traits --skip-build --filter "$asynchronous"
end

# The pool has a thread a processor, and most of these wait for programs and servers: two processes at once have more of them.
apart='^(UserStores|KeyCache|CurlHTTP)Tests|^IntegrationTests\.(Clock|Killed|KilledFetch|MachineFault|Memory)Tests'
begin "Tests"
export AUTH_APPLE_RELEASE_BINARY="$package_root/dist/auth-apple"
# shellcheck disable=SC2086 # options
tests apart swift test $traits --skip-build --ignore-lock --filter "$apart" &
waiting=$!
failed=0
# shellcheck disable=SC2086 # options
tests all swift test $traits --skip-build --ignore-lock --skip "$asynchronous|$apart" || failed=$?
wait "$waiting" || failed=$?
[ $failed -eq 0 ] || exit $failed
end
