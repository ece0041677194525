"""One build for each fault, by cargo-mutants itself: for the few faults of a change."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from faults import cargo_mutants, named
from report import CAUGHT, LATE, MISSED, UNVIABLE
from tree import TREE, WORK

# Faults that cargo-mutants gets at once: small enough to stop close to the sample's size.
BATCH = 20
KINDS = {"CaughtMutant": CAUGHT, "Timeout": LATE, "MissedMutant": MISSED, "Unviable": UNVIABLE}


def run(campaign, deadline):
    start = time.monotonic()
    rest = list(campaign.faults)
    while rest and campaign.viable() < campaign.sample and (deadline is None or time.monotonic() < deadline):
        size = min(BATCH, campaign.sample - campaign.viable())
        batch, rest = rest[:size], rest[size:]
        run_batch(campaign, batch, deadline, is_first=not campaign.results)
    campaign.seconds = time.monotonic() - start


def run_batch(campaign, batch, deadline, is_first):
    area = campaign.area
    out = WORK / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    # Matched against the names as listed.
    names = "^(?:" + "|".join(re.escape(fault.name) for fault in batch) + ")$"
    words = ["--in-place", "--no-times", "--output", str(out), *named("--package", area), "--re", names]
    words += ["--timeout", str(area.get("timeout", 20)), "--build-timeout", "900", "--profile", "mutants"]
    words += named("--test-package", area)
    words += [] if is_first else ["--baseline", "skip"]
    words += ["--", *area["arguments"]] if "arguments" in area else []
    # In a process group of its own: at the end of the time it is interrupted, and ends the tests that it runs.
    command = subprocess.Popen(
        cargo_mutants(TREE, *words), cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    interrupted = False
    try:
        said, _ = command.communicate(timeout=deadline and max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        said, interrupted = end(command), True
    except KeyboardInterrupt:
        end(command)
        raise
    results = read_results(out / "mutants.out/outcomes.json")
    if is_first and not interrupted and results.get("baseline", "Success") != "Success":
        print(said)
        print((out / "mutants.out/log/baseline.log").read_text()[-4000:])
        sys.exit(2)
    if command.returncode == 1 and not interrupted:
        sys.exit(f"cargo-mutants refuses: {said}")
    by_name = {fault.name: fault for fault in batch}
    campaign.results.update({by_name[name]: KINDS[kind] for name, kind in results.items() if name in by_name})
    done, missed = len(campaign.results), len(campaign.of(MISSED))
    print(f"   {campaign.name}: {done} tested, {campaign.viable()} viable, {missed} missed", file=sys.stderr, flush=True)


def end(command):
    os.killpg(command.pid, signal.SIGINT)
    try:
        return command.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)
        return command.communicate()[0]


def read_results(path):
    """What became of each fault, by name."""
    if not path.exists():
        return {}
    results = {}
    for outcome in json.loads(path.read_text())["outcomes"]:
        scenario = outcome["scenario"]
        results["baseline" if scenario == "Baseline" else scenario["Mutant"]["name"]] = outcome["summary"]
    return results
