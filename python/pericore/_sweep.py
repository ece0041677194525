"""Sweeps on Ray or in processes of this host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import pyarrow.dataset

from . import _pericore
from ._table import Table

#: Attempts of a run whose worker was killed or whose result was lost.
_ATTEMPTS = 3

#: Runs that are under way or wait at a worker, for each that can run at a time.
_AHEAD = 4

Outcome = tuple[int, bytes | BaseException]


@dataclass(frozen=True)
class SweepResult:
    """What came of a sweep."""

    #: The folder of the data set.
    output: Path
    #: Runs of the file.
    total: int
    #: Runs that were carried out now; the others were there.
    done: int
    #: Attempts that were made again: a worker was killed, or a result was lost.
    repeated: int
    #: Runs that failed, with the line of the file: runs that are done are kept.
    failures: tuple[str, ...]

    def table(self, columns: list[str] | None = None) -> Table:
        """All runs as one table, with the parameters as columns: ``machine``, ``workload``, ``machine_KEY``, ..."""
        dataset = pyarrow.dataset.dataset(self.output, format="parquet", partitioning="hive")
        return Table(dataset.to_table(columns=columns))


def sweep(
    file: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    on: Literal["ray", "processes"] = "ray",
    jobs: int | None = None,
    again: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Carries out the runs of a sweep's file (docs/machine/sweeps.md) whose tables are missing, stale or damaged.

    The tables are the same to the byte as those of ``pericore sweep``: a run is a value, and all that a worker does is
    turn it into bytes. Workers write no files; this process does.

    ``output``: folder of the data set; without it, that of the file. ``on``: ``"ray"`` uses the cluster that
    ``ray.init`` has joined, or starts one on this host; each run takes one CPU. ``jobs``: runs at a time; without it,
    as many as there are CPUs. ``again``: run everything again. ``progress`` is called with the runs that are over and
    their number.

    Raises ValueError for a mistake in the file, with line and column, and OSError if the folder cannot be written.
    """
    plan = _pericore.Plan(file)
    path = Path(output) if output is not None else plan.output
    data_set = _pericore.Output(path)
    states = [data_set.state(plan, index) for index in range(len(plan.partitions))]
    for partition, state in zip(plan.partitions, states, strict=True):
        if state in ("stale", "damaged"):
            warnings.warn(f"{partition}: {state}; it runs again", stacklevel=2)
    todo = [index for index, state in enumerate(states) if again or state != "whole"]
    engine = _on_ray if on == "ray" else _in_processes
    attempts = dict.fromkeys(todo, 1)
    over, done, repeated, failures = 0, 0, 0, []
    queue = iter(todo)
    retry: list[int] = []

    def supply() -> Iterator[tuple[int, str]]:
        while True:
            index = retry.pop() if retry else next(queue, None)
            if index is None:
                return
            yield index, plan.run(index)

    def lost(index: int, why: str) -> bool:
        """Has the run tried again; false if it was tried too often."""
        nonlocal repeated
        if attempts[index] == _ATTEMPTS:
            failures.append(plan.error(index, f"{why}, {_ATTEMPTS} times"))
            return False
        attempts[index] += 1
        repeated += 1
        retry.append(index)
        return True

    while True:
        for index, outcome in engine(supply, jobs):
            if isinstance(outcome, ValueError | RuntimeError) and not isinstance(outcome, BrokenProcessPool):
                failures.append(plan.error(index, str(outcome)))
            elif isinstance(outcome, BaseException):
                if lost(index, f"its worker was lost ({type(outcome).__name__})"):
                    continue
            elif data_set.put(plan, index, outcome):
                done += 1
            elif lost(index, "its result was lost"):
                continue
            over += 1
            if progress is not None:
                progress(over, len(todo))
        if not retry:
            break
    return SweepResult(path, len(states), done, repeated, tuple(failures))


def _in_processes(supply: Callable[[], Iterator[tuple[int, str]]], jobs: int | None) -> Iterator[Outcome]:
    """Runs in processes of this host. If one is killed, those under way are lost with it."""
    runs = supply()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        pending: dict[Future[bytes], int] = {}
        ahead = _AHEAD * (jobs or 4)
        while True:
            try:
                while len(pending) < ahead and (run := next(runs, None)) is not None:
                    pending[pool.submit(_pericore.carry_out, run[1])] = run[0]
            except BrokenProcessPool as broken:
                assert run is not None
                yield run[0], broken
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                index = pending.pop(future)
                error = future.exception()
                yield index, error if error is not None else future.result()
            # Those that are tried again.
            runs = supply()


def _on_ray(supply: Callable[[], Iterator[tuple[int, str]]], jobs: int | None) -> Iterator[Outcome]:
    """Runs as tasks of Ray, which starts a task again if its worker or its result is lost."""
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False)
    # A task's worker imports this package by name: it has to be installed on all hosts, in the same version.
    task = ray.remote(num_cpus=1, max_retries=_ATTEMPTS, retry_exceptions=False)(_carry_out)
    at_a_time = jobs or int(ray.cluster_resources().get("CPU", 1))
    runs = supply()
    pending: dict[Any, int] = {}
    while True:
        while len(pending) < _AHEAD * at_a_time and (run := next(runs, None)) is not None:
            pending[task.remote(run[1])] = run[0]
        if not pending:
            return
        ready, _ = ray.wait(list(pending), num_returns=1)
        for reference in ready:
            index = pending.pop(reference)
            try:
                yield index, ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                yield index, error.cause if isinstance(error.cause, Exception) else error
            except ray.exceptions.RayError as error:
                yield index, OSError(str(error))
        runs = supply()


def _carry_out(run: str) -> bytes:
    return _pericore.carry_out(run)
