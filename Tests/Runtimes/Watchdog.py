"""OpenFaaS' two watchdogs, as far as a function and its client see them, for one request.

    Watchdog.py classic|serializing [--combine-output] [--header NAME:VALUE]... FUNCTION

Standard input is the body of the request. Prints the client's response as one line of JSON: its status, content type and
body. The function gets the environment that a watchdog gives it, down to the header that a client can forge `Http_Query` with.
"""

import argparse
import json
import os
import subprocess
import sys

options = argparse.ArgumentParser()
options.add_argument("mode", choices=["classic", "serializing"])
options.add_argument("--combine-output", action="store_true")
options.add_argument("--header", action="append", default=[])
options.add_argument("function")
options = options.parse_args()
body = sys.stdin.buffer.read()

headers = {"Content-Type": "application/json"}
for line in options.header:
    name, _, value = line.partition(":")
    headers[name.title()] = value
environment = dict(os.environ)
for name, value in headers.items():
    environment["Http_" + name.replace("-", "_")] = value
environment.update({"Http_Method": "POST", "Http_Path": "/function/auth", "Http_ContentLength": str(len(body))})

combined = options.mode == "classic" and options.combine_output
run = subprocess.run(
    [options.function], input=body, env=environment, stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT if combined else subprocess.PIPE, timeout=20)
if not combined:
    sys.stderr.buffer.write(run.stderr)
if run.returncode == 0:
    answer = {"status": 200, "type": headers["Content-Type"], "body": run.stdout.decode()}
elif options.mode == "classic":
    answer = {"status": 500, "type": "text/plain", "body": f"exit status {run.returncode}\n" + run.stdout.decode()}
else:
    answer = {"status": 500, "type": "text/plain", "body": f"exit status {run.returncode}"}
print(json.dumps(answer))
