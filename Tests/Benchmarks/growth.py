"""`growth.py PROGRAMS FOLDER SIZES ROUNDS PAGE.md`: see growth.sh, which starts the server in FOLDER/socket."""

import base64
import datetime
import hashlib
import hmac
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

DAY = 86_400_000
DEVICE = '{"platform":"ios","model":"iPhone17,1"}'
CLIENT = "com.example.app"
AT_ONCE = (1, 4, 16)
WARM_UP = 5
GOAL = 1.2
# What a person who uses the app does, for the table of deployments; stated there.
ACTIVE, REFRESHES, PEAK, SHARE = 0.2, 8, 5, 0.5


def say(text):
    print(text, file=sys.stderr, flush=True)


def digest(kind, number):
    return hashlib.sha256(f"{kind} {number}".encode()).digest()


def median(values):
    return sorted(values)[len(values) // 2]


class Person:
    """The account of a number, the same in every store: all that there is of it is made from the number."""

    def __init__(self, number, count, now):
        self.number = number
        # Of the last year, evenly.
        self.created = now - 365 * DAY + number * 364 * DAY // count
        self.account = self.uuid7("account")
        self.session = self.uuid7("session")
        self.subject = "001." + digest("subject", number).hex()[:32]

    def uuid7(self, kind):
        some = bytearray(self.created.to_bytes(6, "big") + digest(kind, self.number)[:10])
        some[6] = some[6] & 0x0F | 0x70
        some[8] = some[8] & 0x3F | 0x80
        return bytes(some)

    @property
    def refresh_token(self):
        """RefreshToken.swift: id, secret, and a tag by the session's salt."""
        named = self.session + digest("secret", self.number)
        tag = hmac.digest(digest("salt", self.number), named, "sha256")[:16]
        return base64.urlsafe_b64encode(named + tag).rstrip(b"=").decode()


def people(count, now):
    return (Person(number, count, now) for number in range(count))


class SQLite:
    name = "SQLite"

    def __init__(self, bench, size):
        self.path = bench.folder / f"sqlite-{size}" / "accounts.db"
        self.path.parent.mkdir(mode=0o700)
        self.url = f"sqlite:{self.path}"
        bench.output("auth-apple", "store", "migrate", AUTH_APPLE_STORE=self.url)
        ends = bench.now + 300 * DAY
        database = sqlite3.connect(self.path, isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -800000")
        database.execute("BEGIN")
        database.executemany(
            "INSERT INTO accounts (id, apple_sub, email, email_verified, is_private_email, created_at, updated_at)"
            " VALUES (?, ?, ?, 1, 0, ?, ?)",
            ((p.account, p.subject, f"{p.number}@example.com", p.created, p.created) for p in people(size, bench.now)))
        database.executemany(
            "INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at, created_at,"
            " last_used_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((p.session, p.account, CLIENT, DEVICE, digest("salt", p.number),
              hashlib.sha256(digest("secret", p.number)).digest(), ends, p.created, p.created, ends)
             for p in people(size, bench.now)))
        database.executemany(
            "INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?, ?, ?, ?, ?, 'bulk')",
            (row for p in people(size, bench.now)
             for row in ((p.account, 1, p.created, "account_created", None),
                         (p.account, 2, p.created, "signed_in", p.session))))
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        descriptor = os.open(self.path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        self.bytes = self.path.stat().st_size


class PostgreSQL:
    name = "PostgreSQL"

    def __init__(self, bench, size):
        self.socket = bench.folder / "socket"
        schema = f"s{size}"
        self.url = f"postgres://postgres@/postgres?host={self.socket}&schema={schema}"
        bench.output("auth-apple", "store", "migrate", AUTH_APPLE_STORE=self.url)
        ends = self.moment(bench.now + 300 * DAY)
        self.copy(
            f"{schema}.accounts (id, apple_sub, email, email_verified, is_private_email, created_at, updated_at)",
            ((p.account.hex(), p.subject, f"{p.number}@example.com", "t", "f", self.moment(p.created), self.moment(p.created))
             for p in people(size, bench.now)))
        self.copy(
            f"{schema}.sessions (id, account_id, client_id, device_text, device_info, salt, refresh_digest, refresh_expires_at,"
            " created_at, last_used_at, ends_at)",
            ((p.session.hex(), p.account.hex(), CLIENT, DEVICE, DEVICE, "\\\\x" + digest("salt", p.number).hex(),
              "\\\\x" + hashlib.sha256(digest("secret", p.number)).hexdigest(), ends, self.moment(p.created),
              self.moment(p.created), ends) for p in people(size, bench.now)))
        self.copy(
            f"{schema}.audit (account_id, number, time, event, session_id, request_id)",
            (row for p in people(size, bench.now)
             for row in ((p.account.hex(), "1", self.moment(p.created), "account_created", "\\N", "bulk"),
                         (p.account.hex(), "2", self.moment(p.created), "signed_in", p.session.hex(), "bulk"))))
        for table in ("accounts", "sessions", "audit"):
            self.psql(f"VACUUM ANALYZE {schema}.{table}")
        self.psql("CHECKPOINT")
        self.bytes = int(self.psql(
            f"SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE n.nspname = '{schema}' AND c.relkind = 'r'"))

    @staticmethod
    def moment(milliseconds):
        return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).isoformat()

    def command(self, text):
        return ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.socket), "-U", "postgres", "-c", text]

    def psql(self, text):
        return subprocess.run(self.command(text), check=True, capture_output=True, text=True).stdout.strip()

    def copy(self, table, rows):
        process = subprocess.Popen(self.command(f"COPY {table} FROM STDIN"), stdin=subprocess.PIPE, text=True)
        for row in rows:
            process.stdin.write("\t".join(row) + "\n")
        process.stdin.close()
        if process.wait() != 0:
            raise SystemExit(f"growth.py: {table} cannot be loaded")


class Lines:
    """`auth-apple lines`: an event in, an answer out."""

    def __init__(self, bench, store):
        self.process = subprocess.Popen(
            [bench.programs / "auth-apple", "lines"], env=bench.environment | {"AUTH_APPLE_STORE": store.url},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, event):
        """Milliseconds until the answer, which must be 200."""
        start = time.perf_counter()
        self.process.stdin.write(event)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        passed = (time.perf_counter() - start) * 1000
        if b'"statusCode":200' not in answer:
            raise SystemExit(f"growth.py: a wrong answer: {answer[:200]!r}")
        return passed

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


class Bench:
    def __init__(self, programs, folder):
        self.programs, self.folder = Path(programs), Path(folder)
        self.now = int(time.time() * 1000)
        own = self.folder / "function"
        own.mkdir(mode=0o700)
        keys = own / "apple-keys.json"
        self.environment = {
            "PATH": os.environ["PATH"], "APPLE_SIMULATOR_KEYS": f"{own}/apple-private-keys.json",
            "APPLE_SIMULATOR_AUDIENCE": CLIENT, "AUTH_APPLE_MODE": "development", "AUTH_APPLE_AUDIENCES": CLIENT,
            "AUTH_APPLE_SIGNING_KEYS_FILE": f"{own}/signing-keys.json", "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example.com",
            "AUTH_APPLE_TOKEN_AUDIENCE": "https://api.example.com", "AUTH_APPLE_KEYS_URL": f"file://{keys}",
            "AUTH_APPLE_KEY_CACHE": f"{own}/cache/apple-keys.json"}
        keys.write_text(self.output("apple-simulator", "keys"))
        keys.chmod(0o600)
        self.output("auth-apple", "keys", "new")

    def output(self, program, *words, **more):
        ended = subprocess.run(
            [self.programs / program, *words], env=self.environment | more, capture_output=True, text=True)
        if ended.returncode != 0:
            raise SystemExit(f"growth.py: {program} {' '.join(words)}: {ended.stderr}")
        return ended.stdout

    @staticmethod
    def event(path, body):
        return (json.dumps({
            "method": "POST", "path": path, "headers": {"content-type": "application/json"}, "body": json.dumps(body)})
            + "\n").encode()

    def sign_in(self, person):
        token = self.output("apple-simulator", "token", "--subject", person.subject, "--nonce", "n").strip()
        return self.event("/auth/apple", {"identity_token": token, "nonce": "n", "deviceInfo": {"platform": "ios"}})

    def refresh(self, person):
        return self.event("/auth/refresh", {"refresh_token": person.refresh_token})


def medians(bench, stores, rounds):
    """(store, size) → medians of sign-in and refresh in milliseconds, all in turn; each event is of another person."""
    random.seed(1)
    events = {}
    for size in {size for _, size in stores}:
        chosen = random.sample(range(size), min(rounds + WARM_UP, size))
        events[size] = [(bench.sign_in(person), bench.refresh(person))
                        for person in (Person(number, size, bench.now) for number in chosen)]
    entrants = [(name, size, Lines(bench, store)) for (name, size), store in stores.items()]
    times = {key: ([], []) for key in stores}
    for round in range(min(len(each) for each in events.values())):
        for name, size, lines in entrants:
            measured = [lines.ask(event) for event in events[size][round]]
            if round >= WARM_UP:
                for each, passed in zip(times[name, size], measured):
                    each.append(passed)
    for _, _, lines in entrants:
        lines.end()
    return {key: tuple(median(each) for each in both) for key, both in times.items()}, events


def busy():
    ticks = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def at_once(bench, store, processes, events, total):
    """Sign-ins a second by so many processes, and the share of the processors that was busy."""
    workers = [Lines(bench, store) for _ in range(processes)]
    gate = threading.Barrier(processes + 1)
    failures = []

    def work(index, lines):
        mine = [events[(index + step * processes) % len(events)][0] for step in range(total // processes)]
        try:
            lines.ask(mine[0])
            gate.wait()
            for event in mine:
                lines.ask(event)
        except (SystemExit, OSError, threading.BrokenBarrierError) as error:
            failures.append(error)
            gate.abort()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(workers)]
    for thread in threads:
        thread.start()
    try:
        gate.wait()
    except threading.BrokenBarrierError:
        pass
    start, before = time.perf_counter(), busy()
    for thread in threads:
        thread.join()
    passed, after = time.perf_counter() - start, busy()
    for lines in workers:
        lines.end()
    if failures:
        raise SystemExit(f"growth.py: {processes} processes on {store.name}: {failures[0]}")
    return total // processes * processes / passed, (after[0] - before[0]) / max(1, after[1] - before[1])


def sync(folder):
    """Milliseconds of a sync of 4 KiB at the end of a file, median of 100: what one commit waits for at least."""
    times = []
    with open(folder / "sync", "wb", buffering=0) as file:
        for _ in range(100):
            file.write(bytes(4096))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1000)
    return median(times)


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
                     + ["| " + " | ".join(row) + " |" for row in rows])


def size_words(count):
    return f"{count:,}".replace(",", " ")


def deployments(found, rates, room, largest):
    """What so many accounts need, from the figures at the largest size."""
    rows = []
    for accounts in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        peak = accounts * ACTIVE * REFRESHES * PEAK / 86_400
        row = [size_words(accounts), f"{peak:.2f}" if peak < 10 else f"{peak:.0f}"]
        for name in ("SQLite", "PostgreSQL"):
            best = max(rate for rate, _ in rates[name].values())
            disk = accounts * room[name] / 1e6
            words = f"{disk:.0f} MB" if disk < 1000 else f"{disk / 1000:.1f} GB"
            seconds = found[name, largest][1] / 1000
            needed = max(1, -(-peak * seconds // SHARE))
            fits = peak <= best * SHARE
            row.append(f"{words}, {needed:.0f} process{'es' if needed > 1 else ''}" if fits else f"{words}; more than this machine")
        rows.append(row)
    return table(["accounts", "requests a second at the peak", "SQLite, one machine", "PostgreSQL"], rows)


def main():
    programs, folder, sizes, rounds, page = sys.argv[1:]
    sizes = [int(size) for size in sizes.split(",")]
    began = time.time()
    bench = Bench(programs, folder)
    load = os.getloadavg()[0]
    stores = {}
    for size in sizes:
        for kind in (SQLite, PostgreSQL):
            start = time.time()
            stores[kind.name, size] = kind(bench, size)
            say(f"{kind.name}: {size_words(size)} accounts loaded in {time.time() - start:.0f} s")
    found, events = medians(bench, stores, int(rounds))
    small, large = sizes[0], sizes[-1]
    waiting = sync(bench.folder)
    rates = {name: {} for name in ("SQLite", "PostgreSQL")}
    for processes in AT_ONCE:
        for name in rates:
            rates[name][processes] = at_once(bench, stores[name, large], processes, events[large], int(rounds) * 4)
            say(f"{name}: {processes} at once: {rates[name][processes][0]:.0f} a second")
    room = {name: stores[name, large].bytes / large for name in rates}
    rows, goals = [], []
    for name in rates:
        for index, what in enumerate(("sign-in", "refresh")):
            ratio = found[name, large][index] / found[name, small][index]
            goals.append((f"{name}, {what}", ratio))
            rows.append([f"{name}, {what}", *(f"{found[name, size][index]:.2f}" for size in sizes), f"{ratio:.2f}",
                         "yes" if ratio <= GOAL else "**no**"])
    machine = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?")
    bound = []
    for name in rates:
        row = [name]
        for processes in AT_ONCE:
            rate, share = rates[name][processes]
            row.append(f"{rate:.0f} ({share * 100:.0f} %)")
        most = max(share for _, share in rates[name].values())
        bound.append(row + ["the processors" if most > 0.85 else "the commits, which wait for the disk"])
    Path(page).write_text("\n\n".join([
        "# Growth",
        "Written by `Tests/Benchmarks/growth.sh`; the same command makes it again on another machine. Each account has a session and two"
        " entries of the audit. One process a store and size (`auth-apple lines`), all in turn, each event of another person;"
        " what was loaded is in the system's cache. PostgreSQL runs on the same machine, over a socket.",
        f"{os.cpu_count()} processors ({machine}), load {load:.1f} before and {os.getloadavg()[0]:.1f} after; {rounds} rounds;"
        f" {time.time() - began:.0f} s in all.",
        "## One after the other: medians in milliseconds",
        table(["", *(f"{size_words(size)} accounts" for size in sizes), f"{size_words(large)} to {size_words(small)}",
               f"at most {GOAL}"], rows),
        f"## At once: sign-ins a second, with {size_words(large)} accounts",
        table(["", *(f"{processes} process{'es' if processes > 1 else ''}" for processes in AT_ONCE), "bound by"], bound),
        f"In brackets how busy the processors were, the one that measures included. A sync of 4 KiB takes {waiting:.2f} ms here.",
        "## What a deployment needs",
        f"Computed from the figures above: {ACTIVE * 100:.0f} % of the accounts active on a day, {REFRESHES} refreshes each,"
        f" {PEAK} times as many at the peak as on average, and machine and processes half busy then. A refresh takes"
        f" {found['SQLite', large][1]:.2f} ms on SQLite and {found['PostgreSQL', large][1]:.2f} ms on PostgreSQL;"
        f" an account takes {room['SQLite'] / 1000:.1f} KB and {room['PostgreSQL'] / 1000:.1f} KB.",
        deployments(found, rates, room, large),
        "Up to where SQLite serves, one machine does, and what decides between the two is whether there is to be more than one."
    ]) + "\n")
    for what, ratio in goals:
        print(f"  {'met   ' if ratio <= GOAL else 'MISSED'}  {what}: at most {GOAL}; found {ratio:.2f}")
    print(f"Written: {page}")


if __name__ == "__main__":
    main()
