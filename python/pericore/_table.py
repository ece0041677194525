"""Tables that Arrow, pandas and Polars take."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet

if TYPE_CHECKING:
    import pandas
    import polars


class Table:
    """A table in memory: an Arrow table with the conversions that users want.

    It has Arrow's stream interface (``__arrow_c_stream__``), so ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, DuckDB and others take it as it is.
    """

    def __init__(self, table: pyarrow.Table) -> None:
        self._table = table

    @classmethod
    def of_columns(cls, columns: dict[str, list[Any]], schema: pyarrow.Schema) -> Table:
        """A table of lists, with the types of a schema."""
        return cls(pyarrow.table(columns, schema=schema))

    @classmethod
    def of_parquet(cls, data: bytes, columns: list[str] | None = None) -> Table:
        """The table of a Parquet file in memory."""
        return cls(pyarrow.parquet.read_table(io.BytesIO(data), columns=columns))

    def arrow(self) -> pyarrow.Table:
        """The Arrow table."""
        return self._table

    def pandas(self) -> pandas.DataFrame:
        """A pandas data frame with Arrow's types, so that integers of 64 bits stay exact beside missing values.

        Raises ImportError without pandas (``pip install pericore[pandas]``).
        """
        import pandas

        frame: pandas.DataFrame = self._table.to_pandas(types_mapper=pandas.ArrowDtype)
        return frame

    def polars(self) -> polars.DataFrame:
        """A Polars data frame.

        Raises ImportError without Polars (``pip install pericore[polars]``).
        """
        import polars

        frame = polars.from_arrow(self._table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def column(self, name: str) -> list[Any]:
        """The values of a column. Raises KeyError if there is none of this name."""
        values: list[Any] = self._table.column(name).to_pylist()
        return values

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        names: list[str] = self._table.column_names
        return names

    def __len__(self) -> int:
        length: int = self._table.num_rows
        return length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"pericore.Table of {len(self)} rows: {', '.join(self.columns)}"
