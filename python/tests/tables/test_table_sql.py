"""Tables of queries of SQL: beside the rows that Python's sqlite3 returns for the whole query."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from test_table import everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def made(ctx: dtl.Context, folder: str, rows: list[tuple[Any, ...]]) -> str:
    path = f"{folder}/a.db"
    if ctx.is_root:
        database = sqlite3.connect(path)
        database.execute('CREATE TABLE t ("the ""key" INTEGER, x REAL, s TEXT, late TEXT, b BLOB)')
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        database.commit()
        database.close()
    ctx.barrier()
    return path


#: Half of the values of a column are null on one rank, or whole numbers, so that drivers say other types on each.
ROWS = [
    (i, i / 4 if i > 60 else float(i), f"é{i}", None if i < 70 else f"l{i}", bytes([i]))
    for i in range(-20, 100)
    if i >= 0
]
ROWS += [(None, None, None, "no key", None), (1000, 2.5, "far", None, b"")]

DRIVERS = ["sqlite3", "adbc", "a function of ADBC"]


def connection(driver: str, path: str) -> Any:
    if driver == "sqlite3":
        return lambda: sqlite3.connect(path)
    pytest.importorskip("adbc_driver_sqlite", reason="needs adbc-driver-sqlite; runs where the extra sql is")
    if driver == "adbc":
        return f"sqlite:///{path}"
    connect: Callable[[str], Any] = importlib.import_module("adbc_driver_sqlite.dbapi").connect
    return lambda: connect(path)


def rows_of(table: dtl.Table) -> list[str]:
    return sorted(map(repr, map(tuple, (row.values() for row in everywhere(table).to_pylist()))))


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("key", [None, 'the "key'])
@pytest.mark.parametrize("where", ["", "WHERE x > 3 -- a comment", 'WHERE "the ""key" > 5000'])
def test_ranges_of_a_key(ctx: dtl.Context, folder: str, driver: str, key: Any, where: str) -> None:
    path = made(ctx, folder, ROWS)
    least = 5000 if where.endswith("5000") else 3
    wanted = [row for row in ROWS if not where or (row[1] or 0) > least]
    query = f"SELECT * FROM t {where}" if where else "SELECT * FROM t; "
    table = dtl.read_sql(ctx, query, connection(driver, path), partition_on=key)
    assert rows_of(table) == sorted(map(repr, wanted))
    assert table.columns == ['the "key', "x", "s", "late", "b"]
    if wanted and key is None:
        counts = dtl.allgather(ctx, len(table.to_arrow(local=True)))
        assert counts.max() - counts.min() <= 1


def test_refused(ctx: dtl.Context, folder: str) -> None:
    path = made(ctx, folder, ROWS)
    connect = connection("sqlite3", path)
    for query, key, error, words in (
        ("SELECT absent FROM t", None, dtl.FileError, "refuses the query: no such column"),
        ("SELECT * FROM t", "absent", dtl.FileError, "refuses the query"),
        ("SELECT * FROM t", "s", TypeError, "partition_on 's' has the value 'far'"),
        ("SELECT * FROM t", "x", TypeError, "integers divide rows"),
        ("SELECT s AS a, s AS a FROM t", None, ValueError, "two columns 'a'"),
        ("SELECT 1 AS a UNION SELECT 'x'", None, ValueError, "the column 'a'"),
        ("", None, TypeError, "query"),
        (b"SELECT 1", None, TypeError, "query"),
        ("SELECT 1", 3, TypeError, "partition_on"),
    ):
        with pytest.raises(error, match=words):
            dtl.read_sql(ctx, query, connect, partition_on=key)  # type: ignore[arg-type]
    for where, error, words in (
        (3, TypeError, "a URI or a function"),
        (lambda: {"secret": 1}, TypeError, r"a dict, which is no connection of PEP 249: it has no cursor"),
        ("oracle://secret@there", ValueError, "begins with 'oracle'"),
    ):
        with pytest.raises(error, match=words) as caught:
            dtl.read_sql(ctx, "SELECT 1", where)
        assert "secret" not in str(caught.value)


class _Decimals:
    """A connection whose columns named money are of decimals, as drivers of other databases have them."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path)

    def cursor(self) -> Any:
        cursor = self._database.cursor()
        cursor.row_factory = lambda of, row: tuple(
            Decimal(value) if name == "money" and value is not None else value
            for (name, *_), value in zip(of.description, row)
        )
        return cursor

    def close(self) -> None:
        self._database.close()


@pytest.mark.parametrize("key", [None, "id"])
def test_decimals_of_more_digits_on_a_rank(ctx: dtl.Context, folder: str, key: Any) -> None:
    numbers = [Decimal(text) for text in ("1.5", "-12345.25", "0.125", "7")]
    path = f"{folder}/b.db"
    if ctx.is_root:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE t (id INTEGER, money TEXT)")
            database.executemany("INSERT INTO t VALUES (?, ?)", [(i, str(number)) for i, number in enumerate(numbers)])
            database.commit()
    ctx.barrier()
    table = dtl.read_sql(ctx, "SELECT * FROM t", lambda: _Decimals(path), partition_on=key)
    assert table.dtypes["money"] == pa.decimal128(8, 3)
    assert everywhere(table)["money"].to_pylist() == numbers
    by_money = dtl.read_sql(ctx, "SELECT id AS money FROM t", lambda: _Decimals(path), partition_on="money")
    assert by_money["money"].sum() == 6


class _Arrow:
    """A connection and cursor that return a column as the driver of ADBC does."""

    description = ()

    def __init__(self, column: Any) -> None:
        self._column = column

    def cursor(self) -> Any:
        return self

    def execute(self, query: str) -> None:
        pass

    def fetch_arrow_table(self) -> Any:
        return pa.table({"n": self._column})

    def close(self) -> None:
        pass


@pytest.mark.skipif(not hasattr(pa, "opaque"), reason="before pyarrow 18 there is no such type; runs with later ones")
def test_numbers_that_are_text(ctx: dtl.Context) -> None:
    def numeric(texts: list[Any]) -> _Arrow:
        kind = pa.opaque(pa.string(), "numeric", "PostgreSQL")
        return _Arrow(pa.ExtensionArray.from_storage(kind, pa.array(texts, pa.string())))

    for texts, kind in (
        (["1.25", None, "-123456.5", "0"], pa.decimal128(8, 2)),
        (["7", "-10"], pa.decimal128(2, 0)),
        ([None], pa.decimal128(1, 0)),
        ([], pa.decimal128(1, 0)),
        (["9" * 40 + ".5"], pa.decimal256(41, 1)),
    ):
        table = dtl.read_sql(ctx, "SELECT n", functools.partial(numeric, texts))
        assert table.dtypes == {"n": kind}
        assert everywhere(table)["n"].to_pylist() == [None if text is None else Decimal(text) for text in texts]
    with pytest.raises(ValueError, match=r"'n' of numeric, which CAST\(\.\.\. AS double precision\) makes.*'nan'"):
        dtl.read_sql(ctx, "SELECT n", lambda: numeric(["1.5", "nan"]))


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.date32()], ids=str)
def test_times_that_are_infinite(ctx: dtl.Context, kind: Any) -> None:
    """Which the driver of ADBC counts from 1970, beyond the range of the integers."""
    width, since = (np.int32, 10957) if kind == pa.date32() else (np.int64, 10957 * 86400 * 10**6)
    for infinite in (np.iinfo(width).max, np.iinfo(width).min):
        numbers = np.array([0, infinite], width)
        with np.errstate(over="ignore"):
            column = pa.array(numbers + width(since)).cast(kind)
        with pytest.raises(ValueError, match="'n' has a time that is infinite"):
            dtl.read_sql(ctx, "SELECT n", functools.partial(_Arrow, column))
    column = pa.array(np.array([0, -2_440_000 * (since // 10957)], width)).cast(kind)
    table = dtl.read_sql(ctx, "SELECT n", functools.partial(_Arrow, column))
    assert everywhere(table)["n"].combine_chunks().equals(column)


def test_no_connection(ctx: dtl.Context, folder: str) -> None:
    for ranks in {ctx.size, 1}:
        path = f"{folder}/absent/a.db" if ctx.rank >= ctx.size - ranks else ":memory:"
        with pytest.raises(dtl.FileError, match="no connection to the database: unable to open"):
            dtl.read_sql(ctx, "SELECT 1 AS a", functools.partial(sqlite3.connect, path), partition_on="a")


def test_no_file_is_made(ctx: dtl.Context, folder: str) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="needs adbc-driver-sqlite; runs where the extra sql is")
    with pytest.raises(dtl.FileError, match="database"):
        dtl.read_sql(ctx, "SELECT 1", f"sqlite:///{folder}/none.db")
    assert not Path(folder, "none.db").exists()
