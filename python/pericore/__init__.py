"""Pericore: the uncore of Intel Xeon servers, observed or simulated.

- :func:`events`, :func:`metrics`, :func:`registers`: the catalogue as tables.
- :class:`Machine`: a software Xeon. ``Machine("8592+").run("stream").counts()``.
- :class:`Session`: counters of the machine at hand, through the ``pericore`` program.
- :func:`read`: a recording of ``pericore record``.
- :func:`sweep`: many machines, workloads and parameters, on Ray or in local processes.

All tables are :class:`Table`: Arrow, pandas and Polars take them without a copy by hand.
"""

from ._catalogue import events, families, floorplan, metrics, presets, registers
from ._machine import Machine
from ._pericore import __version__
from ._recording import Recording, read
from ._session import Session, SessionError
from ._sweep import SweepResult, sweep
from ._table import Table

__all__ = [
    "Machine",
    "Recording",
    "Session",
    "SessionError",
    "SweepResult",
    "Table",
    "__version__",
    "events",
    "families",
    "floorplan",
    "metrics",
    "presets",
    "read",
    "registers",
    "sweep",
]
