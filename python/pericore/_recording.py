"""Recordings: of files, of software Xeons, of sessions."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import pyarrow

from . import _pericore
from ._table import Table

Scope = Literal["system", "socket", "instance"]

#: The columns of a recording's table without those that only make it lines again (docs/recording.md).
_COLUMNS = [
    "time",
    "host",
    "socket",
    "unit",
    "instance",
    "event",
    "count",
    "duty",
    "validity",
    "seconds",
    "elapsed",
    "sample",
    "tsc_cycles",
    "standard_error",
    "truth",
]

_REPORT = pyarrow.schema(
    {
        "name": pyarrow.string(),
        "socket": pyarrow.uint16(),
        "instance": pyarrow.string(),
        "value": pyarrow.float64(),
        "unit_of_measure": pyarrow.string(),
        "validity": pyarrow.string(),
        "seconds": pyarrow.float64(),
        "standard_error": pyarrow.float64(),
        "truth": pyarrow.float64(),
    }
)


class Recording:
    """What was counted: a plan and samples."""

    def __init__(self, recorded: _pericore.Recorded) -> None:
        self._recorded = recorded

    @property
    def header(self) -> dict[str, Any]:
        """The recording's first line: machine, family, what was selected (docs/recording.md)."""
        header: dict[str, Any] = json.loads(self.jsonl().split(b"\n", 1)[0])
        return header

    def counts(self) -> Table:
        """A row for each count of each sample, exact in 64 bits.

        Columns: ``time`` (end of the sample, UTC; virtual time begins in 1970), ``host``, ``socket``, ``unit``,
        ``instance``, ``event``, ``count`` (increments; None where there is no number), ``duty`` (share of the time, 0
        to 1), ``validity`` (``measured``, ``scaled``, ``suspect``, ...), ``seconds`` (length of the sample),
        ``elapsed`` (seconds from the start to the end of the sample), ``sample`` (number), ``tsc_cycles``,
        ``standard_error``, ``truth`` (the model's own count, if it was recorded).
        """
        return Table.of_parquet(self.parquet(), _COLUMNS)

    def report(self, per: Scope = "system") -> Table:
        """The selected events and metrics over all samples: for the whole system, each socket or each instance.

        Columns: ``name``, ``socket``, ``instance``, ``value`` (increments of an event; a metric in
        ``unit_of_measure``), ``unit_of_measure`` (None for events), ``validity``, ``seconds`` (how long it was
        counted), ``standard_error``, ``truth`` (the model's own).

        Raises ValueError for another ``per``, or for a recording that is damaged.
        """
        return Table.of_columns(self._recorded.report(per), _REPORT)

    def parquet(self) -> bytes:
        """The recording as a Parquet file."""
        return self._recorded.parquet()

    def jsonl(self) -> bytes:
        """The recording as JSON lines."""
        return self._recorded.lines()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that ``pericore report`` reads: Parquet if its name ends so, else JSON lines.

        Raises OSError if it cannot be written.
        """
        path = Path(path)
        path.write_bytes(self.parquet() if path.suffix == ".parquet" else self.jsonl())

    def __repr__(self) -> str:
        return f"pericore.Recording: {self.header['title']}"


def read(path: str | PathLike[str]) -> Recording:
    """Reads a recording of ``pericore record``: JSON lines or a Parquet table.

    Raises OSError if it cannot be read, ValueError if it is no recording.
    """
    return Recording(_pericore.Recorded.read(path))
