#!/bin/sh
# The first process of the container: runs lighttpd, and ends it gracefully when the platform sends SIGTERM. (To lighttpd
# itself SIGTERM means at once, and SIGINT gracefully.)
set -u
export PORT="${PORT:-8080}"

lighttpd -D -f /etc/auth-apple/lighttpd.conf &
server=$!
trap 'kill -INT $server 2>/dev/null' TERM INT
# A signal interrupts `wait`; the server is waited for until it has ended.
while kill -0 $server 2>/dev/null; do
    wait $server
    status=$?
done
exit "$status"
