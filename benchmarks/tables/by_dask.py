"""The questions by Dask, on two workers of a thread each: what they find stays with the workers."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, Callable

import dask.dataframe as dd
from asked import Library, ask
from by_pandas import by
from dask.distributed import Client, wait

_FOLDER = Path(sys.argv[1])
_WORKERS = 2
_MOST_LOOKS = 1000


def _read(name: str, **how: Any) -> Any:
    return dd.read_parquet(_FOLDER / f"{name}.parquet", split_row_groups=True, dtype_backend="pyarrow", **how)


def _kept(frame: Any) -> Any:
    frame = frame.persist()
    wait(frame)
    return frame


def _checked(frame: Any) -> tuple[int, float]:
    numbers = frame.select_dtypes("number")
    found = len(frame), float(numbers.sum().compute().sum()) if len(numbers.columns) else 0.0
    names = set(map(str, frame.__dask_keys__()))
    del frame, numbers
    _wait_until_gone(names)
    return found


def _wait_until_gone(names: set[str]) -> None:
    """Wait until the workers have no part of an answer: else they would have it when they are asked again."""
    for _ in range(_MOST_LOOKS):
        if not names & set(map(str, Client.current().who_has())):
            return
        time.sleep(0.01)
    raise TimeoutError("the workers still have an answer that nobody uses")


def _by(t: Any, keys: list[str], **named: Any) -> Any:
    columns = dict.fromkeys([*keys, *(column for column, _ in named.values())])
    return t[list(columns)].groupby(keys).agg(**named).reset_index()


def _spread(g: Any) -> Any:
    s = _by(g, ["id3"], v1=("v1", "max"), v2=("v2", "min"))
    return s[["id3"]].assign(spread=s.v1 - s.v2)


def _squared_correlation(g: Any) -> Any:
    t = g.assign(xy=g.v1 * g.v2, xx=g.v1 * g.v1, yy=g.v2 * g.v2)
    sums: dict[str, Any] = {"n": ("v1", "count"), "x": ("v1", "sum"), "y": ("v2", "sum")}
    s = _by(t, ["id2", "id4"], **sums, **{name: (name, "sum") for name in ("xy", "xx", "yy")})
    r2 = (s.n * s.xy - s.x * s.y) ** 2 / ((s.n * s.xx - s.x**2) * (s.n * s.yy - s.y**2))
    return s[["id2", "id4"]].assign(r2=r2)


def _largest(part: Any) -> Any:
    return by(part.sort_values("v3", ascending=False), ["id6"]).head(2)


def _delays() -> Any:
    f = _read("flights")
    f = f[f.dep_delay.notnull()]
    s = _by(f, ["carrier"], delay=("dep_delay", "mean"), departures=("dep_delay", "count"))
    return s.merge(_read("airlines"), on="carrier").sort_values("delay", ascending=False)


def _filtered() -> Any:
    t = _read("many", columns=["id1", "v1", "v3"], filters=[("v1", ">=", 4)])
    return _by(t, ["id1"], v3=("v3", "sum"))


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
        "g8": lambda: g[["id6", "v3"]].shuffle("id6").map_partitions(_largest),
        "g9": lambda: _squared_correlation(g),
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
    with Client(n_workers=_WORKERS, threads_per_worker=1, dashboard_address=None):
        tables = [_kept(_read(name)) for name in ("groups", "x", "small", "medium", "big")]
        answers = {name: (lambda f=f: _kept(f())) for name, f in _answers(*tables).items()}  # type: ignore[misc]
        ask(Library(answers, _checked))


if __name__ == "__main__":
    main()
