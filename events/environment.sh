# A throw-away configuration of auth-apple for trying the events by hand; to be sourced:  . events/environment.sh
# Everything lies in one new folder, which may be removed afterwards.
TRIAL_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/auth-apple-trial.XXXXXX")
export APPLE_SIMULATOR_KEYS="$TRIAL_FOLDER/apple-private-keys.json"
export APPLE_SIMULATOR_AUDIENCE=com.example.app
apple-simulator keys >"$TRIAL_FOLDER/apple-keys.json"

export AUTH_APPLE_MODE=development
export AUTH_APPLE_AUDIENCES=com.example.app,com.example.web
export AUTH_APPLE_KEYS_URL="file://$TRIAL_FOLDER/apple-keys.json"
export AUTH_APPLE_KEY_CACHE="$TRIAL_FOLDER/cache/apple-keys.json"
export AUTH_APPLE_STORE="sqlite:$TRIAL_FOLDER/state/accounts.sqlite"
export AUTH_APPLE_SIGNING_KEYS_FILE="$TRIAL_FOLDER/signing-keys.json"
export AUTH_APPLE_TOKEN_ISSUER=https://auth.example.com
export AUTH_APPLE_TOKEN_AUDIENCE=https://api.example.com
export AUTH_APPLE_NOTIFICATIONS=true
export AUTH_APPLE_DELETION_SESSION_SECONDS=600
export AUTH_APPLE_WEB_CLIENT_ID=com.example.web
export AUTH_APPLE_WEB_CALLBACK_URL=https://auth.example.com/auth/apple/callback
export AUTH_APPLE_RETURN_URLS=com.example.app:/signed-in
[ -e "$AUTH_APPLE_SIGNING_KEYS_FILE" ] || auth-apple keys new
