"""``python data.py BYTES KEYS FOLDER FILE…`` writes what a task reads: raw float64, or Parquet of it or of keys."""

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


def _elements(path: Path, rows: int, seed: int) -> None:
    if path.suffix == ".bin":
        with path.open("wb") as raw:
            for count, rng in _pieces(rows, seed):
                rng.random(count).tofile(raw)
        return
    kind = pa.schema([(path.stem, pa.float64())])
    with pq.ParquetWriter(path, kind) as table:
        for count, rng in _pieces(rows, seed):
            table.write_table(pa.table([rng.random(count)], schema=kind))


def _rows(path: Path, rows: int, keys: int) -> None:
    kind = pa.schema([("key", pa.int64()), ("v", pa.float64()), ("w", pa.float64())])
    with pq.ParquetWriter(path, kind) as table:
        for count, rng in _pieces(rows, 3):
            columns = [rng.integers(0, keys, count), rng.random(count), rng.random(count)]
            table.write_table(pa.table(columns, schema=kind))


def _keys(path: Path, keys: int) -> None:
    rng = np.random.default_rng(4)
    names = {"key": rng.permutation(keys)[: keys // 4], "u": rng.random(keys // 4)}
    pq.write_table(pa.table(names), path, row_group_size=_PIECE)


def main() -> None:
    """Write those that the command line names and that are not there."""
    size, keys, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    side = 512 * max(1, int((size / 8) ** 0.5 / 512))  # of a matrix
    for name in sys.argv[4:]:
        path = folder / name
        if path.exists():
            continue
        if path.stem == "keys":
            _keys(path, keys)
        elif path.stem == "rows":
            _rows(path, size // 24, keys)
        else:
            rows = side * side if path.stem == "z" else size // 16
            _elements(path, rows, "zxy".index(path.stem))


if __name__ == "__main__":
    main()
