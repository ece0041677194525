"""Configurations of what is printed: `printed.toml`, and the catalogue's commands over all that it has."""

import shlex
import tomllib
from pathlib import Path

from .command import Command, Configuration
from .selections import Catalogue, name

HERE = Path(__file__).parent

# Commands of one configuration, and names that one `explain` is asked for.
TOGETHER = 120
NAMES = 30


def read(path: Path = HERE / "printed.toml") -> dict:
    return tomllib.loads(path.read_text())


def written(printed: dict) -> list[Configuration]:
    made = []
    for family, words in printed["families"].items():
        for title, lines in printed["each"].items():
            made.append(together(title, f"{family} {title}", family, lines, words | {"family": family}))
    for title, lines in printed["once"].items():
        made.append(together(title, title, "all", lines, {}))
    return made


def together(output: str, title: str, family: str, lines: list[str], words: dict[str, str]) -> Configuration:
    commands = []
    for line in lines:
        # Our own places, such as {repository}, stay for later.
        arguments = tuple(shlex.split(line.format_map(words | {"repository": "{repository}"})))
        files = tuple(arguments[place + 1] for place, argument in enumerate(arguments) if argument == "-o")
        commands.append(Command(output, arguments, files))
    return Configuration(title, "printed", family, tuple(commands))


def catalogue(known: Catalogue) -> list[Configuration]:
    """Every selection explained, encoded, and its control value decoded."""
    family = ("--machine", known.family)
    names = [name(row)[:-1] for row in known.rows]
    explained = [Command("explain", ("explain", *family, *names[at : at + NAMES])) for at in range(0, len(names), NAMES)]
    registers = []
    for row in known.rows:
        registers.append(Command("decode", ("decode", *family, f"{row['unit']}.ctl0", row["config"])))
    for event in [event for batch in known.batches for event in batch] + known.apart:
        registers.append(Command("encode", ("encode", *family, event, "--json")))
    named = [metric.split("{")[0] for batch in known.metrics for metric in batch]
    metrics = [Command("explain", ("explain", *family, *named[at : at + NAMES])) for at in range(0, len(named), NAMES)]
    made = []
    for title, commands in (("explained", explained + metrics), ("encoded", registers)):
        for at in range(0, len(commands), TOGETHER):
            made.append(Configuration(f"{known.family} {title} {at // TOGETHER + 1}", title, known.family, tuple(commands[at : at + TOGETHER])))
    return made
