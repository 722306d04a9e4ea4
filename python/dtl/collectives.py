"""Collectives: every rank of the context calls them, with the same op and root, and values of one dtype and shape."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from ._arguments import check_output, input_array, integer, operator_number, received
from ._native import bridge
from .context import Context
from .exceptions import InvalidArgumentError
from .ops import MAX, MIN, SUM, Op

_call = bridge.call
_ALLREDUCE, _REDUCE, _BROADCAST = bridge.ALLREDUCE, bridge.REDUCE, bridge.BROADCAST
_GATHER, _SCATTER, _ALLGATHER = bridge.GATHER, bridge.SCATTER, bridge.ALLGATHER

_ndarray = np.ndarray
_empty_like = np.empty_like

#: What the bridge takes by value and gives back by itself, and NumPy's scalars of the same dtypes.
_SCALARS = frozenset((float, int, complex))
_NUMPY_SCALARS = frozenset((np.float64, np.int64, np.complex128))

Scalar = TypeVar("Scalar", bool, int, float, complex)
Array = np.ndarray[Any, Any]


@overload
def allreduce(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def allreduce(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
def allreduce(ctx: Context, value: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on every rank. Collective. (MPI_Allreduce)

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
    kind = value.__class__
    result = NotImplemented
    if kind is _ndarray:
        result = _call(_ALLREDUCE, ctx, value, _empty_like(value) if out is None else out, op, 0, 0, 0)
    elif out is None and kind in _SCALARS:
        result = _call(_ALLREDUCE, ctx, value, None, op, 0, 0, 0)
    elif out is None and kind in _NUMPY_SCALARS:
        result = _call(_ALLREDUCE, ctx, value.item(), None, op, 0, 0, 0)
        if result is not NotImplemented:
            result = kind(result)
    if result is not NotImplemented:
        return result
    return _reduced(_ALLREDUCE, ctx, value, out, op, 0, True)


@overload
def reduce(ctx: Context, value: Scalar, op: Op | str = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: Op | str = ..., root: int = ..., *, out: Any = ...) -> Any: ...
def reduce(ctx: Context, value: Any, op: Op | str = SUM, root: int = 0, *, out: Any = None) -> Any:
    """Combine every rank's value elementwise, with the result on root. Collective. (MPI_Reduce)

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
    return _reduced(_REDUCE, ctx, value, out, op, root, _rank(ctx) == root)


def _rank(ctx: Any) -> int:
    """Return the caller's rank; what is no context is refused as the bridge refuses it."""
    if not isinstance(ctx, Context):
        _call(bridge.BARRIER, ctx, None, None, 0, 0, 0, 0)
    return ctx.rank  # type: ignore[no-any-return]


def _reduced(code: int, ctx: Context, value: Any, out: Any, op: Any, root: Any, here: bool) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    number = operator_number(op)
    array = input_array("value", value)
    if isinstance(value, bool) and number not in (MIN, MAX):
        array = array.astype(np.int64)
    result = _fitting_out(out, array.shape, array.dtype) if here else None
    _call(code, ctx, array, result, number, integer("root", root), 0, 0)
    if not here:
        return None
    return result if out is not None else _like(value, result)


def _fitting_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if out is None:
        return np.empty(shape, dtype)
    check_output(out)
    return out


def _like(value: Any, result: Any) -> Any:
    """Return a result as value was passed: an array, a NumPy scalar or a Python scalar."""
    if result.ndim == 0 and not isinstance(value, np.ndarray):
        return result[()] if isinstance(value, np.generic) else result.item()
    return result


def broadcast(ctx: Context, value: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Send root's value to every rank. Collective. (MPI_Bcast)

    Parameters
    ----------
    ctx
        The ranks.
    value
        On root, an array of any shape, or a scalar. Elsewhere None, or anything: an array must be of root's
        dtype and number of elements, and is not written to.
    root
        The rank whose value it is.
    out
        A C-contiguous array for the elements, of root's dtype and number of elements.

    Returns
    -------
    ndarray or scalar
        Root's value, with its shape and type, or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If root has no value that can be sent (on every rank), or value or out differs from it.
    """
    here = _rank(ctx) == root
    result = NotImplemented
    if here or value.__class__ is np.ndarray:
        result = _call(_BROADCAST, ctx, value, out, root, 0, 0, 0)
    if result is NotImplemented:
        if out is not None:
            check_output(out)
        if here:
            value = _from_root(_BROADCAST, ctx, "value", value, root)
        elif isinstance(value, np.ndarray):
            value = input_array("value", value)
        else:
            value = None
        result = _call(_BROADCAST, ctx, value, out, integer("root", root), 0, 0, 0)
    return value if here and out is None else received(result)


def _from_root(code: int, ctx: Context, name: str, value: Any, root: int) -> Array:
    """Return root's value as an array. Where it is none, the other ranks are told before this one raises."""
    try:
        return input_array(name, value)
    except InvalidArgumentError:
        if ctx.size > 1:
            _refuse(code, ctx, root)
        raise


def _refuse(code: int, ctx: Context, root: int) -> None:
    """Let the operation fail on every rank: root has nothing to send."""
    try:
        _call(code, ctx, None, None, root, 0, 0, 0)
    except InvalidArgumentError:
        pass  # the caller raises the reason, which says more


def gather(ctx: Context, value: Any, root: int = 0, *, out: Any = None) -> Any:
    """Collect every rank's value on root. Collective. (MPI_Gather)

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank.
    root
        The rank that gets the result.
    out
        On root, a C-contiguous array for the result, of value's dtype and size times its elements; ignored elsewhere.

    Returns
    -------
    ndarray
        Of shape (size, *value.shape), in rank order, or out; None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If out does not fit.
    InvalidTypeError
        If value has no dtype that can be sent.
    """
    here = _rank(ctx) == root
    array = input_array("value", value)
    result = _fitting_out(out, (ctx.size, *array.shape), array.dtype) if here else None
    _call(_GATHER, ctx, array, result, integer("root", root), 0, 0, 0)
    return result


def allgather(ctx: Context, value: Any, *, out: Any = None) -> Any:
    """Collect every rank's value on every rank. Collective. (MPI_Allgather)

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank.
    out
        A C-contiguous array for the result, of value's dtype and size times its elements.

    Returns
    -------
    ndarray
        Of shape (size, *value.shape), in rank order, or out.

    Raises
    ------
    InvalidArgumentError
        If out does not fit.
    InvalidTypeError
        If value has no dtype that can be sent.
    """
    _rank(ctx)
    array = input_array("value", value)
    result = _fitting_out(out, (ctx.size, *array.shape), array.dtype)
    _call(_ALLGATHER, ctx, array, result, 0, 0, 0, 0)
    return result


def scatter(ctx: Context, values: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Give each rank its entry of root's values. Collective. (MPI_Scatter)

    Parameters
    ----------
    ctx
        The ranks.
    values
        On root, an array of shape (size, ...). Ignored elsewhere, so None will do.
    root
        The rank whose values they are.
    out
        A C-contiguous array for this rank's entry, of the values' dtype.

    Returns
    -------
    ndarray or scalar
        Rank r gets values[r], of shape values.shape[1:]; a NumPy scalar where values is one-dimensional. Or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If root has no values, or not one entry a rank (on every rank), or out does not fit.
    """
    if out is not None:
        check_output(out)
    array = None
    if _rank(ctx) == root:
        array = _from_root(_SCATTER, ctx, "values", values, root)
    return received(_call(_SCATTER, ctx, array, out, integer("root", root), 0, 0, 0))
