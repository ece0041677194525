"""Software Xeons."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pyarrow

from . import _pericore
from ._recording import Recording
from ._table import Table

_CURVE = pyarrow.schema(
    {
        "read_pct": pyarrow.uint8(),
        "bandwidth_gb_s": pyarrow.float64(),
        "latency_ns": pyarrow.float64(),
        "measured_read_pct": pyarrow.float64(),
        "settled": pyarrow.bool_(),
    }
)
_FOOTPRINTS = pyarrow.schema(
    {
        "footprint_bytes": pyarrow.uint64(),
        "latency_ns": pyarrow.float64(),
        "from_memory_pct": pyarrow.float64(),
        "settled": pyarrow.bool_(),
    }
)
_CORES = pyarrow.schema(
    {
        "cores": pyarrow.uint16(),
        "bandwidth_gb_s": pyarrow.float64(),
        "measured_read_pct": pyarrow.float64(),
        "settled": pyarrow.bool_(),
    }
)


class Machine:
    """A software Xeon: hardware with counters, and a model of the traffic that drives it.

    All its numbers are EMULATED: they are those of a model in virtual time, the same on every host.

    >>> Machine("e5-2600", sockets=2, cores=4)
    Machine('e5-2600:sockets=2,cores=4')

    A name such as ``"own.toml"`` is the file of a part of your own (docs/machine/software-xeons.md).

    Raises ValueError for a name or setting that is not known; the text has what is; OSError for a part's file that
    cannot be read.
    """

    def __init__(self, name: str, **settings: int | str) -> None:
        for key, value in settings.items():
            name += f"{',' if ':' in name else ':'}{key.replace('_', '-')}={value}"
        self.name = name
        file = Path(name[: name.find(".toml") + len(".toml")]) if ".toml" in name else None
        self._machine = {"machine": name, "part": file.read_text()} if file else {"machine": name}
        _pericore.check(self._idle())

    def run(
        self,
        workload: str,
        *,
        events: str | Sequence[str] = (),
        metrics: str | Sequence[str] = (),
        interval: float | None = None,
        timeout: float | None = None,
        cold: bool = False,
        truth: bool = False,
    ) -> Recording:
        """Runs a workload and counts.

        ``workload``: ``NAME[:key=value,...]``, such as ``"stream:requests=100k,threads=8"``.
        ``events``, ``metrics``: as for ``pericore stat -e`` and ``-M``; without both, the family's default metrics.
        ``interval``: milliseconds of virtual time between two samples; without it one sample, at the end.
        ``timeout``: milliseconds of virtual time at most.
        ``cold``: begin at reset instead of with warm caches. ``truth``: the model's own counts beside the counters'.

        Other threads of Python go on meanwhile.

        Raises ValueError for a name or value that is not known, with the place in the text.
        """
        experiment = {
            **self._machine,
            "workload": workload,
            "events": [events] if isinstance(events, str) else list(events),
            "metrics": [metrics] if isinstance(metrics, str) else list(metrics),
            "interval": interval,
            "timeout": timeout,
            "cold": cold,
            "truth": truth,
        }
        return Recording(_pericore.measure(json.dumps(experiment)))

    def curve(self, memory: Literal["local", "remote", "cxl"] = "local", read: int = 100) -> Table:
        """Latency against bandwidth of the memory that socket 0 loads, in rising load, the unloaded machine first.

        ``read``: reads among the transfers of the memory, per cent, from 50 to 100.

        Columns: ``read_pct``, ``bandwidth_gb_s`` (10^9 bytes a second, reads and writes), ``latency_ns`` (of a
        dependent load), ``measured_read_pct``, ``settled`` (the rates had settled).

        Raises ValueError if the machine has no such memory.
        """
        return Table.of_columns(_pericore.curve(self._idle(), memory, read), _CURVE)

    def footprints(
        self, memory: Literal["local", "remote", "cxl"] = "local", pages: Literal["4K", "2M"] = "4K"
    ) -> Table:
        """Latency of one core's dependent loads by footprint, from its first cache to four times all caches.

        ``pages``: the size of the footprint's pages; each lies anywhere in memory.

        Columns: ``footprint_bytes``, ``latency_ns``, ``from_memory_pct`` (loads for which memory read a line),
        ``settled``.

        Raises ValueError if the machine has no such memory.
        """
        return Table.of_columns(_pericore.footprints(self._idle(), memory, pages), _FOOTPRINTS)

    def by_cores(self, memory: Literal["local", "remote", "cxl"] = "local", read: int = 100) -> Table:
        """Bandwidth by the number of cores of socket 0 that read and write memory as fast as they can.

        ``read``: reads among the transfers of the memory, per cent, from 50 to 100.

        Columns: ``cores``, ``bandwidth_gb_s`` (10^9 bytes a second, reads and writes), ``measured_read_pct``,
        ``settled``.

        Raises ValueError if the machine has no such memory.
        """
        return Table.of_columns(_pericore.by_cores(self._idle(), memory, read), _CORES)

    def _idle(self) -> str:
        return json.dumps({**self._machine, "workload": "idle"})

    def __repr__(self) -> str:
        return f"Machine({self.name!r})"
