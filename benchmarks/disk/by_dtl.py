"""The tasks by DTL, on one rank."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from counted import run

import dtl

_FOLDER = Path(sys.argv[1])


def main() -> None:
    """Run the task."""
    with dtl.Context() as ctx:

        def mapped(name: str) -> Any:
            path = _FOLDER / f"{name}.bin"
            size = path.stat().st_size // 8
            return dtl.load(ctx, path, format="raw", dtype="float64", shape=(size,), mapped=True)

        def read(name: str) -> Any:
            return dtl.read_parquet(ctx, _FOLDER / f"{name}.parquet", placement="disk")

        def root() -> list[float]:
            x, y = mapped("x"), mapped("y")
            dtl.save(np.sqrt(x * x + y * y), _FOLDER / "made.npy")
            return [np.load(_FOLDER / "made.npy", mmap_mode="r")[-1]]

        def ordered() -> list[float]:
            size = (_FOLDER / "z.bin").stat().st_size // 8
            z = dtl.load(ctx, _FOLDER / "z.bin", format="raw", dtype="float64", shape=(size,), placement="disk")
            dtl.sort(z)
            return [z[0], z[size // 2], z[size - 1]]

        def transposed() -> list[float]:
            side = int((((_FOLDER / "z.bin").stat().st_size) // 8) ** 0.5)
            how: Any = {"format": "raw", "dtype": "float64", "shape": (side, side), "placement": "disk"}
            dtl.save(dtl.load(ctx, _FOLDER / "z.bin", **how).T, _FOLDER / "made.npy")
            return [np.load(_FOLDER / "made.npy", mmap_mode="r")[1, 0]]

        def groups() -> list[float]:
            s = read("rows").group_by("key").agg({"v": "sum", "w": "mean"})
            return [len(s), s["v"].sum()]

        def joined() -> list[float]:
            s = read("rows").merge(read("keys"), on="key")
            return [len(s), s["u"].sum()]

        tasks: Any = {
            "mean": lambda: [mapped("z").mean()],
            "std": lambda: [mapped("z").std()],
            "quantiles": lambda: dtl.quantile(mapped("z"), [0.1, 0.5, 0.9]),
            "root": root,
            "sort": ordered,
            "transpose": transposed,
            "groups": groups,
            "join": joined,
        }
        run(tasks)


if __name__ == "__main__":
    main()
