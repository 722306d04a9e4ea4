"""Numbers made of whole containers: against NumPy on one rank, and mpi4py with NumPy by hand on several."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 15
_SIZE = 8_000_000
_TINY = 1000
_WORLD = MPI.COMM_WORLD

_DTL, _NUMPY, _BY_HAND, _TABLE = "dtl", "NumPy", "mpi4py + NumPy by hand", "NumPy's bincount"


def _sum(part: Any) -> Any:
    return _WORLD.allreduce(part.sum())


def _mean(part: Any) -> Any:
    return _WORLD.allreduce(part.sum()) / _SIZE


def _std(part: Any) -> Any:
    mean = _WORLD.allreduce(part.sum()) / _SIZE
    return np.sqrt(_WORLD.allreduce(np.square(part - mean).sum()) / _SIZE)


def _max(part: Any) -> Any:
    return _WORLD.allreduce(part.max(), MPI.MAX)


def _dot(part: Any) -> Any:
    return _WORLD.allreduce(part.dot(part))


def _cumsum(part: Any) -> Any:
    made = part.cumsum()
    before = _WORLD.exscan(made[-1])
    if before is not None:
        made += before
    return made


def _histogram(part: Any) -> Any:
    counts = np.histogram(part, 256, (0, 256))[0]
    _WORLD.Allreduce(MPI.IN_PLACE, counts)
    return counts


def _bincount(part: Any) -> Any:
    counts = np.bincount(part, minlength=256)
    _WORLD.Allreduce(MPI.IN_PLACE, counts)
    return counts


def _beside(ours: Callable[..., Any], vec: Any, theirs: str, other: Callable[..., Any], calls: int = 2) -> Any:
    contenders: dict[str, Block] = {
        _DTL: python_block("f(v)", calls, f=ours, v=vec),
        theirs: python_block("f(v)", calls, f=other, v=vec.local_view()),
    }
    return alternate(contenders, _ROUNDS, slowest)


def _floats(ctx: dtl.Context) -> list[Row]:
    vec = dtl.DistributedVector(ctx, _SIZE)
    vec.local_view()[:] = np.random.default_rng(ctx.rank).random(vec.local_size)
    tiny = dtl.DistributedVector(ctx, _TINY, fill=1.0)
    one = ctx.size == 1
    theirs = _NUMPY if one else _BY_HAND
    measures: list[tuple[str, Any, Any, Any, float | None]] = [
        ("sum", dtl.sum, np.sum, _sum, 1.0),
        ("mean", dtl.mean, np.mean, _mean, 1.0),
        ("std", dtl.std, np.std, _std, 0.4),
        ("max", dtl.max, np.max, _max, 1.0),
        ("dot with itself", lambda v: v.dot(v), lambda v: v.dot(v), _dot, 1.0),
        ("cumsum", dtl.cumsum, np.cumsum, _cumsum, 0.35 if one else 1.0),
    ]
    rows = [
        at_most(f"{name} of 8 M float64", _beside(ours, vec, theirs, alone if one else hand), _DTL, theirs, bound)
        for name, ours, alone, hand, bound in measures
    ]
    rows += [_transform(vec), *(_parallel(vec, measures) if one else [])]
    exact = {
        _DTL: python_block("v.sum(reproducible=True)", 2, v=vec),
        "the ordinary sum": python_block("v.sum()", 2, v=vec),
    }
    rows.append(at_most("exact sum of 8 M float64", alternate(exact, _ROUNDS, slowest), _DTL, "the ordinary sum"))
    times = _beside(operator.methodcaller("sum"), tiny, theirs, np.sum if one else _sum, 2000)
    rows.append(at_most("sum of 1000 float64", times, _DTL, theirs))
    taken = min(times[_DTL])
    rows.append(Row("sum of 1000 float64", "≤ 3 µs", f"{taken * 1e6:.2f} µs", "the fastest block", taken <= 3e-6))
    return rows


def _transform(vec: Any) -> Row:
    with vec.copy() as to:
        contenders = {
            _DTL: python_block("f(v, to, square)", 2, f=dtl.transform, v=vec, to=to, square=np.square),
            _NUMPY: python_block("square(v, out=to)", 2, v=vec.local_view(), to=to.local_view(), square=np.square),
        }
        return at_most(
            "transform(np.square) of 8 M float64", alternate(contenders, _ROUNDS, slowest), _DTL, _NUMPY, 1.05
        )


def _parallel(vec: Any, measures: list[tuple[str, Any, Any, Any, float | None]]) -> list[Row]:
    """Return the rows of EXEC_PAR, beside NumPy on one thread."""
    twin, how = _in_parallel(vec)
    return [
        at_most(f"{name} of 8 M float64, {how}", _beside(ours, twin, _NUMPY, alone), _DTL, _NUMPY)
        for name, ours, alone, _, _ in measures
    ]


def _in_parallel(vec: Any) -> tuple[Any, str]:
    """Return a vector of the same elements under EXEC_PAR, and how a row says that."""
    twin = dtl.DistributedVector(vec.context, _SIZE, vec.dtype, execution=dtl.EXEC_PAR)
    twin.local_view()[:] = vec.local_view()
    many = dtl.get_num_threads()
    return twin, f"EXEC_PAR, {many} thread" + "s" * (many != 1)


def _integers(ctx: dtl.Context) -> list[Row]:
    vec = dtl.DistributedVector(ctx, _SIZE, np.int64)
    vec.local_view()[:] = np.random.default_rng(ctx.rank).integers(0, 256, vec.local_size)
    real = vec.astype(np.float64)
    one = ctx.size == 1
    theirs = _NUMPY if one else _BY_HAND

    def bins(v: Any) -> Any:
        return np.histogram(v, 256, (0, 256))

    counted = _beside(dtl.bincount, vec, _TABLE, np.bincount if one else _bincount)
    binned = _beside(bins, vec, _TABLE, np.bincount if one else _bincount)
    rows = [
        at_most("bincount of 8 M int64 below 256", counted, _DTL, _TABLE, 0.5),
        at_most("histogram of 8 M int64 below 256, 256 bins", binned, _DTL, _TABLE, 0.5),
    ]
    if one:
        twin, how = _in_parallel(vec)
        counted, binned = (_beside(ours, twin, _TABLE, np.bincount) for ours in (dtl.bincount, bins))
        rows += [
            at_most(f"bincount of 8 M int64 below 256, {how}", counted, _DTL, _TABLE, 0.5),
            at_most(f"histogram of 8 M int64 below 256, 256 bins, {how}", binned, _DTL, _TABLE, 0.5),
        ]
    return [
        *rows,
        at_most("histogram of 8 M int64", _beside(bins, vec, theirs, bins if one else _histogram), _DTL, theirs),
        at_most("histogram of 8 M float64", _beside(bins, real, theirs, bins if one else _histogram), _DTL, theirs),
    ]


def _matrices(ctx: dtl.Context) -> list[Row]:
    n = 1000
    matrix = dtl.DistributedTensor(ctx, (n, n))
    matrix.local_view()[...] = np.random.default_rng(ctx.rank).random(matrix.local_shape)
    whole = np.random.default_rng(9).random((n, n))

    def by_hand(part: Any) -> Any:
        other = np.empty((n, n))
        _WORLD.Allgather(np.ascontiguousarray(part), other)
        return part @ other

    theirs = _NUMPY if ctx.size == 1 else _BY_HAND
    times = _beside(lambda a: a @ a, matrix, theirs, (lambda a: a @ whole) if ctx.size == 1 else by_hand)
    return [at_most("product of 1000 x 1000 matrices", times, _DTL, theirs)]


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=_WORLD) as ctx:
        rows = _floats(ctx) + _integers(ctx) + _matrices(ctx)
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
