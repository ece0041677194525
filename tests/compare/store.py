"""Outcomes on disk: what ran once for a binary is not run again, so a comparison that was stopped goes on where it was."""

import gzip
import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from .command import REPOSITORY, Configuration, Outcome

# Part of each identity. Raise it when commands run in other surroundings, or when what is kept of them changes.
VERSION = 1


class Store:
    """The outcomes of one binary, in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, configuration: Configuration) -> Path:
        identity = hashlib.sha256(f"{VERSION} {configuration.identity()}".encode())
        for name in inputs(configuration):
            identity.update((REPOSITORY / name).read_bytes())
        return self.folder / f"{identity.hexdigest()[:32]}.json.gz"

    def load(self, configuration: Configuration) -> list[Outcome] | None:
        """What was kept; nothing if a file was cut off, since that is as good as none."""
        try:
            with gzip.open(self.path(configuration), "rt") as file:
                return [Outcome(**outcome) for outcome in json.load(file)]
        except (FileNotFoundError, EOFError, gzip.BadGzipFile, json.JSONDecodeError):
            return None

    def keep(self, configuration: Configuration, outcomes: list[Outcome]) -> None:
        path = self.path(configuration)
        part = path.with_suffix(f".{os.getpid()}.part")
        with gzip.open(part, "wt", compresslevel=3) as file:
            json.dump([asdict(outcome) for outcome in outcomes], file)
        part.replace(path)


def inputs(configuration: Configuration) -> list[str]:
    """Files of the repository that the commands read."""
    words = {argument for command in configuration.commands for argument in command.arguments}
    return sorted(word.removeprefix("{repository}/") for word in words if word.startswith("{repository}/"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
