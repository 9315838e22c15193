#!/bin/sh
# Makes dist/lambda.zip: the release program as `bootstrap`, and beside it in lib/ a copy of SQLite.
#
#   deploy/lambda/build.sh [OPTION FOR swift build]...
#
# For Lambda's provided.al2023 of this machine's architecture. What the program needs there:
#
#   glibc 2.34            has it; a program that needs a newer one is refused here
#   libcrypto.so.3        has it (OpenSSL 3), and its certificates
#   libcurl.so.4          has it (libcurl-minimal); opened at the first event
#   libsqlite3.so.0       part of its package manager, which Amazon does not promise to keep: so a copy comes along
#
# Lambda sets LD_LIBRARY_PATH itself, to the system's folders first and then to lib/ of the package. So a library of the
# system is always preferred, with its security updates, and nothing here has to set anything.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/../.."

# AUTH_APPLE_RELEASE_BINARY: a program that was built already (the tests have one).
program=${AUTH_APPLE_RELEASE_BINARY-}
if [ -z "$program" ]; then
    deploy/build.sh "$@"
    program=dist/auth-apple
fi

newest_glibc() {
    readelf -VW "$1" | grep -o 'GLIBC_2\.[0-9.]*' | cut -d_ -f2 | sort -uV | tail -n 1
}
# Whether the file starts on Amazon Linux 2023.
check() {
    version=$(newest_glibc "$1")
    [ "$(printf '%s\n2.34\n' "$version" | sort -V | tail -n 1)" = 2.34 ] || {
        echo "lambda/build.sh: $1 needs glibc $version, and provided.al2023 has 2.34" >&2
        exit 65
    }
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p dist "$folder/lib"
install -m 0755 "$program" "$folder/bootstrap"
check "$folder/bootstrap"
for library in $(readelf -dW "$folder/bootstrap" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $library in
    libsqlite3.so.0)
        path=$(ldd "$folder/bootstrap" | sed -n 's/.*libsqlite3\.so\.0 => \([^ ]*\).*/\1/p')
        install -m 0755 "$path" "$folder/lib/libsqlite3.so.0"
        check "$folder/lib/libsqlite3.so.0"
        ;;
    # glibc's own, and OpenSSL's.
    libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | libgcc_s.so.1 | ld-linux-* | libcrypto.so.3 | libssl.so.3) ;;
    *)
        echo "lambda/build.sh: provided.al2023 has no $library; build without what needs it, or add it to lib/" >&2
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
echo "dist/lambda.zip: $(stat -c %s dist/lambda.zip) bytes, for $(uname -m), glibc $(newest_glibc "$folder/bootstrap") or newer"
