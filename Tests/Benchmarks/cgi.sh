#!/bin/sh
# Sign-ins behind web servers, with the configurations of deploy/cgi/: requests per second and the client's latency at 1, 4, 16
# and 64 clients, for auth-apple and for the C program that does the same work (peers/peer.c), in turn. Exits 1 when any request
# of auth-apple's failed; nothing passes or fails by time.
#
#   Tests/Benchmarks/cgi.sh [REQUESTS]       400 a run by default
#
# A person who has an account signs in each time: a session is written, with synchronous=FULL. Everything is on loopback.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
requests=${1:-400}
cd "$(dirname "$0")/../.."

for program in auth-apple apple-simulator; do
    [ -x "dist/$program" ] || { echo "cgi.sh: dist/$program is missing; run deploy/build.sh" >&2; exit 69; }
done
for tool in apache2 nginx fcgiwrap lighttpd hey setpriv; do
    command -v $tool >/dev/null || { echo "cgi.sh: $tool is missing; run deploy/packages.sh test" >&2; exit 69; }
done

# Where a server's user can reach it.
folder=$(mktemp -d "${TMPDIR:-/tmp}/auth-apple-benchmark.XXXXXX")
chmod 755 "$folder"
# Each server leads a group of its own, and ends with all of it: the workers of fcgiwrap outlive their parent, and Apache's
# prefork signals the whole group that it is in.
servers=
stop() {
    for running in $servers; do
        kill -TERM "-$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    done
    servers=
}
finish() {
    stop
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cc -std=c11 -O2 -Wall -Wextra -o "$folder/peer" Tests/Benchmarks/peers/peer.c -lcrypto -lsqlite3
cp dist/auth-apple "$folder/auth-apple"

if [ "$(id -u)" -eq 0 ]; then
    user=www-data
    as_user="setpriv --reuid=www-data --regid=www-data --clear-groups"
else
    user=$(id -un)
    as_user=
fi

export APPLE_SIMULATOR_KEYS="$folder/apple-private-keys.json"
dist/apple-simulator keys >"$folder/apple-keys.json"
token=$(dist/apple-simulator token --subject 001234.known.0001 --email ana@example.com)
printf '{"identity_token":"%s","full_name":"Ana García","deviceInfo":{"platform":"ios","model":"iPhone17,1"}}' "$token" >"$folder/body"

variables() {
    cat <<VARIABLES
AUTH_APPLE_MODE development
AUTH_APPLE_AUDIENCES com.example.app
AUTH_APPLE_KEYS_URL file://$folder/apple-keys.json
AUTH_APPLE_KEY_CACHE $folder/$1-state/cache/apple-keys.json
AUTH_APPLE_STORE sqlite:$folder/$1-state/store.db
AUTH_APPLE_SIGNING_KEYS_FILE $folder/$1-state/signing-keys.json
AUTH_APPLE_TOKEN_ISSUER https://auth.example.com
AUTH_APPLE_TOKEN_AUDIENCE https://api.example.com
VARIABLES
    # auth-apple refuses a variable that it does not know only when it begins like its own.
    echo "PEER_KEY_SET $folder/peer-keys.json"
}

# Each program has a state of its own. The peer wants the key set to be its own file.
cp "$folder/apple-keys.json" "$folder/peer-keys.json"
chown "$user" "$folder/peer-keys.json"
for program in peer auth-apple; do
    mkdir -m 700 "$folder/$program-state"
    chown "$user" "$folder/$program-state"
    settings=$(variables $program | tr ' ' '=')
    # shellcheck disable=SC2086 # words without spaces
    $as_user env $settings "$folder/auth-apple" keys new >/dev/null
    # shellcheck disable=SC2086
    $as_user env $settings "$folder/auth-apple" store migrate >/dev/null
done

# The shipped files with other places, beside a main file such as Debian's. $1 server, $2 program, $3 port
configure() {
    web=$folder/$1-$2
    mkdir -p "$web/auth-apple"
    chown "$user" "$web"
    kind=${1%%-*}
    for file in function plain; do
        sed -e "s#/usr/lib/auth-apple/auth-apple#$folder/$2#g" -e "s#\"/usr/lib/auth-apple\"#\"$folder\"#" \
            -e "s#127.0.0.1:8080#127.0.0.1:$3#g" -e "s#/run/fcgiwrap.socket#$web/fcgiwrap.socket#" \
            -e "s#/var/log/nginx#$web#g" -e "s#/var/log/lighttpd#$web#g" \
            "deploy/cgi/$kind/$file.conf" >"$web/auth-apple/$file.conf"
    done
    case $1 in
    apache-*)
        variables "$2" | sed 's/\([^ ]*\) \(.*\)/SetEnv \1 "\2"/' >"$web/auth-apple/environment.conf"
        modules="alias authz_core env reqtimeout"
        [ "$1" = apache-cgid ] && modules="$modules mpm_event cgid" || modules="$modules mpm_prefork cgi"
        {
            printf 'ServerRoot "%s"\nServerName localhost\nPidFile pid\nDefaultRuntimeDir "%s"\nErrorLog main.log\n' "$web" "$web"
            [ "$user" != www-data ] || printf 'User www-data\nGroup www-data\n'
            for module in $modules; do echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"; done
            [ "$1" != apache-cgid ] || echo 'ScriptSock cgid'
            echo 'Include auth-apple/plain.conf'
        } >"$web/main.conf"
        ;;
    nginx)
        variables "$2" | sed 's/\([^ ]*\) \(.*\)/fastcgi_param \1 "\2";/' >"$web/auth-apple/environment.conf"
        cp /etc/nginx/fastcgi_params "$web"
        {
            [ "$user" != www-data ] || echo 'user www-data;'
            printf 'pid %s/pid;\nerror_log %s/main.log;\nevents {}\nhttp {\n' "$web" "$web"
            for name in client_body proxy fastcgi uwsgi scgi; do echo "${name}_temp_path $web/$name;"; done
            printf 'include auth-apple/plain.conf;\n}\n'
        } >"$web/main.conf"
        ;;
    lighttpd)
        {
            echo 'setenv.set-environment = ('
            variables "$2" | sed 's/\([^ ]*\) \(.*\)/"\1" => "\2",/'
            echo ')'
        } >"$web/auth-apple/environment.conf"
        {
            printf 'server.document-root = "%s"\nserver.errorlog = "%s/main.log"\n' "$web" "$web"
            printf 'server.bind = "127.0.0.1"\nserver.port = %s\n' $(($3 + 1))
            [ "$user" != www-data ] || printf 'server.username = "www-data"\nserver.groupname = "www-data"\n'
            echo 'include "auth-apple/plain.conf"'
        } >"$web/main.conf"
        ;;
    esac
}

start() {
    web=$folder/$1-$2
    case $1 in
    apache-*) APACHE_LOG_DIR=$web setsid apache2 -D FOREGROUND -f "$web/main.conf" & servers=$! ;;
    nginx)
        setsid $as_user fcgiwrap -f -c 8 -s "unix:$web/fcgiwrap.socket" 2>"$web/function.log" &
        servers=$!
        setsid nginx -c "$web/main.conf" -g 'daemon off;' 2>/dev/null &
        servers="$! $servers"
        ;;
    lighttpd) setsid lighttpd -D -f "$web/main.conf" 2>/dev/null & servers=$! ;;
    esac
    tries=0
    until curl --silent --output /dev/null --fail --header 'Content-Type: application/json' --data-binary "@$folder/body" \
        "http://127.0.0.1:$3/auth/apple"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { echo "cgi.sh: $1 does not start" >&2; cat "$web"/*.log >&2; exit 1; }
        sleep 0.05
    done
}

failed=0
measure() {
    count=$((requests / $4 * $4))
    hey -n $count -c "$4" -t 60 -m POST -T application/json -D "$folder/body" -o csv "http://127.0.0.1:$3/auth/apple" >"$folder/times"
    # Columns: the time of the answer, …, status, start.
    good=$(awk -F, 'NR > 1 && $7 == 200' "$folder/times" | wc -l)
    tail -n +2 "$folder/times" | cut -d, -f1 | sort -n >"$folder/sorted"
    at() { awk -v p="$1" -v n="$(wc -l <"$folder/sorted")" 'NR == int((n - 1) * p) + 1 { printf "%.1f", $1 * 1000 }' "$folder/sorted"; }
    rate=$(awk -F, 'NR > 1 && $8 + $1 > end { end = $8 + $1 } END { if (end > 0) printf "%.0f", (NR - 1) / end }' "$folder/times")
    printf '%-12s %-11s %7s %9s/s %8s %8s %8s %8s %8s\n' "$1" "$2" "$4" "$rate" "$(at 0.5)" "$(at 0.9)" "$(at 0.99)" "$(at 1)" $((count - good))
    [ "$good" -eq $count ] || {
        [ "$2" = peer ] || failed=$((failed + count - good))
        echo "  statuses: $(tail -n +2 "$folder/times" | cut -d, -f7 | sort | uniq -c | tr '\n' ' ')" >&2
        # What the logs say, apart from the lines of requests that went well.
        cat "$folder/$1-$2"/*.log | grep -v -e '" 200 ' -e '" 201 ' -e '"status":20[01]' | tail -n 5 >&2
    }
}

echo "$(nproc) processors, $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg); $requests requests a run; milliseconds"
printf '%-12s %-11s %7s %11s %8s %8s %8s %8s %8s\n' server program clients rate p50 p90 p99 max failed
port=$((20000 + $$ % 10000))
for server in apache-cgid apache-cgi nginx lighttpd; do
    for program in peer auth-apple; do
        configure "$server" $program $port
        start "$server" $program $port
        for clients in 1 4 16 64; do measure "$server" $program $port $clients; done
        stop
        port=$((port + 2))
    done
done
[ $failed -eq 0 ] || { echo "$failed requests failed" >&2; exit 1; }
