"""Tables of queries of SQL: each rank reads its range of a key, by a driver of ADBC or another one of PEP 249."""

from __future__ import annotations

import contextlib
import decimal
import sys
import zlib
from typing import Any, Callable
from urllib.parse import quote

from ..comm.objects import allgather_object, broadcast_object
from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import NANOSECONDS, common, converted_to, is_decimal, normalized
from .exchange import balanced
from .key_types import decimals
from .making import settled, table_of, whole_column
from .rows import Rows, arrow, arrows_errors, block_counts

#: What pip calls the drivers of ADBC, by the scheme of a URI.
_DRIVERS = {
    "sqlite": "adbc-driver-sqlite",
    "postgresql": "adbc-driver-postgresql",
    "postgres": "adbc-driver-postgresql",
}


#: The first day that PostgreSQL has, of the year 4713 before Christ, counted from that of 1970.
_FIRST_DAY = -2_440_589


def read_sql(ctx: Context, op: str, query: Any, connection: Any, partition_on: Any) -> Rows:
    """Return the rows of a query. Collective."""
    with local_step(ctx, op):
        if not isinstance(query, str) or not query.strip():
            raise InvalidTypeError(f"query must be text of SQL, not {query!r}")
        if partition_on is not None and not isinstance(partition_on, str):
            raise InvalidTypeError(f"partition_on must be the name of a column, not {partition_on!r}")
        connect = _connector(connection)
        query = query.strip().rstrip(";")
        arrow()
    # A URI may have a password, which no error is to show.
    where = f"{zlib.crc32(connection.encode()):08x}" if isinstance(connection, str) else "by a function"
    agree(ctx, op, f"query {query!r}, connection {where}, partition_on {partition_on!r}")
    if partition_on is None:
        with local_step(ctx, op):
            mine = _fetched(connect, query) if ctx.rank == 0 else None
        rows = settled(ctx, op, mine)
        even = block_counts(ctx, rows.total)
        return Rows(ctx, balanced(ctx, op, rows.local, rows.counts, even), even)
    # By the table's name, since SQLite takes a name in quotes that is no column's for text.
    key = 'part."' + partition_on.replace('"', '""') + '"'
    with local_step(ctx, op):
        bounds = _bounds(connect, query, key, partition_on) if ctx.rank == 0 else None
    lo, hi = broadcast_object(ctx, bounds, 0)
    with local_step(ctx, op):
        table = _fetched(connect, f"SELECT * FROM ({query}\n) AS part WHERE {_range(ctx, key, lo, hi)}")
    return settled(ctx, op, _in_types(ctx, op, table))


def _range(ctx: Context, key: str, lo: int, hi: int) -> str:
    """Return the condition of this rank's rows. The last rank has those without a key."""
    cuts = [lo + (hi - lo + 1) * rank // ctx.size for rank in range(ctx.size + 1)]
    terms = [f"{key} >= {cuts[ctx.rank]}"] if ctx.rank else []
    if ctx.rank < ctx.size - 1:
        return " AND ".join([*terms, f"{key} < {cuts[ctx.rank + 1]}"])
    return f"{' AND '.join(terms)} OR {key} IS NULL" if terms else "1 = 1"


def _bounds(connect: Callable[[], Any], query: str, key: str, name: str) -> tuple[int, int]:
    """Return the lowest and the highest key."""
    found = _fetched(connect, f"SELECT MIN({key}) AS lo, MAX({key}) AS hi FROM ({query}\n) AS part").to_pylist()[0]
    lo, hi = found["lo"], found["hi"]
    for bound in (lo, hi):
        is_whole = isinstance(bound, decimal.Decimal) and bound == int(bound)
        if bound is not None and not is_whole and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise InvalidTypeError(f"partition_on {name!r} has the value {bound!r}; integers divide rows among ranks")
    return (0, 0) if lo is None else (int(lo), int(hi))


def _connector(connection: Any) -> Callable[[], Any]:
    """Return what connects to a database."""
    if callable(connection):
        function: Callable[[], Any] = connection
        return function
    if not isinstance(connection, str):
        raise InvalidTypeError(
            f"connection must be a URI or a function that returns a connection, not a {type(connection).__name__}"
        )
    scheme = connection.partition(":")[0]
    if scheme not in _DRIVERS:
        raise InvalidArgumentError(
            f"the URI begins with {scheme!r}, and not with one of {', '.join(_DRIVERS)}: pass a function that connects "
            "by another driver of ADBC"
        )
    uri = connection
    if scheme == "sqlite":
        if not connection.startswith("sqlite:///"):
            raise InvalidArgumentError("the URI of a file of SQLite is sqlite:/// and its path")
        uri = f"file:{quote(connection[len('sqlite:///') :])}?mode=ro"  # so that a wrong path makes no file
    return lambda: _driver(scheme).connect(uri)


def _driver(scheme: str) -> Any:
    """Return the module of a driver."""
    try:
        if scheme == "sqlite":
            import adbc_driver_sqlite.dbapi as sqlite  # type: ignore[import-untyped,import-not-found,unused-ignore]

            return sqlite
        import adbc_driver_postgresql.dbapi as postgresql  # type: ignore[import-untyped,import-not-found,unused-ignore]

        return postgresql
    except ImportError as error:
        raise needs(_DRIVERS[scheme], "read_sql", error) from None


class _Driver:
    """Raises the errors of a driver, which has a class ``Error`` for them as PEP 249 asks, as one of DTL's."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None and _is_of_driver(error):
            raise FileError(f"{self._what}: {error}") from None


def _is_of_driver(error: BaseException) -> bool:
    """Say whether the package or a module that an error's class is of calls it an ``Error``."""
    names = type(error).__module__.split(".")
    modules = [sys.modules.get(".".join(names[: number + 1])) for number in range(len(names))]
    kinds = [getattr(module, "Error", None) for module in modules]
    return any(isinstance(kind, type) and isinstance(error, kind) for kind in kinds)


def _fetched(connect: Callable[[], Any], query: str) -> Any:
    """Return the table of a query, in normal form."""
    with _Driver("no connection to the database"):
        connection = connect()
    for method in ("cursor", "close"):
        if not callable(getattr(connection, method, None)):
            raise InvalidTypeError(
                f"connection returns a {type(connection).__name__}, which is no connection of PEP 249: it has no "
                f"{method}()"
            )
    refused = _Driver("the database refuses the query")
    with contextlib.closing(connection), refused, contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(query)
        fetch = getattr(cursor, "fetch_arrow_table", None) or getattr(cursor, "to_arrow_table", None)
        if fetch is not None:
            return normalized(_with_decimals(_finite(table_of(arrow(), fetch()))))
        if not cursor.description:
            raise InvalidArgumentError("the query returns no rows: it is no SELECT")
        columns = list(zip(*cursor.fetchall())) or [()] * len(cursor.description)
        names = [name for name, *_ in cursor.description]
        made = [whole_column(f"the column {name!r}", list(values)) for name, values in zip(names, columns)]
        return normalized(arrow().table(made, names=names))


def _finite(table: Any) -> Any:
    """Return a table, unless it has infinite times of PostgreSQL's, which the driver of ADBC makes times long ago."""
    pa = arrow()
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if not (pa.types.is_date32(kind) or pa.types.is_timestamp(kind)):
            continue
        first = pa.compute.min(column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())).as_py()
        per_day = 1 if kind.bit_width == 32 else NANOSECONDS["D"] // NANOSECONDS[kind.unit]
        if first is not None and first // per_day < _FIRST_DAY:
            raise InvalidArgumentError(f"the column {name!r} has a time that is infinite, or after the year 294246")
    return table


def _with_decimals(table: Any) -> Any:
    """Return a table with decimals in the place of PostgreSQL's numeric, which the driver of ADBC returns as text."""
    pa = arrow()
    for place, field in enumerate(table.schema):
        if getattr(field.type, "type_name", None) != "numeric":
            continue
        with arrows_errors(f"the column {field.name!r} of numeric, which CAST(... AS double precision) makes floats"):
            column = pa.chunked_array([each.storage for each in table[place].chunks], pa.string())
            table = table.set_column(place, field.name, column.cast(_decimal_of(column)))
    return table


def _decimal_of(column: Any) -> Any:
    """Return the type of decimals that holds numbers written in digits."""
    pa = arrow()
    compute = pa.compute
    digits = compute.replace_substring(column, "-", "")
    lengths, point = compute.binary_length(digits), compute.find_substring(digits, ".")
    has_point = compute.greater_equal(point, 0)
    whole = compute.max(compute.if_else(has_point, point, lengths)).as_py() or 1
    behind = compute.subtract(compute.subtract(lengths, point), 1)
    scale = compute.max(compute.if_else(has_point, behind, 0)).as_py() or 0
    return pa.decimal128(whole + scale, scale) if whole + scale <= 38 else pa.decimal256(whole + scale, scale)


def _in_types(ctx: Context, op: str, table: Any) -> Any:
    """Return a rank's rows in types that hold the rows of all ranks: drivers tell them from the rows. Collective."""
    pa = arrow()
    # Where a rank has no value, the driver says any type.
    mine = [
        (field.name, pa.null() if table[i].null_count == len(table) else field.type, field.type)
        for i, field in enumerate(table.schema)
    ]
    everyones = allgather_object(ctx, mine)
    with local_step(ctx, op):
        kinds: dict[str, Any] = {}
        for name, kind, _ in (each for of_rank in everyones for each in of_rank):
            before = kinds.get(name, kind)
            both = _together(before, kind)
            if both is None:
                raise FileError(
                    f"the values of {name!r} are of {before} in a range of the key, and of {kind} in another"
                )
            kinds[name] = both
        kinds = {name: said if pa.types.is_null(kinds[name]) else kinds[name] for name, _, said in everyones[0]}
        made = {}
        for i, (name, kind, _) in enumerate(mine):
            wanted = kinds[name]
            nulls = pa.types.is_null(kind)
            column = pa.chunked_array([pa.nulls(len(table), wanted)], wanted) if nulls else table[i]
            made[name] = converted_to(name, column, wanted)
        return pa.table(made)


def _together(one: Any, other: Any) -> Any:
    """Return the type of a column of which two ranks have these; None if there is none."""
    pa = arrow()
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if is_decimal(one) and is_decimal(other):
        return decimals(one, other)
    return common(one, other)
