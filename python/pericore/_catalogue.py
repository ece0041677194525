"""The catalogue: families, events, metrics and registers."""

from __future__ import annotations

import pyarrow

from . import _pericore
from ._table import Table

_TEXT = pyarrow.string()

_EVENTS = pyarrow.schema(
    {
        "family": _TEXT,
        "unit": _TEXT,
        "event": _TEXT,
        "subevent": _TEXT,
        "intel_name": _TEXT,
        "code": pyarrow.uint16(),
        "umask": pyarrow.uint64(),
        "config": pyarrow.uint64(),
        "perf": _TEXT,
        "counters": pyarrow.list_(pyarrow.uint8()),
        "max_increment": pyarrow.uint16(),
        "modelled": pyarrow.bool_(),
        "source": _TEXT,
        "description": _TEXT,
    }
)

_METRICS = pyarrow.schema(
    {
        "family": _TEXT,
        "unit": _TEXT,
        "metric": _TEXT,
        "expression": _TEXT,
        "unit_of_measure": _TEXT,
        "description": _TEXT,
        "source": _TEXT,
    }
)

_REGISTERS = pyarrow.schema(
    {
        "family": _TEXT,
        "unit": _TEXT,
        "instance": pyarrow.uint16(),
        "register": _TEXT,
        "space": _TEXT,
        "address": pyarrow.uint64(),
        "bdf": _TEXT,
        "width": pyarrow.uint8(),
        "reset": pyarrow.uint64(),
        "fields": pyarrow.list_(_TEXT),
        "source": _TEXT,
    }
)


def families() -> list[str]:
    """Names of the families of processors in the catalogue."""
    return _pericore.families()


def presets() -> dict[str, str]:
    """Names of the software Xeons, each with its family."""
    return dict(_pericore.presets())


def floorplan(machine: str) -> list[list[str | None]]:
    """The die of a machine: rows from top to bottom, each with its places from left to right.

    A place has the name of a unit's instance, such as ``cha12``, or None. Empty where the layout is not public.

    Raises ValueError for a machine that is not known.
    """
    lines = _pericore.floorplan(machine)
    return [[None if place == "." else place for place in line.split()] for line in lines]


def events(machine: str) -> Table:
    """Events and subevents of a machine's family, a row each.

    Columns: ``family``, ``unit``, ``event``, ``subevent`` (None in the row of the event itself), ``intel_name``,
    ``code`` (16 bits), ``umask`` (32 bits), ``config`` (the counter's control register that selects it, 64 bits),
    ``perf`` (as the Linux tool takes it), ``counters`` (numbers of the counters that can count it), ``max_increment``
    (in a cycle), ``modelled`` (a software Xeon counts it), ``source`` (section of Intel's document), ``description``.

    ``machine`` is a family or a software Xeon: ``"emerald-rapids"``, ``"8592+"``.

    Raises ValueError for a machine that is not known.
    """
    return Table.of_columns(_pericore.events(machine), _EVENTS)


def metrics(machine: str) -> Table:
    """Metrics of a machine's family: formulas over events.

    Columns: ``family``, ``unit``, ``metric``, ``expression``, ``unit_of_measure`` (``B/s``, ``s``, ``%``, ...),
    ``description``, ``source``.

    Raises ValueError for a machine that is not known.
    """
    return Table.of_columns(_pericore.metrics(machine), _METRICS)


def registers(machine: str) -> Table:
    """Registers of one socket of a machine's family, a row for each instance.

    Columns: ``family``, ``unit``, ``instance``, ``register``, ``space`` (``msr``, ``pcicfg`` or ``mmio``), ``address``
    (number of the MSR, or offset in bytes), ``bdf`` (device and function, or window), ``width`` (bits), ``reset``,
    ``fields`` (names with their bits), ``source``. Instance and address are None where only a machine's discovery
    table has them.

    Raises ValueError for a machine that is not known.
    """
    return Table.of_columns(_pericore.registers(machine), _REGISTERS)
