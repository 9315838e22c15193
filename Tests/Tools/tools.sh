#!/bin/sh
# Installs the Python tools that the tests run, in the versions that requirements.txt names, into .build/tools, and prints
# the folder of their programs. Does nothing when they are there.
#
#   Tests/Tools/tools.sh
set -eu
cd "$(dirname "$0")/../.."

requirements=Tests/Tools/requirements.txt
tools=$PWD/.build/tools
mkdir -p "$tools"
# Tests run side by side: one installs, the others wait.
exec 9>"$tools/lock"
flock 9
if ! cmp -s "$requirements" "$tools/installed.txt"; then
    rm -rf "$tools/python"
    /usr/bin/python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$requirements" >&2
    cp "$requirements" "$tools/installed.txt"
fi
echo "$tools/python/bin"
