#!/bin/sh
# Makes dist/lambda.zip: the release program as `bootstrap`.
#
#   deploy/lambda/build.sh [OPTION FOR swift build]...
#
# For Lambda's provided.al2023 of this machine's architecture. What the program needs there:
#
#   glibc 2.34            has it; a program that needs a newer one is refused here
#   libcrypto.so.3        has it (OpenSSL 3), and its certificates
#   libcurl.so.4          has it (libcurl-minimal); opened to ask for the first event
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/../.."

# AUTH_APPLE_RELEASE_BINARY: a program that was built already (the tests have one).
program=${AUTH_APPLE_RELEASE_BINARY-}
if [ -z "$program" ]; then
    deploy/build.sh "$@"
    program=dist/auth-apple
fi

glibc=$(readelf -VW "$program" | grep -o 'GLIBC_2\.[0-9.]*' | cut -d_ -f2 | sort -uV | tail -n 1)
[ "$(printf '%s\n2.34\n' "$glibc" | sort -V | tail -n 1)" = 2.34 ] || {
    echo "lambda/build.sh: $program needs glibc $glibc, and provided.al2023 has 2.34" >&2
    exit 65
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p dist
install -m 0755 "$program" "$folder/bootstrap"
for library in $(readelf -dW "$folder/bootstrap" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $library in
    # glibc's own, and OpenSSL's.
    libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | libgcc_s.so.1 | ld-linux-* | libcrypto.so.3 | libssl.so.3) ;;
    *)
        echo "lambda/build.sh: provided.al2023 has no $library; build without what needs it" >&2
        exit 65
        ;;
    esac
done

# With fixed times and order: the same program makes the same zip, and a deployment of it changes nothing.
python3 - "$folder" dist/lambda.zip <<'PYTHON'
import os, sys, zipfile
folder, target = sys.argv[1:]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(root, name)
            entry = zipfile.ZipInfo(os.path.relpath(path, folder), (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o100755 << 16, 3
            with open(path, "rb") as file:
                archive.writestr(entry, file.read())
PYTHON
echo "dist/lambda.zip: $(stat -c %s dist/lambda.zip) bytes, for $(uname -m), glibc $glibc or newer"
