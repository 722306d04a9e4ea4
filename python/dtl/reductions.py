"""Reductions: collectives that combine the ranks' elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from ._arguments import fitting_out, input_array, integer, operator_number
from ._native import bridge
from ._together import together
from .context import Context, is_rank
from .ops import MAX, MIN, SUM, Op

_call = bridge.call
_ALLREDUCE, _REDUCE = bridge.ALLREDUCE, bridge.REDUCE

#: NumPy's scalars of the dtypes that the bridge takes by value, as Python's scalars.
_NUMPY_SCALARS: frozenset[Any] = frozenset((np.float64, np.int64, np.complex128))

Scalar = TypeVar("Scalar", bool, int, float, complex)


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
    result: Any = NotImplemented
    if out is None:
        if value.__class__ is np.ndarray:
            result = _call(_ALLREDUCE, ctx, value, np.empty_like(value), op, 0, 0, 0)
        elif value.__class__ in _NUMPY_SCALARS:
            result = _call(_ALLREDUCE, ctx, value.item(), None, op, 0, 0, 0)
            if result is not NotImplemented:
                result = value.__class__(result)
    if result is not NotImplemented:
        return result
    return _reduced(_ALLREDUCE, ctx, value, out, op, 0)


if not TYPE_CHECKING:
    # Arguments that need no preparing take the short way, through C alone.
    allreduce = bridge.fast_allreduce(
        allreduce, "allreduce(ctx, value, op=SUM, *, out=None)\n--\n\n" + (allreduce.__doc__ or "")
    )


@overload
def reduce(ctx: Context, value: Scalar, op: Op | str = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: Op | str = ..., root: int = ..., *, out: Any = ...) -> Any: ...
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
    return _reduced(_REDUCE, ctx, value, out, op, root)


def _reduced(code: int, ctx: Context, value: Any, out: Any, op: Any, root: Any) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    with together(ctx, "allreduce" if code == _ALLREDUCE else "reduce"):
        here = code == _ALLREDUCE or is_rank(ctx, root)
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
