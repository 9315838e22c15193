#!/bin/sh
# Installs the pinned Python tools of the tests into .build/tools, once: AWS's Lambda emulator with SAM's API Gateway,
# cfn-lint, moto for DynamoDB, and with it botocore, SPDX's validator, and nanoidp, an OpenID provider. Without a network it says
# so and exits 69; the tests that need them are then skipped, and say so.
#
#   Tests/tools.sh
set -eu
cd "$(dirname "$0")/.."

pins="aws-sam-cli==1.170.0 cfn-lint==1.58.0 Flask==3.1.3 Werkzeug==3.1.9 moto[server,dynamodb]==5.2.5 spdx-tools==0.8.3 nanoidp==3.4.0"
folder=$PWD/.build/tools
if [ "$(cat "$folder/pins" 2>/dev/null)" = "$pins" ]; then
    echo "tools: all there ($pins)"
    exit 0
fi
rm -rf "$folder"
mkdir -p .build
python3 -m venv "$folder" || { echo "tools.sh: python3-venv is missing; deploy/packages.sh test installs it" >&2; exit 69; }
# shellcheck disable=SC2086 # several packages
"$folder/bin/pip" install --quiet --disable-pip-version-check $pins || {
    rm -rf "$folder"
    echo "tools.sh: the Python package index cannot be reached" >&2
    exit 69
}
echo "$pins" >"$folder/pins"
echo "tools: installed ($pins)"
