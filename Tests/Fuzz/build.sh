#!/bin/sh
# Builds the fuzzing program into .build/fuzz: the rooms and the targets, optimised as in a release, with libFuzzer's counters
# and AddressSanitizer. By hand and not by the package manager, which has no place for libFuzzer's own main function.
set -eu
cd "$(dirname "$0")/../.."

out=$PWD/.build/fuzz
mkdir -p "$out"
rooms="JOSE AppleID Accounts OpenSSLCrypto CurlHTTP KeyCache UserStores AuthFunction"

# Whether `$1` is older than one of the files that follow.
isOlder() {
    [ -e "$1" ] || return 0
    [ -n "$(find "$@" -newer "$1" -print -quit)" ]
}

for shim in OpenSSLShim CurlShim; do
    isOlder "$out/$shim.o" Sources/$shim || continue
    clang -O2 -g -fsanitize=address -c Sources/$shim/*.c -I Sources/$shim/include -o "$out/$shim.o"
done
for shim in OpenSSLShim CurlShim; do
    echo "module $shim { header \"$PWD/Sources/$shim/include/$shim.h\" export * }"
done >"$out/module.modulemap"

compile() {
    module=$1
    shift
    swiftc -O -g -wmo -parse-as-library -swift-version 6 -enable-testing -package-name auth_apple \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -sanitize=fuzzer,address \
        -Xcc "-fmodule-map-file=$out/module.modulemap" -I "$out" -module-name "$module" \
        -emit-module -emit-module-path "$out/$module.swiftmodule" -c "$@" -o "$out/$module.o"
}

isStale=false
for room in $rooms; do
    # A room is compiled again when it has changed, or one that it may depend on.
    if $isStale || isOlder "$out/$room.o" "Sources/$room" Tests/Fuzz/build.sh; then
        isStale=true
        # shellcheck disable=SC2046 # file names without spaces
        compile "$room" $(find "Sources/$room" -name '*.swift' | sort)
    fi
done
if $isStale || isOlder "$out/fuzz" Tests/Fuzz/*.swift Tests/Fuzz/Targets; then
    # shellcheck disable=SC2046 # file names without spaces
    compile Fuzz $(find Tests/Fuzz -name '*.swift' ! -name '*Tests.swift' | sort)
    # lld, because gold warns of every function of the sanitizer's.
    swiftc -use-ld=lld -sanitize=fuzzer,address "$out"/*.o -lcrypto -o "$out/fuzz"
fi
