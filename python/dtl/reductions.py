"""Reductions: collectives that combine the ranks' elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from ._arguments import fitting_out, integer, operator_number
from ._native import bridge
from ._operands import SCALARS, check_place, check_ranks, check_two, like, operand, own, room_like
from ._together import together
from .context import Context, is_rank
from .ops import MAXLOC, MINLOC, SUM, Op

if TYPE_CHECKING:
    from typing import Literal

_call = bridge.call
_ALLREDUCE, _REDUCE, _LOCATE = bridge.ALLREDUCE, bridge.REDUCE, bridge.LOCATE

#: NumPy's scalars of the dtypes that the bridge takes by value, as Python's scalars.
_NUMPY_SCALARS: frozenset[Any] = frozenset((np.float64, np.int64, np.complex128))

Scalar = TypeVar("Scalar", bool, int, float, complex)


@overload
def allreduce(ctx: Context, value: Any, op: Literal[Op.MINLOC, Op.MAXLOC], *, out: Any = ...) -> tuple[Any, Any]: ...
@overload
def allreduce(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def allreduce(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
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
    result: Any = NotImplemented
    if out is None:
        if value.__class__ is np.ndarray:
            room = room_like(value)
            if room is not None:
                result = _call(_ALLREDUCE, ctx, value, room, op, 0, 0, 0)
        elif value.__class__ in _NUMPY_SCALARS:
            result = _call(_ALLREDUCE, ctx, value.item(), None, op, 0, 0, 0)
            if result is not NotImplemented:
                result = value.__class__(result)
    if result is not NotImplemented:
        return result
    return _reduced(_ALLREDUCE, "allreduce", ctx, value, op, 0, out)


if not TYPE_CHECKING:
    # Arguments that need no preparing take the short way, through C alone.
    allreduce = bridge.fast_allreduce(
        allreduce, "allreduce(ctx, value, op=SUM, *, out=None)\n--\n\n" + (allreduce.__doc__ or "")
    )


@overload
def reduce(
    ctx: Context, value: Any, op: Literal[Op.MINLOC, Op.MAXLOC], root: int = ..., *, out: Any = ...
) -> tuple[Any, Any] | None: ...
@overload
def reduce(ctx: Context, value: Scalar, op: Op | str = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: Op | str = ..., root: int = ..., *, out: Any = ...) -> Any: ...
def reduce(ctx: Context, value: Any, op: Op | str = SUM, root: int = 0, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on root. Collective (MPI_Reduce).

    Parameters
    ----------
    ctx, value, op
        As for allreduce; IN_PLACE on root only.
    root
        The rank that gets the result.
    out
        On root, as for allreduce; ignored elsewhere.

    Returns
    -------
    ndarray or scalar
        As of allreduce; None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError, InvalidTypeError
        As for allreduce.
    """
    result: Any = NotImplemented
    if root.__class__ is int:
        here = is_rank(ctx, root)
        if value.__class__ is np.ndarray:
            room = (room_like(value) if out is None else out) if here else None
            if room is not None or not here:
                result = _call(_REDUCE, ctx, value, room, op, root, 0, 0)
        elif value.__class__ in SCALARS and out is None:
            result = _call(_REDUCE, ctx, value, None, op, root, 0, 0)
    if result is not NotImplemented:
        return result if here else None
    return _reduced(_REDUCE, "reduce", ctx, value, op, root, out)


def _reduced(code: int, name: str, ctx: Context, value: Any, op: Any, root: Any, out: Any) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    with together(ctx, name):
        here = is_rank(ctx, root) or code == _ALLREDUCE
        number, root = operator_number(op), integer("root", root)
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
