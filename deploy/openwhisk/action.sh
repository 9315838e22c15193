#!/bin/sh
# Makes dist/openwhisk.zip, a native action for OpenWhisk's ActionLoop: the release program, its configuration, and an `exec` that
# joins the two.
#
#   deploy/openwhisk/action.sh ENVIRONMENT_FILE
#
# ENVIRONMENT_FILE has one NAME='value' a line, in the shell's notation: the variables AUTH_APPLE_… of README.md. The zip holds
# them, so it is as secret as they are.
set -eu
case ${1-} in --help | -h | '') sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 64 ;; esac
environment=$(realpath "$1")
cd "$(dirname "$0")/../.."

[ -r "$environment" ] || { echo "action.sh: $1 cannot be read" >&2; exit 66; }
sh -n "$environment" || { echo "action.sh: $1 is not in the shell's notation" >&2; exit 65; }
# AUTH_APPLE_RELEASE_BINARY: a program that was built already (the tests have one).
program=${AUTH_APPLE_RELEASE_BINARY-}
if [ -z "$program" ]; then
    deploy/build.sh
    program=dist/auth-apple
fi
mkdir -p dist
(umask 077 && python3 - "$program" "$environment" dist/openwhisk.zip <<'PYTHON')
import sys, zipfile
program, environment, target = sys.argv[1:]
script = b"""#!/bin/sh
folder=$(dirname "$0")
set -a
. "$folder/environment"
set +a
exec "$folder/auth-apple"
"""
with zipfile.ZipFile(target, "w") as archive:
    for name, mode, content in [
        ("auth-apple", 0o755, open(program, "rb").read()), ("environment", 0o600, open(environment, "rb").read()),
        ("exec", 0o755, script),
    ]:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
        entry.external_attr = (0o100000 | mode) << 16
        archive.writestr(entry, content, compresslevel=9)
PYTHON
echo "dist/openwhisk.zip: $(stat -c %s dist/openwhisk.zip) bytes"
