"""What NumPy users write, on containers: against NumPy on one rank, and mpi4py with NumPy by hand on several."""

from __future__ import annotations

from typing import Any

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 9
_SIZE = 8_000_000
_EDGE = 2_000
_SPOTS = 2_000_000
_WORLD = MPI.COMM_WORLD

_DTL, _NUMPY, _BY_HAND = "dtl", "NumPy", "mpi4py + NumPy by hand"

#: Expressions of Python, with containers and with arrays alike. Containers are asked for their elements, which are not
#: computed before.
_CHAINS = {
    "`x + x` of 8 M float64": "x + x",
    "`a * b + c` of 8 M float64": "a * b + c",
    "`np.sqrt(a * a + b * b) / (c + 1.0)` of 8 M float64": "np.sqrt(a * a + b * b) / (c + 1.0)",
    "`x[1:] - x[:-1]` of 8 M float64": "x[1:] - x[:-1]",
    "`T.var(0)` of 2000 x 2000 float64": "T.var(0)",
    "`T - T.mean(axis=0)` of 2000 x 2000 float64": "T - T.mean(axis=0)",
}

#: Expressions of which only a number is wanted.
_NUMBERS = {
    "`((a - b) * (a - b)).mean()` of 8 M float64": "((a - b) * (a - b)).mean()",
    "`np.abs(a - b).max()` of 8 M float64": "np.abs(a - b).max()",
}

#: Statements whose results are copies: with containers, and with arrays.
_COPIES = {
    "`x[1:]` of 8 M float64, and a copy of NumPy's": ("x[1:]", "x[1:].copy()"),
    "`np.diff(x)` of 8 M float64": ("np.diff(x)", "np.diff(x)"),
    "`np.concatenate([a, b])` of 8 M float64 each": ("np.concatenate([a, b])", "np.concatenate([a, b])"),
    "`T.T` of 2000 x 2000 float64, and a copy of NumPy's": ("T.T", "T.T.copy()"),
}


#: Statements on small containers, where a call takes longer than its elements.
_SHORT = ("a + b", "a += b", "x[1:] - x[:-1]", "x[x > 0.5]", "np.where(x > 0.5, a, b)", "np.allclose(a, b)")


def _names(ctx: dtl.Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the operands of the statements: containers, and the whole of each as an array."""
    arrays: dict[str, Any] = {name: np.random.default_rng(k).random(_SIZE) for k, name in enumerate("abcx")}
    arrays["T"] = np.random.default_rng(9).random((_EDGE, _EDGE))
    containers = {name: dtl.asarray(ctx, array) for name, array in arrays.items()}
    return {**containers, "np": np}, {**arrays, "np": np}


def _chains(ctx: dtl.Context, ours: dict[str, Any], theirs: dict[str, Any]) -> list[Row]:
    """Beside NumPy with the whole, as it is on one rank and on each of several at the same time."""
    bound = {1: 1.0, 2: 0.6}.get(ctx.size)
    rows = []
    statements = {
        **{name: (f"({text}).local_view()", text) for name, text in _CHAINS.items()},
        **{name: (text, text) for name, text in _NUMBERS.items()},
        **{name: (f"({mine}).local_view()", numpys) for name, (mine, numpys) in _COPIES.items()},
    }
    for name, (mine, numpys) in statements.items():
        contenders = {_DTL: python_block(mine, 2, **ours), _NUMPY: python_block(numpys, 2, **theirs)}
        rows.append(at_most(name, alternate(contenders, _ROUNDS, slowest), _DTL, _NUMPY, bound))
    return rows


def _parts(ctx: dtl.Context, containers: dict[str, Any]) -> list[Row]:
    """Beside arrays of the rank's own part, which a user of mpi4py has."""
    a, b, c = (containers[name] for name in "abc")
    mine = {name: containers[name].local_view().copy() for name in "abc"}
    statement = "a += b + 3.0 * c"
    ours = f"{statement}; a.local_view()"
    contenders = {_DTL: python_block(ours, 2, a=a, b=b, c=c), _BY_HAND: python_block(statement, 2, **mine)}
    rows = [at_most("`A += B + 3.0 * C` of 8 M float64", alternate(contenders, _ROUNDS, slowest), _DTL, _BY_HAND, 1.0)]
    if _EDGE % ctx.size == 0:
        rows.append(_transposed(ctx, containers["T"]))
    return rows


def _transposed(ctx: dtl.Context, matrix: Any) -> Row:
    other = matrix.copy()
    own = matrix.local_view().copy()
    sum_ = own.copy()
    rows = _EDGE // ctx.size
    sent = np.empty((ctx.size, rows, rows))
    received = np.empty_like(sent)

    def by_hand() -> None:
        if ctx.size == 1:
            np.add(sum_, own.T, out=sum_)
            return
        sent[:] = own.reshape(rows, ctx.size, rows).transpose(1, 0, 2)
        _WORLD.Alltoall(sent, received)
        total = sum_.reshape(rows, ctx.size, rows)
        total += received.transpose(2, 0, 1)

    contenders = {
        _DTL: python_block("b += a.T; b.local_view()", 1, a=matrix, b=other),
        _BY_HAND: python_block("f()", 1, f=by_hand),
    }
    name = f"`B += A.T` of {_EDGE} x {_EDGE} float64, divided by rows"
    return at_most(name, alternate(contenders, _ROUNDS, slowest), _DTL, _BY_HAND, 0.9)


def _scattered(ctx: dtl.Context) -> Row:
    """Add numbers to the elements that indices name: beside NumPy's on one rank, and what sends them by hand."""
    share = _SPOTS // ctx.size
    rng = np.random.default_rng(ctx.rank)
    sums, indices, values = np.zeros(share), rng.integers(0, share * ctx.size, share), rng.random(share)

    def by_hand() -> None:
        owner = indices // share
        order = np.argsort(owner, kind="stable")
        sent = np.bincount(owner, minlength=ctx.size)
        coming = np.empty_like(sent)
        _WORLD.Alltoall(sent, coming)
        places, numbers = np.empty(coming.sum(), np.int64), np.empty(coming.sum())
        _WORLD.Alltoallv([indices[order], sent], [places, coming])
        _WORLD.Alltoallv([values[order], sent], [numbers, coming])
        np.add.at(sums, places - ctx.rank * share, numbers)

    containers = [dtl.zeros(ctx, share * ctx.size, dtype) for dtype in (float, np.int64, float)]
    for container, own in zip(containers[1:], (indices, values)):
        container.local_view()[:] = own
    a, i, v = containers
    other = _NUMPY if ctx.size == 1 else _BY_HAND
    beside = python_block("f(a, i, v)", 1, f=np.add.at, a=sums, i=indices, v=values)
    contenders = {
        _DTL: python_block("f(a, i, v)", 1, f=dtl.add_at, a=a, i=i, v=v),
        other: beside if ctx.size == 1 else python_block("f()", 1, f=by_hand),
    }
    name = "`dtl.add_at` of 2 M float64 by random indices"
    return at_most(name, alternate(contenders, _ROUNDS, slowest), _DTL, other)


def _short(ctx: dtl.Context) -> list[Row]:
    tiny = dtl.zeros(ctx, 1_000)
    blocks: dict[str, tuple[str, float, Block]] = {
        "create and close a vector of 1,000 float64": (
            "≤ 8 µs",
            8e-6,
            python_block("f(ctx, 1000).close()", 2000, f=dtl.DistributedVector, ctx=ctx),
        ),
        "`v[i]` of an element of this rank": (
            "≤ 3 µs",
            3e-6,
            python_block("v[i]", 2000, v=tiny, i=tiny.local_offset),
        ),
    }
    rows = []
    arrays = {name: np.random.default_rng(k).random(1_000) for k, name in enumerate("abx")}
    containers = {name: dtl.asarray(ctx, array) for name, array in arrays.items()}
    for text in _SHORT:
        contenders = {
            _DTL: python_block(text, 500, np=np, **containers),
            _NUMPY: python_block(text, 500, np=np, **arrays),
        }
        rows.append(at_most(f"`{text}` of 1,000 float64", alternate(contenders, _ROUNDS, slowest), _DTL, _NUMPY, None))
    for name, (target, bound, block) in blocks.items():
        taken = min(slowest(block()) for _ in range(_ROUNDS))
        rows.append(Row(name, target, f"{taken * 1e6:.2f} µs", "the fastest block", taken <= bound))
    return rows


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=_WORLD) as ctx:
        ours, theirs = _names(ctx)
        rows = [*_chains(ctx, ours, theirs), *_parts(ctx, ours), _scattered(ctx)]
        rows += _short(ctx) if ctx.size == 1 else []
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
