"""The runs of a data set as three readers see them: a line for each reader and run."""

import sys

import duckdb
import polars
import pyarrow.dataset

NAMES = ["machine", "workload", "workload_requests", "workload_seed", "workload_footprint"]
root = sys.argv[1]


def show(reader, rows):
    for row in sorted(" ".join(str(value) for value in row) for row in set(rows)):
        print(reader, row)


listed = ", ".join(NAMES)
files = f"read_parquet('{root}/**/*.parquet', hive_partitioning = true)"
show("duckdb", duckdb.execute(f"SELECT DISTINCT {listed} FROM {files}").fetchall())
table = pyarrow.dataset.dataset(root, format="parquet", partitioning="hive").to_table(columns=NAMES)
show("pyarrow", [tuple(row[name] for name in NAMES) for row in table.to_pylist()])
frame = polars.scan_parquet(f"{root}/**/*.parquet", hive_partitioning=True).select(NAMES).unique().collect()
show("polars", frame.rows())
