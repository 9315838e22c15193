#!/bin/sh
# Writes the software bill of materials of a release program, SPDX 2.3 in JSON, to standard output: what is linked into it,
# what it loads at its start, and what it opens when it is due: libcurl, and libpq where the program has the PostgreSQL store.
# Versions are those of this machine's packages.
#
#   deploy/sbom.sh dist/auth-apple >dist/auth-apple.spdx.json
#
# https://spdx.github.io/spdx-spec/v2.3/
set -eu
case ${1-} in "" | --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 64 ;; esac

program=$1
root=$(dirname "$0")/..
sum=$(sha256sum "$program" | cut -d' ' -f1)
# Unpacked inside another repository it would be that one's commit; and what is changed is no commit's.
commit=unknown
time=$(date +%s)
if prefix=$(git -C "$root" rev-parse --show-prefix 2>/dev/null) && [ -z "$prefix" ]; then
    commit=$(git -C "$root" rev-parse HEAD)
    [ -z "$(git -C "$root" status --porcelain)" ] || commit=$commit-dirty
    time=$(git -C "$root" log -1 --format=%ct)
fi
time=${SOURCE_DATE_EPOCH-$time}
licence='"licenseConcluded":"NOASSERTION","copyrightText":"NOASSERTION","downloadLocation":"NOASSERTION","filesAnalyzed":false'

packages=
relationships='{"spdxElementId":"SPDXRef-DOCUMENT","relationshipType":"DESCRIBES","relatedSpdxElement":"SPDXRef-auth-apple"}'

# add NAME VERSION LICENCE PURL RELATION
add() {
    id=SPDXRef-$(echo "$1" | tr -c 'A-Za-z0-9.\n' '-')
    case $packages in *"\"$id\""*) return 0 ;; esac
    packages="$packages,
    {\"SPDXID\":\"$id\",\"name\":\"$1\",\"versionInfo\":\"$2\",\"licenseDeclared\":\"$3\",$licence,
     \"externalRefs\":[{\"referenceCategory\":\"PACKAGE-MANAGER\",\"referenceType\":\"purl\",\"referenceLocator\":\"$4\"}]}"
    case $5 in
    # Who depends on whom is turned round where the specification has it so.
    OPTIONAL_DEPENDENCY_OF) from=$id to=SPDXRef-auth-apple ;;
    *) from=SPDXRef-auth-apple to=$id ;;
    esac
    relationships="$relationships,
    {\"spdxElementId\":\"$from\",\"relationshipType\":\"$5\",\"relatedSpdxElement\":\"$to\"}"
}

# addFile PATH RELATION: the Debian package that a file came with. Where /lib is a link to /usr/lib, either may be its name.
addFile() {
    file=$(readlink -f "$1")
    owner=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null) || {
        echo "sbom.sh: no package owns $file" >&2
        exit 1
    }
    owner=$(echo "$owner" | head -n 1 | sed 's/: .*//')
    name=${owner%%:*}
    version=$(dpkg-query -W -f '${Version}' "$owner")
    architecture=$(dpkg-query -W -f '${Architecture}' "$owner")
    # In a package URL `+`, `~` and `:` of a version are escaped.
    escaped=$(echo "$version" | sed 's/%/%25/g; s/+/%2B/g; s/:/%3A/g; s/~/%7E/g')
    add "$name" "$version" NOASSERTION "pkg:deb/debian/$(echo "$name" | sed "s/+/%2B/g")@$escaped?arch=$architecture" "$2"
}

swift=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
add swift-runtime "$swift" "Apache-2.0 WITH Swift-exception" "pkg:github/swiftlang/swift@swift-$swift-RELEASE" STATIC_LINK
archive() { "${CC-clang}" -print-file-name="$1"; }
addFile "$(archive libstdc++.a)" STATIC_LINK
addFile "$(archive libgcc_eh.a)" STATIC_LINK
libraries=$(ldd "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) .*/\1/p')
case $libraries in *libcrypto*) ;; *) addFile "$(archive libcrypto.a)" STATIC_LINK ;; esac
# SQLite, where it is in the program at all: its file format's first words.
! grep -qa 'SQLite format 3' "$program" || addFile "$(archive libsqlite3.a)" STATIC_LINK
for library in $libraries; do addFile "$library" DYNAMIC_LINK; done
for name in libcurl.so.4 libpq.so.5; do
    grep -qaF "$name" "$program" || continue
    library=$(ldconfig -p 2>/dev/null | sed -n "s/.*$name .*=> //p" | head -n 1)
    [ -z "$library" ] || addFile "$library" OPTIONAL_DEPENDENCY_OF
done

cat <<JSON
{
  "spdxVersion":"SPDX-2.3","dataLicense":"CC0-1.0","SPDXID":"SPDXRef-DOCUMENT","name":"auth-apple",
  "documentNamespace":"https://spdx.org/spdxdocs/auth-apple-$sum",
  "creationInfo":{"created":"$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)","creators":["Tool: deploy/sbom.sh"]},
  "packages":[
    {"SPDXID":"SPDXRef-auth-apple","name":"auth-apple","versionInfo":"$commit","licenseDeclared":"Apache-2.0",$licence,
     "primaryPackagePurpose":"APPLICATION","checksums":[{"algorithm":"SHA256","checksumValue":"$sum"}]}$packages
  ],
  "relationships":[
    $relationships
  ]
}
JSON
