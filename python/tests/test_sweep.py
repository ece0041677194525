"""Sweeps on Ray and in processes: byte for byte what the program writes, whatever happens on the way."""

import os
import signal
import subprocess
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

import pericore

LONG = bool(os.environ.get("PERICORE_LONG"))

#: 200 runs in the long form, 12 else.
FILE = f"""
[[grid]]
machines = ["e5-2600", "x5570"]
workloads = ["stream", "random"]
cold = true
workload = {{ requests = {2000 if LONG else 500}, seed = {{ from = 1, to = {50 if LONG else 3} }} }}
"""
TOTAL = 200 if LONG else 12


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def calm(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data set of the program, undisturbed."""
    folder = tmp_path_factory.mktemp("calm")
    (folder / "run.toml").write_text(FILE)
    subprocess.run([program, "sweep", "run.toml"], cwd=folder, check=True)
    return folder / "run"


def leave_a_stale_table(calm: Path, root: Path) -> Path:
    """What another version of Pericore left of the last run: a whole table of another key."""
    table = sorted(calm.rglob("*.parquet"))[-1]
    key, digest = table.stem.removeprefix("run-").split("-")
    stale = root / table.relative_to(calm).with_name(f"run-{'0' * len(key)}-{digest}.parquet")
    stale.parent.mkdir(parents=True)
    stale.write_bytes(table.read_bytes())
    return stale


def lose_results(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Ray loses the first result that is fetched, and half of the second. Gives the list of what was lost."""
    import ray

    fetch = ray.get
    lost: list[Any] = []

    def losing(reference: Any, **options: Any) -> Any:
        if len(lost) == 2:
            return fetch(reference, **options)
        lost.append(reference)
        if len(lost) == 1:
            raise ray.exceptions.ObjectLostError(reference.hex(), "", "")
        return fetch(reference, **options)[:-1000]

    monkeypatch.setattr(ray, "get", losing)
    return lost


def disturb(root: Path) -> None:
    """A table is lost, another is cut, a third is of another time limit."""
    tables = sorted(root.rglob("*.parquet"))
    tables[0].unlink()
    tables[1].write_bytes(tables[1].read_bytes()[:-5])
    key, digest = tables[2].stem.removeprefix("run-").split("-")
    tables[2].rename(tables[2].with_name(f"run-{'0' * len(key)}-{digest}.parquet"))


@pytest.mark.parametrize("on", ["processes", "ray"])
def test_a_sweep_is_that_of_the_program(
    on: Literal["processes", "ray"], calm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.toml").write_text(FILE)
    stale = leave_a_stale_table(calm, tmp_path / "run")
    lost = lose_results(monkeypatch) if on == "ray" else []
    seen: list[int] = []
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_worker, args=(tmp_path / "run", killed))
    if on == "ray" and LONG:
        killer.start()
    with pytest.warns(UserWarning, match="stale; it runs again"):
        result = pericore.sweep(tmp_path / "run.toml", on=on, jobs=2, progress=lambda over, _: seen.append(over))
    if on == "ray" and LONG:
        killer.join()
        assert len(killed) == 1, "no worker was killed"
    assert (result.total, result.done, result.failures) == (TOTAL, TOTAL, ()), result
    assert seen == list(range(1, TOTAL + 1))
    assert len(lost) == (2 if on == "ray" else 0) and result.repeated >= len(lost), (lost, result)
    assert not stale.exists() and files(tmp_path / "run") == files(calm)
    disturb(tmp_path / "run")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again = pericore.sweep(tmp_path / "run.toml", on=on, jobs=2)
    words = " ".join(str(warning.message) for warning in caught)
    assert again.done == 3 and "stale; it runs again" in words and "damaged; it runs again" in words, words
    assert files(tmp_path / "run") == files(calm)


def kill_a_worker(root: Path, killed: list[int]) -> None:
    """Kills a process of Ray that carries out tasks when the first tables are there."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.01)
        workers = [
            process
            for process in psutil.Process().children(recursive=True)
            if "ray::_carry_out" in " ".join(process.cmdline() if process.is_running() else [])
        ]
        if len(list(root.rglob("*.parquet"))) > 10 and workers:
            workers[0].send_signal(signal.SIGKILL)
            killed.append(workers[0].pid)
            return


def test_parameters_are_columns(calm: Path) -> None:
    table = pericore.SweepResult(calm, TOTAL, 0, 0, ()).table(["machine", "workload", "workload_seed"]).pandas()
    found = {tuple(row) for row in table.drop_duplicates().itertuples(index=False)}
    seeds = range(1, TOTAL // 4 + 1)
    assert found == {(m, w, s) for m in ["e5-2600", "x5570"] for w in ["stream", "random"] for s in seeds}


def test_a_mistake_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(FILE.replace('"x5570"', '"x5571"'))
    with pytest.raises(ValueError, match=r'x\.toml:3:24: no machine "x5571"; did you mean x5570'):
        pericore.sweep(file, on="processes")
