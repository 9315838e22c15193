"""Removes each guard of guards.py and demands that a test fails.

    python3 Tests/Guards/run.py check            every guard is found, and the table in Tests/README.md has it and its test
    python3 Tests/Guards/run.py [PART/PARTS]     remove them all, or one part of them; each must make its test fail
    python3 Tests/Guards/run.py table            the same, and write the table: where it has no test, all of the room are asked

All mutants are compiled into one copy of the package, in which the environment chooses the one that lives. So a run costs one
build, and about a second a guard.
"""

import os
import pathlib
import re
import subprocess
import sys
import threading

from guards import GUARDS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY = ROOT / ".build/guards"
README = ROOT / "Tests/README.md"
BEGIN, END = "<!-- guards: written by Tests/Guards/run.py table -->", "<!-- end of guards -->"

# By the room of the guard. Tests of many processes and of TLS are left out: they would take most of the time.
TESTS = {
    "JOSE": r"(JOSE|AppleID)Tests\.",
    "AppleID": r"AppleIDTests\.",
    "KeyCache": r"KeyCacheTests\.(KeyCache|KeyFile|KeyRecord|RefreshPolicy|Freshness)Tests/",
    "Accounts": r"AccountsTests\.",
    "AuthFunction": r"AuthFunctionTests\.Web",
}

MUTANT = """internal import Glibc

private let number = unsafe getenv("AUTH_APPLE_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0

func mutant(_ other: Int) -> Bool { number == other }
"""


class Guard:
    def __init__(self, number, file, name, place, replacement, tests=None):
        self.number, self.file, self.name, self.replacement = number, file, name, replacement
        self.before, self.original, self.after = re.split("[«»‹›]", place)
        self.is_statement = "‹" in place
        self.text = self.before + self.original + self.after
        room = file.split("/")[1]
        self.tests = tests or TESTS[room]

    def mutated(self):
        if self.is_statement:
            return f"if mutant({self.number}) {{ {self.replacement} }} else {{ {self.original} }}"
        return f"(mutant({self.number}) ? {self.replacement} : {self.original})"


def guards():
    number = 0
    for file, entries in GUARDS.items():
        for entry in entries:
            number += 1
            yield Guard(number, file, *entry)


def fail(message):
    sys.exit(f"guards: {message}")


def missing():
    for guard in guards():
        count = (ROOT / guard.file).read_text().count(guard.text)
        if count != 1:
            yield f"{guard.file}: «{guard.name}» is found {count} times, not once"


def table():
    """The test of each guard, by its name and file, as the table has it."""
    rows = {}
    text = README.read_text() if README.exists() else ""
    for line in text.partition(BEGIN)[2].partition(END)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[1].startswith("`"):
            rows[(cells[1].strip("`"), cells[0])] = cells[2]
    return rows


def check():
    problems = list(missing())
    rows = table()
    sources = "\n".join(file.read_text() for file in (ROOT / "Tests").rglob("*Tests.swift"))
    for guard in guards():
        test = rows.pop((guard.file.removeprefix("Sources/"), guard.name), None)
        if test is None:
            problems.append(f"Tests/README.md has no row for «{guard.name}»")
        elif not re.search(rf"@Test\b(?:(?!@Test|func ).)*func `?{re.escape(test)}`?\s*\(", sources, re.DOTALL):
            problems.append(f"Tests/README.md: there is no test «{test}»")
    problems += [f"Tests/README.md has a row for «{name}», which is no guard" for _, name in rows]
    if problems:
        fail("\n".join(problems))
    print(f"guards: {sum(1 for _ in guards())} are found, and each has its test")


def build():
    """A copy of the package with every mutant in it, and only the tests that may be asked."""
    if problems := list(missing()):
        fail("\n".join(problems))
    tree = COPY / "tree"
    files = {}
    for folder in ["Sources", "Tests"]:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "Corpus" not in path.parts:
                files[str(path.relative_to(ROOT))] = path.read_bytes()
    manifest = (ROOT / "Package.swift").read_text()
    for unused in ["Integration", "Linkage", "CurlHTTP", "OpenSSLCrypto", "UserStores", "Xid", "Fuzz"]:
        manifest = re.sub(rf'\n        tests\(\s*"{unused}".*?\]\),', "", manifest, flags=re.DOTALL)
    files["Package.swift"] = manifest.encode()
    COPY.mkdir(parents=True, exist_ok=True)
    if (vectors := ROOT.parent / "shared").exists():
        (COPY / "shared").unlink(missing_ok=True)
        (COPY / "shared").symlink_to(vectors)
    places = {}
    for guard in guards():
        start = files[guard.file].index(guard.text.encode()) + len(guard.before.encode())
        places.setdefault((guard.file, start, start + len(guard.original.encode())), []).append(guard)
    # From the end of each file to its beginning, so that no place moves before its turn.
    following = {}
    for (file, start, end), here in sorted(places.items(), key=lambda place: place[0][1], reverse=True):
        if end > following.get(file, end):
            fail(f"{file}: «{here[0].name}» encloses another guard")
        following[file] = start
        original = here[0].original
        for guard in here:
            guard.original, original = original, guard.original
            original = guard.mutated()
        files[file] = files[file][:start] + original.encode() + files[file][end:]
    for room in {guard.file.split("/")[1] for guard in guards()}:
        files[f"Sources/{room}/Mutant.swift"] = MUTANT.encode()
    # What has not changed is not written, so that it is not compiled again.
    for path in [path for path in tree.rglob("*") if path.is_file() and str(path.relative_to(tree)) not in files]:
        path.unlink()
    for name, content in files.items():
        path = tree / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)
    done = subprocess.run(
        ["swift", "build", "--build-tests", "--package-path", tree, "--scratch-path", COPY / "build"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        fail("the mutants do not compile:\n" + "\n".join(re.findall(".*error:.*", done.stdout)))


def failing_test(number, tests):
    """The name of the first test that fails; None when all pass."""
    failed, running = outcome(number, tests)
    if failed is not None or running is None:
        return failed
    # A test that brings the process down, or that never ends, is one of those that had begun: the one that does so alone.
    for name in running:
        failed, others = outcome(number, re.escape(name))
        if failed is not None or others is not None:
            return failed or name
    return ""


def outcome(number, tests):
    """The name of the first test that fails, or of a run that did not end those that had begun."""
    program = COPY / "build/debug/auth-applePackageTests.xctest"
    process = subprocess.Popen(
        [program, "--testing-library", "swift-testing", "--filter", tests], cwd=COPY / "tree",
        env={**os.environ, "AUTH_APPLE_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    limit = threading.Timer(120, process.kill)
    limit.start()
    running, ended, failed = {}, "", None
    try:
        for line in process.stdout:
            line = re.sub(r"\x1b\[[0-9;]*m", "", line)
            line = re.sub(r'"? with \d+ test cases?', "", line)
            if "Test run " in line:
                ended = line if "passed" in line else ""
            elif found := re.match(r"◇ Test (?:case passing .* to )?\"?(.+?)\"?(?:\([^()]*\))? started", line):
                running[found[1]] = True
            elif found := re.match(r"✔ Test \"?(.+?)\"?(?:\([^()]*\))? (?:with .*)?passed", line):
                running.pop(found[1], None)
            elif found := re.match(r"✘ Test \"?(.+?)\"?(?:\([^()]*\))? (?:recorded an issue|failed after)", line):
                failed = found[1]
                process.kill()
    finally:
        process.kill()
        process.wait()
        limit.cancel()
    if failed is None and ended:
        if "with 0 tests" in ended:
            fail(f"no test is named {tests}")
        return None, None
    return failed, None if failed is not None else list(running)


def run(part=None, writes=False):
    build()
    rows = table()
    chosen = list(guards())
    if part:
        index, count = map(int, part.split("/"))
        chosen = [guard for guard in chosen if guard.number % count == index % count]
    # What fails by itself holds nothing.
    for tests in sorted({guard.tests for guard in chosen}):
        if (failed := failing_test(0, tests)) is not None:
            fail(f"without any mutant these fail: {failed}")
    survivors = []
    for guard in chosen:
        test = rows.get((guard.file.removeprefix("Sources/"), guard.name))
        failed = failing_test(guard.number, re.escape(test)) if test else None
        if failed is None and (writes or not test):
            failed = failing_test(guard.number, guard.tests)
        print(f"{guard.file.removeprefix('Sources/')}: {guard.name}: {'SURVIVES' if failed is None else failed}", flush=True)
        if failed is None:
            survivors.append(guard.name)
        elif writes:
            rows[(guard.file.removeprefix("Sources/"), guard.name)] = failed
    if writes:
        write(rows)
    if survivors:
        fail(f"{len(survivors)} of {len(chosen)} survive: {', '.join(survivors)}")
    print(f"guards: {len(chosen)} removed, one after the other, and a test failed each time")


def write(rows):
    lines = ["| guard | file | held by |", "|---|---|---|"]
    for guard in guards():
        file = guard.file.removeprefix("Sources/")
        lines.append(f"| {guard.name} | `{file}` | {rows.get((file, guard.name), '')} |")
    head, _, rest = README.read_text().partition(BEGIN)
    README.write_text(head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.partition(END)[2])


match sys.argv[1:]:
    case ["check"]: check()
    case ["table"]: run(writes=True)
    case [] : run()
    case [part] if re.fullmatch(r"\d+/\d+", part): run(part)
    case _: sys.exit(__doc__)
