"""AWS Lambda's Runtime API on loopback, after a script: what the real emulator cannot be made to do.

It is driven by lines of JSON on standard input, each answered by one on standard output.

  {"next": [STEP, ...]}     what the coming calls of `next` get; with none left a call waits, as the real one does
  {"post": [STEP, ...]}     what the coming POSTs get; with none left 202
  {"await": {"posts": N, "nexts": N, "seconds": S}}    waits until so many of each have come; gives all calls so far
  {"listen": false}         refuses connections from now on, and breaks off those that are open
  {"end": true}             ends, as does the end of the input

A step has "event" (text) or "size" (that many bytes of JSON string), "id", "deadline_ms", or "status" and "body"; and a way
to go wrong: "delay" (seconds), "drop" (the connection breaks off), "garbage" (no HTTP), "no_id".
"""

import asyncio
import json
import sys


class Server:
    def __init__(self):
        self.next_steps, self.post_steps = asyncio.Queue(), []
        self.calls, self.changed = [], asyncio.Condition()
        self.connections, self.writers = 0, set()
        self.count = 0

    async def serve(self, reader, writer):
        self.connections += 1
        connection = self.connections
        self.writers.add(writer)
        try:
            while await self.exchange(reader, writer, connection):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def exchange(self, reader, writer, connection):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {}
        for line in head[1:]:
            if line:
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        async with self.changed:
            self.calls.append(
                {"method": method, "path": path, "headers": headers, "body": body.decode("utf-8", "replace"),
                 "connection": connection, "time": asyncio.get_running_loop().time()})
            self.changed.notify_all()
        if method == "GET":
            step = await self.step_or_end(reader)
            if step is None:
                return False
        else:
            step = {"status": 202, "body": '{"status":"OK"}\n', **(self.post_steps.pop(0) if self.post_steps else {})}
        if step.get("delay"):
            await asyncio.sleep(step["delay"])
        if step.get("drop"):
            return False
        if step.get("garbage"):
            writer.write(b"\x00\x01 this is no HTTP\r\n\r\n")
            await writer.drain()
            return False
        body = step.get("event", step.get("body", "")).encode()
        if "size" in step:
            body = b'"' + b"x" * (step["size"] - 2) + b'"'
        lines = [f"HTTP/1.1 {step.get('status', 200)} X", f"Content-Length: {len(body)}", "Content-Type: application/json"]
        if method == "GET" and not step.get("no_id"):
            self.count += 1
            lines.append(f"Lambda-Runtime-Aws-Request-Id: {step.get('id', f'00000000-0000-4000-8000-{self.count:012}')}")
            lines.append("Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:us-east-1:012345678912:function:auth")
            if "deadline_ms" in step:
                lines.append(f"Lambda-Runtime-Deadline-Ms: {step['deadline_ms']}")
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        await writer.drain()
        return True

    async def step_or_end(self, reader):
        """The next step, unless the caller goes away while it waits: then the step is left for another."""
        step = asyncio.ensure_future(self.next_steps.get())
        gone = asyncio.ensure_future(reader.read(1))
        await asyncio.wait({step, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not step.done():
            step.cancel()
            return None
        if not gone.done():
            gone.cancel()
            try:
                await gone
            except asyncio.CancelledError:
                pass
        return step.result()

    async def wait(self, posts=0, nexts=0, seconds=10):
        def enough():
            gets = sum(call["method"] == "GET" for call in self.calls)
            return gets >= nexts and len(self.calls) - gets >= posts

        try:
            async with asyncio.timeout(seconds):
                async with self.changed:
                    await self.changed.wait_for(enough)
        except TimeoutError:
            pass
        return self.calls


async def main():
    server = Server()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 24)
    reply({"port": listener.sockets[0].getsockname()[1]})
    reader = asyncio.StreamReader(limit=1 << 25)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        if "end" in command:
            break
        if "next" in command:
            for step in command["next"]:
                server.next_steps.put_nowait(step)
        if "post" in command:
            server.post_steps += command["post"]
        if command.get("listen") is False:
            listener.close()
            for writer in list(server.writers):
                writer.transport.abort()
        reply({"calls": await server.wait(**command["await"])} if "await" in command else {})


def reply(value):
    print(json.dumps(value), flush=True)


asyncio.run(main())
