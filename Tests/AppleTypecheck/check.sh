#!/bin/sh
# Type-checks Xid and JOSE as Apple's compilers would see them, as far as that can be done on Linux: for iOS 16 with UIKit and for
# macOS 13 with AppKit, each with the presentation context on the main actor and off it, against the stubs beside this file.
# README.md says what that is worth.
#
#   Tests/AppleTypecheck/check.sh
set -eu
cd "$(dirname "$0")/../.."

here=Tests/AppleTypecheck
work=$PWD/.build/apple-typecheck
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
host=$(ls "$toolchain/lib/swift/linux/Swift.swiftmodule" | sed -n 's/\.private\.swiftinterface$//p')
mkdir -p "$work"
said=$work/said

# The settings of the manifest, for Swift 6.
strict="-swift-version 6 -strict-concurrency=complete -warnings-as-errors -package-name auth_apple
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -strict-memory-safety"

fail() {
    echo "$*" >&2
    exit 1
}

# compile MODULE OPTION|FILE...: emits a module, which takes the checks beyond types (regions of isolation) as well.
compile() {
    name=$1
    shift
    swiftc -frontend -emit-module -o "$modules/$name.swiftmodule" -module-name "$name" -parse-as-library \
        -target "$target" -disable-objc-interop -resource-dir "$toolchain/lib/swift" \
        -module-cache-path "$work/cache" -I "$runtime" -I "$modules" "$@"
}

# Swift's own modules for Apple's systems, from the interfaces of the ones for Linux: these say since when a thing is there. What
# they themselves are made of is not checked, and not optimised.
make_runtime() {
    for module in Swift _Concurrency _StringProcessing SwiftOnoneSupport; do
        mkdir -p "$runtime/$module.swiftmodule"
        sed -e "s/$host/$target/" -e '/^ *@backDeployed(.*)$/d' \
            -e '/^.. swift-module-flags: /s/ -O / -Onone -disable-availability-checking /' \
            "$toolchain/lib/swift/linux/$module.swiftmodule/$host.swiftinterface" >"$said"
        # The time of the file decides whether it is compiled anew.
        cmp -s "$said" "$runtime/$module.swiftmodule/$1.swiftinterface" ||
            cp "$said" "$runtime/$module.swiftmodule/$1.swiftinterface"
    done
}

stub() {
    # shellcheck disable=SC2086 # options
    compile "$1" -swift-version 6 -enable-upcoming-feature InternalImportsByDefault $flags "$here/Stubs/$1.swift"
}

# must_fail WHY FILE EDIT: with this mistake in the file the check fails, and for this reason.
must_fail() {
    why=$1 file=$2 edit=$3
    rm -rf "$work/mistaken"
    cp -r Sources/Xid "$work/mistaken"
    sed "$edit" "Sources/Xid/$file" >"$work/mistaken/$file"
    if cmp -s "Sources/Xid/$file" "$work/mistaken/$file"; then fail "the probe changes nothing in $file"; fi
    # shellcheck disable=SC2046,SC2086 # options and files
    if compile Xid $strict $(find "$work/mistaken" -name '*.swift') >"$said" 2>&1; then fail "not noticed: $why"; fi
    grep -qF "$why" "$said" || {
        cat "$said"
        fail "refused for another reason than: $why"
    }
}

for platform in ios macos; do
    case $platform in
    ios) system="iOS 16" target=x86_64-apple-ios16.0-simulator kit=UIKit interface=x86_64-apple-ios-simulator ;;
    macos) system="macOS 13" target=x86_64-apple-macosx13.0 kit=AppKit interface=x86_64-apple-macos ;;
    esac
    runtime=$work/$platform/swift
    make_runtime $interface
    for flags in "-D MAIN_ACTOR" ""; do
        modules=$work/$platform/modules
        rm -rf "$modules"
        mkdir -p "$modules"
        for module in Foundation Security CryptoKit os $kit AuthenticationServices; do stub $module; done
        # shellcheck disable=SC2046,SC2086 # options and files
        compile JOSE $strict $(find Sources/JOSE -name '*.swift')
        # shellcheck disable=SC2046,SC2086 # options and files
        compile Xid $strict $(find Sources/Xid -name '*.swift')
        # shellcheck disable=SC2086 # options
        compile Proof $strict $here/Proof.swift
        compile Symbols -swift-version 6 -strict-concurrency=complete -warnings-as-errors $here/Symbols.swift
        if [ "$flags" ]; then where=on; else where=off; fi
        echo "$system with $kit, the presentation context $where the main actor: nothing to say"
    done
done

# Now with AppKit on macOS 13, off the main actor.
must_fail "has no member 'prefersEphemeralWebBrowserSesion'" Apple/AuthenticationSessionAgent.swift \
    's/prefersEphemeralWebBrowserSession = /prefersEphemeralWebBrowserSesion = /'
must_fail "is only available in macOS 14.4 or newer" Apple/AuthenticationSessionAgent.swift \
    's/if #available(iOS 17.4, macOS 14.4, \*)/if true/'
must_fail "is only available in macOS 15.0 or newer" Protocol/Endpoint.swift \
    's/^struct Endpoint: .*{/&\n    static let width = UInt128.bitWidth/'
must_fail "different argument labels from those required by protocol 'URLSessionTaskDelegate'" Apple/URLSessionTransport.swift \
    's/willPerformHTTPRedirection:/willPerformHTTPRedirect:/'
echo "four mistakes: each refused for its own reason"

# What a stub declares and the list does not name could differ from Apple's without anybody noticing.
sed -nE 's/^ *(public |open |class |final |static |mutating |weak |nonisolated |@MainActor |@discardableResult )*(class|struct|enum|protocol|typealias|func|var|let|case) ([A-Za-z_][A-Za-z0-9_]*).*/\3/p' \
    $here/Stubs/*.swift | grep -vwE 'Element|Iterator|(start|end)Index|make(Async)?Iterator|next|rawValue|SecRandom' |
    sort -u >"$said"
while read -r symbol; do
    grep -qw "$symbol" $here/Symbols.swift || fail "Symbols.swift does not name $symbol"
done <"$said"
echo "$(wc -l <"$said") names in the stubs, all in Symbols.swift"

lines=$(cat Sources/Xid/Apple/*.swift | wc -l)
[ "$lines" -le 300 ] || fail "$lines lines of Apple-only code, and 300 are allowed"
echo "$lines lines of Apple-only code"
