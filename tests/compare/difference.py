"""The differences between two outcomes of one command."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .command import Command, Configuration, Outcome
from .normalise import normalised
from .signature import changed, masked, shortened

# Fields that say which thing a record is about.
IDENTITY = ("socket", "instance", "event", "subevent", "register", "metric", "name", "address")
# Fields that follow from others of their record: a change shows in those.
DERIVED = {"error": ("counter-value", "metric-value", "truth")}
# Fields of a whole run that stand in every record.
OF_THE_RUN = ("event-runtime", "pcnt-running", "interval")


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was."""

    family: str
    output: str
    place: str
    """The unit, where the output says it."""
    subject: str
    """The event, register or metric, where the output says it."""
    field: str
    """The JSON field, or the stream or file that a line stands in."""
    kind: str
    """`number validity text value spacing name order status`, or `gone`, `new`: a record, field or line is there on one side only."""
    shape: str
    """What changed, without numbers and names."""
    before: str
    after: str
    configuration: str
    line: str


def differences(configuration: Configuration, command: Command, older: Outcome, newer: Outcome) -> Iterator[Difference]:
    def different(field: str, kind: str, shape: str, before, after, place: str = "", subject: str = "") -> Difference:
        origin = (configuration.name, command.line())
        return Difference(configuration.family, command.output, place, subject, field, kind, shape, str(before), str(after), *origin)

    if older.status != newer.status:
        yield different("exit status", "status", f"{older.status} -> {newer.status}", older.status, newer.status)
    for stream in sorted(older.texts.keys() | newer.texts.keys()):
        texts = [normalised(outcome.texts.get(stream, "")) for outcome in (older, newer)]
        if texts[0] == texts[1]:
            continue
        (records, lines), (newer_records, newer_lines) = (parsed(text) for text in texts)
        for found in of_records(records, newer_records):
            yield different(*found)
        for found in of_lines(lines, newer_lines):
            yield different(stream, *found)


def parsed(text: str) -> tuple[list[dict], list[str]]:
    """The lines of a text that are JSON objects, and the others."""
    records, lines = [], []
    for line in text.splitlines():
        try:
            record = json.loads(line) if line.startswith("{") else None
        except json.JSONDecodeError:
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            lines.append(line)
    return records, lines


def keyed(records: list[dict]) -> dict[tuple, dict]:
    """Records by what they are about; those about the same thing, such as intervals, are numbered."""
    seen: Counter = Counter()
    found = {}
    for record in records:
        about = (unit(record), *(json.dumps(record.get(name)) for name in IDENTITY))
        seen[about] += 1
        found[(*about, seen[about])] = record
    return found


def unit(record: dict) -> str:
    """The unit of the uncore. What `stat` calls so is a unit of measure: there it stands before the event's slash."""
    if "event-runtime" in record:
        label = str(record.get("event", ""))
        return label.split("/")[0].rstrip("0123456789") if "/" in label else ""
    return str(record.get("unit", ""))


def subject(record: dict) -> str:
    words = [str(record[name]) for name in ("event", "subevent", "register", "metric", "name") if record.get(name) is not None]
    return ".".join(words)


def of_records(older: list[dict], newer: list[dict]) -> Iterator[tuple]:
    before, after = keyed(older), keyed(newer)
    for key in [*before, *(key for key in after if key not in before)]:
        about = before.get(key) or after[key]
        place, what = unit(about), subject(about)
        if key not in after or key not in before:
            kind = "gone" if key in before else "new"
            yield "record", kind, "", *((json.dumps(about), "") if key in before else ("", json.dumps(about))), place, what
            continue
        for found in of_fields(before[key], after[key]):
            yield *found, "" if found[0] in OF_THE_RUN else place, what
    common = [key for key in before if key in after]
    if common != [key for key in after if key in before]:
        yield "record", "order", "", "", "", "", ""


def of_fields(older: dict, newer: dict) -> Iterator[tuple]:
    unequal = {name for name in older.keys() | newer.keys() if older.get(name) != newer.get(name) or (name in older) != (name in newer)}
    for name in sorted(unequal):
        if unequal.intersection(DERIVED.get(name, ())):
            continue
        if name not in older or name not in newer:
            yield name, "gone" if name in older else "new", "", older.get(name, ""), newer.get(name, "")
            continue
        before, after = older[name], newer[name]
        if name == "validity":
            yield name, "validity", f"{before} -> {after}", before, after
        elif number(before) is not None and number(after) is not None:
            yield name, "number", "", before, after
        elif isinstance(before, str) and isinstance(after, str):
            yield name, *changed(before, after), before, after
        else:
            yield name, "value", "", json.dumps(before), json.dumps(after)


def number(value) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def of_lines(older: list[str], newer: list[str]) -> Iterator[tuple]:
    """Lines that are on one side only, paired where they differ in numbers alone, or where as many came as went."""
    gone, new = list((Counter(older) - Counter(newer)).elements()), list((Counter(newer) - Counter(older)).elements())
    if not gone and not new:
        if older != newer:
            yield "order", "", "", ""
        return
    waiting: dict[str, list[str]] = {}
    for line in new:
        waiting.setdefault(masked(line), []).append(line)
    alone = []
    for line in gone:
        same = waiting.get(masked(line))
        if same:
            after = same.pop(0)
            yield *changed(line, after), line, after
        else:
            alone.append(line)
    came = [line for lines in waiting.values() for line in lines]
    if len(alone) == len(came):
        for before, after in zip(alone, came):
            yield *changed(before, after), before, after
        return
    for line in alone:
        yield "gone", shortened(masked(line)), line, ""
    for line in came:
        yield "new", shortened(masked(line)), "", line
