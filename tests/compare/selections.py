"""Every selection of the catalogue, as both binaries accept it, in batches that can be counted together."""

import json
import re
from dataclasses import dataclass, field

from .build import Built
from .command import Command, Configuration

# A filter that an event cannot do without: the message names it and a value.
ADVICE = re.compile(r"needs the filter \S+; add ([\w.]+=[\w.]+)")


@dataclass
class Catalogue:
    """What one family can count."""

    family: str
    rows: list[dict]
    batches: list[list[str]] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    """Selections that only one of the binaries accepts, or that need different filters: `list` and `encode` show why."""
    metrics: list[str] = field(default_factory=list)


def name(row: dict) -> str:
    event = row["event"] if row["subevent"] is None else f"{row['event']}.{row['subevent']}"
    return f"{row['unit']}/{event}/"


def countable(rows: list[dict]) -> list[str]:
    """All selections but events that select nothing without one of their subevents."""
    divided = {(row["unit"], row["event"]) for row in rows if row["subevent"] is not None}
    return [name(row) for row in rows if row["subevent"] is not None or row["umask"] is not None or (row["unit"], row["event"]) not in divided]


class Acceptance:
    """What `stat` of one binary accepts. Asked once: the answers are kept with the outcomes."""

    def __init__(self, built: Built, family: str, run):
        self.built, self.family, self.run = built, family, run

    def refusal(self, events: list[str]) -> str | None:
        arguments = ("stat", "--machine", self.family, "--workload", "idle:microseconds=1", "--cost", "-e", ",".join(events))
        asked = Configuration("acceptance", "catalogue", self.family, (Command("acceptance", arguments),))
        outcome = self.run(self.built, asked)[0]
        return None if outcome.status == 0 else outcome.texts.get("stderr", str(outcome.status))

    def accepted(self, events: list[str]) -> dict[str, str]:
        """By its name, how a selection is written with the filters that it needs."""
        refusal = self.refusal(events)
        if refusal is None:
            return {event: event for event in events}
        if len(events) > 1:
            half = len(events) // 2
            return self.accepted(events[:half]) | self.accepted(events[half:])
        return self.alone(events[0], refusal)

    def alone(self, event: str, refusal: str | None) -> dict[str, str]:
        written = event
        while refusal is not None:
            advice = ADVICE.search(refusal)
            # Advice that did not help would come again.
            if advice is None or advice.group(1) in written:
                return {}
            written = f"{written[:-1]},{advice.group(1)}/"
            refusal = self.refusal([written])
        return {event: written}


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
    asked = [Acceptance(side, family, run) for side in sides]
    events = countable(rows)
    older, newer = ({} for _ in sides)
    for start in range(0, len(events), 128):
        part = events[start : start + 128]
        older |= asked[0].accepted(part)
        newer |= asked[1].accepted(part)
    same = [older[event] for event in events if event in older and older[event] == newer.get(event)]
    apart = [event for event in events if older.get(event) != newer.get(event)]
    fits = lambda batch: all(side.refusal(batch) is None for side in asked)
    batches = [batch for hand in dealt(same, size) for batch in split(hand, fits)]
    metrics = [f"{row['unit']}/{row['metric']}" for row in json_lines(base, family, run, "--metrics")]
    return Catalogue(family, rows, batches, apart, metrics)
