#!/bin/sh
# Writes, for lighttpd.conf, which variables the function gets: all of ours that are set. lighttpd takes the values from its
# own environment by name, so no value is quoted here, and none is seen.
set -eu
echo 'setenv.set-environment = ('
env | sed -n 's/^\(AUTH_APPLE_[A-Z0-9_]*\)=..*$/    "\1" => env.\1,/p'
echo ')'
