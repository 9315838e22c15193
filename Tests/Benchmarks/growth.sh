#!/bin/sh
# Whether sign-in and refresh stay as fast as accounts grow, on SQLite and on PostgreSQL: medians at each size in turn, and sign-ins
# a second by 1, 4 and 16 processes at once (growth.py).
#
#   Tests/Benchmarks/growth.sh [SIZES [ROUNDS [FOLDER]]]      1000,100000,1000000 accounts, 200 rounds; beside this file
#
# Starts a PostgreSQL server of its own (Debian's package) on a socket in a temporary folder on disk, loads accounts by SQL, measures,
# writes growth.md into FOLDER, and leaves nothing else behind. The goal is printed with met or missed; nothing fails by time. Let
# nothing else run meanwhile. PROGRAMS names the folder of the programs, built with --traits default,PostgreSQL (dist).
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
sizes=${1:-1000,100000,1000000}
rounds=${2:-200}
cd "$(dirname "$0")/../.."
results=$(cd "${3:-Tests/Benchmarks}" && pwd)
programs=$(cd "${PROGRAMS:-dist}" 2>/dev/null && pwd) || {
    echo "growth.sh: dist is missing; run deploy/build.sh --traits default,PostgreSQL" >&2
    exit 69
}
binaries=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
[ -x "$binaries/initdb" ] || { echo "growth.sh: there is no PostgreSQL server; apt-get install postgresql" >&2; exit 69; }

# /tmp may be in memory, where a sync costs nothing.
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/growth.XXXXXX")
chmod 755 "$folder"
server=
finish() {
    if [ -n "$server" ]; then kill -QUIT "$server" 2>/dev/null || :; wait "$server" 2>/dev/null || :; fi
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Root may not run a server; Debian's package has made a user that may. `setpriv` becomes the command, so that a signal reaches it.
unprivileged=
if [ "$(id -u)" = 0 ]; then
    unprivileged="setpriv --reuid=postgres --regid=postgres --clear-groups"
    install -d -o postgres -g postgres -m 700 "$folder/postgresql"
else
    install -d -m 700 "$folder/postgresql"
fi
install -d -m 777 "$folder/socket"
$unprivileged "$binaries/initdb" -D "$folder/postgresql" -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
$unprivileged "$binaries/postgres" -D "$folder/postgresql" -k "$folder/socket" -c listen_addresses= \
    -c shared_buffers=256MB -c max_wal_size=4GB >"$folder/postgresql.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    "$binaries/pg_isready" -q -h "$folder/socket" && break
    sleep 0.1
done

python3 Tests/Benchmarks/growth.py "$programs" "$folder" "$sizes" "$rounds" "$results/growth.md"
