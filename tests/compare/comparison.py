"""Runs configurations on both binaries, and gathers what differs."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from . import matrix, printed
from .build import Built
from .causes import Causes
from .command import Configuration, Outcome, run
from .difference import Difference, differences
from .meant import Meant, judge
from .selections import Catalogue, catalogue


@dataclass
class Comparison:
    """What came of it."""

    causes: Causes = field(default_factory=Causes)
    meant: Causes = field(default_factory=Causes)
    compared: list[Configuration] = field(default_factory=list)
    left: int = 0
    """Configurations that time did not suffice for."""


def outcomes(built: Built, configuration: Configuration) -> list[Outcome]:
    """Kept ones, or those of a run."""
    kept = built.store.load(configuration)
    if kept is None:
        kept = run(built.binary, configuration)
        built.store.keep(configuration, kept)
    return kept


def configurations(sides: tuple[Built, Built], table: dict) -> list[Configuration]:
    """All of them. What the catalogue has is asked of the binaries; the list is the same whenever these are."""
    sizes: dict[str, int] = table["batch"]
    with ThreadPoolExecutor(len(sizes)) as pool:
        found: list[Catalogue] = list(pool.map(lambda family: catalogue(family, sizes[family], sides, outcomes), sizes))
    known = {one.family: one for one in found}
    made = matrix.measured(table, known) + matrix.shapes(table, known) + printed.written(printed.read())
    return made + [configuration for one in found for configuration in printed.catalogue(one)]


def compare(chosen: list[Configuration], sides: tuple[Built, Built], meant: list[Meant], jobs: int, seconds: float | None) -> Comparison:
    """Compares one configuration after the other until the time is up; those that have begun are finished."""
    end = None if seconds is None else time.monotonic() + seconds
    result = Comparison()

    def one(configuration: Configuration) -> list[Difference] | None:
        if end is not None and time.monotonic() > end:
            return None
        older, newer = (outcomes(side, configuration) for side in sides)
        parts = zip(configuration.commands, older, newer, strict=True)
        return [difference for command, *pair in parts for difference in differences(configuration, command, *pair)]

    with ThreadPoolExecutor(jobs) as pool:
        for number, (configuration, found) in enumerate(zip(chosen, pool.map(one, chosen)), 1):
            if found is None:
                result.left += 1
                continue
            result.compared.append(configuration)
            for difference in found:
                (result.meant if judge(difference, meant) else result.causes).add(difference)
            if number % 10 == 0:
                print(f"compare: {number} of {len(chosen)} configurations", file=sys.stderr, flush=True)
    return result
