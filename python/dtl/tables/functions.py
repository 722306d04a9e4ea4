"""The functions of the package that return tables: each is a method of ``Table`` by the name that pandas gives it."""

from __future__ import annotations

from typing import Any

from ..runtime.context import Context
from . import reading, reading_batches, reading_csv
from .csv_options import options_of
from .table import Table

from_arrow = Table.from_arrow
read_arrow = Table.read_arrow
read_csv = Table.read_csv
read_delta = Table.read_delta
read_iceberg = Table.read_iceberg
read_json = Table.read_json
read_parquet = Table.read_parquet
read_sql = Table.read_sql


def loaded(ctx: Context, format: str, path: str, rows: slice | None, placement: Any, mapped: bool) -> Table:
    """Return some rows of a file for ``load``. Collective."""
    if format == "parquet":
        return Table.of(reading.read_parquet(ctx, "load", path, None, None, rows, placement))
    if format == "arrow":
        return Table.of(reading_batches.read_arrow(ctx, "load", path, None, rows, placement, mapped))
    return Table.of(reading_csv.read_csv(ctx, "load", path, options_of(), rows, placement))
