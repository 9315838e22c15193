"""Sign-ins a second by one process: `throughput.py PROGRAM EVENTS WORDS`, the identity token on standard input."""

import json
import os
import socket
import subprocess
import sys
import time

program, events, words = sys.argv[1], int(sys.argv[2]), sys.argv[3]
body = json.dumps({"identity_token": sys.stdin.read(), "deviceInfo": {"platform": "iOS"}})
plain = json.dumps({"method": "POST", "path": "/auth/apple", "headers": {"content-type": "application/json"}, "body": body})
gateway = json.dumps({
    "version": "2.0", "routeKey": "$default", "rawPath": "/auth/apple", "rawQueryString": "",
    "headers": {"content-type": "application/json"}, "body": body, "isBase64Encoded": False,
    "requestContext": {"http": {"method": "POST", "path": "/auth/apple", "sourceIp": "192.0.2.7"}, "stage": "$default"}})


def report(name, times):
    if len(times) != events:
        raise SystemExit(f"{name}: {events - len(times)} answers are missing")
    total = sum(times)
    times = sorted(times)
    print(f"  {words:9}  {name:6}  {events / total:7.0f} a second   median {times[len(times) // 2] * 1e3:6.2f} ms"
          f"   99 % {times[len(times) * 99 // 100] * 1e3:6.2f} ms", flush=True)


def check(answer, expected=(b'"statusCode":200', b'"statusCode":201')):
    if not any(status in answer for status in expected):
        raise SystemExit(f"a wrong answer: {answer[:80]!r}")


def lines():
    process = subprocess.Popen([program, "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    times, line = [], plain.encode() + b"\n"
    for _ in range(events + 1):
        start = time.perf_counter()
        process.stdin.write(line)
        process.stdin.flush()
        check(process.stdout.readline())
        times.append(time.perf_counter() - start)
    process.stdin.close()
    process.wait(10)
    return times[1:]


def lambda_loop():
    listener = socket.create_server(("127.0.0.1", 0))
    process = subprocess.Popen(
        [program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{listener.getsockname()[1]}"})
    try:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        event = gateway.encode()
        times, start = [], 0.0
        while len(times) < events + 1:
            method = stream.readline()[:4]
            length = 0
            while (line := stream.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line[15:])
            answer = stream.read(length)
            if method == b"GET ":
                start = time.perf_counter()
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: run-%d\r\nLambda-Runtime-Deadline-Ms: %d\r\n"
                    b"Content-Length: %d\r\n\r\n" % (len(times), int(time.time() * 1000) + 10_000, len(event)) + event)
            else:
                times.append(time.perf_counter() - start)
                check(answer)
                connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        return times[1:]
    finally:
        process.kill()
        process.wait()


report("lines", lines())
report("Lambda", lambda_loop())
