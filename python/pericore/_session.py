"""Sessions on the machine at hand, through the ``pericore`` program.

Registers and kernel counters need rights that a Python interpreter should not have: the program keeps them in a small
process of its own and puts everything back, also when Python is killed (SECURITY.md).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from . import _pericore
from ._recording import Recording


class SessionError(RuntimeError):
    """The machine cannot be counted on; the text is that of the program, with what to do."""


class Session:
    """Counts on this machine while its block runs.

    >>> with Session(metrics="memory") as session:      # doctest: +SKIP
    ...     work()
    >>> session.recording.report()                      # doctest: +SKIP

    Counters of the uncore are those of the whole system. The program is ``$PERICORE``, or ``pericore`` on the PATH.

    ``events``, ``metrics``: as for ``pericore record -e`` and ``-M``. ``interval``: milliseconds between two samples.
    ``arguments``: further options of ``pericore record``.

    Raises FileNotFoundError without the program, SessionError if nothing can be counted.
    """

    def __init__(
        self,
        events: str | Sequence[str] = (),
        metrics: str | Sequence[str] = (),
        interval: float = 1000.0,
        arguments: Sequence[str] = (),
    ) -> None:
        program = os.environ.get("PERICORE") or shutil.which("pericore")
        if program is None:
            raise FileNotFoundError("no program pericore on the PATH; install it, or name it with PERICORE")
        words = [program, "record", "-o", "/dev/stdout", "--format", "jsonl", "-I", repr(interval)]
        for option, values in (("-e", events), ("-M", metrics)):
            for value in [values] if isinstance(values, str) else values:
                words += [option, value]
        self._command = [*words, *arguments]
        self._recording: Recording | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdout is not None
        # The first line is written when the counters run.
        self._lines = self._process.stdout.readline()
        if not self._lines:
            raise SessionError(self._end()[1])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        lines, words = self._end()
        try:
            self._recording = Recording(_pericore.Recorded.from_lines(self._lines + lines))
        except ValueError as refused:
            if kind is None:
                raise SessionError(words or str(refused)) from refused

    def _end(self) -> tuple[bytes, str]:
        """What is left of its output, and its words."""
        with contextlib.closing(self._process.stdout), contextlib.closing(self._process.stderr):  # type: ignore[type-var]
            lines, words = self._process.communicate()
        return lines, words.decode(errors="replace").strip()

    @property
    def recording(self) -> Recording:
        """What was counted. Raises SessionError before the block has ended."""
        if self._recording is None:
            raise SessionError("the session has not ended: use it as a context manager (with Session() as session)")
        return self._recording
