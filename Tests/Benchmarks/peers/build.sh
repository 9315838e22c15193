#!/bin/sh
# Builds the peers of run.sh into a folder and writes how each is started: FOLDER/commands has a line a peer, its name and the
# words of its command, with variables first.
#
#   Tests/Benchmarks/peers/build.sh FOLDER
#
# Every peer is written with what Debian packages for its language. Where Node is not Debian's own (its module for SQLite is
# linked with Debian's libnode), Debian's is unpacked beside it and used.
set -eu
case ${1-} in --help | -h | "") sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
peers=$PWD

cc -std=c11 -O2 -Wall -Wextra -o "$folder/c" peer.c -lcrypto -lsqlite3
GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE="$folder/go-cache" \
    go build -tags libsqlite3 -ldflags '-s -w' -o "$folder/go" peer.go
# Cargo writes its lock file beside the manifest, in the form of its own version.
mkdir -p "$folder/rust-package"
cp -R rust/. "$folder/rust-package"
(cd "$folder/rust-package" && cargo build --quiet --release --offline)
cp "$folder/rust-package/target/release/peer" "$folder/rust"

node="/usr/bin/node $peers/peer.cjs"
if ! node -e 'require("sqlite3")' >/dev/null 2>&1; then
    root=$folder/debian
    if [ ! -x "$root/usr/bin/node" ]; then
        rm -rf "$root"
        mkdir -p "$root/packages"
        # What an empty Debian would install, less what is here: apt finds the closure.
        : >"$root/nothing"
        wanted=
        for package in $(apt-get -s -o Dir::State::status="$root/nothing" install --no-install-recommends nodejs node-sqlite3 node-jose |
            sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p'); do
            case $package in
            node* | libnode*) wanted="$wanted $package" ;;
            *) dpkg-query -W "${package%%=*}" >/dev/null 2>&1 || wanted="$wanted $package" ;;
            esac
        done
        # shellcheck disable=SC2086 # a list of packages
        (cd "$root/packages" && apt-get -qq -o APT::Sandbox::User=root download $wanted)
        for package in "$root"/packages/*.deb; do dpkg -x "$package" "$root"; done
        rm -rf "$root/packages"
    fi
    share=$root/usr/share/nodejs library=$root/usr/lib/x86_64-linux-gnu
    node="LD_LIBRARY_PATH=$library NODE_PATH=$share:$library/nodejs $root/usr/bin/node $peers/peer.cjs"
fi

cat >"$folder/commands" <<COMMANDS
c $folder/c
go $folder/go
rust $folder/rust
node $node
python /usr/bin/python3 $peers/peer.py
COMMANDS

# shellcheck disable=SC2086 # variables, a command, a script
node_version=$(env ${node% *} --version)
cat >"$folder/versions" <<VERSIONS
c $(cc --version | head -n 1); OpenSSL $(openssl version | cut -d' ' -f2), SQLite $(sqlite3 --version | cut -d' ' -f1)
go $(go version | cut -d' ' -f3), golang-jwt, go-sqlite3
rust $(rustc --version | cut -d' ' -f1-2), jsonwebtoken 8, ring 0.16, rusqlite 0.28
node node $node_version, panva/jose, node-sqlite3
python $(/usr/bin/python3 --version), PyJWT, cryptography, sqlite3
VERSIONS
