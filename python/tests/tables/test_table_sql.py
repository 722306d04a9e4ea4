"""Tables of queries of SQL: beside the rows that Python's sqlite3 returns for the whole query."""

from __future__ import annotations

import importlib
import sqlite3
from pathlib import Path
from typing import Any, Callable

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


def test_no_file_is_made(ctx: dtl.Context, folder: str) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="needs adbc-driver-sqlite; runs where the extra sql is")
    with pytest.raises(dtl.FileError, match="database"):
        dtl.read_sql(ctx, "SELECT 1", f"sqlite:///{folder}/none.db")
    assert not Path(folder, "none.db").exists()
