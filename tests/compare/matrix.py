"""The configurations: `matrix.toml` times what the catalogue can count."""

import itertools
import tomllib
from pathlib import Path

from .command import Command, Configuration
from .selections import Catalogue

HERE = Path(__file__).parent

# Turns short enough that each batch's events all have several, even in a workload of a microsecond (virtual milliseconds).
TURNS = ("--rotate", "0.0001")
# Of all batches, each configuration counts one in so many for each unit instance, and one for each socket: in turn, so that all come.
INSTANCES = 8
# Plans are long: each machine plans one batch in so many.
PLANS = 8


def read(path: Path = HERE / "matrix.toml") -> dict:
    return tomllib.loads(path.read_text())


def measured(matrix: dict, catalogues: dict[str, Catalogue]) -> list[Configuration]:
    """What counts: every selection and metric, with the truth."""
    numbers = itertools.count(1)
    made = []
    for group in matrix["counts"]:
        for machine, workload in itertools.product(group["machines"], group["workloads"]):
            number = next(numbers)
            run = ("--workload", workload.replace("#", str(number)))
            name = run[1].rsplit("/", 1)[-1]
            made.append(counts(catalogues[group["family"]], machine, run, f"{machine} {name}", "counts", number))
    for group in matrix["traces"]:
        for machine, trace, cores in itertools.product(group["machines"], group["traces"], group["cores"]):
            run = ("--trace", f"{{repository}}/tests/compare/traces/{trace}.trace", "--core", cores)
            name = f"{machine} {trace}.trace {cores}"
            made.append(counts(catalogues[group["family"]], machine, run, name, "traces", next(numbers)))
    return made


def counts(catalogue: Catalogue, machine: str, run: tuple[str, ...], name: str, kind: str, number: int) -> Configuration:
    measure = ("stat", "--machine", machine, *run, *TURNS, "--truth", "-j", "-o", "counts")
    commands = []
    for place, batch in enumerate(catalogue.batches):
        parts = {0: ("-A",), 1: ("--per-socket",)}.get((place + number) % INSTANCES, ())
        commands.append(Command("counts", (*measure, *parts, "-e", ",".join(batch)), ("counts",)))
    commands += [Command("metrics", (*measure, "-M", ",".join(batch)), ("counts",)) for batch in catalogue.metrics]
    return Configuration(name, kind, catalogue.family, tuple(commands))


def shapes(matrix: dict, catalogues: dict[str, Catalogue]) -> list[Configuration]:
    """What needs no traffic: snapshots, what `doctor` finds, plans and their costs, and the accesses of a live session."""
    return [
        shape(catalogues[family], machine, number)
        for family, machines in matrix["shapes"].items()
        for number, machine in enumerate(machines)
    ]


def shape(catalogue: Catalogue, machine: str, number: int) -> Configuration:
    named = ("--machine", machine)
    commands = [
        Command("snapshot", ("machine", "dump", *named)),
        Command("snapshot", ("machine", "show", *named)),
        Command("doctor", ("doctor", *named)),
        Command("doctor", ("doctor", *named, "--json")),
    ]
    planned = ("stat", *named, "--workload", "idle:microseconds=1")
    for place, batch in enumerate(catalogue.batches):
        commands.append(Command("cost", (*planned, "--cost", "-e", ",".join(batch))))
        if (place + number) % PLANS == 0:
            commands.append(Command("plan", (*planned, "--dry-run", "-e", ",".join(spread(batch)))))
    # A live machine is in real time, so its numbers are not compared: only which registers are read and written, in which order.
    live = ("machine", "run", *named, "--log", "accesses", "--", "{pericore}", "stat", "-o", "/dev/null")
    few = ",".join(first_of_units(catalogue))
    commands.append(Command("accesses", (*live, "-e", few, "--", "true"), ("accesses",)))
    return Configuration(f"{machine} without traffic", "shapes", catalogue.family, tuple(commands))


def spread(batch: list[str], most: int = 24) -> list[str]:
    """A few of a batch, of all units."""
    return batch[:: max(1, len(batch) // most)]


def first_of_units(catalogue: Catalogue) -> list[str]:
    """The second selection of each unit: the first is often the clock."""
    units: dict[str, list[str]] = {}
    for event in itertools.chain.from_iterable(catalogue.batches):
        units.setdefault(event.split("/")[0], []).append(event)
    return [events[min(1, len(events) - 1)] for events in units.values()]
