"""Differences by cause: one that shows in a hundred places is one line."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .difference import Difference


@dataclass
class Cause:
    """Differences of one kind, in one field of one kind of output."""

    example: Difference
    count: int = 0
    families: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    configurations: set[str] = field(default_factory=set)

    def add(self, difference: Difference) -> None:
        self.count += 1
        self.families.add(difference.family)
        self.subjects.add(difference.subject)
        self.configurations.add(difference.configuration)


def key(difference: Difference) -> tuple[str, ...]:
    """What differences of one cause have in common. A change of a unit's counts is one cause, whichever events it shows in."""
    return (difference.output, difference.place, difference.field, difference.kind, difference.shape)


class Causes:
    """Causes in the order in which they are found."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, ...], Cause] = {}

    def add(self, difference: Difference) -> None:
        self.found.setdefault(key(difference), Cause(difference)).add(difference)

    def extend(self, differences: Iterable[Difference]) -> None:
        for difference in differences:
            self.add(difference)

    def sorted(self) -> list[Cause]:
        return [self.found[name] for name in sorted(self.found)]
