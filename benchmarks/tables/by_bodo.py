"""The questions by Bodo's pandas, on two workers: what they find stays with the workers.

Two are left out: the largest two of each group, which Bodo has pandas find in one process, and squared correlations, as
sums of columns that were added by expressions of a kept table fail.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Callable

os.environ.setdefault("BODO_NUM_WORKERS", "2")  # read when it is imported

import bodo.pandas as pd
import numpy as np
from asked import Library, ask
from bodo.pandas.utils import wrap_plan

_FOLDER = Path(sys.argv[1])


def _read(name: str, **how: Any) -> Any:
    return pd.read_parquet(str(_FOLDER / f"{name}.parquet"), **how)


def _kept(frame: Any) -> Any:
    frame.execute_plan()
    return frame


def _table(name: str) -> Any:
    """Return a table that the workers keep. A frame that is complete has no aggregates by several names of its own."""
    return wrap_plan(_kept(_read(name))._plan)


def _checked(frame: Any) -> tuple[int, float]:
    numbers = [name for name, kind in frame.dtypes.items() if str(kind).lower().startswith(("int", "float", "double"))]
    return len(frame), float(sum(np.nansum(frame[name].to_numpy()) for name in numbers))


def _by(t: Any, keys: list[str], **named: Any) -> Any:
    return t.groupby(keys, as_index=False).agg(**named)


def _spread(g: Any) -> Any:
    s = _by(g, ["id3"], v1=("v1", "max"), v2=("v2", "min"))
    s["spread"] = s.v1 - s.v2
    return s[["id3", "spread"]]


def _delays() -> Any:
    f = _read("flights")
    f = f[f.dep_delay.notna()]
    s = _by(f, ["carrier"], delay=("dep_delay", "mean"), departures=("dep_delay", "count"))
    return s.merge(_read("airlines"), on="carrier").sort_values("delay", ascending=False)


def _filtered() -> Any:
    t = _read("many")[["id1", "v1", "v3"]]
    return _by(t[t.v1 >= 4], ["id1"], v3=("v3", "sum"))


def _answers(g: Any, x: Any, small: Any, medium: Any, big: Any) -> dict[str, Callable[[], Any]]:
    ids = [f"id{i}" for i in range(1, 7)]
    return {
        "g1": lambda: _by(g, ["id1"], v1=("v1", "sum")),
        "g2": lambda: _by(g, ["id1", "id2"], v1=("v1", "sum")),
        "g3": lambda: _by(g, ["id3"], v1=("v1", "sum"), v3=("v3", "mean")),
        "g4": lambda: _by(g, ["id4"], v1=("v1", "mean"), v2=("v2", "mean"), v3=("v3", "mean")),
        "g5": lambda: _by(g, ["id6"], v1=("v1", "sum"), v2=("v2", "sum"), v3=("v3", "sum")),
        "g6": lambda: _by(g, ["id4", "id5"], median=("v3", "median"), std=("v3", "std")),
        "g7": lambda: _spread(g),
        "g10": lambda: _by(g, ids, v3=("v3", "sum"), count=("v1", "count")),
        "j1": lambda: x.merge(small, on="id1"),
        "j2": lambda: x.merge(medium, on="id2"),
        "j3": lambda: x.merge(medium, on="id2", how="left"),
        "j4": lambda: x.merge(medium, on="id5"),
        "j5": lambda: x.merge(big, on="id3"),
        "parquet": _filtered,
        "flights": _delays,
    }


def main() -> None:
    """Read the tables and ask."""
    tables = [_table(name) for name in ("groups", "x", "small", "medium", "big")]
    answers = {name: (lambda f=f: _kept(f())) for name, f in _answers(*tables).items()}  # type: ignore[misc]
    ask(Library(answers, _checked))


if __name__ == "__main__":
    main()
