#!/bin/sh
# Prints a client secret for Sign in with Apple, good for five minutes: the ES256 JWT that an app's server makes of its team's
# key. For trying things by hand; a server makes its own.
#
#   client-secret.sh TEAM_ID KEY_ID CLIENT_ID KEY_FILE
#
# KEY_FILE is the .p8 file of the team's key, or any P-256 private key in PEM. Needs openssl and perl.
set -eu

[ $# -eq 4 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0" >&2; exit 64; }

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

now=$(date +%s)
header=$(printf '{"alg":"ES256","kid":"%s"}' "$2" | base64url)
claims=$(printf '{"iss":"%s","iat":%d,"exp":%d,"aud":"https://appleid.apple.com","sub":"%s"}' \
    "$1" "$now" $((now + 300)) "$3" | base64url)
# openssl writes the signature as DER, a JWT wants r and s of 32 bytes each (RFC 7518, section 3.4).
signature=$(printf '%s.%s' "$header" "$claims" | openssl dgst -sha256 -sign "$4" -binary |
    openssl asn1parse -inform DER | sed -n 's/.*INTEGER *://p' |
    perl -ne 'chomp; print pack("H*", ("0" x (64 - length)) . $_)' | base64url)
printf '%s.%s.%s\n' "$header" "$claims" "$signature"
