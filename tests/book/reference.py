"""Pages of the catalogue: what `pericore list` prints of each family, as tables."""

import json
import subprocess
from pathlib import Path

FAMILIES = Path(__file__).parent.parent.parent / "catalog" / "kernel" / "families"


def write(pericore, folder):
    """Writes a folder for each family and a page for each unit, and gives the lines of the summary."""
    chapters = []
    for family in families():
        rows = {kind: listed(pericore, family, kind) for kind in ("events", "metrics", "registers")}
        units = pages(rows)
        of_family = folder / family
        of_family.mkdir(parents=True)
        (of_family / "index.md").write_text(front(family, units))
        chapters.append(f"- [{family}](reference/{family}/index.md)")
        for unit, found in units.items():
            (of_family / f"{unit}.md").write_text(page(family, unit, found))
            chapters.append(f"  - [{unit}](reference/{family}/{unit}.md)")
    return chapters


def families():
    """The first line of a family's file that is no comment: `family NAME ALIAS…`."""
    names = []
    for file in FAMILIES.glob("*.family"):
        names += [line.split()[1] for line in file.read_text().splitlines() if line.startswith("family ")]
    return sorted(names)


def listed(pericore, family, kind):
    options = [] if kind == "events" else [f"--{kind}"]
    run = subprocess.run([pericore, "list", "--machine", family, "--json", *options], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"pericore list --machine {family} --json {' '.join(options)}: {run.stderr}")
    rows = with_sources([json.loads(line) for line in run.stdout.splitlines()])
    if bare := incomplete(rows, kind):
        raise SystemExit(f"{family}: {len(bare)} {kind} lack one of {', '.join(NEEDED[kind])}, such as {bare[0]}")
    return rows


#: What each row of a kind says: where it is from, and in which unit or of how many bits it is.
NEEDED = {
    # Families that the kernel alone counts have the names of events from Intel's files, and no words.
    "events": ["source", "counters"],
    "metrics": ["source", "description", "unit_of_measure"],
    "registers": ["source", "width"],
}


def with_sources(rows):
    """A subevent that names no source has that of its event."""
    of_event = {(row["unit"], row.get("event")): row["source"] for row in rows if row["source"]}
    return [{**row, "source": row["source"] or of_event.get((row["unit"], row.get("event")), "")} for row in rows]


def incomplete(rows, kind):
    return [row for row in rows if any(row.get(key) in (None, "") for key in NEEDED[kind])]


def pages(rows):
    """Units in the order in which they are listed, each with its rows by kind."""
    units = {}
    for kind, found in rows.items():
        for row in found:
            units.setdefault(row["unit"], {}).setdefault(kind, []).append(row)
    return units


def front(family, units):
    lines = [f"# {family}", "", "| unit | events | subevents | metrics | registers of an instance |", "|---|---|---|---|---|"]
    for unit, rows in units.items():
        events = rows.get("events", [])
        names = {row["event"] for row in events}
        subevents = sum(row["subevent"] is not None for row in events)
        of_one = one_instance(rows.get("registers", []))
        lines.append(f"| [{unit}]({unit}.md) | {len(names)} | {subevents} | {len(rows.get('metrics', []))} | {len(of_one)} |")
    return "\n".join(lines) + "\n"


def page(family, unit, rows):
    lines = [f"# {unit} of {family}"]
    if metrics := rows.get("metrics"):
        lines += ["", "## Metrics", "", "| metric | meaning | unit | expression | source |", "|---|---|---|---|---|"]
        lines += [
            cells(code(row["metric"]), row["description"], row["unit_of_measure"], code(row["expression"]), row["source"])
            for row in metrics
        ]
    if events := rows.get("events"):
        lines += ["", "## Events", "", "| event | meaning | code | umask | counters | source |", "|---|---|---|---|---|---|"]
        lines += [event(row) for row in events]
    if registers := one_instance(rows.get("registers", [])):
        lines += ["", "## Registers", "", "Of the first instance.", ""]
        lines += ["| register | address | bits | reset | fields and their access | source |", "|---|---|---|---|---|---|"]
        lines += [register(row) for row in registers]
    return "\n".join(lines) + "\n"


def one_instance(registers):
    first = registers[0]["instance"] if registers else None
    return [row for row in registers if row["instance"] == first]


def event(row):
    name = row["event"] if row["subevent"] is None else f"{row['event']}.{row['subevent']}"
    counters = ranges(row["counters"]) if row["counters"] else "-"
    return cells(code(name), row["description"], code(row["code"]), code(row["umask"]), counters, row["source"])


def register(row):
    place = row["address"] if row.get("bdf") is None else f"{row['bdf']} {row['address']}"
    fields = ", ".join(f"{field['name']} {field['bits']} {field['access']}" for field in row["fields"])
    where = f"{row['space']} {code(place)}"
    return cells(code(row["register"]), where, row["width"], code(row["reset"]), fields, row["source"])


def ranges(numbers):
    """`[0, 1, 2, 4]` is `0-2, 4`."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def code(text):
    return f"`{text}`" if text not in (None, "") else ""


def cells(*texts):
    """A row of a table: a bar in a cell would end it, and an angle bracket begin HTML."""
    kept = [str("" if text is None else text) for text in texts]
    safe = [text if text.startswith("`") else text.replace("<", "&lt;") for text in kept]
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in safe) + " |"
