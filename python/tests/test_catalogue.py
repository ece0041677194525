"""The catalogue: expectations are numbers of Intel's documents, and the program's own JSON."""

from collections.abc import Callable
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import pericore

JsonLines = Callable[..., list[dict[str, Any]]]

FAMILIES = ["e5-2600", "nehalem", "emerald-rapids"]


@pytest.mark.parametrize("family", FAMILIES)
def test_events_are_those_of_the_program(json_lines: JsonLines, family: str) -> None:
    expected = json_lines("list", "--machine", family, "--json")
    rows = pericore.events(family).rows()
    assert len(rows) == len(expected) > 100
    for row, line in zip(rows, expected, strict=True):
        for name in ["family", "unit", "event", "subevent", "intel_name", "perf", "counters", "max_increment", "modelled"]:
            assert row[name] == line[name], (row, line)
        for name in ["code", "umask", "config"]:
            assert row[name] == (None if line[name] is None else int(line[name], 16)), (row, line)
        assert (row["source"], row["description"]) == (line["source"], line["description"])


@pytest.mark.parametrize("family", FAMILIES)
def test_metrics_and_registers_are_those_of_the_program(json_lines: JsonLines, family: str) -> None:
    expected = json_lines("list", "--metrics", "--machine", family, "--json")
    rows = pericore.metrics(family).rows()
    assert rows == [{name: line[name] for name in rows[0]} for line in expected]
    expected = json_lines("list", "--registers", "--machine", family, "--json")
    rows = pericore.registers(family).rows()
    assert len(rows) == len(expected)
    for row, line in zip(rows, expected, strict=True):
        for name in ["unit", "instance", "register", "space", "bdf", "width", "source"]:
            assert row[name] == line[name], (row, line)
        assert row["address"] == (None if line["address"] is None else int(line["address"], 16))
        assert row["reset"] == int(line["reset"], 16)
        assert row["fields"] == [f"{field['name']} {field['bits']}" for field in line["fields"]]


def test_the_documents_numbers() -> None:
    """E5-2600 guide: Table 2-6 has CBo 0's control 0 at 0xD10; 2.5.6 has CAS_COUNT as event 0x04, umask 0x03 for reads."""
    registers = pericore.registers("e5-2600").pandas().set_index(["unit", "instance", "register"])
    assert registers.loc[("cbo", 0, "ctl0"), "address"] == 0xD10
    events = pericore.events("e5-2600").polars()
    reads = events.filter((polars.col("event") == "CAS_COUNT") & (polars.col("subevent") == "RD"))
    assert (reads["code"].to_list(), reads["umask"].to_list()) == ([0x04], [0x03])


def test_other_libraries_take_tables_as_they_are() -> None:
    table = pericore.metrics("nehalem")
    assert pyarrow.table(table).num_rows == len(table) > 0
    assert polars.DataFrame(table).height == len(table)
    assert isinstance(table.pandas(), pandas.DataFrame)
    assert repr(table).startswith(f"pericore.Table of {len(table)} rows: family, unit, metric")


def test_what_is_not_known_is_refused_with_what_is_meant() -> None:
    with pytest.raises(ValueError, match=r'no machine "8952\+"; did you mean 8592\+\?'):
        pericore.events("8952+")
    assert set(FAMILIES) <= set(pericore.families())
    assert pericore.presets()["8592+"] == "emerald-rapids"


def test_the_die_has_each_instance_once() -> None:
    """An 8592+ has 64 cores, each with a CHA."""
    places = [place for row in pericore.floorplan("8592+") for place in row if place is not None]
    chas = [place for place in places if place.startswith("cha")]
    assert sorted(chas) == sorted(f"cha{number}" for number in range(64))
