"""``python data.py BYTES KEYS FOLDER`` writes what the tasks read: raw float64, and Parquet of the same and of keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_PIECE = 1 << 20  # elements


def _pieces(rows: int, seed: int) -> Iterator[tuple[int, Any]]:
    rng = np.random.default_rng(seed)
    for start in range(0, rows, _PIECE):
        yield min(_PIECE, rows - start), rng


def _elements(folder: Path, name: str, rows: int, seed: int) -> None:
    kind = pa.schema([(name, pa.float64())])
    with (folder / f"{name}.bin").open("wb") as raw, pq.ParquetWriter(folder / f"{name}.parquet", kind) as table:
        for count, rng in _pieces(rows, seed):
            numbers = rng.random(count)
            numbers.tofile(raw)
            table.write_table(pa.table([numbers], schema=kind))


def _tables(folder: Path, rows: int, keys: int) -> None:
    kind = pa.schema([("key", pa.int64()), ("v", pa.float64()), ("w", pa.float64())])
    with pq.ParquetWriter(folder / "rows.parquet", kind) as table:
        for count, rng in _pieces(rows, 3):
            columns = [rng.integers(0, keys, count), rng.random(count), rng.random(count)]
            table.write_table(pa.table(columns, schema=kind))
    rng = np.random.default_rng(4)
    names = {"key": rng.permutation(keys)[: keys // 4], "u": rng.random(keys // 4)}
    pq.write_table(pa.table(names), folder / "keys.parquet", row_group_size=_PIECE)


def main() -> None:
    """Write them."""
    size, keys, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    side = 512 * max(1, int((size / 8) ** 0.5 / 512))  # of a matrix
    _elements(folder, "z", side * side, 0)
    for seed, name in ((1, "x"), (2, "y")):
        _elements(folder, name, size // 16, seed)
    _tables(folder, size // 24, keys)


if __name__ == "__main__":
    main()
