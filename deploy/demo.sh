#!/bin/sh
# Shows the function at work on a fresh Debian 12 with Swift: installs the missing libraries, builds the release, makes keys,
# starts a stand-in for Apple on loopback, and signs a person in twice, and once with a bad token.
#
#   deploy/demo.sh
#
# Everything but the build lies in a temporary folder; nothing is left running, and nothing is sent anywhere but loopback.
set -eu
case ${1-} in --help | -h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.."

deploy/packages.sh core sqlite
echo "Building the release (the first time takes a few minutes) …"
log=$(mktemp)
deploy/build.sh >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
tail -n 6 "$log"
rm -f "$log"
PATH=$PWD/dist:$PATH

. events/environment.sh
simulator=
finish() {
    [ -z "$simulator" ] || kill "$simulator" 2>/dev/null || true
    rm -rf "$TRIAL_FOLDER"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Apple's keys come over HTTP here, as they would over HTTPS from Apple.
apple-simulator serve --port 0 >"$TRIAL_FOLDER/simulator.out" 2>"$TRIAL_FOLDER/simulator.log" &
simulator=$!
waited=0
until [ -s "$TRIAL_FOLDER/simulator.out" ]; do
    [ $waited -lt 50 ] || { cat "$TRIAL_FOLDER/simulator.log" >&2; exit 1; }
    sleep 0.1
    waited=$((waited + 1))
done
origin=$(grep -o 'http://[0-9.:]*' "$TRIAL_FOLDER/simulator.out" | head -n 1)
export AUTH_APPLE_KEYS_URL="$origin/auth/keys"

if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); else bold='' dim='' plain=''; fi

# Tokens are cut after their first characters: they are long, and secrets have no place on a screen.
shorten() {
    sed -E 's/(eyJ[A-Za-z0-9_-]{12})[A-Za-z0-9_.-]+/\1…/g; s/(refresh_token\\?":\\?"[A-Za-z0-9_-]{8})[A-Za-z0-9_-]+/\1…/g'
}

show() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
    events/fill.sh "$2" >"$TRIAL_FOLDER/event"
    auth-apple <"$TRIAL_FOLDER/event" >"$TRIAL_FOLDER/response" 2>"$TRIAL_FOLDER/log" || echo "exit status $?" >&2
    printf '  request   %s\n' "$(shorten <"$TRIAL_FOLDER/event")"
    printf '  response  %s\n' "$(shorten <"$TRIAL_FOLDER/response")"
    printf '  %slog       %s%s\n' "$dim" "$(cat "$TRIAL_FOLDER/log")" "$plain"
    grep -q "\"statusCode\":$3" "$TRIAL_FOLDER/response" || { echo "expected status $3" >&2; exit 1; }
    printf '  → %s\n' "$4"
}

printf '\n%sThe configuration, checked%s\n' "$bold" "$plain"
auth-apple check | sed 's/^/  /'

show "1. Ana signs in for the first time" events/01-first-login.event.json 201 \
    "201: the account was created, and Apple's name and e-mail, which come only now, are kept."
show "2. Ana signs in again; Apple no longer says who she is" events/02-later-login.event.json 200 \
    "200: the same account, its name and e-mail still there."
show "3. Somebody brings a token whose signature is not Apple's" events/05-token-bad-signature.event.json 401 \
    "401: no account, no session. The reason is in the log only."

printf '\nMore cases: events/README.md. Set up your own: README.md, "Deploying".\n'
