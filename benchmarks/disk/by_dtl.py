"""The tasks by DTL, on one rank or more."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from counted import Counts, counts, run

import dtl

_FOLDER = Path(sys.argv[1])


def main() -> None:
    """Run the task."""
    with dtl.Context() as ctx:

        def mapped(name: str, shape: tuple[int, ...] = ()) -> Any:
            path = _FOLDER / f"{name}.bin"
            shape = shape or (path.stat().st_size // 8,)
            return dtl.load(ctx, path, format="raw", dtype="float64", shape=shape, mapped=True)

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
            dtl.save(mapped("z", (side, side)).T, _FOLDER / "made.npy")
            return [np.load(_FOLDER / "made.npy", mmap_mode="r")[1, 0]]

        def groups() -> list[float]:
            s = read("rows").group_by("key").agg({"v": "sum", "w": "mean"})
            return [len(s), s["v"].sum()]

        def joined() -> list[float]:
            s = read("rows").merge(read("keys"), on="key")
            return [len(s), s["u"].sum()]

        def of() -> list[Counts]:
            return [dict(zip(counts(), each)) for each in dtl.allgather(ctx, list(counts().values())).tolist()]

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
        run(tasks, of, ctx.rank == 0)


if __name__ == "__main__":
    main()
