#!/bin/sh
# Installs the Debian packages that a purpose needs, and only those that are missing.
#
#   deploy/packages.sh PURPOSE...
#
#   core         what every build needs: libcrypto and libcurl's headers
#   sqlite       the SQLite store (the default trait)
#   postgresql   the PostgreSQL store (trait PostgreSQL): libpq's header, and libpq itself, which is opened at run time
#   test         what Tests/run.sh needs on top
#   benchmarks   what Tests/Benchmarks/run.sh needs on top: the peers' compilers and libraries
#
# Swift itself is expected to be there (https://www.swift.org/install). Run as root, or with sudo at hand; otherwise the
# command is printed and nothing is done.
set -eu

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
}

wanted=
[ $# -gt 0 ] || { usage >&2; exit 64; }
for purpose in "$@"; do
    case $purpose in
    core) wanted="$wanted libssl-dev libcurl4-openssl-dev binutils" ;;
    sqlite) wanted="$wanted libsqlite3-dev" ;;
    postgresql) wanted="$wanted libpq-dev" ;;
    # PyJWT and the openssl and sqlite3 commands are the third parties that the tests hold this project's words against.
    # The web servers, and glewlwyd, an OpenID provider, are run by the tests, on loopback, and never as services. Chromium
    # is the person's browser.
    test)
        wanted="$wanted ca-certificates checksec curl gcc libc6-dev openssl procps python3 python3-cryptography python3-jwt python3-venv python3-yaml"
        wanted="$wanted golang-go golang-github-golang-jwt-jwt-dev node-jose nodejs"
        wanted="$wanted libpq-dev postgresql pgbouncer sqlite3 apache2-bin fcgiwrap hey lighttpd lighttpd-mod-openssl nginx-light"
        wanted="$wanted chromium chromium-driver glewlwyd jq mtail valgrind"
        ;;
    benchmarks)
        wanted="$wanted gcc libc6-dev libssl-dev libsqlite3-dev libcurl4-openssl-dev openssl pkg-config python3 python3-cryptography python3-jwt"
        wanted="$wanted golang-go golang-github-golang-jwt-jwt-dev golang-github-mattn-go-sqlite3-dev"
        wanted="$wanted librust-jsonwebtoken-dev librust-rusqlite-dev node-jose nodejs sqlite3 libpq-dev postgresql"
        # A Rust of the user's own will do.
        command -v cargo >/dev/null || wanted="$wanted cargo"
        # Debian's SQLite module is linked with Debian's Node. Where another Node is installed, peers/build.sh unpacks Debian's, which
        # reads these from /usr/share.
        case $(dpkg-query -W -f '${Version}' nodejs 2>/dev/null) in
        *nodesource*) wanted="$wanted node-acorn node-cjs-module-lexer node-undici" ;;
        *) wanted="$wanted node-sqlite3" ;;
        esac
        ;;
    --help | -h) usage; exit 0 ;;
    *) echo "packages.sh: no purpose '$purpose'; there are core, sqlite, postgresql, test and benchmarks" >&2; exit 64 ;;
    esac
done

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || {
    echo "packages.sh: this is not Debian or one of its kin. Install what corresponds to:$wanted" >&2
    exit 69
}

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=absent
    [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "packages: all there ($*)"
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=env
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo env"
elif command -v sudo >/dev/null && [ -t 0 ]; then
    as_root="sudo env"
else
    echo "packages.sh: these packages are missing; as root, run:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
    exit 77
fi

echo "packages: installing$missing"
apt() {
    # shellcheck disable=SC2086 # two words on purpose
    # RUNLEVEL keeps invoke-rc.d from starting what is only installed.
    $as_root DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"
}
apt update
# A package that brings a service would start it. Where nobody has said whether services may be started, none is.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $as_root sh -c "cat >$policy && chmod 755 $policy"
fi
# shellcheck disable=SC2086 # a list of packages
apt install --yes --no-install-recommends $missing >/dev/null
