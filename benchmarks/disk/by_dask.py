"""The tasks by Dask, on one worker with a thread for each core, whose memory is limited.

There are no quantiles of an array but of one chunk. An array is sorted as the column of a frame.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from counted import Counts, counts, run
from dask.distributed import Client, LocalCluster

_FOLDER, _LIMIT = Path(sys.argv[1]), int(sys.argv[3])
_CHUNK = 16 << 20  # bytes


def _block(path: str, block_info: Any = None) -> Any:
    (first, last), *rest = block_info[None]["array-location"]
    width = rest[0][1] if rest else 1
    part = np.memmap(path, "float64", "r")[first * width : last * width]
    return np.array(part).reshape(last - first, *([width] if rest else []))


def _array(name: str, square: bool = False) -> Any:
    path = _FOLDER / f"{name}.bin"
    size = path.stat().st_size // 8
    shape = (int(size**0.5),) * 2 if square else (size,)
    rows = _CHUNK // 8 // (shape[0] if square else 1)
    chunks = da.core.normalize_chunks((rows, *shape[1:]), shape, dtype="float64")
    return da.map_blocks(_block, str(path), chunks=chunks, dtype="float64", meta=np.empty((0,) * len(shape)))


def _read(name: str) -> Any:
    return dd.read_parquet(_FOLDER / f"{name}.parquet", split_row_groups=True, dtype_backend="pyarrow")


def _root() -> list[float]:
    x, y = _array("x"), _array("y")
    da.to_npy_stack(str(_FOLDER / "made"), da.sqrt(x * x + y * y))
    last = max((_FOLDER / "made").glob("*.npy"), key=lambda each: int(each.stem))
    return [np.load(last, mmap_mode="r")[-1]]


def _sort() -> list[float]:
    frame = _read("z").sort_values("z")
    frame.to_parquet(_FOLDER / "made")
    made = dd.read_parquet(_FOLDER / "made")
    size = len(made)
    parts = made.map_partitions(len).compute()
    middle = int(np.searchsorted(np.cumsum(parts), size // 2, side="right"))
    within = size // 2 - sum(list(parts)[:middle])
    value = made.partitions[middle].compute()["z"].iloc[within]
    return [made["z"].min().compute(), value, made["z"].max().compute()]


def _transpose() -> list[float]:
    da.to_npy_stack(str(_FOLDER / "made"), _array("z", True).T.rechunk({0: "auto", 1: -1}))
    return [np.load(_FOLDER / "made" / "0.npy", mmap_mode="r")[1, 0]]


def _groups() -> list[float]:
    s = _read("rows").groupby("key").agg({"v": "sum", "w": "mean"}, split_out=16).persist()
    return [len(s), s["v"].sum().compute()]


def _join() -> list[float]:
    s = _read("rows").merge(_read("keys"), on="key").persist()
    return [len(s), s["u"].sum().compute()]


def main() -> None:
    """Run the task."""
    threads = len(os.sched_getaffinity(0))
    dask.config.set({"array.chunk-size": _CHUNK, "distributed.scheduler.allowed-failures": 1})
    cluster = LocalCluster(
        n_workers=1,
        threads_per_worker=threads,
        memory_limit=_LIMIT,
        local_directory=str(_FOLDER / "spilled"),
        dashboard_address=None,
    )
    with cluster, Client(cluster) as client:

        def of() -> list[Counts]:
            return list(client.run(counts).values())

        tasks: Any = {
            "mean": lambda: [_array("z").mean().compute()],
            "std": lambda: [_array("z").std().compute()],
            "quantiles": lambda: da.quantile(_array("z").rechunk(-1), [0.1, 0.5, 0.9]).compute(),
            "root": _root,
            "sort": _sort,
            "transpose": _transpose,
            "groups": _groups,
            "join": _join,
        }
        run(tasks, of)


if __name__ == "__main__":
    main()
