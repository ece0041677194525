"""Causes that a change means to have: `meant.toml`."""

import tomllib
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path

from .command import Configuration
from .difference import Difference

FILE = Path(__file__).with_name("meant.toml")
PATTERNS = tuple(name.name for name in fields(Difference) if name.name != "line")


class MeantError(Exception):
    """The file cannot be used; the message says where and why."""


@dataclass
class Meant:
    """Patterns that a difference has to match, all of them, and why it is meant."""

    reason: str
    patterns: dict[str, str]
    matched: int = 0

    def matches(self, difference: Difference) -> bool:
        return all(fnmatchcase(getattr(difference, name), pattern) for name, pattern in self.patterns.items())

    def may_be_in(self, configuration: Configuration) -> bool:
        """False if the configuration is of another family, or has none of the kinds of output."""
        of_family = fnmatchcase(configuration.family, self.patterns.get("family", "*"))
        return of_family and any(fnmatchcase(command.output, self.patterns.get("output", "*")) for command in configuration.commands)

    def __str__(self) -> str:
        return ", ".join(f'{name} = "{pattern}"' for name, pattern in self.patterns.items())


def read(path: Path = FILE) -> list[Meant]:
    return parse(path.read_text(), str(path))


def parse(text: str, name: str) -> list[Meant]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MeantError(f"{name}: {error}") from error
    if unknown := tables.keys() - {"meant"}:
        raise MeantError(f"{name}: no table {sorted(unknown)[0]!r} is known here; write [[meant]]")
    return [entry(table, f"{name}: entry {number}") for number, table in enumerate(tables.get("meant", []), 1)]


def entry(table: dict, where: str) -> Meant:
    patterns = dict(table)
    reason = patterns.pop("reason", "")
    if not isinstance(reason, str) or not reason.strip():
        raise MeantError(f'{where} has no reason; add reason = "…", which says why this change of behaviour is meant')
    if not patterns:
        raise MeantError(f"{where} has no pattern, so all would be meant; add one of {', '.join(PATTERNS)}")
    for name, pattern in patterns.items():
        if name not in PATTERNS:
            raise MeantError(f"{where}: no pattern {name!r}; known are {', '.join(PATTERNS)}")
        if not isinstance(pattern, str):
            raise MeantError(f'{where}: {name} is no text; write {name} = "…", in which * stands for anything')
    return Meant(reason, patterns)


def judge(difference: Difference, meant: list[Meant]) -> bool:
    """Whether a difference is meant. Each entry that matches is noted as used."""
    found = [one for one in meant if one.matches(difference)]
    for one in found:
        one.matched += 1
    return bool(found)
