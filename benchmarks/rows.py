"""Rows of the result tables: what a part of the benchmarks measured, and how it reaches the driver."""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

#: Seconds a call, block by block, of each contender.
Times = Dict[str, List[float]]


class Row(NamedTuple):
    """One measure beside its target. passed is None where there is no target or nothing was measured."""

    measure: str
    target: str
    result: str
    detail: str
    passed: bool | None


def seconds(value: float) -> str:
    """Return a time with its unit, to three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(value) * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def best(times: Times) -> str:
    """Return the fastest block of each contender."""
    return ", ".join(f"{name} {seconds(min(blocks))}" for name, blocks in times.items())


def at_most(measure: str, times: Times, ours: str, theirs: str, bound: float | None = None) -> Row:
    """Return the row of a time, to be at most bound times the other's by the median of the blocks."""
    ratios = [a / b for a, b in zip(times[ours], times[theirs])]
    passed = None if bound is None else statistics.median(ratios) <= bound
    target = f"time ÷ {theirs}" if bound is None else f"time ÷ {theirs} ≤ {bound}"
    return Row(measure, target, _spread(ratios), best(times), passed)


def at_least(measure: str, times: Times, ours: str, theirs: str, bound: float | None = None) -> Row:
    """Return the row of a bandwidth, to be at least bound times the other's by the median of the blocks."""
    ratios = [b / a for a, b in zip(times[ours], times[theirs])]
    passed = None if bound is None else statistics.median(ratios) >= bound
    target = f"bandwidth ÷ {theirs}" if bound is None else f"bandwidth ÷ {theirs} ≥ {bound}"
    return Row(measure, target, _spread(ratios), best(times), passed)


def written(ratio: float) -> str:
    """Return a ratio with two decimals, or three where these would be zeros."""
    return f"{ratio:.{2 if ratio >= 0.01 else 3}f}"


def _spread(ratios: list[float]) -> str:
    return f"{written(statistics.median(ratios))} ({written(min(ratios))} to {written(max(ratios))})"


def verdict(row: Row) -> str:
    """Return what to print in the last column."""
    if row.passed is None:
        return ""
    return "pass" if row.passed else "**miss**"


def deliver(rows: Sequence[Row], description: str) -> None:
    """Write the rows to the file that the command line names, or print them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the rows here instead of printing them")
    path: Path | None = parser.parse_args().json
    if path is not None:
        path.write_text(json.dumps(rows))
        return
    for row in rows:
        print(f"{verdict(row):9} {row.measure}: {row.result} [{row.target}]\n          {row.detail}")


def read(path: Path) -> list[Row]:
    """Return the rows that a part wrote."""
    return [Row(*fields) for fields in json.loads(path.read_text())]
