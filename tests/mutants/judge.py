"""Runs tests, each in a process of its own: once without a fault, to see which places it reaches, and then for each fault the tests that reach it."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from report import CAUGHT, LATE, MISSED
from schemata import PLACES
from tree import TREE, WORK

# A fault may make a test take all memory there is, or all of the disk.
MEMORY = 4 << 30
FILE = 1 << 30
# A test is late when it takes longer than it did, with room for what else the machine does.
LATE_FACTOR, LATE_SECONDS = 5, 20


@dataclass(eq=False)
class Test:
    """A test of a program, how long it takes, and the places that it reaches."""

    program: Path
    package: str
    folder: Path
    name: str
    seconds: float = 0.0
    reached: set = field(default_factory=set)

    def key(self):
        return f"{self.program} {self.program.stat().st_mtime_ns} {self.name}"

    def run(self, timeout, **variables):
        """Whether it passes; None if it takes too long."""
        environment = {**os.environ, **VARIABLES, "CARGO_MANIFEST_DIR": str(self.folder), **variables}
        command = subprocess.Popen(
            [self.program, "--exact", self.name, "--test-threads", "1"], cwd=self.folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
        )
        try:
            return command.wait(timeout) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(command.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            command.wait()


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def variables():
    """What cargo sets for tests by the project's configuration."""
    settings = tomllib.loads((TREE / ".cargo/config.toml").read_text())
    return {name: value for name, value in settings.get("env", {}).items() if isinstance(value, str)}


VARIABLES = {}


def tests_of(programs, judges):
    """The tests of the programs that some judge names, `PACKAGE` or `PACKAGE:PATTERN`."""
    VARIABLES.update(variables())
    found = []
    for program in programs:
        folder = Path(program["manifest_path"]).parent
        package = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]
        patterns = [judge.partition(":")[2] or "*" for judge in judges if judge.partition(":")[0] == package]
        if not patterns or "bench" in program["target"]["kind"]:
            continue
        names, ignored = listed(program["executable"], folder), set(listed(program["executable"], folder, "--ignored"))
        for name in names:
            if name not in ignored and any(fnmatchcase(name, pattern) for pattern in patterns):
                found.append(Test(Path(program["executable"]), package, folder, name))
    return found


def listed(program, folder, *words):
    run = subprocess.run([program, "--list", "--format", "terse", *words], cwd=folder, capture_output=True, text=True, check=True)
    return [line.removesuffix(": test") for line in run.stdout.splitlines() if line.endswith(": test")]


def workers():
    return ThreadPoolExecutor(os.cpu_count() or 1)


def record(tests, slowest):
    """Runs each test without a fault. Those that fail or take too long judge nothing; they are returned. What passed in these very programs is not run again."""
    folder = WORK / "reached"
    folder.mkdir(exist_ok=True)
    memory = WORK / "reached.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}

    def one(numbered):
        number, test = numbered
        if row := known.get(test.key()):
            test.seconds, test.reached = row[0], set(row[1])
            return True
        file = folder / str(number)
        file.write_bytes(bytes(PLACES))
        start = time.monotonic()
        passed = test.run(slowest, PERICORE_FAULT="0", PERICORE_REACHED=str(file))
        test.seconds = time.monotonic() - start
        test.reached = {place for place, byte in enumerate(file.read_bytes()) if byte}
        file.unlink()
        return passed

    with workers() as pool:
        outcomes = list(pool.map(one, enumerate(tests)))
    passed = {test.key(): [test.seconds, sorted(test.reached)] for test, passed in zip(tests, outcomes) if passed}
    memory.write_text(json.dumps({**known, **passed}))
    return [(test, passed) for test, passed in zip(tests, outcomes) if not passed]


def judge(campaign, build, tests, deadline):
    """Plants the faults of a campaign one by one, until its sample is full."""
    start = time.monotonic()
    patience = campaign.area.get("patience", 120)
    left = []
    for fault in campaign.faults:
        if fault in build.dropped:
            left.append((fault, None))
        elif fault in build.numbers:
            left.append((fault, build.numbers[fault]))

    def one(row):
        fault, number = row
        if number is None:
            return build.dropped[fault], None
        if deadline is not None and time.monotonic() > deadline:
            return None, None
        place = build.site_of[number]
        reaching = sorted((test for test in tests if place in test.reached), key=lambda test: test.seconds)
        spent = 0.0
        for test in reaching:
            spent += test.seconds
            if spent > patience and test is not reaching[0]:
                break
            passed = test.run(LATE_SECONDS + LATE_FACTOR * test.seconds, PERICORE_FAULT=str(number))
            if not passed:
                return (LATE if passed is None else CAUGHT), test
        return MISSED, bool(reaching)

    # Only as many as the sample wants.
    taken, viable = [], 0
    for row in left:
        if viable < campaign.sample:
            taken.append(row)
            viable += row[1] is not None
    with workers() as pool:
        for done, ((fault, _), (kind, by)) in enumerate(zip(taken, pool.map(one, taken)), start=1):
            if kind is None:
                continue
            campaign.results[fault] = kind
            if kind == MISSED and not by:
                campaign.unreached.add(fault)
            if kind == MISSED:
                print(f"   missed: {fault.name}", file=sys.stderr, flush=True)
            campaign.seconds = time.monotonic() - start
            if done % 25 == 0 or done == len(taken):
                missed = len(campaign.of(MISSED))
                print(f"   {campaign.name}: {done} of {len(taken)}, {missed} missed, {campaign.seconds:.0f} s", file=sys.stderr, flush=True)
