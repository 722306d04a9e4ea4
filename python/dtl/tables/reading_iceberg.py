"""Tables of Iceberg: rank 0 plans which files a snapshot has, and each rank reads its own by pyiceberg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..comm.objects import broadcast_object
from ..exceptions import FileError, FileNotFoundError, InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..io.steps import as_file_error
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import normalized
from .exchange import balanced
from .making import settled
from .reading import chosen_columns, whole_number
from .rows import Rows, block_counts, unknown_column


def read_iceberg(ctx: Context, op: str, table: Any, catalog: Any, snapshot: Any, columns: Any, filters: Any) -> Rows:
    """Return the rows of a snapshot of a table. Collective."""
    with local_step(ctx, op):
        _check(table, catalog, filters)
        number = whole_number("snapshot", snapshot)
        chosen = chosen_columns(columns)
    what = catalog if isinstance(catalog, str) or catalog is None else sorted(catalog)  # whose values may be secret
    agree(ctx, op, f"table {table!r}, catalog {what}, snapshot {number}, columns {chosen}, filters {filters!r}")
    plan = None
    with local_step(ctx, op), as_file_error("read", table):
        _pyiceberg()
        if ctx.rank == 0:
            plan = _planned(table, catalog, number, chosen, filters)
    where, properties, tasks = broadcast_object(ctx, plan, 0)
    with local_step(ctx, op), as_file_error("read", table):
        mine = _read(where, properties, number, chosen, filters, _own(tasks, ctx.rank, ctx.size))
    rows = settled(ctx, op, mine if chosen is None else mine.select(chosen))
    even = block_counts(ctx, rows.total)
    return Rows(ctx, balanced(ctx, op, rows.local, rows.counts, even), even)


def _check(table: Any, catalog: Any, filters: Any) -> None:
    """Refuse arguments that are none."""
    if not isinstance(table, str) or not table:
        raise InvalidTypeError(f"table must be the name of one, or the path of its metadata, not {table!r}")
    if catalog is not None and not isinstance(catalog, (str, Mapping)):
        raise InvalidTypeError(f"catalog must be the name of one, or a mapping of its properties, not {catalog!r}")
    if filters is not None and not isinstance(filters, str):
        raise InvalidTypeError(f"filters must be text such as \"price > 3 and shop = 'a'\", not {filters!r}")


def _pyiceberg() -> Any:
    """Return the package."""
    try:
        import pyiceberg.catalog  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyiceberg.exceptions  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyiceberg.io.pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyiceberg.table  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("pyiceberg", "read_iceberg", error) from None
    return pyiceberg


def _scan(table: Any, number: int | None, chosen: list[str] | None, filters: str | None) -> Any:
    """Return what a caller wants of a table. A snapshot that there is none of would have no rows, for pyiceberg."""
    known = [each.snapshot_id for each in table.snapshots()]
    if number is not None and number not in known:
        raise InvalidArgumentError(f"snapshot {number} is none of {known}")
    schema = table.schema() if number is None else table.scan(snapshot_id=number).projection()
    for name in chosen or ():
        if name not in schema.column_names:
            raise unknown_column(name, list(schema.column_names))
    from pyparsing import ParseBaseException  # type: ignore[import-untyped,import-not-found,unused-ignore]

    more = {} if filters is None else {"row_filter": filters}
    try:
        return table.scan(selected_fields=("*",) if chosen is None else tuple(chosen), snapshot_id=number, **more)
    except ParseBaseException:
        raise InvalidArgumentError(f"filters {filters!r} is no expression of Iceberg") from None


def _planned(
    name: str, catalog: Any, number: int | None, chosen: list[str] | None, filters: str | None
) -> tuple[str, dict[str, str], list[Any]]:
    """Return where the metadata of a table is, the properties of its storage, and its files."""
    ice = _pyiceberg()
    if catalog is None and name.endswith(".json"):
        table = ice.table.StaticTable.from_metadata(name)
    else:
        own = {} if catalog is None or isinstance(catalog, str) else {str(key): str(catalog[key]) for key in catalog}
        try:
            known = catalog if isinstance(catalog, str) else own.pop("name", None)
            table = ice.catalog.load_catalog(known, **own).load_table(name)
        except (ice.exceptions.NoSuchTableError, ice.exceptions.NoSuchNamespaceError) as error:
            raise FileNotFoundError(f"cannot read {name!r}: {error}") from None
    scan = _scan(table, number, chosen, filters)
    try:
        tasks = list(scan.plan_files())
    except ValueError as error:
        if "Could not find field" in str(error):
            raise InvalidArgumentError(f"filters {filters!r}: {error}") from None
        raise
    return table.metadata_location, dict(table.io.properties), tasks


def _own(tasks: list[Any], rank: int, ranks: int) -> list[Any]:
    """Return a rank's files: those of which the middle row is in its share of all rows."""
    ends = np.cumsum([0, *(task.file.record_count for task in tasks)])
    middles = (ends[:-1] + ends[1:]) // 2
    return [task for task, row in zip(tasks, middles.tolist()) if row * ranks // max(int(ends[-1]), 1) == rank]


def _read(
    where: str,
    properties: dict[str, str],
    number: int | None,
    chosen: list[str] | None,
    filters: str | None,
    tasks: list[Any],
) -> Any:
    """Return the rows of some files."""
    ice = _pyiceberg()
    table = ice.table.StaticTable.from_metadata(where, properties)
    scan = _scan(table, number, chosen, filters)
    rows = ice.io.pyarrow.ArrowScan(table.metadata, table.io, scan.projection(), scan.row_filter)
    try:
        return normalized(rows.to_table(tasks))
    except ice.exceptions.ResolveError as error:
        raise FileError(str(error)) from None
