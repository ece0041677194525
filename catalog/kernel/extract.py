#!/usr/bin/env python3
"""Writes the tables of events and metrics in this folder from Intel's public files.

    catalog/kernel/extract.py PERFMON [FAMILY …]

PERFMON is a copy of github.com/intel/perfmon. Facts only: names, codes, masks, counters, filters, formulas. README.md has the format.
"""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "events"
METRICS = Path(__file__).parent / "metrics"

# Families with registers have metrics of their own: of Intel's they take those that need the cores.
OWN_METRICS = ("jkt", "spr", "emr")

# Hardware threads of cores: what metrics need, and what every family has.
CORES = "cpu"
EVERYWHERE = (
    "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.CORE", "CPU_CLK_UNHALTED.REF_TSC",
    "LONGEST_LAT_CACHE.MISS", "LONGEST_LAT_CACHE.REFERENCE",
)  # fmt: skip

# Code and umask by which the kernel gives an event a fixed counter (FIXED_EVENT_CONSTRAINT in core.c).
FIXED = {
    "INST_RETIRED.ANY": (0xC0, 0), "CPU_CLK_UNHALTED.THREAD": (0x3C, 0), "CPU_CLK_UNHALTED.CORE": (0x3C, 0),
    "CPU_CLK_UNHALTED.REF_TSC": (0x00, 3), "TOPDOWN.SLOTS": (0x00, 4), "CPU_CLK_UNHALTED.THREAD_ANY": (0x3C, 0),
}  # fmt: skip

# Shares of the slots, which the hardware keeps in MSR PERF_METRICS: umasks of the kernel's event 0 (`events/topdown-*`).
PERF_METRICS = (
    "RETIRING", "BAD_SPECULATION", "FRONTEND_BOUND", "BACKEND_BOUND", "HEAVY_OPERATIONS", "BRANCH_MISPREDICTS",
    "FETCH_LATENCY", "MEMORY_BOUND",
)  # fmt: skip

# MSRs of an event's details, and the kernel's field for each.
DETAILS = {0x1A6: "offcore_rsp", 0x1A7: "offcore_rsp", 0x3F6: "ldlat", 0x3F7: "frontend"}

# Behind an event's name in a formula, what can be counted.
MODIFIERS = re.compile(r"one_unit|perf_metrics|SUP|sup|USER|[cei]\d+|(opc|filter1|ocr_msr_val)=\w+|u0x\w+")

# What formulas call the number of hardware threads.
CPU_COUNT = ("system.sockets[0].cpus.count * system.socket_count", "CPU_COUNT")

# Family: Intel's folder, and the family that most rows are shared with.
FAMILIES = {
    "jkt": ("JKT", None),
    "ivt": ("IVT", None),
    "hsx": ("HSX", None),
    "bdx": ("BDX", "hsx"),
    "bdw-de": ("BDW-DE", "bdx"),
    "knl": ("KNL", None),
    "skx": ("SKX", None),
    "clx": ("CLX", "skx"),
    "icx": ("ICX", None),
    "snr": ("SNR", "icx"),
    "spr": ("SPR", None),
    "emr": ("EMR", "spr"),
    "gnr": ("GNR", None),
    "srf": ("SRF", "gnr"),
    "grr": ("GRR", "srf"),
    "cwf": ("CWF", "srf"),
}

# Units whose name is not Intel's in lower case.
UNITS = {"QPI LL": "qpi", "UPI LL": "upi"}

# How the names of a unit's events begin.
PREFIXES = {
    "cbo": "UNC_C_", "ha": "UNC_H_", "imc": "UNC_M_", "imc_free_running": "UNC_M_", "irp": "UNC_I_", "pcu": "UNC_P_",
    "r2pcie": "UNC_R2_", "r3qpi": "UNC_R3_", "qpi": "UNC_Q_", "sbo": "UNC_S_", "ubox": "UNC_U_", "m2pcie": "UNC_M2P_",
    "iio_free_running": "UNC_IIO_", "edc_uclk": "UNC_E_", "edc_eclk": "UNC_E_", "imc_dclk": "UNC_M_", "imc_uclk": "UNC_M_",
}  # fmt: skip
KNIGHTS_LANDING = {"cha": "UNC_H_"}

# Filters by what Intel's column says: fields of the unit's layout, or a group of them.
FILTERS = {
    r"cbofilter\[31:23\]|cbofilter1\[28:20\]": "opc",
    r"cbofilter\[17:10\]|cbofilter1\[(15:0|17:10)\]": "nid",
    r"cbofilter\[22:18\]|cbofilter0\[(23:17|22:18)\]|chafilter0\[26:17\]": "state",
    r"chafilter0\[12:0\]": "tid",
    r"(cha)?filter1(\[31:0\])?": "filter1",
    r"pcufilter\[7:0\]": "band0",
    r"pcufilter\[15:8\]": "band1",
    r"pcufilter\[23:16\]": "band2",
    r"pcufilter\[31:24\]": "band3",
    r"qpi(match|mask)\d\[.*\]": "match",
    r"ha_addrmatch\d\[.*\]": "addr",
    r"ha_opcodematch\[.*\]": "ha_opc",
    r"uboxfilter\[3:0\]": "ubox_filter",
    r"irpfilter\[4:0\]": "irp_filter",
    r"fc|chnl|ctrctrl\[55:32\]|na|null": None,  # fields of the control register
}


def number(row, key):
    text = str(row.get(key) or "0").split(",")[0].strip()
    return int(text, 0) if text else 0


def filters(row):
    found = []
    for text in (row.get("Filter") or "na").lower().split(","):
        names = [name for pattern, name in FILTERS.items() if re.fullmatch(pattern, text.strip())]
        if not names:
            raise SystemExit(f"{row['EventName']}: the filter {text!r} is unknown; add it to FILTERS")
        if names[0] and names[0] not in found:
            found.append(names[0])
    return ",".join(found)


def counters(numbers):
    """0-3 for 0,1,2,3."""
    numbers = sorted(numbers)
    return f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0])


def fact(row, family):
    """Unit, event, subevent, and what selects it: code, counters, and the rest as the table has it."""
    unit = UNITS.get(row["Unit"], row["Unit"].lower())
    code, umask = number(row, "EventCode") | number(row, "ExtSel") << 8, number(row, "UMask")
    extension, port, fc = number(row, "UMaskExt"), number(row, "PortMask"), number(row, "FCMask")
    numbers = [int(text) for text in re.findall(r"\d+", row["Counter"])]
    driver = True
    if row.get("CounterType") == "FREERUN":
        # Linux: event 0xff; the umask is the kind of counter from 0x10 on, and its number.
        unit += "_free_running"
        place, numbers = numbers[0], []
        kind, member = (0, 0) if unit != "iio_free_running" or place == 0 else (1 + (place - 1) // 8, (place - 1) % 8)
        code, umask, extension = 0xFF, (kind + 1) << 4 | member, 0
        # Ice Lake's and Snow Ridge's drivers have no outbound bandwidth.
        driver = kind < 2 or family in ("spr", "emr")
    elif row["Counter"] == "FIXED":
        code, umask, numbers = 0xFF, 0, []  # Linux: event 0xff
    elif port or fc:
        # Here Intel repeats both masks in the extension, as the control register has them from bit 32 on.
        extension = 0
    text = f"{umask:02x}" + (f"+{extension:x}" if extension else "")
    text += f" p{port:x}" if port else ""
    text += f" f{fc:x}" if fc else ""
    text += f" v{number(row, 'FILTER_VALUE'):x}" if number(row, "FILTER_VALUE") else ""
    text += f" F{filters(row)}" if filters(row) else ""
    text += " d" if row.get("Deprecated") == "1" else ""
    text += "" if driver else " n"
    name, prefix = row["EventName"], prefix_of(unit, family)
    name = name.removeprefix(prefix) if name.startswith(prefix) else "*" + name
    event, _, subevent = name.partition(".")
    return (unit, event, subevent or None), (f"{code:02x}", counters(numbers) if numbers else "-", text)


def core_fact(row):
    """The same of an event of the cores. Codes differ below one name, so that a name is not split."""
    name, umask, settings = row["EventName"], number(row, "UMask"), {}
    if name in FIXED:
        code, umask = FIXED[name]
        on = "-"
    elif re.fullmatch(r"[\d, ]+", row["Counter"]):
        code, on = number(row, "EventCode"), counters([int(text) for text in re.findall(r"\d+", row["Counter"])])
    else:
        raise SystemExit(f"{name} has {row['Counter']!r}; add it to FIXED")
    flags = {"edge": "EdgeDetect", "inv": "Invert", "cmask": "CounterMask", "any": "AnyThread"}
    settings = {field: number(row, key) for field, key in flags.items()}
    if number(row, "MSRValue"):
        settings[DETAILS[number(row, "MSRIndex")]] = number(row, "MSRValue")
    text = f"{umask:02x}" + "".join(f" {field}={value:x}" for field, value in settings.items() if value)
    text += " d" if row.get("Deprecated") == "1" else ""
    return (CORES, name, None), (f"{code:02x}", on, text)


def core_events(perfmon, family):
    """Rows of the events of the cores that the family's metrics need, and those that every family has."""
    folder, wanted = perfmon / FAMILIES[family][0], set(EVERYWHERE)
    for path in (folder / "metrics").glob("*_metrics.json"):
        for metric in json.loads(path.read_text())["Metrics"]:
            wanted.update(event["Name"].split(":")[0] for event in metric["Events"])
    rows = {}
    for umask, name in enumerate(PERF_METRICS, 0x80):
        if f"PERF_METRICS.{name}" in wanted:
            rows[CORES, f"PERF_METRICS.{name}", None] = ("00", "-", f"{umask:02x}")
    for path in sorted((folder / "events").glob("*_core.json")):
        document = json.loads(path.read_text())
        yield f"file {path.name} {document['Header']['Version']} {document['Header']['DatePublished']}"
        rows.update(core_fact(row) for row in document["Events"] if row["EventName"] in wanted)
    yield rows


def prefix_of(unit, family):
    if unit == CORES:
        return ""
    known = KNIGHTS_LANDING if family == "knl" else {}
    return known.get(unit) or PREFIXES.get(unit) or f"UNC_{unit.upper()}_"


def read(perfmon, family):
    """The family's rows by name, and a line about each file."""
    rows, files = {}, []
    for path in sorted((perfmon / FAMILIES[family][0] / "events").glob("*uncore*.json")):
        document = json.loads(path.read_text())
        header = document["Header"]
        files.append(f"file {path.name} {header['Version']} {header['DatePublished']}")
        for row in document["Events"]:
            key, value = fact(row, family)
            if rows.setdefault(key, value) != value:
                raise SystemExit(f"{path}: two rows of {row['EventName']} differ")
    *of_cores, core_rows = core_events(perfmon, family)
    return rows | core_rows, files + of_cores


def removed(base, rows):
    """What `base` has and `rows` do not: whole units (unit, None, None), whole events (unit, event, "*"), single rows."""
    units, events = {key[0] for key in rows if key[0] != CORES or not renews_cores(base, rows)}, {key[:2] for key in rows}
    for unit, event, subevent in base:
        if unit not in units:
            yield unit, None, None
        elif (unit, event) not in events:
            yield unit, event, "*"
        elif (unit, event, subevent) not in rows:
            yield unit, event, subevent


def renews_cores(base, rows):
    """True if the cores differ: then their rows are written as a whole."""
    return any(base.get(key) != rows.get(key) for key in base.keys() | rows.keys() if key[0] == CORES)


def table(family, rows, files, like, base):
    """The lines of a table: all rows, or what differs from `base`."""
    lines = ["# Facts of Intel's public event files (BSD-3-Clause, see README.md), written by extract.py: do not edit.", *files]
    lines += [f"like {like}"] if like else []
    lines += [f"rows {len(rows)}"]
    renews = renews_cores(base, rows)
    gone = {key: None for key in removed(base, rows)}
    changed = {key: value for key, value in rows.items() if base.get(key) != value or (key[0] == CORES and renews)}
    unit = event = None
    order = lambda item: (item[0][0], item[0][1] or "", item[0][2] or "")  # noqa: E731
    for key, value in sorted({**gone, **changed}.items(), key=order):
        if key[1] is None:
            lines.append(f"-unit {key[0]}")
            continue
        if key[0] != unit:
            unit, event = key[0], None
            lines.append(f"unit {unit} {prefix_of(unit, family)}".rstrip())
        if value is None:
            lines.append(f"-{key[1]}" + (f".{key[2]}" if key[2] else ""))
            event = None
            continue
        code, on, text = value
        if key[2] is None:
            lines.append(f"{key[1]} {code} {on} ={text}")
            event = None
            continue
        if event != (key[1], code, on):
            event = (key[1], code, on)
            lines.append(f"{key[1]} {code} {on}")
        lines.append(f" {key[2]} {text}")
    return "\n".join(lines) + "\n"


def metrics(perfmon, family):
    """The lines of a table of metrics. Those of the top-down analysis of cores are left to Intel's own file (`--events`)."""
    events = {key[1] for key in core_events_of(perfmon, family)} | {"TSC"}
    lines = []
    for path in sorted((perfmon / FAMILIES[family][0] / "metrics").glob("*_metrics.json")):
        # The file of parts with memory on the package repeats the other.
        if "hbm" in path.name:
            continue
        document = json.loads(path.read_text())
        header = document["Header"]
        lines.append(f"file {path.name} {header['Version']} {header['DatePublished']}")
        for row in document["Metrics"]:
            pairs = [(of["Alias"], of["Name"]) for of in row["Events"]]
            names = [name for _, name in pairs]
            of_cores = not all(name.startswith("UNC_") for name in names)
            # An index chooses one socket's count, which no sum over sockets has.
            if not names or "[" in row["Formula"] or (of_cores and row["Category"] == "TMA"):
                continue
            if family in OWN_METRICS and not of_cores or not all(is_countable(name, events) for name in names):
                continue
            constants = [(of["Alias"], of["Name"].replace(*CPU_COUNT)) for of in row["Constants"]]
            formula = re.sub(r"\s+", " ", row["Formula"]).strip()
            columns = [row["MetricName"], row["UnitOfMeasure"], formula]
            columns += [" ".join(f"{letter}={name}" for letter, name in of) for of in (pairs, constants)]
            lines.append(" | ".join(columns).rstrip())
    head = "# Facts of Intel's public metric files (BSD-3-Clause, see README.md), written by extract.py: do not edit."
    return "\n".join([head, *lines]) + "\n" if lines else None


def core_events_of(perfmon, family):
    return [*core_events(perfmon, family)][-1]


def is_countable(name, events):
    bare, *modifiers = name.split(":")
    return (bare.startswith("UNC_") or bare in events) and all(MODIFIERS.fullmatch(modifier) for modifier in modifiers)


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    perfmon, wanted = Path(sys.argv[1]), sys.argv[2:] or FAMILIES
    for family in wanted:
        like = FAMILIES[family][1]
        base = read(perfmon, like)[0] if like else {}
        rows, files = read(perfmon, family)
        (FOLDER / f"{family}.events").write_text(table(family, rows, files, like, base))
        found = metrics(perfmon, family)
        if found:
            (METRICS / f"{family}.metrics").write_text(found)


if __name__ == "__main__":
    main()
