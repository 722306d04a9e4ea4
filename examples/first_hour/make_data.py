"""Write the files that the other programs of this folder read: 20 M values, 10 M rows, 5 M points.

``python examples/first_hour/make_data.py FOLDER 10000`` writes so many times fewer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
from pyarrow import parquet

CITIES = sorted(
    f"{first}{second}" for first in ("Aln", "Bern", "Elm", "Ober", "Wild") for second in ("au", "bach", "feld")
)


def write(folder: Path, fewer: int = 1) -> None:
    """Write values.h5, sales.parquet and points.h5."""
    rng = np.random.default_rng(2026)
    with h5py.File(folder / "values.h5", "w") as file:
        file["values"] = rng.lognormal(size=20_000_000 // fewer)

    rows = 10_000_000 // fewer
    cities = pa.DictionaryArray.from_arrays(rng.integers(len(CITIES), size=rows, dtype=np.int32), CITIES)
    table = pa.table({"city": cities.cast(pa.string()), "price": np.round(rng.gamma(2.0, 10.0, rows), 2)})
    parquet.write_table(table, folder / "sales.parquet", row_group_size=max(rows // 10, 1))

    points = rng.normal(size=(5_000_000 // fewer, 10)) * np.arange(1, 11)
    noise = rng.normal(size=len(points))
    with h5py.File(folder / "points.h5", "w") as file:
        file["X"] = points
        file["y"] = points @ np.arange(10.0) + noise


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
