#!/bin/sh
# Writes, for lighttpd.conf, which variables the function gets: all of ours that are set, and of AWS and libpq, by which a role's
# credentials come. lighttpd takes the values from its own environment by name, so no value is quoted here, and none is seen.
set -eu
echo 'setenv.set-environment = ('
env | sed -n 's/^\(\(AUTH_APPLE_\|AWS_\|PG\)[A-Z0-9_]*\)=..*$/    "\1" => env.\1,/p'
echo ')'
