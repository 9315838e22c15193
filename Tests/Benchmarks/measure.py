"""Runs the races: `measure.py FOLDER PEERS ROUNDS MEMORY-FOLDER`. Prints all that was measured as JSON; results.py makes a page of it.

FOLDER holds race, bound and fetch, and is on a disk; MEMORY-FOLDER is in memory, or `none`.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from keys_server import KeysServer
from workbench import AUTH_APPLE, PERSON, Workbench

WARM_UP = 3  # race.c's
LOOP = 1000  # events of a loop without a disk
SQLITE_LOOP = 200


def say(text):
    print(text, file=sys.stderr, flush=True)


def quantiles(values):
    values = sorted(values)
    at = [values[round((len(values) - 1) * share)] for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    return dict(zip(("p5", "p25", "median", "p75", "p95"), at))


class Races:
    def __init__(self, folder, peers, rounds):
        self.bench, self.rounds = Workbench(folder, peers), rounds
        self.folder = self.bench.folder

    def race(self, rounds, status, groups, processor=None):
        """Name → milliseconds of each round and peak, for groups of (name, store, events, words)."""
        words = [str(self.folder / "race"), str(rounds), status]
        for name, store, events, command in groups:
            words += ["--", name, store, str(events), *command]
        if processor is not None:
            words = ["taskset", "-c", str(processor), *words]
        # The log of the race is the console's.
        ended = subprocess.run(words, env=self.bench.environment, check=True, stdout=subprocess.PIPE, text=True)
        return {each["name"]: each for each in map(json.loads, ended.stdout.splitlines())}

    def events(self, name, texts):
        folder = self.folder / "events" / name
        folder.mkdir(parents=True)
        for number, text in enumerate(texts):
            (folder / f"{number}.json").write_text(text)
        return folder

    def make_events(self):
        say("Making events")
        bench = self.bench
        known = bench.event(bench.token(**PERSON))
        self.known = self.events("known", [known])
        self.new = self.events("new", [
            bench.event(bench.token(f"001234.new.{number}", email=f"person{number}@example.com"))
            for number in range(self.rounds + WARM_UP)])
        self.loops = {count: self.events(f"loop-{count}", [known * count]) for count in (1, SQLITE_LOOP + 1, LOOP + 1)}

    def stores(self, place, label):
        """A store for each program, in which the known person has an account."""
        stores = {}
        for name in self.bench.commands:
            path = self.bench.new_store(place / label / name)
            self.bench.run(name, path, [(self.known / "0.json").read_text()])
            stores[name] = f"sqlite:{path}"
        return stores

    def processes(self, place, label):
        """One process a request."""
        result = {}
        for kind, events, status in (("known", self.known, "200"), ("new", self.new, "201")):
            say(f"One process a request, {label}, {kind}")
            stores = self.stores(place, f"processes-{kind}")
            groups = [(name, stores[name], events, command) for name, command in self.bench.commands.items()]
            raced = self.race(self.rounds, status, groups)
            result[kind] = {
                name: {"milliseconds": quantiles(each["milliseconds"]), "peak_kib": each["peak_kib"]}
                for name, each in raced.items()}
        return result

    def loop(self, programs, count, rounds, processor=None):
        """Sign-ins by one process: what COUNT more of them take, so that the start is not in it."""
        groups = []
        for name, (store, command) in programs.items():
            for size in (1, count + 1):
                groups.append((f"{name} {size}", store, self.loops[size], [*command, "lines"]))
        raced = self.race(rounds, "20", groups, processor)
        result = {}
        for name in programs:
            pairs = zip(raced[f"{name} {count + 1}"]["milliseconds"], raced[f"{name} 1"]["milliseconds"])
            result[name] = {
                "microseconds": quantiles((long - short) * 1000 / count for long, short in pairs),
                "peak_kib": raced[f"{name} {count + 1}"]["peak_kib"]}
        return result

    def bound(self, processor):
        ended = subprocess.run(
            ["taskset", "-c", str(processor), str(self.folder / "bound"), "5000"], check=True, stdout=subprocess.PIPE)
        return json.loads(ended.stdout)

    def memory_loop(self, rounds):
        """Without a store's disk, against libcrypto alone, on one processor. The bound is taken before and after; the faster counts."""
        say("A loop with memory:")
        processor = max(os.sched_getaffinity(0))
        before = self.bound(processor)
        loop = self.loop({"auth-apple": ("memory:", [str(AUTH_APPLE)])}, LOOP, rounds, processor)
        after = self.bound(processor)
        return {"bound": min(before, after, key=lambda each: each["verify"] + each["sign"]), "loop": loop["auth-apple"]}

    def sqlite_loop(self, place, label, rounds):
        say(f"A loop with SQLite, {label}")
        stores = self.stores(place, "loops")
        programs = {name: (stores[name], command) for name, command in self.bench.commands.items()}
        return self.loop(programs, SQLITE_LOOP, rounds)

    def cold(self, place):
        """A key cache that is empty each time, beside one that is not, and beside the fetch alone."""
        say("A cold key cache")
        certificate = self.folder / "certificate.pem"
        with KeysServer(self.folder) as server:
            path = self.bench.new_store(place / "cold")
            command = [str(AUTH_APPLE)]
            variables = [f"AUTH_APPLE_KEYS_URL={server.url}", f"AUTH_APPLE_CA_BUNDLE={certificate}"]
            warm = [*variables, f"AUTH_APPLE_KEY_CACHE={self.folder}/warm/keys.json", *command]
            cold = [*variables, f"AUTH_APPLE_KEY_CACHE={self.folder}/cold/{{round}}/keys.json", *command]
            raced = self.race(self.rounds, "20", [
                ("warm", f"sqlite:{path}", self.known, warm), ("cold", f"sqlite:{path}", self.known, cold)])
            # The warm cache was cold once.
            runs = self.rounds + WARM_UP
            requests, connections = server.requests - 1, server.connections - 1
            alone = self.race(self.rounds, "", [("fetch", "", self.known, [
                str(self.folder / "fetch"), server.url, str(certificate)])])
        milliseconds = {name: quantiles(each["milliseconds"]) for name, each in (raced | alone).items()}
        return {"milliseconds": milliseconds, "runs": runs, "requests": requests, "connections": connections}


def main():
    folder, peers, rounds, memory = sys.argv[1:]
    races = Races(folder, peers, int(rounds))
    races.make_events()
    few = max(5, int(rounds) // 20)
    load = os.getloadavg()[0]
    result = {
        "rounds": int(rounds), "loop_rounds": few, "loop_events": LOOP, "sqlite_loop_events": SQLITE_LOOP,
        "versions": dict(line.split(" ", 1) for line in (Path(peers) / "versions").read_text().splitlines()),
        "machine": {
            "processors": os.cpu_count(), "kernel": f"{platform.system()} {platform.release()}", "load": load,
            "model": next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?")},
        "memory_loop": races.memory_loop(max(15, few)),
        "disk": {"processes": races.processes(races.folder / "stores", "on disk")}}
    result["disk"]["loop"] = races.sqlite_loop(races.folder / "stores", "on disk", few)
    if memory != "none":
        result["memory"] = {"processes": races.processes(Path(memory), "in memory")}
        result["memory"]["loop"] = races.sqlite_loop(Path(memory), "in memory", few)
    result["cold"] = races.cold(races.folder / "stores")
    result["machine"]["load_after"] = os.getloadavg()[0]
    json.dump(result, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
