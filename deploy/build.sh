#!/bin/sh
# Builds the release programs into dist/: auth-apple with its bill of materials (auth-apple.spdx.json), and apple-simulator
# for development.
#
#   deploy/build.sh [--static-libcrypto] [OPTION FOR swift build]...      for example: --traits default,PostgreSQL
#
# --static-libcrypto   libcrypto is linked in as well: a sign-in in a process of its own then takes an eighth less time, and
#                      libcrypto's security updates are in the program only when it is built again
#
# What a function costs is mostly its start, so what the dynamic linker would have to do is kept out: the Swift library, SQLite,
# libstdc++ and libgcc are linked in, unused sections are dropped, symbols stripped. libcrypto reads what strangers wrote and stays
# shared: the system's security updates reach it. SQLite is given this program's statements and its own file, nothing else.
# The program starts on glibc 2.34 or newer (Debian 12, Amazon Linux 2023).
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."

command -v swift >/dev/null || { echo "build.sh: there is no swift; see https://www.swift.org/install" >&2; exit 69; }

# A folder that holds as archives what is to be linked in and nothing else, so that the linker finds no shared one first.
archives=$PWD/.build/archives
linked="libstdc++ libsqlite3"
if [ "${1-}" = --static-libcrypto ]; then
    shift
    archives=$archives-libcrypto
    linked="$linked libcrypto"
fi
mkdir -p "$archives" dist
archive=
for compiler in clang cc gcc; do
    command -v $compiler >/dev/null || continue
    archive=$($compiler -print-file-name=libstdc++.a)
    [ -f "$archive" ] && break
done
[ -f "$archive" ] || { echo "build.sh: libstdc++.a is missing; on Debian 12: apt-get install libstdc++-12-dev" >&2; exit 69; }
for name in $linked; do
    archive=$($compiler -print-file-name="$name.a")
    if [ "$name" = libcrypto ] && [ ! -f "$archive" ]; then
        echo "build.sh: libcrypto.a is missing; on Debian 12: apt-get install libssl-dev" >&2
        exit 69
    fi
    # Where there is none, without the trait SQLite say, the link goes to nowhere and the linker looks further.
    ln -sf "$archive" "$archives/$name.a"
done
$compiler -O2 -fno-math-errno -fvisibility=hidden -fstack-protector-strong -Wall -Wextra -Werror -c -o "$archives/runtime.o" deploy/link/runtime.c

# lld, because gold keeps references of sections that it has dropped, and with them symbols of glibc 2.36. `now` with the
# default relro: no table of function pointers stays writable. Without `--disable-local-rpath` a library beside the program
# would be taken before the system's. Swift's functions have stack protectors by themselves; C's are asked for here. Without the
# frontend's option every program has Swift's regular expressions in it, a seventh of its size, used or not. The functions that a
# sign-in runs stand together, since memory is read in pieces of 64 KB: Tests/Benchmarks/instructions.sh order made the list, and names
# in it that there are no more do nothing.
for product in auth-apple apple-simulator; do
    # SwiftPM links again for a file that is missing, but not for another folder of libraries.
    rm -f ".build/release/$product"
    swift build --configuration release --product "$product" --static-swift-stdlib --disable-local-rpath \
        -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import -Xcc -fstack-protector-strong \
        -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
        -Xlinker "-L$archives" -Xlinker "$archives/runtime.o" -Xlinker "-T$PWD/deploy/link/readonly.ld" \
        -Xlinker "--symbol-ordering-file=$PWD/deploy/link/order.txt" -Xlinker --no-warn-symbol-ordering \
        -Xlinker --no-export-dynamic -Xlinker --gc-sections -Xlinker --strip-all -Xlinker -z -Xlinker now "$@"
    install -m 0755 ".build/release/$product" "dist/$product"
done

# On Debian: who has no dpkg has no names for what is linked.
if command -v dpkg-query >/dev/null && command -v readelf >/dev/null; then
    CC=$compiler deploy/sbom.sh dist/auth-apple >dist/auth-apple.spdx.json
fi

for product in auth-apple apple-simulator; do
    echo "dist/$product: $(stat -c %s "dist/$product") bytes"
    command -v readelf >/dev/null || continue
    echo "  libraries: $(readelf -dW "dist/$product" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')"
    echo "  glibc: $(readelf -VW "dist/$product" | grep -o 'GLIBC_2\.[0-9.]*' | sort -uV | tail -n 1 | cut -d_ -f2) or newer"
done
