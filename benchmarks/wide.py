"""Calls that programs with NumPy make every day, of 4 M elements: against NumPy, which computes all on one rank."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 7
_SIZE = 4_000_000
_SPOTS = 500_000
_WORLD = MPI.COMM_WORLD

_DTL, _NUMPY = "dtl", "NumPy"


class Call(NamedTuple):
    """A call: its statement with containers, and with arrays where that is another one.

    NumPy computes threaded ones on all cores, because BLAS does. Those that are solved on one rank gain nothing by
    others.
    """

    name: str
    statement: str
    numpys: str = ""
    threaded: bool = False
    solved: bool = False


CALLS = (
    Call("`np.where(m, a, b)` of 4 M float64", "np.where(m, a, b)"),
    Call("`a[m]` of 4 M float64, half of them", "a[m]"),
    Call("`a[a > 0.5]` of 4 M float64", "a[a > 0.5]"),
    Call("`np.clip(a, 0.2, 0.8)` of 4 M float64", "np.clip(a, 0.2, 0.8)"),
    Call("`np.isnan(a).sum()` of 4 M float64", "np.isnan(a).sum()"),
    Call("`a.astype(np.float32)` of 4 M float64", "a.astype(np.float32)"),
    Call("`k.astype(float)` of 4 M int64", "k.astype(float)"),
    Call("`np.take(a, spots)` of 500,000 random indices", "np.take(a, spots)"),
    Call("`a[spots]` of 500,000 random indices", "a[spots]"),
    Call("`a.sum()` of 4 M float64", "a.sum()"),
    Call("`a.std()` of 4 M float64", "a.std()"),
    Call("`a.argmax()` of 4 M float64", "a.argmax()"),
    Call("`np.cumsum(a)` of 4 M float64", "np.cumsum(a)"),
    Call("`np.diff(a)` of 4 M float64", "np.diff(a)"),
    Call("`np.roll(a, 1000)` of 4 M float64", "np.roll(a, 1000)"),
    Call("`np.repeat(spot_values, 8)` of 500,000 float64", "np.repeat(spot_values, 8)"),
    Call("`np.concatenate([a, b])` of 4 M float64 each", "np.concatenate([a, b])"),
    Call("`np.sort(a)` of 4 M float64", "np.sort(a)"),
    Call("`np.argsort(a)` of 4 M float64", "np.argsort(a)"),
    Call("`np.unique(a)` of 4 M float64", "np.unique(a)"),
    Call("`np.unique(k)` of 4 M int64 below 1,000", "np.unique(k)"),
    Call("`np.bincount(k)` of 4 M int64 below 1,000", "np.bincount(k)"),
    Call("`np.histogram(a, 100)` of 4 M float64", "np.histogram(a, 100)"),
    Call("`np.searchsorted(ordered, spot_values)` of 500,000 in 4 M", "np.searchsorted(ordered, spot_values)"),
    Call("`np.percentile(a, 90)` of 4 M float64", "np.percentile(a, 90)"),
    Call("`np.median(a)` of 4 M float64", "np.median(a)"),
    Call("`np.fft.fft(z)` of 2^21 complex128", "np.fft.fft(z)"),
    Call("`np.fft.rfft2(S)` of 2000 x 2000 float64", "np.fft.rfft2(S)"),
    Call("`T.mean(axis=0)` of 4000 x 500 float64", "T.mean(axis=0)"),
    Call("`T.mean(axis=1)` of 4000 x 500 float64", "T.mean(axis=1)"),
    Call("`S.sum(axis=0)` of 2000 x 2000 float64", "S.sum(axis=0)"),
    Call("`S.std(axis=1)` of 2000 x 2000 float64", "S.std(axis=1)"),
    Call("`S.max(axis=0)` of 2000 x 2000 float64", "S.max(axis=0)"),
    Call("`S.argmax(axis=1)` of 2000 x 2000 float64", "S.argmax(axis=1)"),
    Call("`B.any(axis=0)` of 2000 x 2000 bool", "B.any(axis=0)"),
    Call("`B.all(axis=1)` of 2000 x 2000 bool", "B.all(axis=1)"),
    Call("`np.cumsum(S, axis=0)` of 2000 x 2000 float64", "np.cumsum(S, axis=0)"),
    Call("`np.cumsum(S, axis=1)` of 2000 x 2000 float64", "np.cumsum(S, axis=1)"),
    Call("`np.sort(S, axis=1)` of 2000 x 2000 float64", "np.sort(S, axis=1)"),
    Call("`S - S.mean(0)` of 2000 x 2000 float64", "S - S.mean(0)"),
    Call("`S.T.copy()` of 2000 x 2000 float64", "S.T.copy()"),
    Call("`np.einsum('ij,ij->i', S, S)` of 2000 x 2000 float64", "np.einsum('ij,ij->i', S, S)"),
    Call("`np.cov(V)` of 40 x 100,000 float64", "np.cov(V)", threaded=True),
    Call("`np.dot(a, b)` of 4 M float64", "np.dot(a, b)", threaded=True),
    Call("`Q @ Q` of 1000 x 1000 float64", "Q @ Q", threaded=True),
    Call("`S @ row` of 2000 x 2000 float64", "S @ row", threaded=True),
    Call("`np.linalg.norm(S)` of 2000 x 2000 float64", "np.linalg.norm(S)", threaded=True),
    Call("`np.linalg.solve(A, y)` of 800 x 800 float64", "np.linalg.solve(A, y)", threaded=True, solved=True),
    Call("`np.linalg.svd(A)` of 800 x 800 float64", "np.linalg.svd(A)", threaded=True, solved=True),
    Call("`np.linalg.inv(A)` of 800 x 800 float64", "np.linalg.inv(A)", threaded=True, solved=True),
    Call("`np.linalg.eigh(H)` of 800 x 800 float64", "np.linalg.eigh(H)", threaded=True, solved=True),
    Call("`np.linalg.qr(A)` of 800 x 800 float64", "np.linalg.qr(A)", threaded=True, solved=True),
)


def operands(ctx: dtl.Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the operands of the statements: containers, and the whole of each as an array."""
    rng = np.random.default_rng(1)
    arrays: dict[str, Any] = {name: rng.random(_SIZE) for name in "ab"}
    arrays["m"] = rng.random(_SIZE) < 0.5
    arrays["k"] = rng.integers(0, 1_000, _SIZE)
    arrays["ordered"] = np.sort(arrays["a"])
    arrays["spots"] = rng.integers(0, _SIZE, _SPOTS)
    arrays["spot_values"] = rng.random(_SPOTS)
    arrays["z"] = rng.random(2**21) + 1j * rng.random(2**21)
    arrays["T"] = rng.random((4_000, 500))
    arrays["S"] = rng.random((2_000, 2_000))
    arrays["B"] = rng.random((2_000, 2_000)) < 0.5
    arrays["V"] = rng.random((40, 100_000))
    arrays["Q"] = rng.random((1_000, 1_000))
    arrays["A"] = rng.random((800, 800))
    arrays["H"] = arrays["A"] + arrays["A"].T
    arrays["y"] = rng.random(800)
    arrays["row"] = rng.random(2_000)
    containers = {name: dtl.asarray(ctx, array) for name, array in arrays.items()}
    return {**containers, "np": np, "use": _used}, {**arrays, "np": np, "use": lambda value: value}


def _used(value: Any) -> None:
    """Have the elements of all containers of a result computed."""
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, dtl.DistributedContainer):
            one.local_view()


def bound_of(call: Call, ranks: int, threads: int) -> float | None:
    """Return how much of NumPy's time a call may take."""
    if ranks > 2:
        return None
    if ranks == 2:
        return 1.05 if call.solved else 0.8
    return 0.8 if threads > 1 and not call.threaded else 1.05


def contenders_of(call: Call, ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Block]:
    """Return what computes a call. NumPy does so on rank 0 while the others wait, as a program without ranks would."""
    numpys = python_block(f"use({call.numpys or call.statement})", 1, **theirs)
    return {
        _DTL: python_block(f"use({call.statement})", 1, **ours),
        _NUMPY: numpys if _WORLD.rank == 0 else float,
    }


def main() -> None:
    """Measure, and let rank 0 report."""
    threads = int(os.environ.get("DTL_NUM_THREADS", os.cpu_count() or 1)) if _WORLD.size == 1 else 1
    rows: list[Row] = []
    with dtl.Context(comm=_WORLD) as ctx:
        ours, theirs = operands(ctx)
        for call in CALLS:
            times = alternate(contenders_of(call, ours, theirs), _ROUNDS, slowest)
            rows.append(at_most(call.name, times, _DTL, _NUMPY, bound_of(call, ctx.size, threads)))
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
