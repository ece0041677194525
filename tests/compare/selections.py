"""Every selection of the catalogue, as both binaries accept it, in batches that can be counted together."""

import json
import re
from dataclasses import dataclass, field

from .build import Built
from .command import Command, Configuration

# A filter that an event cannot do without: the message names it and a value, and for a metric how it is written with that.
ADVICE = re.compile(r"needs the filter \S+; add ([\w.]+=[\w.]+)")
WRITTEN = re.compile(r"needs the filter \S+; write '([^']+)'")


@dataclass
class Catalogue:
    """What one family can count."""

    family: str
    rows: list[dict]
    batches: list[list[str]] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    """Selections that only one of the binaries accepts, or that need different filters: `list` and `encode` show why."""
    metrics: list[list[str]] = field(default_factory=list)
    """In batches too: one that is refused would lose all the others."""


def name(row: dict) -> str:
    event = row["event"] if row["subevent"] is None else f"{row['event']}.{row['subevent']}"
    return f"{row['unit']}/{event}/"


def countable(rows: list[dict]) -> list[str]:
    """All selections but events that select nothing without one of their subevents."""
    divided = {(row["unit"], row["event"]) for row in rows if row["subevent"] is not None}
    return [name(row) for row in rows if row["subevent"] is not None or row["umask"] is not None or (row["unit"], row["event"]) not in divided]


class Acceptance:
    """What `stat` of one binary accepts. Asked once: the answers are kept with the outcomes."""

    def __init__(self, built: Built, family: str, run, option: str = "-e"):
        self.built, self.family, self.run, self.option = built, family, run, option

    def refusal(self, names: list[str]) -> str | None:
        arguments = ("stat", "--machine", self.family, "--workload", "idle:microseconds=1", "--cost", self.option, ",".join(names))
        asked = Configuration("acceptance", "catalogue", self.family, (Command("acceptance", arguments),))
        outcome = self.run(self.built, asked)[0]
        return None if outcome.status == 0 else outcome.texts.get("stderr", str(outcome.status))

    def accepted(self, names: list[str]) -> dict[str, str]:
        """By its name, how a selection or a metric is written with the filters that it needs."""
        refusal = self.refusal(names)
        if refusal is None:
            return {name: name for name in names}
        if len(names) > 1:
            half = len(names) // 2
            return self.accepted(names[:half]) | self.accepted(names[half:])
        return self.alone(names[0], refusal)

    def alone(self, name: str, refusal: str | None) -> dict[str, str]:
        written = name
        while refusal is not None:
            better = advised(written, refusal)
            # Advice that did not help would come again.
            if better in (None, written):
                return {}
            written = better
            refusal = self.refusal([written])
        return {name: written}


def advised(written: str, refusal: str) -> str | None:
    """What was refused, written as the message says."""
    if whole := WRITTEN.search(refusal):
        return whole.group(1)
    if part := ADVICE.search(refusal):
        return written if part.group(1) in written else f"{written[:-1]},{part.group(1)}/"
    return None


def in_same_words(sides: list[Acceptance], names: list[str]) -> dict[str, str]:
    """What both sides accept, by its name, if they write it alike."""
    older, newer = ({} for _ in sides)
    for start in range(0, len(names), 128):
        part = names[start : start + 128]
        older |= sides[0].accepted(part)
        newer |= sides[1].accepted(part)
    return {name: older[name] for name in names if name in older and older[name] == newer.get(name)}


def split(events: list[str], fits) -> list[list[str]]:
    """In halves, until each batch fits."""
    if len(events) < 2 or fits(events):
        return [events] if events else []
    half = len(events) // 2
    return split(events[:half], fits) + split(events[half:], fits)


def dealt(events: list[str], size: int) -> list[list[str]]:
    """Dealt out like cards: each batch has events of every unit, which are counted at the same time."""
    hands = max(1, -(-len(events) // size))
    return [events[hand::hands] for hand in range(hands)]


def json_lines(built: Built, family: str, run, *options: str) -> list[dict]:
    asked = Configuration("catalogue", "catalogue", family, (Command("list", ("list", "--machine", family, *options, "--json")),))
    outcome = run(built, asked)[0]
    if outcome.status != 0:
        raise SystemExit(f"compare: {built.name} does not list {family}: {outcome.texts.get('stderr', outcome.status)}")
    return [json.loads(line) for line in outcome.texts["stdout"].splitlines()]


def catalogue(family: str, size: int, sides: tuple[Built, Built], run) -> Catalogue:
    """The older side's rows, and of these the selections that both sides accept in the same words."""
    base = sides[0]
    rows = json_lines(base, family, run)
    events = countable(rows)
    same, batches = batched(events, size, [Acceptance(side, family, run) for side in sides])
    named = [f"{row['unit']}/{row['metric']}" for row in json_lines(base, family, run, "--metrics")]
    _, metrics = batched(named, size, [Acceptance(side, family, run, "-M") for side in sides])
    return Catalogue(family, rows, batches, [event for event in events if event not in same], metrics)


def batched(names: list[str], size: int, sides: list[Acceptance]) -> tuple[dict[str, str], list[list[str]]]:
    """What both sides accept in the same words, and that in batches."""
    same = in_same_words(sides, names)
    fits = lambda batch: all(side.refusal(batch) is None for side in sides)
    return same, [batch for hand in dealt(list(same.values()), size) for batch in split(hand, fits)]
