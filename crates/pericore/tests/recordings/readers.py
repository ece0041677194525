"""What other programs find in tables: one JSON document on standard output.

sums FILE      {reader: {event: sum of its counts}}
groups FILE    samples in each row group
query SQL      the rows of a query in DuckDB's SQL
"""

import json
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet


def sums(path):
    rows = duckdb.execute("SELECT event, sum(count) FROM read_parquet(?) GROUP BY event", [path]).fetchall()
    lazy = polars.scan_parquet(path).group_by("event").agg(polars.col("count").sum()).collect()
    # Without the second argument, columns with missing values become floating-point numbers.
    frame = pandas.read_parquet(path, dtype_backend="pyarrow").groupby("event")["count"].sum()
    return {
        "duckdb": {event: int(count) for event, count in rows},
        "polars": dict(lazy.iter_rows()),
        "pandas": {event: int(count) for event, count in frame.items()},
    }


def groups(path):
    metadata = pyarrow.parquet.ParquetFile(path).metadata
    samples = pyarrow.parquet.read_table(path, columns=["sample"])["sample"].to_pylist()
    found, row = [], 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        found.append(len(set(samples[row : row + rows])))
        row += rows
    return found


def query(text):
    result = duckdb.execute(text)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]


print(json.dumps({"sums": sums, "groups": groups, "query": query}[sys.argv[1]](sys.argv[2]), default=str))
