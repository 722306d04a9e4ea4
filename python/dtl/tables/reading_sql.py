"""Tables of queries of SQL: each rank reads its range of a key, by a driver of ADBC or another one of PEP 249."""

from __future__ import annotations

import contextlib
import sys
import zlib
from typing import Any, Callable, Iterator
from urllib.parse import quote

from ..comm.objects import allgather_object, broadcast_object
from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .arrow_types import common, converted_to, normalized
from .exchange import balanced
from .making import settled, table_of, whole_column
from .rows import Rows, arrow, block_counts

#: What pip calls the drivers of ADBC, by the scheme of a URI.
_DRIVERS = {
    "sqlite": "adbc-driver-sqlite",
    "postgresql": "adbc-driver-postgresql",
    "postgres": "adbc-driver-postgresql",
}


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
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise InvalidTypeError(f"partition_on {name!r} has the value {bound!r}; integers divide rows among ranks")
    return (0, 0) if lo is None else (lo, hi)


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


@contextlib.contextmanager
def _errors_of(thing: Any) -> Iterator[None]:
    """Raise the errors of a driver, which has a class for them as PEP 249 asks, as one of DTL's."""
    package = sys.modules.get(type(thing).__module__.partition(".")[0])
    kind = getattr(thing, "Error", None) or getattr(package, "Error", None) or FileError
    try:
        yield
    except kind as error:
        raise FileError(f"the database refuses the query: {error}") from None


def _fetched(connect: Callable[[], Any], query: str) -> Any:
    """Return the table of a query, in normal form."""
    with _connecting():
        connection = connect()
    for method in ("cursor", "close"):
        if not callable(getattr(connection, method, None)):
            raise InvalidTypeError(
                f"connection returns a {type(connection).__name__}, which is no connection of PEP 249: it has no "
                f"{method}()"
            )
    with contextlib.closing(connection), _errors_of(connection), contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(query)
        fetch = getattr(cursor, "fetch_arrow_table", None) or getattr(cursor, "to_arrow_table", None)
        if fetch is not None:
            return normalized(table_of(arrow(), fetch()))
        if not cursor.description:
            raise InvalidArgumentError("the query returns no rows: it is no SELECT")
        columns = list(zip(*cursor.fetchall())) or [()] * len(cursor.description)
        names = [name for name, *_ in cursor.description]
        made = [whole_column(f"the column {name!r}", list(values)) for name, values in zip(names, columns)]
        return normalized(arrow().table(made, names=names))


@contextlib.contextmanager
def _connecting() -> Iterator[None]:
    """Raise the errors of ADBC, of which there is no connection yet, as one of DTL's."""
    try:
        yield
    except getattr(sys.modules.get("adbc_driver_manager"), "Error", FileError) as error:
        raise FileError(f"no connection to the database: {error}") from None


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
            both = pa.float64() if {before, kind} == {pa.int64(), pa.float64()} else common(before, kind)
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
