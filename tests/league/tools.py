"""The tools: how each is asked for memory bandwidth, what it claims to know, and how what it prints is read."""

import json
import re
from dataclasses import dataclass
from typing import Callable

from .judge import Printed

METRICS = ("MEM_READ_BANDWIDTH", "MEM_WRITE_BANDWIDTH")


@dataclass
class Tool:
    name: str
    # Debian's package, whose version is shown; without one, this project's program.
    package: str
    # What the command is called in the table.
    what: str
    # Played in the guest, with the kernel's driver, else behind the doors.
    guest: bool
    command: Callable
    read: Callable
    # Why a case is not for this tool; None if it is.
    out: Callable


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def pcm_command(case):
    if case.family == "nehalem":
        return "PCM_NO_PERF=1 pcm 1 -i=1 -csv -nc"
    return "pcm-memory 1 -i=1 -csv"


def pcm_read(text, case):
    rows = [line.split(",") for line in text.splitlines() if line.count(",") > 8]
    header = next((row for row in rows if row[0] == "Date"), None)
    data = next((row for row in rows if re.match(r"\d{4}-\d\d-\d\d", row[0])), None)
    if not header or not data:
        return Printed()
    if case.family == "nehalem":
        read, write = (_number(data[header.index(name)]) for name in ("READ", "WRITE"))
        # GB/s with two digits.
        return Printed(*(number and number * 1000 if number is not None else None for number in (read, write)), digit=6)
    at = len(header) - 1 - header[::-1].index("Read")
    # A channel that it cannot read has empty cells, and its sums leave it out.
    empty = any(name.startswith("Ch") and not cell.strip() for name, cell in zip(header, data))
    return Printed(_number(data[at]), _number(data[at + 1]), doubts=empty)


def likwid_command(case):
    # Directly (-M 0) LIKWID 5.2.2 ends on Nehalem before its first access: there its daemon counts.
    mode = 1 if case.family == "nehalem" else 0
    return f"likwid-perfctr -M {mode} -C {','.join(str(cpu) for cpu in range(case.sockets))} -g MEM -O -S 1s"


def likwid_read(text, case):
    def total(name):
        line = next((line for line in text.splitlines() if line.startswith(name)), None)
        cells = [_number(cell) for cell in line.split(",")[1:] if cell] if line else []
        return sum(cells) if cells and None not in cells else None

    # A counter that it cannot use is a dash, and its sums leave it out.
    dash = any(re.match(r"\w+,MBOX\w+,(.*,)?-(,|$)", line) for line in text.splitlines())
    return Printed(total("Memory read bandwidth [MBytes/s]"), total("Memory write bandwidth [MBytes/s]"), doubts=dash)


def pericore_command(way):
    return lambda case: f"pericore stat --through {way} -j --timeout 1000 -M {','.join(METRICS)}"


def pericore_read(text, case):
    rows = {}
    for line in text.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            rows[row["event"].split("/")[-1]] = row
    shown = [rows.get(name) for name in METRICS]
    numbers = [_number(row["metric-value"]) / 1e6 if row and _number(row["metric-value"]) is not None else None for row in shown]
    doubts = any(
        row["validity"] not in ("measured", "scaled") or row.get("instances-answering") != row.get("instances-possible") for row in rows.values()
    )
    return Printed(*numbers, doubts=doubts)


# Event and umask of reads and writes: the guides' CAS_COUNT (E5-2600: 2.5.8; Emerald Rapids: 2.4.4), SDM's UNC_QMC_NORMAL_READS and UNC_QMC_WRITES.
PERF = {
    "e5-2600": ("uncore_imc_[0-9]*", ("event=0x4,umask=0x3", "event=0x4,umask=0xc")),
    "emerald-rapids": ("uncore_imc_[0-9]*", ("event=0x5,umask=0xcf", "event=0x5,umask=0xf0")),
    "nehalem": ("uncore", ("event=0x2c,umask=0x7", "event=0x2f,umask=0x7")),
}


def perf_command(case):
    pmus, terms = PERF[case.family]
    events = " ".join(f"-e $pmu/{term},name={name}/" for term, name in zip(terms, ("reads", "writes")))
    return (
        f"words=; for pmu in $(cd /sys/bus/event_source/devices && ls -d {pmus}); do words=\"$words {events}\"; done; "
        "perf stat -x, -a --per-socket --no-merge $words sleep 1"
    )


def perf_read(text, case):
    """Counts of each PMU and socket, each over its own running time."""
    rates = {"reads": None, "writes": None}
    unread = False
    for line in text.splitlines():
        cells = line.split(",")
        if len(cells) < 7 or not re.fullmatch(r"S\d+", cells[0]):
            continue
        name = next((name for name in rates if name in cells[4]), None)
        if name is None:
            continue
        count, runtime = _number(cells[2]), _number(cells[5])
        if count is None or not runtime:
            unread = True
            continue
        rates[name] = (rates[name] or 0) + count * 64 / runtime * 1e3
    return Printed(rates["reads"], rates["writes"], doubts=unread)


def _doors_out(case):
    return None if case.doors else "for the kernel's driver"


def _pcm_out(case):
    if not case.doors:
        return _doors_out(case)
    return "PCM 202302 does not claim model 207" if case.family == "emerald-rapids" else None


def _likwid_out(case):
    if not case.doors:
        return _doors_out(case)
    return "LIKWID 5.2.2 does not claim model 207" if case.family == "emerald-rapids" else None


def _guest_out(case):
    return None if case.guest else "not played in the guest, where each case boots a kernel, or of registers that the kernel sets up anew"


TOOLS = (
    Tool("PCM", "pcm", "pcm-memory, pcm", False, pcm_command, pcm_read, _pcm_out),
    Tool("LIKWID", "likwid", "likwid-perfctr", False, likwid_command, likwid_read, _likwid_out),
    Tool("perf", "linux-perf", "perf stat", True, perf_command, perf_read, _guest_out),
    Tool("Pericore, registers", "", "pericore stat", False, pericore_command("registers"), pericore_read, _doors_out),
    Tool("Pericore, kernel", "", "pericore stat", True, pericore_command("kernel"), pericore_read, _guest_out),
)
