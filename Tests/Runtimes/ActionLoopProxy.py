"""OpenWhisk's ActionLoop proxy, as far as an action sees it: lines in on standard input, results from descriptor 3.

    ActionLoopProxy.py ACTION

Lines on standard input are given to the action one by one, each after the result of the one before; each result is printed as a line
(`null` where none came within 5 seconds). With `__OW_WAIT_FOR_ACK` the action's acknowledgement is printed first. What the
action prints goes to standard error, as its log.
"""

import os
import select
import subprocess
import sys

results, end = os.pipe()
if end == 3:
    action_end = os.dup(end)
    os.close(end)
    end = action_end


def lend_descriptor():
    os.dup2(end, 3)


action = subprocess.Popen(
    [sys.argv[1]], stdin=subprocess.PIPE, stdout=sys.stderr, preexec_fn=lend_descriptor, close_fds=False)
os.close(end)
buffer = b""


def result():
    global buffer
    while b"\n" not in buffer:
        if not select.select([results], [], [], 5)[0]:
            return b"null"
        piece = os.read(results, 65536)
        if not piece:
            return b"null"
        buffer += piece
    line, _, buffer = buffer.partition(b"\n")
    return line


def show(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if os.environ.get("__OW_WAIT_FOR_ACK"):
    show(result())
for line in sys.stdin.buffer:
    action.stdin.write(line)
    action.stdin.flush()
    show(result())
action.stdin.close()
status = action.wait(10)
if buffer or os.read(results, 1):
    show(b"more than one line an activation")
sys.exit(status)
