"""The questions by DTL, on as many ranks as there are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable

from asked import Library, ask

import dtl

_FOLDER = Path(sys.argv[1])


def _checked(table: Any) -> tuple[int, float]:
    kinds = {name: str(kind) for name, kind in table.dtypes.items()}
    numbers = [name for name, kind in kinds.items() if kind.startswith(("int", "uint", "double", "float"))]
    return len(table), float(sum(table[name].sum() for name in numbers))


def _spread(g: Any) -> Any:
    s = g.group_by("id3").agg(v1=("v1", "max"), v2=("v2", "min"))
    return s.assign(spread=s["v1"] - s["v2"])[["id3", "spread"]]


def _squared_correlation(g: Any) -> Any:
    s = g.group_by(["id2", "id4"]).agg(r=(("v1", "v2"), "corr"))
    return s[["id2", "id4"]].assign(r2=s["r"] ** 2)


def _answers(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    def read(name: str, **how: Any) -> Any:
        return dtl.Table.read_parquet(ctx, str(_FOLDER / f"{name}.parquet"), **how)

    def delays() -> Any:
        groups = read("flights", columns=["carrier", "dep_delay"]).dropna("dep_delay").group_by("carrier")
        s = groups.agg(delay=("dep_delay", "mean"), departures=("dep_delay", "count"))
        return s.merge(read("airlines"), on="carrier").sort_values("delay", ascending=False)

    def filtered() -> Any:
        t = read("many", columns=["id1", "v3"], filters=[("v1", ">=", 4)])
        return t.group_by("id1").agg({"v3": "sum"})

    g, x, small, medium, big = (read(name) for name in ("groups", "x", "small", "medium", "big"))
    ids = [f"id{i}" for i in range(1, 7)]
    return {
        "g1": lambda: g.group_by("id1").agg({"v1": "sum"}),
        "g2": lambda: g.group_by(["id1", "id2"]).agg({"v1": "sum"}),
        "g3": lambda: g.group_by("id3").agg({"v1": "sum", "v3": "mean"}),
        "g4": lambda: g.group_by("id4").agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
        "g5": lambda: g.group_by("id6").agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
        "g6": lambda: g.group_by(["id4", "id5"]).agg(median=("v3", "median"), std=("v3", "std")),
        "g7": lambda: _spread(g),
        "g8": lambda: g.group_by("id6")["v3"].nlargest(2),
        "g9": lambda: _squared_correlation(g),
        "g10": lambda: g.group_by(ids).agg(v3=("v3", "sum"), count=("v1", "count")),
        "j1": lambda: x.merge(small, on="id1"),
        "j2": lambda: x.merge(medium, on="id2"),
        "j3": lambda: x.merge(medium, on="id2", how="left"),
        "j4": lambda: x.merge(medium, on="id5"),
        "j5": lambda: x.merge(big, on="id3"),
        "parquet": filtered,
        "flights": delays,
    }


def main() -> None:
    """Read the tables and ask."""
    with dtl.Context() as ctx:

        def total(value: int) -> int:
            return int(dtl.allreduce(ctx, value, op=dtl.SUM))

        ask(Library(_answers(ctx), _checked, ctx.barrier, total, ctx.is_root))


if __name__ == "__main__":
    main()
