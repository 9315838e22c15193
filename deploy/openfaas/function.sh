#!/bin/sh
# What the watchdog starts. OpenFaaS mounts secrets readable to all, and auth-apple refuses a file with signing keys that is; so the
# keys are handed over as a variable, which only the process itself sees.
set -eu
AUTH_APPLE_SIGNING_KEYS=$(cat "${SIGNING_KEYS_SECRET:-/var/openfaas/secrets/auth-apple-signing-keys}")
export AUTH_APPLE_SIGNING_KEYS
exec auth-apple
