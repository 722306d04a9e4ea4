"""What calls say of arguments that they refuse, on every rank, or on one of which all hear: hostile_refusals.py."""

from __future__ import annotations

import builtins
import functools
from typing import Any

import hostile
import numpy as np
import pytest
from hostile import Call, Stage
from hostile_refusals import ARGUMENT, BOUNDS, CODES, MEMORY, OVERFLOW, RESULTS, ROWS, TYPE, Row, integer_calls
from refusals import refused
from test_hostile_arguments import stage

import dtl

__all__ = ["stage"]

pytestmark = [
    pytest.mark.few("two ranks are a wrong one and one that must hear of it; with more, in make test-matrix"),
    pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged"),
]

#: What a program that knows nothing of DTL catches.
PYTHONS = {
    ARGUMENT: ValueError,
    TYPE: TypeError,
    BOUNDS: IndexError,
    OVERFLOW: builtins.OverflowError,
    MEMORY: builtins.MemoryError,
}


def texts(row: Row, value: Any, ranks: int, size: int) -> list[str]:
    """Return what an error has to say of a value."""
    known: dict[str, Any] = {"value": value, "n": ranks, "size": size, "type": type(value).__name__}
    known["ones"] = " 1" * (ranks - 1) if "[2{ones}]" in "".join(row.texts) else "1 " * (ranks - 1)
    if row.parameter == "dtype" and "{of" in "".join(row.texts):
        known["of"] = np.dtype(value)
    if "{dtype}" in "".join(row.texts):
        known["dtype"] = np.asarray(value).dtype.name
    return [text.format(**known) for text in row.texts]


@pytest.fixture(scope="module")
def calls(stage: Stage) -> dict[str, Call]:
    integers = {name: Call(*call) for name, call in integer_calls(stage.ctx).items()}
    return {**hostile.local(stage), **hostile.collective(stage), **integers}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_is_said(stage: Stage, calls: dict[str, Call], row: Row) -> None:
    ctx = stage.ctx
    for name in row.calls.split():
        if ctx.size > 1 and (
            (row.error is MEMORY and not row.alone)
            or (row.parameter == "out" and name in ("reduce", "gather", "gatherv"))
        ):
            continue  # of several ranks, each has a part, or root alone what is returned; runs on one
        call = Call(calls[name].f, {**calls[name].arguments, **row.given})
        size = RESULTS.get(name, int)(ctx.size)
        for value in row.chosen(ctx.size, size):
            said = texts(row, value, ctx.size, size)
            wrong = {**call.arguments, row.parameter: value}
            op = name.split(".")[-1] if row.named else None
            error = refused(functools.partial(call.f, **wrong), row.error, row.code or CODES[row.error], *said, op=op)
            assert isinstance(error, PYTHONS[row.error])
            everyones = dtl.allgather_object(ctx, said)  # who names an object of its own names its address
            for rank in range(ctx.size if row.alone else 0):
                arguments = dict(wrong if ctx.rank == rank else call.arguments)
                if row.alone == "root":
                    arguments["root"] = rank
                with pytest.raises(row.error) as caught:
                    _on_one(ctx, call, arguments)
                assert all(text in str(caught.value) for text in everyones[rank])
                assert (f"rank {rank}: " in str(caught.value)) == (ctx.rank != rank)
    assert dtl.allreduce(ctx, 1) == ctx.size


def _on_one(ctx: dtl.Context, call: Call, arguments: dict[str, Any]) -> None:
    """Make a call that is wrong on one rank, and another one, in which those hear of it that wait for nobody."""
    call.f(**arguments)
    ctx.barrier()
