"""Collectives that move elements: every rank of the context calls them, with the same root."""

from __future__ import annotations

from typing import Any

from .._native.arguments import check_output, fitting_out, input_array, input_value, integer, received
from .._native.library import bridge
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context, this_rank
from ..runtime.short_calls import short
from .linked import refuse_linked
from .operands import broadcast_argument, check_in_place_root, gather_arguments, resolve_in_place_entry
from .staging import staged

_call = bridge.call
_BROADCAST, _SCATTER = bridge.BROADCAST, bridge.SCATTER
_GATHER, _ALLGATHER = bridge.GATHER, bridge.ALLGATHER
_ALLTOALL = bridge.ALLTOALL


@short(bridge.BROADCAST, "owner in root0 out", "shared")
@collective
@staged
def broadcast(ctx: Context, value: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Send root's value to every rank. Collective (MPI_Bcast).

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

    Notes
    -----
    Not a barrier. Where the ranks share memory, root of a short value does not wait for the others, and may hear of
    their errors in its next call.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    result: Any = NotImplemented
    if here:
        result = _call(_BROADCAST, ctx, value, out, root, 0, 0, 0)
    if result is NotImplemented:
        if not here and out is None:
            refuse_linked(ctx, value)
        value = broadcast_argument(value, out, here)
        result = _call(_BROADCAST, ctx, value, out, root, 0, 0, 0)
    return value if here and out is None else received(result)


@short(bridge.GATHER, "owner in root0 out", "stacked")
@collective
@staged
def gather(ctx: Context, value: Any, root: int = 0, *, out: Any = None) -> Any:
    """Collect every rank's value on root. Collective (MPI_Gather).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank. ``dtl.IN_PLACE`` on root if its
        own entry is in out already.
    root
        The rank that gets the result.
    out
        On root, a C-contiguous array for the result, of value's dtype and size times its elements; ignored elsewhere.

    Returns
    -------
    ndarray
        Of shape ``(size, *value.shape)``, in rank order, or out; None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If out does not fit.
    InvalidTypeError
        If value has no dtype that can be sent.

    Notes
    -----
    Not a barrier. Where the ranks share memory, who gives root a short value does not wait for the others, and may hear
    of their errors in its next call.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    check_in_place_root(value, here, root)
    array, result = gather_arguments(ctx, resolve_in_place_entry(ctx, value, out), out, here)
    _call(_GATHER, ctx, array, result, root, 0, 0, 0)
    return result


@short(bridge.ALLGATHER, "owner in out", "stacked")
@collective
@staged
def allgather(ctx: Context, value: Any, *, out: Any = None) -> Any:
    """Collect every rank's value on every rank. Collective (MPI_Allgather).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of any shape, or a scalar; of the same dtype and shape on every rank. ``dtl.IN_PLACE`` if the rank's
        own entry is in out already.
    out
        A C-contiguous array for the result, of value's dtype and size times its elements.

    Returns
    -------
    ndarray
        Of shape ``(size, *value.shape)``, in rank order, or out.

    Raises
    ------
    InvalidArgumentError
        If out does not fit.
    InvalidTypeError
        If value has no dtype that can be sent.
    """
    this_rank(ctx)
    array, result = gather_arguments(ctx, resolve_in_place_entry(ctx, value, out), out)
    _call(_ALLGATHER, ctx, array, result, 0, 0, 0, 0)
    return result


@short(bridge.SCATTER, "owner in root0 out", "dealt")
@collective
@staged
def scatter(ctx: Context, values: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Give each rank its entry of root's values. Collective (MPI_Scatter).

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

    Notes
    -----
    Not a barrier. Where the ranks share memory, root of short values does not wait for the others, and may hear of
    their errors in its next call.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    prepared = input_value("values", values) if here else None
    if out is not None:
        check_output(out)
    return received(_call(_SCATTER, ctx, prepared, out, root, 0, 0, 0))


@collective
@staged
def alltoall(ctx: Context, values: Any, *, out: Any = None) -> Any:
    """Give rank r the r-th entry of each rank's values. Collective (MPI_Alltoall).

    Parameters
    ----------
    ctx
        The ranks.
    values
        An array of shape (size, ...), of the same dtype and shape on every rank.
    out
        A C-contiguous array for the result, of the values' dtype and as many elements. It may be the values.

    Returns
    -------
    ndarray
        Of the values' shape, or out: entry r is what rank r had for this rank.

    Raises
    ------
    InvalidArgumentError
        If a rank's values have not one entry a rank, or its out does not fit. On every rank.
    InvalidTypeError
        If a rank's values have no dtype that can be sent. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     from_each = dtl.alltoall(ctx, np.full(ctx.size, ctx.rank))
    ...     from_each.tolist() == list(range(ctx.size))
    True
    """
    check_context(ctx)
    if out is not None and _call(_ALLTOALL, ctx, values, out, 0, 0, 0, 0) is not NotImplemented:
        return out
    array = input_array("values", values)
    result = fitting_out(out, array.shape, array.dtype)
    _call(_ALLTOALL, ctx, array, result, 0, 0, 0, 0)
    return result
