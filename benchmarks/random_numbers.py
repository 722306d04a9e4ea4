"""Random numbers on one rank beside NumPy's: processor time of ``default_rng`` and of ``Generator(Philox)`` ÷ DTL's.

``python benchmarks/random_numbers.py``, with a number for other than 4 M of each, and words of names for some
rows alone. All three take turns, and the ratios are those of the best times; results are kept until the next one is
there, so that nobody gets warm pages. A ratio of 1 is NumPy's speed, 2 twice that.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import sys
import time
from functools import partial
from typing import Any, Callable

import numpy as np

import dtl

NUMBERS, TURNS = 4_000_000, 7


def rows(n: int) -> list[tuple[str, str, tuple[Any, ...], dict[str, Any]]]:
    """Return the rows that draw from distributions and numbers, alike with all generators."""
    few = max(n // 1000, 1)
    return [
        ("random", "random", (), {"size": n}),
        ("random, float32", "random", (), {"size": n, "dtype": np.float32}),
        ("normal", "normal", (1.0, 2.0), {"size": n}),
        ("standard_normal, float32", "standard_normal", (), {"size": n, "dtype": np.float32}),
        ("exponential", "exponential", (2.0,), {"size": n}),
        ("uniform", "uniform", (1.0, 2.0), {"size": n}),
        ("poisson", "poisson", (4.0,), {"size": n}),
        ("integers(0, 2)", "integers", (0, 2), {"size": n}),
        ("integers(0, 1000)", "integers", (0, 1000), {"size": n}),
        ("integers(0, 2**31)", "integers", (0, 1 << 31), {"size": n}),
        ("integers(0, 2**40)", "integers", (0, 1 << 40), {"size": n}),
        ("integers(0, 2**63 - 1)", "integers", (0, (1 << 63) - 1), {"size": n}),
        ("integers(0, 1000), int32", "integers", (0, 1000), {"size": n, "dtype": np.int32}),
        ("integers(0, 1000), int16", "integers", (0, 1000), {"size": n, "dtype": np.int16}),
        ("integers(0, 200), uint8", "integers", (0, 200), {"size": n, "dtype": np.uint8}),
        ("integers(0, 2), bool", "integers", (0, 2), {"size": n, "dtype": np.bool_}),
        ("choice of n", "choice", (n,), {"size": n}),
        ("choice of n, few", "choice", (n,), {"size": few}),
        ("choice of n, half without replacement", "choice", (n,), {"size": n // 2, "replace": False}),
        ("choice of n, a tenth without replacement", "choice", (n,), {"size": n // 10, "replace": False}),
        ("choice of n, few without replacement", "choice", (n,), {"size": few, "replace": False}),
        ("choice of 5 with p", "choice", (5,), {"size": n, "p": [0.1, 0.2, 0.3, 0.3, 0.1]}),
        ("permutation of n", "permutation", (n,), {}),
    ]


def seconds(f: Callable[[], Any], kept: list[Any]) -> float:
    """Return the processor time of a call. Its result takes the place of the one before."""
    start = time.process_time()
    made = f()
    taken = time.process_time() - start
    kept[:] = [made]
    return taken


def compare(name: str, calls: list[Callable[[], Any]], turns: int = TURNS) -> None:
    """Print the best times of DTL, default_rng and Philox, and what theirs are of DTL's."""
    times = [[seconds(f, kept) for f, kept in zip(calls, keeping)] for keeping in [[[], [], []]] for _ in range(turns)]
    ours, fresh, philox = (min(column) for column in zip(*times))
    print(f"{name:42}" + "".join(f"{t * 1e3:9.2f} ms" for t in (ours, fresh, philox)), end="")
    print(f"{fresh / ours:8.2f}{philox / ours:8.2f}", flush=True)


def main(n: int, only: list[str]) -> None:
    wanted = lambda name: not only or any(word in name for word in only)  # noqa: E731 - one line
    with dtl.Context() as ctx:
        given = [np.random.default_rng(1), np.random.Generator(np.random.Philox(1))]
        rng = dtl.random.Generator(ctx, 1)
        print(f"{'of ' + str(n):42}{'DTL':>12}{'default_rng':>12}{'Philox':>12}{'÷':>8}{'÷':>8}")
        for name, method, args, options in rows(n):
            if wanted(name):
                compare(name, [partial(getattr(g, method), *args, **options) for g in (rng, *given)])
        floats = np.random.default_rng(2).random(n)
        table = floats.reshape(-1, 4)
        vec, tensor = (dtl.DistributedVector.from_numpy(ctx, floats), dtl.DistributedTensor.from_numpy(ctx, table))
        some: list[tuple[str, str, Any, Any, dict[str, Any]]] = [
            ("choice of an array", "choice", floats, floats, {"size": n}),
            ("choice of a vector", "choice", vec, floats, {"size": n}),
            ("choice of a vector, few", "choice", vec, floats, {"size": n // 1000}),
            ("choice of a vector, half w/o replacement", "choice", vec, floats, {"size": n // 2, "replace": False}),
            ("choice of a vector, few w/o replacement", "choice", vec, floats, {"size": n // 1000, "replace": False}),
            ("choice of rows of 4", "choice", tensor, table, {"size": n // 4}),
            ("permutation of a vector", "permutation", vec, floats, {}),
            ("permutation of rows of 4", "permutation", tensor, table, {}),
            ("shuffle of a vector", "shuffle", vec, floats, {}),
            ("shuffle of rows of 4", "shuffle", tensor, table, {}),
        ]
        for name, method, ours, theirs, options in some:
            if wanted(name):
                calls = [(rng, ours), *((g, theirs) for g in given)]
                compare(name, [partial(getattr(g, method), x, **options) for g, x in calls], 3)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else NUMBERS, sys.argv[2:])
