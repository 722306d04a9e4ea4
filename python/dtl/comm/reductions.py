"""Reductions: collectives that combine the ranks' elements."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .._native import turns
from .._native.arguments import fitting_out, integer, operator_number
from .._native.deferring import defer
from .._native.library import bridge
from .._native.short_calls import short
from ..containers.base import DistributedContainer
from ..ops import MAXLOC, MINLOC, SUM, Op
from ..runtime.agreement import collective
from ..runtime.context import Context, this_rank
from .operands import check_place, check_ranks, check_two, like, operand, own

if TYPE_CHECKING:
    from typing import Literal

_call = bridge.call
_ALLREDUCE, _REDUCE, _LOCATE = bridge.ALLREDUCE, bridge.REDUCE, bridge.LOCATE

Scalar = TypeVar("Scalar", bool, int, float, complex)


@overload
def allreduce(ctx: Context, value: Any, op: Literal[Op.MINLOC, Op.MAXLOC], *, out: Any = ...) -> tuple[Any, Any]: ...
@overload
def allreduce(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def allreduce(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
@short(bridge.ALLREDUCE, "owner in 0 out", "like")
@collective
def allreduce(ctx: Context, value: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on every rank. Collective (MPI_Allreduce).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank. ``dtl.IN_PLACE`` for the elements
        of out.
    op
        An operator of ``dtl.ops.Op``, such as SUM, or its name. Sums and products of Python truth values are integers.
    out
        A C-contiguous array for the result, of value's dtype and number of elements; may be value itself. With MINLOC
        and MAXLOC a tuple of two, of which the second is for the ranks, of int64.

    Returns
    -------
    ndarray or scalar
        Of value's shape and type, or out. With MINLOC and MAXLOC a tuple of two, the values and the ranks that have
        them, of int64: the lowest rank where several have the same. NaN goes before every number, as in NumPy's
        ``argmin``.

    Raises
    ------
    InvalidArgumentError
        If op is unknown, value's dtype does not have it, or out does not fit.
    InvalidTypeError
        If value has no dtype that can be sent.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.allreduce(ctx, 2.5, op=dtl.SUM)
    ...     dtl.allreduce(ctx, 2.5, op=dtl.MINLOC)
    2.5
    (2.5, 0)
    """
    return _reduced(_ALLREDUCE, ctx, value, op, 0, out)


@overload
def reduce(
    ctx: Context, value: Any, op: Literal[Op.MINLOC, Op.MAXLOC], root: int = ..., *, out: Any = ...
) -> tuple[Any, Any] | None: ...
@overload
def reduce(ctx: Context, value: Scalar, op: Op | str = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: Op | str = ..., root: int = ..., *, out: Any = ...) -> Any: ...
@overload
def reduce(ctx: DistributedContainer, value: Op | str) -> Any: ...
@overload
def reduce(ctx: DistributedContainer, *, op: Op | str = ...) -> Any: ...
@short(bridge.REDUCE, "owner in 0 root1 out", "like")
@collective
def reduce(ctx: Any, value: Any = None, op: Any = SUM, root: int = 0, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on root; or all elements of a container. Collective.

    ``reduce(ctx, value, op, root)`` is MPI_Reduce; ``reduce(container, op)`` has its result on every rank.

    Parameters
    ----------
    ctx, value, op
        As for allreduce; IN_PLACE on root only. Or a container and the operator.
    root
        The rank that gets the result; of a container, all do.
    out
        On root, as for allreduce; ignored elsewhere.

    Returns
    -------
    ndarray or scalar
        As of allreduce; None on the other ranks. Of a container a NumPy scalar on every rank, of the type that NumPy's
        reduction has: sums and products of small integers are int64 or uint64.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError, InvalidTypeError
        As for allreduce. Also for MIN, MAX and operators on bits of a container that has no elements.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 5) as vec:
    ...     dtl.iota(vec)
    ...     print(dtl.reduce(vec, op=dtl.MAX), dtl.reduce(vec, "sum"))
    4.0 10.0
    """
    if isinstance(ctx, DistributedContainer):
        return _of_container(ctx, value, op)
    return _reduced(_REDUCE, ctx, value, op, root, out)


def _of_container(c: DistributedContainer, *ops: Any) -> Any:
    """Combine a container's elements by the operator that was passed in its second place, or by name."""
    folding: Any = importlib.import_module("dtl.algorithms.reduce")  # which not every program needs
    op = ops[1] if ops[0] is None else ops[0]
    if c._deferred:
        return defer(folding.reduce_container, (c, op), {}, depth=3, name="reduce")
    if turns.under_way:
        turns.take(c)
    return folding.reduce_container(c, op)


def _reduced(code: int, ctx: Context, value: Any, op: Any, root: Any, out: Any) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    here = this_rank(ctx) == (root := integer("root", root)) or code == _ALLREDUCE
    number = operator_number(op)
    located = number in (MINLOC, MAXLOC)
    first = out if here else None
    if located and first is not None:
        first = check_two(first)[0]
    check_place(value, here, root)
    given = own(value, first)
    array = operand(given, number)
    result = fitting_out(first, array.shape, array.dtype) if here else None
    if located and first is not None:
        check_ranks(out[1], result)
    if located:
        ranks = _call(_LOCATE, ctx, array, result, number, root, int(code == _REDUCE), 0)
    else:
        _call(code, ctx, array, result, number, root, 0, 0)
    if not here:
        return None
    if not located:
        return result if out is not None else like(given, result)
    if out is None:
        return like(given, result), like(given, np.asarray(ranks))
    out[1].reshape(-1)[...] = np.asarray(ranks).reshape(-1)
    return out
