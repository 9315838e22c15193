"""Makes the page and the chart of what measure.py measured: `results.py MEASURED.json PAGE.md CHART.svg`. Prints the goals."""

import json
import sys
from pathlib import Path

import chart

TITLES = {"auth-apple": "auth-apple", "auth-apple-static": "auth-apple static", "c": "C", "rust": "Rust", "go": "Go", "node": "Node", "python": "Python"}
OURS = ("auth-apple", "auth-apple-static")
# By how much a median has to be above auth-apple's; the goals of one process a request.
FACTORS = {"go": 1, "rust": 1, "node": 10, "python": 15}
C_FACTOR = 1.25
BOUND_SHARE, COMMIT_SHARE = 0.7, 0.8


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def by_median(programs, unit):
    return sorted((name for name in TITLES if name in programs), key=lambda name: programs[name][unit]["median"])


def processes_table(programs):
    ours = programs["auth-apple"]["milliseconds"]["median"]
    rows = []
    for name in by_median(programs, "milliseconds"):
        each, times = programs[name], programs[name]["milliseconds"]
        rows.append([TITLES[name], *(f"{times[at]:.2f}" for at in ("p5", "p25", "median", "p75", "p95")),
                     f"{times['median'] / ours:.2f}", f"{each['peak_kib'] / 1024:.1f}"])
    return table(["milliseconds", "5 %", "25 %", "**median**", "75 %", "95 %", "ratio", "peak MiB"], rows)


def loop_table(programs):
    ours = programs["auth-apple"]["microseconds"]["median"]
    rows = []
    for name in by_median(programs, "microseconds"):
        times = programs[name]["microseconds"]
        rows.append([TITLES[name], f"{1e6 / times['median']:.0f}", *(f"{times[at]:.0f}" for at in ("p25", "median", "p75")),
                     f"{times['median'] / ours:.2f}", f"{programs[name]['peak_kib'] / 1024:.1f}"])
    return table(["one process", "a second", "25 % (µs)", "**median** (µs)", "75 % (µs)", "ratio", "peak MiB"], rows)


def goals(measured):
    """(what, the goal, found, met) for each."""
    result = []
    places = [(place, words) for place, words in (("disk", "on disk"), ("memory", "in memory")) if place in measured]
    for place, words in places:
        programs = measured[place]["processes"]["known"]
        median = {name: each["milliseconds"]["median"] for name, each in programs.items()}
        for ours in OURS:
            for name, factor in FACTORS.items():
                ratio = median[name] / median[ours]
                wanted = f"at least {factor} times faster" if factor > 1 else "faster"
                met = ratio >= factor if factor > 1 else ratio > 1
                result.append((f"{TITLES[ours]}, a process, {words}: than {TITLES[name]}", wanted, f"{ratio:.2f}", met))
        ratio = median["auth-apple"] / median["c"]
        result.append((f"A process, {words}: beside C", f"at most {C_FACTOR} times its time", f"{ratio:.2f}", ratio <= C_FACTOR))
        ours = programs["auth-apple"]["peak_kib"]
        least = min(each["peak_kib"] for name, each in programs.items() if name not in (*OURS, "c"))
        result.append((f"A process, {words}: peak memory", "the lowest but C's", f"{ours / 1024:.1f} MiB; next {least / 1024:.1f}", ours < least))
    loop = measured["memory_loop"]
    share = (loop["bound"]["verify"] + loop["bound"]["sign"]) / loop["loop"]["microseconds"]["median"]
    result.append(("A loop with `memory:`", f"at least {BOUND_SHARE} of libcrypto's bound", f"{share:.2f}", share >= BOUND_SHARE))
    for place, words in places:
        programs = measured[place]["loop"]
        share = programs["c"]["microseconds"]["median"] / programs["auth-apple"]["microseconds"]["median"]
        result.append((f"A loop with SQLite, {words}", f"at least {COMMIT_SHARE} of C's commits", f"{share:.2f}", share >= COMMIT_SHARE))
    cold = measured["cold"]
    found = f"{cold['requests']} requests, {cold['connections']} connections in {cold['runs']} runs"
    result.append(("Cold key cache", "one HTTPS fetch", found, cold["requests"] == cold["connections"] == cold["runs"]))
    return result


def page(measured):
    machine, loop = measured["machine"], measured["memory_loop"]
    bound = loop["bound"]["verify"] + loop["bound"]["sign"]
    ours = loop["loop"]["microseconds"]
    cold = {name: times["median"] for name, times in measured["cold"]["milliseconds"].items()}
    places = [(place, words) for place, words in (("disk", "On disk"), ("memory", "In memory")) if place in measured]
    parts = [
        "# What a sign-in costs",
        "Written by `Tests/Benchmarks/run.sh`; the same command makes it again on another machine. Every program does the same work:"
        " one event in, Apple's token verified (RS256, keys cached), the account found or made, a session and the audit written"
        " in one SQLite transaction at `synchronous=FULL`, an access token signed (ES256), one response and one log line out. Before"
        " anything was timed, each answered sign-ins and forgeries as auth-apple does, and left the same rows (`check.py`).",
        f"{machine['processors']} processors ({machine['model']}), {machine['kernel']}, load {machine['load']:.1f} before and"
        f" {machine['load_after']:.1f} after; {measured['rounds']} rounds in turn.",
        table(["", "made with"], [[TITLES[name], text] for name, text in measured["versions"].items()]).replace("---:", "---"),
        "## Goals",
        table(["", "goal", "found", "met"], [[what, goal, found, "yes" if met else "**no**"] for what, goal, found, met in goals(measured)])
        .replace("---:", "---"),
        "![Time of one sign-in and peak memory, for each program](results.svg)"]
    parts += ["auth-apple static is what `deploy/build.sh --static-libcrypto` makes; Go and Rust have their cryptography linked in as well."]
    for place, words in places:
        parts += [
            f"## {words}: one process a request", "A person who has an account:", processes_table(measured[place]["processes"]["known"]),
            "A new person each time:", processes_table(measured[place]["processes"]["new"])]
    parts += [
        "On disk the syncs of SQLite are most of the time and fall on all alike; in memory (/dev/shm) the programs are to be seen. Go,"
        " Rust, Node and Python close their database as their users do, which copies the log back; auth-apple and C do so when"
        " the log has grown to 1 MB."]
    for place, words in places:
        parts += [f"## {words}: one process for all requests, with SQLite", loop_table(measured[place]["loop"])]
    parts += [
        "## One process for all requests, without a disk",
        f"libcrypto takes {loop['bound']['verify']:.1f} µs to verify with RSA-2048 and {loop['bound']['sign']:.1f} µs to sign with P-256 on the same"
        f" processor: {1e6 / bound:.0f} sign-ins a second at best. auth-apple with `memory:` takes {ours['median']:.1f} µs (25 %: {ours['p25']:.1f},"
        f" 75 %: {ours['p75']:.1f}): {1e6 / ours['median']:.0f} a second, {bound / ours['median']:.2f} of the bound. Peak:"
        f" {loop['loop']['peak_kib'] / 1024:.1f} MiB, with the {measured['loop_events']} sessions that it holds.",
        "## A cold key cache",
        f"With Apple's keys in the cache a process takes {cold['warm']:.2f} ms (median), without them {cold['cold']:.2f} ms: {cold['cold'] - cold['warm']:.2f} ms"
        f" more. A C program that only fetches the same keys with libcurl takes {cold['fetch']:.2f} ms. The server on loopback counted"
        f" {measured['cold']['requests']} requests on {measured['cold']['connections']} connections in {measured['cold']['runs']} runs."]
    return "\n\n".join(parts) + "\n"


def main():
    source, page_file, chart_file = sys.argv[1:]
    measured = json.loads(Path(source).read_text())
    Path(page_file).write_text(page(measured))
    place = measured["disk"]["processes"]["known"]
    Path(chart_file).write_text(chart.draw(
        "One sign-in, one process: median and 5–95 %",
        [(TITLES[name], place[name]["milliseconds"], place[name]["peak_kib"] / 1024, name in OURS)
         for name in by_median(place, "milliseconds")]))
    for what, goal, found, met in goals(measured):
        print(f"  {'met   ' if met else 'MISSED'}  {what}: {goal}; found {found}")


if __name__ == "__main__":
    main()
