"""The questions by pandas, of Arrow's types."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from asked import Library, ask

_FOLDER = Path(sys.argv[1])


def _read(name: str, **how: Any) -> Any:
    return pd.read_parquet(_FOLDER / f"{name}.parquet", dtype_backend="pyarrow", **how)


def _checked(frame: Any) -> tuple[int, float]:
    return len(frame), float(sum(frame[name].sum() for name in frame.select_dtypes("number")))


def by(t: Any, keys: list[str]) -> Any:
    """Return the groups, of the form that all questions have."""
    return t.groupby(keys, as_index=False, observed=True)


def squared_correlation(t: Any) -> Any:
    """Return the squared correlation of v1 and v2 in each group, by sums."""
    t = t.assign(xy=t.v1 * t.v2, xx=t.v1 * t.v1, yy=t.v2 * t.v2)[["id2", "id4", "v1", "v2", "xy", "xx", "yy"]]
    s = by(t, ["id2", "id4"]).agg(
        n=("v1", "count"), x=("v1", "sum"), y=("v2", "sum"), xy=("xy", "sum"), xx=("xx", "sum"), yy=("yy", "sum")
    )
    r2 = (s.n * s.xy - s.x * s.y) ** 2 / ((s.n * s.xx - s.x**2) * (s.n * s.yy - s.y**2))
    return s[["id2", "id4"]].assign(r2=r2)


def spread(t: Any) -> Any:
    """Return the largest v1 less the smallest v2 of each group."""
    s = by(t, ["id3"]).agg(v1=("v1", "max"), v2=("v2", "min"))
    return s[["id3"]].assign(spread=s.v1 - s.v2)


def _delays() -> Any:
    f = _read("flights")
    f = f[f.dep_delay.notna()]
    s = by(f, ["carrier"]).agg(delay=("dep_delay", "mean"), departures=("dep_delay", "count"))
    return s.merge(_read("airlines"), on="carrier").sort_values("delay", ascending=False)


def _filtered() -> Any:
    t = _read("many", columns=["id1", "v1", "v3"], filters=[("v1", ">=", 4)])
    return by(t, ["id1"]).agg({"v3": "sum"})


def main() -> None:
    """Read the tables and ask."""
    g, x = _read("groups"), _read("x")
    small, medium, big = (_read(name) for name in ("small", "medium", "big"))
    answers = {
        "g1": lambda: by(g, ["id1"]).agg({"v1": "sum"}),
        "g2": lambda: by(g, ["id1", "id2"]).agg({"v1": "sum"}),
        "g3": lambda: by(g, ["id3"]).agg({"v1": "sum", "v3": "mean"}),
        "g4": lambda: by(g, ["id4"]).agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
        "g5": lambda: by(g, ["id6"]).agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
        "g6": lambda: by(g, ["id4", "id5"]).agg(median=("v3", "median"), std=("v3", "std")),
        "g7": lambda: spread(g),
        "g8": lambda: by(g[["id6", "v3"]].sort_values("v3", ascending=False), ["id6"]).head(2),
        "g9": lambda: squared_correlation(g),
        "g10": lambda: by(g, [f"id{i}" for i in range(1, 7)]).agg(v3=("v3", "sum"), count=("v1", "count")),
        "j1": lambda: x.merge(small, on="id1"),
        "j2": lambda: x.merge(medium, on="id2"),
        "j3": lambda: x.merge(medium, on="id2", how="left"),
        "j4": lambda: x.merge(medium, on="id5"),
        "j5": lambda: x.merge(big, on="id3"),
        "parquet": _filtered,
        "flights": _delays,
    }
    ask(Library(answers, _checked))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
