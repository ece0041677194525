"""judge.py FILE: what containers in the guest printed (inside.sh), against perf's counts there."""

import json
import pathlib
import re
import sys

#: CAP_PERFMON is the capability of number 38 (linux/capability.h).
PERFMON = 1 << 38
text = pathlib.Path(sys.argv[1]).read_text()
parts = {name: body for name, body in re.findall(r"^@@ (\w+)\n(.*?)(?=^@@|\Z)", text, re.MULTILINE | re.DOTALL)}


def fail(what):
    raise SystemExit(f"guest: {what}:\n{text}")


def rate_of_perf():
    """Reads of memory for each second of the guest."""
    found = re.search(r"^(\d+),,uncore_imc/", parts["perf"], re.MULTILINE), re.search(r"^(\d+),ns,duration_time,", parts["perf"], re.MULTILINE)
    if None in found:
        fail("perf counts nothing")
    reads, nanoseconds = (int(match.group(1)) for match in found)
    return reads / (nanoseconds / 1e9)


def status(name):
    return re.search(r"^status (\d+)$", parts[name], re.MULTILINE).group(1)


def figures(name):
    return [json.loads(line) for line in parts[name].splitlines() if line.startswith("{")]


[row] = figures("stat")
if status("stat") != "0" or row["validity"] != "measured" or row["through"] != "kernel":
    fail("the image does not count with CAP_PERFMON alone")
rate = float(row["counter-value"]) / (float(row["event-runtime"]) / 1e9)
if not 0.8 < rate / rate_of_perf() < 1.25:
    fail(f"the image counts {rate:.3g} reads a second, perf {rate_of_perf():.3g}")
# Without the capability, and where the filter of system calls refuses what the capability allows, no number comes out.
for name in ["old", "bare"]:
    if status(name) == "0" or figures(name):
        fail(f"the container {name} should have been refused")
rights = dict(re.findall(r"^(Cap\w+):\t([0-9a-f]+)$", parts["serve"], re.MULTILINE))
if int(rights["CapBnd"], 16) != PERFMON or int(rights["CapPrm"], 16) & ~PERFMON:
    fail(f"the container of the manifest has other rights: {rights}")
served = re.findall(r'^pericore_events_total\{event="imc/CAS_COUNT.RD/".*\} (\S+)$', parts["serve"], re.MULTILINE)
if not served or not all(float(value) > 0 for value in served):
    fail("the container of the manifest serves no counts")
print(f"guest: the image counts {rate:.3g} reads a second with CAP_PERFMON alone, perf {rate_of_perf():.3g}: fine")
