"""Software Xeons: laws, counts by hand, and the program's JSON."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pericore

JsonLines = Callable[..., list[dict[str, Any]]]


def test_counts_are_those_of_the_traffic() -> None:
    """One thread stores 64,000 lines around the caches: each is written to memory once, and none is read."""
    run = pericore.Machine("e5-2600").run(
        "ntstore:requests=64000,threads=1", events="imc/CAS_COUNT.WR/,imc/CAS_COUNT.RD/", cold=True, truth=True
    )
    counts = run.counts().pandas()
    assert list(counts["validity"].unique()) == ["measured"]
    assert (counts["count"] == counts["truth"]).all()
    sums = counts.groupby("event")["count"].sum()
    assert 63_900 <= sums["imc/CAS_COUNT.WR/"] <= 64_000
    assert sums["imc/CAS_COUNT.RD/"] == 0
    # Four channels of one socket, each with both events.
    assert len(counts) == 8 and sorted(counts["instance"].unique()) == [0, 1, 2, 3]


def test_a_report_is_that_of_the_program(json_lines: JsonLines) -> None:
    words = ["stat", "--machine", "e5-2600:sockets=2", "--workload", "random:requests=5000,remote=50"]
    counted = ["-e", "cbo/TOR_INSERTS.OPCODE,opc=DRd/", "-M", "memory", "--truth", "-j", "--per-socket"]
    expected = json_lines(*words, *counted)
    run = pericore.Machine("e5-2600", sockets=2).run(
        "random:requests=5000,remote=50", events="cbo/TOR_INSERTS.OPCODE,opc=DRd/", metrics="memory", truth=True
    )
    rows = run.report("socket").rows()
    assert len(rows) == len(expected) > 2
    values = [line["counter-value"] if "counter-value" in line else line["metric-value"] for line in expected]
    for row, value, line in zip(rows, values, expected, strict=True):
        assert row["validity"] == line["validity"]
        if row["value"] is not None:
            assert row["value"] == pytest.approx(float(value), rel=1e-4), (row, line)


def test_an_interval_gives_samples_and_files_come_back(tmp_path: Path) -> None:
    run = pericore.Machine("x5570").run("stream:requests=20k", interval=0.01, metrics="memory")
    counts = run.counts()
    assert len(set(counts.column("sample"))) > 3
    for name in ["x.parquet", "x.rec"]:
        run.save(tmp_path / name)
        again = pericore.read(tmp_path / name)
        assert again.counts().rows() == counts.rows()
        assert again.report().rows() == run.report().rows()
    assert run.header["emulated"] == "x5570" and repr(run).startswith("pericore.Recording: EMULATED nehalem")


def test_the_same_experiment_gives_the_same_bytes_in_other_threads() -> None:
    machine, found = pericore.Machine("e5-2600", cores=2), {}

    def run(number: int) -> None:
        found[number] = machine.run("random:requests=3000,seed=7", metrics="memory").parquet()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found.values())) == 1 and len(found) == 3


def test_a_curve_rises_and_is_that_of_the_program(json_lines: JsonLines) -> None:
    curve = pericore.Machine("x5570").curve(read=67)
    expected = json_lines("machine", "curve", "--machine", "x5570", "--read", "67", "--json")
    assert curve.rows() == expected
    latency = curve.column("latency_ns")
    assert latency[-1] > 1.5 * latency[0]


def test_footprints_and_cores_are_those_of_the_program(json_lines: JsonLines) -> None:
    machine, of = pericore.Machine("x5570"), ("machine", "curve", "--machine", "x5570", "--json")
    footprints = machine.footprints()
    assert footprints.rows() == json_lines(*of, "--footprints")
    assert footprints.column("latency_ns")[-1] > 10 * footprints.column("latency_ns")[0]
    cores = machine.by_cores(read=75)
    assert cores.rows() == json_lines(*of, "--cores", "--read", "75")
    assert cores.column("cores") == [1, 2, 3, 4]
    with pytest.raises(ValueError, match='pages="1G": give 4K or 2M'):
        machine.footprints(pages="1G")  # type: ignore[arg-type]


def test_mistakes_are_refused_with_their_place() -> None:
    with pytest.raises(ValueError, match="cores=9: give a number from 1 to 8"):
        pericore.Machine("e5-2600", cores=9)
    machine = pericore.Machine("e5-2600")
    with pytest.raises(ValueError, match="workload"):
        machine.run("streem")
    with pytest.raises(ValueError, match=r"CAS_CUONT[\s\S]*\^"):
        machine.run("stream", events="imc/CAS_CUONT.RD/")
    with pytest.raises(ValueError, match="-1: give a number of milliseconds above 0"):
        machine.run("stream", interval=-1.0)
    with pytest.raises(ValueError, match="e5-2680 has one socket"):
        machine.curve("remote")
    with pytest.raises(OSError, match="cannot read /nowhere"):
        pericore.read("/nowhere")
    with pytest.raises(ValueError, match="not a Pericore recording"):
        pericore.read(__file__)


def test_a_machine_of_a_part_of_ones_own(tmp_path: Path, json_lines: JsonLines) -> None:
    """Sixteen slices count the clock, as the program's do on the same part."""
    part = tmp_path / "own.toml"
    rows = ['part = "own-16"', 'family = "sapphire-rapids"', 'like = "8480+"', "[datasheet]", "cores = 16", "slices = 16", "[fitted]"]
    part.write_text("\n".join(rows))
    run = pericore.Machine(str(part), cores=4).run("stream:requests=500", events="cha/CLOCKTICKS/", cold=True)
    counts = run.counts().pandas()
    words = ["stat", "--machine", f"{part}:cores=4", "--workload", "stream:requests=500", "--cold", "-e", "cha/CLOCKTICKS/"]
    [line] = json_lines(*words, "-j")
    assert len(counts) == 16 and counts["count"].sum() == float(line["counter-value"])
    part.write_text(part.read_text().replace("slices = 16", "slices = 15"))
    with pytest.raises(ValueError, match="own-16.* was read before with other values"):
        pericore.Machine(str(part))
    with pytest.raises(OSError, match="none.toml"):
        pericore.Machine(str(tmp_path / "none.toml"))
