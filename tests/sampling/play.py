"""A case, complete and sampled."""

import json
import random
import subprocess
import time

# Of a scenario's say-so nothing is sampled that the workload does.
ORIGINS = {"emergent", "derived"}


def events(pericore, machine):
    """Names of the machine's events that count something in a shipped scenario."""
    listed = run([pericore, "list", "--machine", machine.split(":")[0], "--json"])[0].stdout
    rows = [json.loads(line) for line in listed.splitlines()]
    # Those that need a filter, or one of their subevents, count nothing by their name alone.
    parents = {(row["unit"], row["event"]) for row in rows if row["subevent"]}
    named = [row for row in rows if not needs_filter(row) and (row["subevent"] or (row["unit"], row["event"]) not in parents)]
    good = [row for row in named if row["modelled"] and row.get("origin") in ORIGINS and row.get("counts_in")]
    return [f"{row['unit']}/{row['event']}{'.' + row['subevent'] if row['subevent'] else ''}/" for row in good]


def needs_filter(row):
    return any(filter["need"] == "required" for filter in row["filters"].values())


def play(pericore, case, files, folder, shares, options):
    """What was counted: for each number its true one and its interval."""
    base = [pericore, "stat", "-j", "--machine", case["machine"]]
    known = events(pericore, case["machine"])
    drawn = [random.Random(seed).sample(known, options.events) for seed in range(1, options.seeds + 1)]
    # A truth is known of all events, also while they take turns on the counters.
    complete = [*base, "--truth", *named(sorted(set().union(*drawn)))]
    if "workload" in case:
        share = options.workload or shares["workload"]
        what = ["--timeout", str(case["timeout"]), "--workload"]
        whole, took = run([*complete, *what, endless(case["workload"])])
        sampled = [*what, case["workload"]]
    else:
        share = options.program or shares["program"]
        trace = folder / "trace"
        command = [word if word.startswith("-") else put(word, files) for word in case["command"]]
        # A replay of the trace has the same counts.
        whole, took = run([*complete, "--save-trace", str(trace), "--", *command], code=None)
        sampled = ["--trace", str(trace)]
    true, numbers, seconds = rows(whole), [], {"whole": took, "sampled": 0.0}
    for seed, of_seed in enumerate(drawn, 1):
        given = share if "workload" in case else f"{share},seed={seed}"
        windows, took = run([*base, *named(of_seed), "--sample", given, *sampled])
        seconds["sampled"] += took / len(drawn)
        numbers += paired(true, rows(windows))
    for left in folder.glob("trace*"):
        left.unlink()
    return {"case": case, "share": share, "numbers": numbers, "seconds": seconds, "outside": options.outside}


def named(events):
    return [word for event in events for word in ("-e", event)]


def put(word, files):
    """A word of a command with the names of files filled in."""
    for name, path in files.items():
        word = word.replace("{" + name + "}", str(path))
    return word


def endless(workload):
    """The workload with more accesses than fit into its time."""
    return workload + (":" if ":" not in workload else ",") + "requests=10000000000"


def paired(complete, windows):
    """Name, true number, number, and interval, where there are all."""
    for name, row in windows.items():
        if "low" in row and complete[name].get("truth") is not None:
            yield name, complete[name]["truth"], value(row), row["low"], row["high"]


def value(row):
    return float(row.get("counter-value") or row.get("metric-value"))


def rows(completed):
    lines = [json.loads(line) for line in completed.stderr.splitlines() if line.startswith("{")]
    assert lines, completed.stderr
    return {row["event"]: row for row in lines}


def run(command, code=0):
    began = time.monotonic()
    completed = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert code is None or completed.returncode == code, completed.stderr
    return completed, time.monotonic() - began
