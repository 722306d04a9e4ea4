"""Reductions: collectives that combine the ranks' elements."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from ._arguments import fitting_out, input_array, integer, operator_number
from ._native import bridge
from ._short import short
from .context import Context, is_rank
from .ops import MAX, MIN, SUM, Op

_call = bridge.call
_ALLREDUCE, _REDUCE = bridge.ALLREDUCE, bridge.REDUCE

Scalar = TypeVar("Scalar", bool, int, float, complex)


@overload
def allreduce(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def allreduce(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
@short(bridge.ALLREDUCE, "owner in 0 out", "like")
def allreduce(ctx: Context, value: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on every rank. Collective (MPI_Allreduce).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank.
    op
        SUM, PROD, MIN or MAX, or its name. Sums and products of Python truth values are integers.
    out
        A C-contiguous array for the result, of value's dtype and number of elements; may be value itself.

    Returns
    -------
    ndarray or scalar
        Of value's shape and type, or out.

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
    2.5
    """
    return _reduced(_ALLREDUCE, ctx, value, out, op, 0, True)


@overload
def reduce(ctx: Context, value: Scalar, op: Op | str = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: Op | str = ..., root: int = ..., *, out: Any = ...) -> Any: ...
@short(bridge.REDUCE, "owner in 0 root1 out", "like")
def reduce(ctx: Context, value: Any, op: Op | str = SUM, root: int = 0, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on root. Collective (MPI_Reduce).

    Parameters
    ----------
    ctx, value, op
        As for allreduce.
    root
        The rank that gets the result.
    out
        On root, an array for the result, as for allreduce; ignored elsewhere.

    Returns
    -------
    ndarray or scalar
        Of value's shape and type, or out; None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError, InvalidTypeError
        As for allreduce.
    """
    return _reduced(_REDUCE, ctx, value, out, op, root, is_rank(ctx, root))


def _reduced(code: int, ctx: Context, value: Any, out: Any, op: Any, root: Any, here: bool) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    number = operator_number(op)
    array = input_array("value", value)
    if isinstance(value, bool) and number not in (MIN, MAX):
        array = array.astype(np.int64)
    result = fitting_out(out, array.shape, array.dtype) if here else None
    _call(code, ctx, array, result, number, integer("root", root), 0, 0)
    if not here:
        return None
    return result if out is not None else _like(value, result)


def _like(value: Any, result: Any) -> Any:
    """Return a result as value was passed: an array, a NumPy scalar or a Python scalar."""
    if result.ndim == 0 and not isinstance(value, np.ndarray):
        return result[()] if isinstance(value, np.generic) else result.item()
    return result
