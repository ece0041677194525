"""Sessions on the machine at hand, through the ``pericore`` program.

Registers and kernel counters need rights that a Python interpreter should not have: the program keeps them in a small
process of its own and puts everything back, also when Python is killed (SECURITY.md).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
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
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the session
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._words
        )
        assert self._process.stdout is not None
        # The first line is written when the counters run.
        self._lines = [self._process.stdout.readline()]
        # A pipe that nobody empties would keep the program from counting.
        self._reader = threading.Thread(target=self._lines.extend, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        if not self._lines[0]:
            raise SessionError(self._end())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        words = self._end()
        try:
            self._recording = Recording(_pericore.Recorded.from_lines(b"".join(self._lines)))
        except ValueError as refused:
            if kind is None:
                raise SessionError(words or str(refused)) from refused

    def _end(self) -> str:
        """Waits for the end of the program; what it wrote on standard error."""
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        with self._words as file:
            file.seek(0)
            return file.read().decode(errors="replace").strip()

    @property
    def recording(self) -> Recording:
        """What was counted. Raises SessionError before the block has ended."""
        if self._recording is None:
            raise SessionError("the session has not ended: use it as a context manager (with Session() as session)")
        return self._recording
