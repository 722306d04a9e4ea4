"""Reductions and scans: collectives that combine the ranks' elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .._native.arguments import check_output, input_array, integer, operator_number, received
from .._native.library import bridge, state
from ..ops import MAXLOC, MINLOC, SUM, Op, OpLike
from ..policies import Execution
from ..runtime import scheduler
from ..runtime.agreement import collective
from ..runtime.context import Context, this_rank
from ..runtime.scheduler import Deferrable, defer, execution_of, short
from .collective_arguments import (
    SCALARS,
    as_passed,
    check_in_place_root,
    check_pair,
    check_ranks,
    empty_like_or_none,
    reduction_arguments,
)
from .staging import staged

if TYPE_CHECKING:
    from typing import Literal

    from ..containers.base import DistributedContainer

_call = bridge.call
_ALLREDUCE, _REDUCE, _LOCATE = bridge.ALLREDUCE, bridge.REDUCE, bridge.LOCATE
_SCAN, _EXSCAN, _REDUCE_SCATTER = bridge.SCAN, bridge.EXSCAN, bridge.REDUCE_SCATTER

Scalar = TypeVar("Scalar", bool, int, float, complex)


@overload
def allreduce(ctx: Context, value: Any, op: Literal[Op.MINLOC, Op.MAXLOC], *, out: Any = ...) -> tuple[Any, Any]: ...
@overload
def allreduce(ctx: Context, value: Scalar, op: OpLike = ...) -> Scalar: ...
@overload
def allreduce(ctx: Context, value: Any, op: OpLike = ..., *, out: Any = ...) -> Any: ...
@short(bridge.ALLREDUCE, "owner in 0 out", "like")
@collective
@staged
def allreduce(ctx: Context, value: Any, op: OpLike = SUM, *, out: Any = None) -> Any:
    """Combine the values of all ranks elementwise; every rank gets the result. Collective (MPI_Allreduce).

    Parameters
    ----------
    ctx
        The context.
    value
        An array of any shape, or a scalar, of the same dtype and shape on every rank. ``dtl.IN_PLACE`` takes the
        elements of out.
    op
        An operator, such as ``dtl.SUM``, or its name; ``dtl.ops.Op`` lists them. Sums and products of Python's True and
        False are integers.
    out
        A C-contiguous array that receives the result, of value's dtype and number of elements. It may be value itself.
        For MINLOC and MAXLOC, a tuple of two arrays; the second is of int64, and receives the ranks.

    Returns
    -------
    ndarray or scalar
        The combined elements, with value's shape and dtype; or out. For MINLOC and MAXLOC, a tuple of two: the smallest
        or largest elements, and the ranks that have them, as int64. If several ranks have the same element, it is the
        lowest of these ranks. The first NaN wins, as in NumPy's ``argmin``.

    Raises
    ------
    InvalidArgumentError
        If op is unknown or not defined for value's dtype, or if out does not match.
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
def reduce(ctx: Context, value: Scalar, op: OpLike = ..., root: int = ...) -> Scalar | None: ...
@overload
def reduce(ctx: Context, value: Any, op: OpLike = ..., root: int = ..., *, out: Any = ...) -> Any: ...
@overload
def reduce(ctx: DistributedContainer, value: Op | str) -> Any: ...
@overload
def reduce(ctx: DistributedContainer, *, op: OpLike = ...) -> Any: ...
@short(bridge.REDUCE, "owner in 0 root1 out", "like")
@collective
@staged
def reduce(ctx: Any, value: Any = None, op: Any = SUM, root: int = 0, *, out: Any = None) -> Any:
    """Combine the values of all ranks elementwise on root, or all elements of a container. Collective.

    ``reduce(ctx, value, op, root)`` is MPI_Reduce: only root gets the result. ``reduce(container, op)`` combines the
    elements of a container into one scalar, which every rank gets.

    Parameters
    ----------
    ctx, value, op
        As for allreduce, but only root may pass ``dtl.IN_PLACE``. Or a container and the operator.
    root
        The rank that gets the result; the same on every rank. Has no meaning for a container.
    out
        On root, as for allreduce. Ignored on the other ranks.

    Returns
    -------
    ndarray, scalar or None
        On root, as for allreduce; None on the other ranks. For a container, a NumPy scalar on every rank, of the dtype
        of NumPy's reduction: sums and products of small integers are int64 or uint64.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError, InvalidTypeError
        As for allreduce. InvalidArgumentError also for MIN, MAX and the bitwise operators if a container has no
        elements.

    Notes
    -----
    Not a barrier: if the ranks share memory, a rank that sends a short value to root does not wait for it. The rank may
    then see an error of another rank in its next call instead of this one.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 5) as vec:
    ...     dtl.iota(vec)
    ...     print(dtl.reduce(vec, op=dtl.MAX), dtl.reduce(vec, "sum"))
    4.0 10.0
    """
    if isinstance(ctx, Deferrable):
        return _of_container(ctx, value, op)
    return _reduced(_REDUCE, ctx, value, op, root, out)


def _of_container(c: Deferrable, *ops: Any) -> Any:
    """Combine a container's elements by the operator that was passed in its second place, or by name."""
    op = ops[1] if ops[0] is None else ops[0]
    if execution_of(c) is Execution.ASYNC:
        return defer(Deferrable.__dtl_reduce__, (c, op), {}, depth=4, name="reduce")  # by way of staged
    if state.under_way:
        scheduler.wait_for(c)
    return Deferrable.__dtl_reduce__(c, op)


def _reduced(code: int, ctx: Context, value: Any, op: Any, root: Any, out: Any) -> Any:
    """Run a reduction on a value of any type, with the result made here where the caller gave no out."""
    here = this_rank(ctx) == (root := integer("root", root)) or code == _ALLREDUCE
    number = operator_number(op)
    located = number in (MINLOC, MAXLOC)
    first = out if here else None
    if located and first is not None:
        first = check_pair(first)[0]
    check_in_place_root(value, here, root)
    given, array, result = reduction_arguments(value, first, number, here)
    if located and first is not None:
        check_ranks(out[1], result)
    if located:
        ranks = _call(_LOCATE, ctx, array, result, number, root, int(code == _REDUCE), 0)
    else:
        _call(code, ctx, array, result, number, root, 0, 0)
    if not here:
        return None
    if not located:
        return result if out is not None else as_passed(given, result)
    if out is None:
        return as_passed(given, result), as_passed(given, np.asarray(ranks))
    out[1].reshape(-1)[...] = np.asarray(ranks).reshape(-1)
    return out


@overload
def scan(ctx: Context, value: Scalar, op: OpLike = ...) -> Scalar: ...
@overload
def scan(ctx: Context, value: Any, op: OpLike = ..., *, out: Any = ...) -> Any: ...
@collective
@staged
def scan(ctx: Context, value: Any, op: OpLike = SUM, *, out: Any = None) -> Any:
    """Combine the values of ranks 0 to r elementwise, on rank r. Collective (MPI_Scan).

    Parameters
    ----------
    ctx
        The context.
    value
        An array of any shape, or a scalar, of the same dtype and shape on every rank. ``dtl.IN_PLACE`` takes the
        elements of out.
    op
        An operator other than MINLOC and MAXLOC, or its name; ``dtl.ops.Op`` lists them. Sums and products of Python's
        True and False are integers.
    out
        A C-contiguous array that receives the result, of value's dtype and number of elements. It may be value itself.

    Returns
    -------
    ndarray or scalar
        The combined elements, with value's shape and dtype; or out.

    Raises
    ------
    InvalidArgumentError
        If op is unknown or not defined for value's dtype, or if out does not match.
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
def exscan(ctx: Context, value: Scalar, op: OpLike = ...) -> Scalar: ...
@overload
def exscan(ctx: Context, value: Any, op: OpLike = ..., *, out: Any = ...) -> Any: ...
@collective
@staged
def exscan(ctx: Context, value: Any, op: OpLike = SUM, *, out: Any = None) -> Any:
    """Combine the values of ranks 0 to r - 1 elementwise, on rank r. Collective (MPI_Exscan).

    There are no ranks before rank 0. MPI leaves its result undefined; here it is the identity of the operator: 0 for
    SUM, LOR, BOR and BXOR, 1 for PROD and LAND, all bits set for BAND, the largest value of the dtype for MIN, and the
    smallest for MAX. For floating-point dtypes, these are the infinities.

    Parameters
    ----------
    ctx, value, op, out
        As for scan.

    Returns
    -------
    ndarray or scalar
        The combined elements, with value's shape and dtype; or out.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As for scan.

    Examples
    --------
    If each rank has 10 items, this is the number of the first item on this rank:

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
        result = _call(code, ctx, value, empty_like_or_none(value) if out is None else out, op, 0, 0, 0)
    elif value.__class__ in SCALARS or isinstance(value, np.generic):
        result = _call(code, ctx, value, out, op, 0, 0, 0)
    if result is not NotImplemented:
        return received(result)
    this_rank(ctx)
    number = operator_number(op)
    given, array, result = reduction_arguments(value, out, number)
    _call(code, ctx, array, result, number, 0, 0, 0)
    return as_passed(given, result) if out is None else result


@collective
@staged
def reduce_scatter(ctx: Context, values: Any, op: OpLike = SUM, *, out: Any = None) -> Any:
    """Combine the values of all ranks elementwise; rank r gets entry r. Collective (MPI_Reduce_scatter_block).

    Parameters
    ----------
    ctx
        The context.
    values
        An array of shape ``(size, ...)``, of the same dtype and shape on every rank.
    op
        As for scan.
    out
        A C-contiguous array that receives this rank's entry, of the dtype of values. It may be a part of values.

    Returns
    -------
    ndarray or scalar
        On rank r, the combination of ``values[r]`` of every rank, of shape ``values.shape[1:]``: a NumPy scalar if
        values has one dimension. Or out.

    Raises
    ------
    InvalidArgumentError
        If values has not exactly one entry for each rank, if op is unknown or not defined for the dtype, or if out does
        not match.
    InvalidTypeError
        If values has no dtype that can be sent.

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
