"""The questions by Polars, on all cores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
from asked import Library, ask
from polars import col

_FOLDER = Path(sys.argv[1])


def _read(name: str) -> Any:
    return pl.read_parquet(_FOLDER / f"{name}.parquet")


def _scan(name: str) -> Any:
    return pl.scan_parquet(_FOLDER / f"{name}.parquet")


def _checked(frame: Any) -> tuple[int, float]:
    sums = frame.select(cs.numeric().sum())
    return len(frame), float(sum(value or 0 for value in sums.row(0))) if sums.width else 0.0


def _delays() -> Any:
    f = _scan("flights").filter(col("dep_delay").is_not_null()).group_by("carrier")
    s = f.agg(delay=col("dep_delay").mean(), departures=col("dep_delay").count())
    return s.join(_scan("airlines"), on="carrier").sort("delay", descending=True).collect()


def main() -> None:
    """Read the tables and ask."""
    g, x = _read("groups"), _read("x")
    small, medium, big = (_read(name) for name in ("small", "medium", "big"))

    def by(*keys: str) -> Any:
        return g.lazy().group_by(keys)

    def joined(right: Any, key: str, how: str = "inner") -> Any:
        return x.lazy().join(right.lazy(), on=key, how=how).collect()

    answers = {
        "g1": lambda: by("id1").agg(col("v1").sum()).collect(),
        "g2": lambda: by("id1", "id2").agg(col("v1").sum()).collect(),
        "g3": lambda: by("id3").agg(col("v1").sum(), col("v3").mean()).collect(),
        "g4": lambda: by("id4").agg(col("v1", "v2", "v3").mean()).collect(),
        "g5": lambda: by("id6").agg(col("v1", "v2", "v3").sum()).collect(),
        "g6": lambda: by("id4", "id5").agg(median=col("v3").median(), std=col("v3").std()).collect(),
        "g7": lambda: by("id3").agg(spread=col("v1").max() - col("v2").min()).collect(),
        "g8": lambda: by("id6").agg(col("v3").top_k(2)).explode("v3").collect(),
        "g9": lambda: by("id2", "id4").agg(r2=pl.corr("v1", "v2") ** 2).collect(),
        "g10": lambda: by(*(f"id{i}" for i in range(1, 7))).agg(col("v3").sum(), count=col("v1").count()).collect(),
        "j1": lambda: joined(small, "id1"),
        "j2": lambda: joined(medium, "id2"),
        "j3": lambda: joined(medium, "id2", "left"),
        "j4": lambda: joined(medium, "id5"),
        "j5": lambda: joined(big, "id3"),
        "parquet": lambda: _scan("many").filter(col("v1") >= 4).group_by("id1").agg(col("v3").sum()).collect(),
        "flights": _delays,
    }
    ask(Library(answers, _checked))


if __name__ == "__main__":
    main()
