#!/bin/sh
# Writes an event with its tokens filled in: {{token OPTIONS}} becomes what `apple-simulator token OPTIONS` prints, and
# {{notification OPTIONS}} the payload that `apple-simulator notification OPTIONS` prints.
#   events/fill.sh events/01-first-login.event.json | auth-apple
# The event comes out on one line, so that several make input for `auth-apple lines`.
set -eu
[ $# -ge 1 ] || { echo "usage: events/fill.sh EVENT.json…" >&2; exit 64; }
command -v apple-simulator >/dev/null || {
    echo "fill.sh: apple-simulator is not on the PATH: run deploy/build.sh, then PATH=\$PWD/dist:\$PATH" >&2
    exit 69
}
for event in "$@"; do
    perl -0777 -pe '
        s/\{\{token ([^}]*)\}\}/my $t = `apple-simulator token $1`; $? == 0 or exit 1; chomp $t; $t/ge;
        s/\{\{notification ([^}]*)\}\}/my $n = `apple-simulator notification $1`; $? == 0 or exit 1;
            $n =~ m{"payload":"([^"]+)"}; $1/ge;
        s/^\s+//mg; s/\n//g; $_ .= "\n"' "$event"
done
