"""One command line of pericore, run where nothing but its arguments can change what it prints."""

import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# A command that takes longer than this many seconds does not end; the longest takes about ten.
LIMIT = 600


@dataclass(frozen=True)
class Command:
    """What is run. `{repository}` in an argument is the checkout that holds the tests, for both binaries the same one."""

    output: str
    """What kind of output it has, such as `counts`: causes are grouped by it."""
    arguments: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Files that it writes, relative to its folder, which are compared, too."""

    def line(self) -> str:
        return " ".join(["pericore", *(quoted(argument) for argument in self.arguments)])


@dataclass(frozen=True)
class Configuration:
    """Commands that run one after the other in one folder."""

    name: str
    kind: str
    """What it is for, such as `counts`: a slice has some of each kind."""
    family: str
    commands: tuple[Command, ...]

    def identity(self) -> str:
        return json.dumps([self.family, [asdict(command) for command in self.commands]])


@dataclass
class Outcome:
    """What came of a command: texts by stream or file, and the exit status."""

    status: int | str
    texts: dict[str, str] = field(default_factory=dict)


def quoted(argument: str) -> str:
    plain = all(character.isalnum() or character in "-_./:,=+*" for character in argument)
    return argument if plain and argument else "'" + argument.replace("'", "'\\''") + "'"


def environment(folder: Path) -> dict[str, str]:
    """Programs to find, and a home that is empty."""
    inside = {name: str(folder / name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")}
    for path in inside.values():
        os.makedirs(path, mode=0o700, exist_ok=True)
    return inside | {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PERICORE_CONFIG": "",
        "LC_ALL": "C",
        "TZ": "UTC",
        "COLUMNS": "80",
        "RUST_BACKTRACE": "0",
    }


def run(binary: Path, configuration: Configuration) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="pericore-compare-") as made:
        folder = Path(made).resolve()
        settings = environment(folder)
        return [run_one(binary, command, folder, settings) for command in configuration.commands]


def run_one(binary: Path, command: Command, folder: Path, settings: dict[str, str]) -> Outcome:
    places = {"{repository}": str(REPOSITORY), "{pericore}": str(binary)}
    arguments = [replaced(argument, places) for argument in command.arguments]

    def text(raw: bytes) -> str:
        words = raw.decode(errors="backslashreplace")
        return replaced(words, {str(folder): "{folder}", str(binary): "{pericore}", str(REPOSITORY): "{repository}"})

    try:
        ended = subprocess.run(
            [binary, *arguments], cwd=folder, env=settings, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(f"did not end in {LIMIT} s")
    texts = {"stdout": text(ended.stdout), "stderr": text(ended.stderr)}
    for name in command.files:
        path = folder / name
        texts[name] = text(path.read_bytes()) if path.is_file() else "(not written)\n"
    return Outcome(ended.returncode, texts)


def replaced(text: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        text = text.replace(name, place)
    return text
