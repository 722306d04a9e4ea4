"""Reductions of the ranks up to each one, and of which each rank gets a part."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from .._native.arguments import check_output, fitting_out, input_array, operator_number, received
from .._native.library import bridge
from ..ops import SUM, Op
from ..runtime.agreement import collective
from ..runtime.context import Context, this_rank
from .operands import SCALARS, like, operand, own, room_like
from .reductions import Scalar

_call = bridge.call
_SCAN, _EXSCAN, _REDUCE_SCATTER = bridge.SCAN, bridge.EXSCAN, bridge.REDUCE_SCATTER


@overload
def scan(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def scan(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
@collective
def scan(ctx: Context, value: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine the values of the ranks up to each one elementwise: of 0, …, r on rank r. Collective (MPI_Scan).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank. ``dtl.IN_PLACE`` for the elements
        of out.
    op
        An operator of ``dtl.ops.Op`` other than MINLOC and MAXLOC, or its name. Sums and products of Python truth
        values are integers.
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
    ...     dtl.scan(ctx, 5) == 5 * (ctx.rank + 1)
    True
    """
    return _up_to(_SCAN, ctx, value, op, out)


@overload
def exscan(ctx: Context, value: Scalar, op: Op | str = ...) -> Scalar: ...
@overload
def exscan(ctx: Context, value: Any, op: Op | str = ..., *, out: Any = ...) -> Any: ...
@collective
def exscan(ctx: Context, value: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine the values of the ranks before each one elementwise: of 0, …, r - 1 on rank r. Collective (MPI_Exscan).

    Rank 0, which has none before it, gets the operator's identity, where MPI leaves the result undefined: 0 for SUM,
    LOR, BOR and BXOR, 1 for PROD and LAND, all bits for BAND, the dtype's greatest value for MIN and its least for MAX,
    which are the infinities of a floating-point dtype.

    Parameters
    ----------
    ctx, value, op, out
        As for scan.

    Returns
    -------
    ndarray or scalar
        Of value's shape and type, or out.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As for scan.

    Examples
    --------
    Where each rank's part of something begins, of which it has so many:

    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.exscan(ctx, 10) == 10 * ctx.rank
    True
    """
    return _up_to(_EXSCAN, ctx, value, op, out)


def _up_to(code: int, ctx: Context, value: Any, op: Any, out: Any) -> Any:
    """Run a scan. What needs no preparing goes to the bridge as it is."""
    result: Any = NotImplemented
    if value.__class__ is np.ndarray:
        result = _call(code, ctx, value, room_like(value) if out is None else out, op, 0, 0, 0)
    elif value.__class__ in SCALARS or isinstance(value, np.generic):
        result = _call(code, ctx, value, out, op, 0, 0, 0)
    if result is not NotImplemented:
        return received(result)
    this_rank(ctx)
    number = operator_number(op)
    given = own(value, out)
    array = operand(given, number)
    result = fitting_out(out, array.shape, array.dtype)
    _call(code, ctx, array, result, number, 0, 0, 0)
    return like(given, result) if out is None else result


@collective
def reduce_scatter(ctx: Context, values: Any, op: Op | str = SUM, *, out: Any = None) -> Any:
    """Combine every rank's values elementwise, and give each rank its entry. Collective (MPI_Reduce_scatter_block).

    Parameters
    ----------
    ctx
        The ranks.
    values
        An array of shape (size, ...), of the same dtype and shape on every rank.
    op
        As for scan.
    out
        A C-contiguous array for this rank's entry, of values' dtype. May lie in values.

    Returns
    -------
    ndarray or scalar
        Rank r gets the combination of every rank's values[r], of shape values.shape[1:]; a NumPy scalar where values is
        one-dimensional. Or out.

    Raises
    ------
    InvalidArgumentError
        If values has not one entry a rank, op is unknown, values' dtype does not have it, or out does not fit.
    InvalidTypeError
        If values have no dtype that can be sent.

    Examples
    --------
    >>> import dtl
    >>> import numpy as np
    >>> with dtl.Context() as ctx:
    ...     dtl.reduce_scatter(ctx, np.ones((ctx.size, 2))).tolist() == [ctx.size, ctx.size]
    True
    """
    result: Any = NotImplemented
    if values.__class__ is np.ndarray:
        result = _call(_REDUCE_SCATTER, ctx, values, out, op, 0, 0, 0)
    if result is NotImplemented:
        this_rank(ctx)
        number = operator_number(op)
        array = input_array("values", values)
        if out is not None:
            check_output(out)
        result = _call(_REDUCE_SCATTER, ctx, array, out, number, 0, 0, 0)
    return received(result)
