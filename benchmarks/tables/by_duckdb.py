"""The questions by DuckDB, on all cores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable

import duckdb
from asked import Library, ask

_FOLDER = Path(sys.argv[1])
_IDS = ", ".join(f"id{i}" for i in range(1, 7))

_QUERIES = {
    "g1": "SELECT id1, sum(v1) AS v1 FROM g GROUP BY ALL",
    "g2": "SELECT id1, id2, sum(v1) AS v1 FROM g GROUP BY ALL",
    "g3": "SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM g GROUP BY ALL",
    "g4": "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM g GROUP BY ALL",
    "g5": "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM g GROUP BY ALL",
    "g6": "SELECT id4, id5, quantile_cont(v3, 0.5) AS median, stddev(v3) AS std FROM g GROUP BY ALL",
    "g7": "SELECT id3, max(v1) - min(v2) AS spread FROM g GROUP BY ALL",
    "g8": "SELECT id6, unnest(max(v3, 2)) AS v3 FROM g GROUP BY id6",
    "g9": "SELECT id2, id4, corr(v1, v2) ** 2 AS r2 FROM g GROUP BY ALL",
    "g10": f"SELECT {_IDS}, sum(v3) AS v3, count(v1) AS count FROM g GROUP BY ALL",
    "j1": "SELECT * FROM x JOIN small USING (id1)",
    "j2": "SELECT * FROM x JOIN medium USING (id2)",
    "j3": "SELECT * FROM x LEFT JOIN medium USING (id2)",
    "j4": "SELECT * FROM x JOIN medium USING (id5)",
    "j5": "SELECT * FROM x JOIN big USING (id3)",
    "parquet": f"SELECT id1, sum(v3) AS v3 FROM '{_FOLDER}/many.parquet' WHERE v1 >= 4 GROUP BY ALL",
    "flights": f"""
        SELECT carrier, avg(dep_delay) AS delay, count(dep_delay) AS departures, any_value(name) AS name
        FROM '{_FOLDER}/flights.parquet' JOIN '{_FOLDER}/airlines.parquet' USING (carrier)
        WHERE dep_delay IS NOT NULL GROUP BY carrier ORDER BY delay DESC""",
}


def main() -> None:
    """Read the tables and ask."""
    connection = duckdb.connect()
    for name, file in {"g": "groups", **{name: name for name in ("x", "small", "medium", "big")}}.items():
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM '{_FOLDER}/{file}.parquet'")

    def answer(query: str) -> Callable[[], Any]:
        return lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE answer AS {query}")

    def checked(_: Any) -> tuple[int, float]:
        found = connection.execute("DESCRIBE answer").fetchall()
        names = [f'"{name}"' for name, kind, *_ in found if kind != "VARCHAR"]
        sums = " + ".join(f"coalesce(sum({name}), 0)::DOUBLE" for name in names) or "0.0"
        rows, total = connection.execute(f"SELECT count(*), {sums} FROM answer").fetchall()[0]
        return rows, total

    ask(Library({name: answer(query) for name, query in _QUERIES.items()}, checked))


if __name__ == "__main__":
    main()
