"""The tasks by Polars' streaming engine, which has no limit of memory. A transpose of a matrix is none of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
from counted import run
from polars import col

_FOLDER = Path(sys.argv[1])
_MADE = _FOLDER / "made.parquet"


def _scan(name: str) -> Any:
    return pl.scan_parquet(_FOLDER / f"{name}.parquet")


def _numbers(frame: Any) -> list[float]:
    return list(frame.collect(engine="streaming").row(0))


def _root() -> list[float]:
    both = pl.concat([_scan("x"), _scan("y")], how="horizontal")
    both.select((col("x") * col("x") + col("y") * col("y")).sqrt().alias("r")).sink_parquet(_MADE)
    return _numbers(pl.scan_parquet(_MADE).select(col("r").last()))


def _sort() -> list[float]:
    _scan("z").sort("z").sink_parquet(_MADE)
    made = pl.scan_parquet(_MADE)
    middle = _numbers(made.select(pl.len()))[0] // 2
    return _numbers(
        made.select(col("z").first(), col("z").slice(int(middle), 1).first().alias("m"), col("z").last().alias("l"))
    )


def _groups() -> list[float]:
    _scan("rows").group_by("key").agg(col("v").sum(), col("w").mean()).sink_parquet(_MADE)
    return _numbers(pl.scan_parquet(_MADE).select(pl.len(), col("v").sum()))


def _join() -> list[float]:
    _scan("rows").join(_scan("keys"), on="key").sink_parquet(_MADE)
    return _numbers(pl.scan_parquet(_MADE).select(pl.len(), col("u").sum()))


def main() -> None:
    """Run the task."""
    z = col("z")
    tasks: Any = {
        "mean": lambda: _numbers(_scan("z").select(z.mean())),
        "std": lambda: _numbers(_scan("z").select(z.std(ddof=0))),
        "quantiles": lambda: _numbers(
            _scan("z").select(z.quantile(q, "linear").alias(str(q)) for q in (0.1, 0.5, 0.9))
        ),
        "root": _root,
        "sort": _sort,
        "groups": _groups,
        "join": _join,
    }
    run(tasks)


if __name__ == "__main__":
    main()
