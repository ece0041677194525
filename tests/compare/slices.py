"""Which configurations are run: all in one order, of which each tenth has some of every kind."""

import random

from .command import Configuration

TENTHS = 10


def tenths(configurations: list[Configuration], seed: int) -> list[list[Configuration]]:
    """Dealt out by family and kind after a shuffle that follows from the seed. The same list and seed give the same tenths."""
    groups: dict[tuple[str, str], list[Configuration]] = {}
    for configuration in configurations:
        groups.setdefault((configuration.kind, configuration.family), []).append(configuration)
    chance = random.Random(seed)
    dealt: list[list[Configuration]] = [[] for _ in range(TENTHS)]
    place = 0
    for _, group in sorted(groups.items()):
        chance.shuffle(group)
        for configuration in group:
            dealt[place % TENTHS].append(configuration)
            place += 1
    for tenth in dealt:
        chance.shuffle(tenth)
    return dealt


def chosen(configurations: list[Configuration], seed: int, tenth: int | None) -> list[Configuration]:
    """One tenth, from 1 on, or all of them, one after the other."""
    dealt = tenths(configurations, seed)
    return dealt[tenth - 1] if tenth else [configuration for part in dealt for configuration in part]


def one_of_each(configurations: list[Configuration], seed: int) -> list[Configuration]:
    """The first of each family and kind, in the order of the seed: a small sample of everything."""
    first: dict[tuple[str, str, str], Configuration] = {}
    for configuration in chosen(configurations, seed, None):
        first.setdefault((configuration.family, configuration.kind, configuration.commands[0].output), configuration)
    return list(first.values())
