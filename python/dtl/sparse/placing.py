"""Containers as products need them: each rank with the elements, or rows, of its range."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from .._native.objects import refuse_closed
from ..algorithms.exchange import gathered
from ..containers import interior
from ..containers.indexing.regions import moved_to
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError
from ..runtime import scheduler
from ..runtime.agreement import agree, local_step, refuse_other_context
from ..runtime.context import Context
from . import division

F = TypeVar("F", bound=Callable[..., Any])
Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def on_host(f: F) -> F:
    """Let a function have copies on the host of containers on a GPU, of which the ledger of slow paths tells.

    Containers that it returns lie on the GPU then, too.
    """

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if scheduler.with_device_copies is None:
            return f(*args, **kwargs)
        return scheduler.with_device_copies(f, args, kwargs)

    return cast("F", call)


def whole_vector(ctx: Context, op: str, given: Any) -> Array:
    """Return the elements of a vector of a context on every rank, however it is divided. Collective."""
    with local_step(ctx, op):
        refuse_closed(given)
        refuse_other_context(f"{op}: the vector", given, ctx)
        if given.ndim != 1:
            raise InvalidArgumentError(f"{op}: a container of shape {given.shape} is no vector")
    agree(ctx, op, f"a vector of {len(given)} {given.dtype}")
    return gathered(ctx, placed(op, given, division.blocks(len(given), ctx.size)).local_view())


def placed(op: str, given: Any, begins: Array) -> Any:
    """Return a vector, or a container of two dimensions, of which each rank has a range of elements, or of rows.

    It is the container itself, or a copy, which the ledger of slow paths has. Collective if it is a copy.
    """
    wanted = division.division_of(begins)
    if interior.division_of(given) == wanted and interior.is_where_divided(given):
        return given
    kind: Any = DistributedVector if given.ndim == 1 else DistributedTensor
    words = f"{op} moves {given.shape} of {given.dtype}"
    like = created(kind, given.context, given.shape, given.dtype, wanted, blank=True, words=words)
    return moved_to(op, given, like)
