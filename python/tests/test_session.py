"""Sessions, on a live software machine that stands in for this one."""

import subprocess
import sys
from pathlib import Path

import pytest

import pericore

SCRIPT = """
import time
import pericore
with pericore.Session(events="imc/CAS_COUNT.RD/", interval=1000.0) as session:
    time.sleep(2.5)
counts = session.recording.counts().pandas()
reads, seconds = counts["count"].sum(), counts.groupby("sample")["seconds"].first().sum()
# A host that is busy holds units up, which the program reports.
assert counts["validity"].isin(["measured", "suspect"]).all(), counts
assert counts["sample"].nunique() >= 2 and 2 < seconds < 60, seconds
print(reads / seconds)
"""


def is_static(program: str) -> bool:
    """Whether no loader of shared libraries is named in it (PT_INTERP of an ELF file)."""
    return b"/lib64/ld-linux-x86-64.so.2\0" not in Path(program).read_bytes()[:4096]


def test_a_session_counts_on_a_live_machine(program: str) -> None:
    """The rate that the session finds is the one that the model has in virtual time."""
    if is_static(program):
        pytest.skip("a release's program is no client of `pericore machine run`: docs/development/release.md")
    workload = "stream:threads=1"
    live = [program, "machine", "run", "--machine", "e5-2600", "--workload", workload, "--", sys.executable, "-c", SCRIPT]
    run = subprocess.run(live, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    counts = pericore.Machine("e5-2600").run(workload, events="imc/CAS_COUNT.RD/", timeout=0.2).counts().pandas()
    expected = counts["count"].sum() / counts["elapsed"].max()
    assert float(run.stdout) == pytest.approx(expected, rel=0.2), run.stderr


def test_what_cannot_be_counted_is_said_by_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pericore.SessionError, match="NOTHING|no uncore that pericore knows"), pericore.Session(events="imc/NOTHING/"):
        pass
    monkeypatch.delenv("PERICORE")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="no program pericore on the PATH"):
        pericore.Session()
