"""What calls cost that return a new array or scalar, beside mpi4py's lower-case ones, which pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
from blocks import alternate, python_block
from mpi4py import MPI
from rows import Row, at_most

import dtl

_CALLS = 1000
_ROUNDS = 25
_BOUND = 0.3

_WORLD = MPI.COMM_WORLD

_VALUES: dict[str, Any] = {"a float": 1.0, "10 float64": np.ones(10)}


def rows(ctx: dtl.Context) -> list[Row]:
    """Return a row for each call and value."""
    pairs = [
        ("allreduce", dtl.allreduce, _WORLD.allreduce),
        ("broadcast", dtl.broadcast, _WORLD.bcast),
        ("gather", dtl.gather, _WORLD.gather),
        ("allgather", dtl.allgather, _WORLD.allgather),
    ]
    return [_row(ctx, name, what, *pair) for name, *pair in pairs for what in _VALUES]


def _row(ctx: dtl.Context, name: str, what: str, ours: Any, theirs: Any) -> Row:
    value = _VALUES[what] if ctx.is_root or name != "broadcast" else None
    contenders = {
        "DTL": python_block("f(ctx, a)", _CALLS, f=ours, ctx=ctx, a=value),
        "mpi4py": python_block("f(a)", _CALLS, f=theirs, a=value),
    }
    times = alternate(contenders, _ROUNDS, lambda taken: float(_WORLD.allreduce(taken, MPI.MAX)))
    return at_most(f"`{name}` of {what}", times, "DTL", "mpi4py", _BOUND)
