"""Collectives that move elements. Every rank of the context calls them, with the same root."""

from __future__ import annotations

from typing import Any

from .._native.arguments import as_received, check_output, fitting_out, input_array, input_value, integer, received
from .._native.library import bridge
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context, this_rank
from ..runtime.scheduler import short
from .collective_arguments import (
    broadcast_argument,
    check_in_place_root,
    gather_arguments,
    refuse_linked,
    resolve_in_place_entry,
)
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
        The context.
    value
        On root, an array of any shape, or a scalar. On the other ranks None, or a template: an array there must have
        root's dtype and number of elements, and is not written to.
    root
        The rank that sends its value; the same on every rank.
    out
        A C-contiguous array that receives the elements, of root's dtype and number of elements.

    Returns
    -------
    ndarray or scalar
        Root's value, with its shape and dtype; or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If root's value cannot be sent, or if another rank's value or out does not match it. On every rank.

    Notes
    -----
    Not a barrier: if the ranks share memory, root does not wait for the others with a short value. Root may then see an
    error of theirs in its next call instead of this one.
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
    return as_received(value) if here and out is None else received(result)


@short(bridge.GATHER, "owner in root0 out", "stacked")
@collective
@staged
def gather(ctx: Context, value: Any, root: int = 0, *, out: Any = None) -> Any:
    """Collect every rank's value on root. Collective (MPI_Gather).

    Parameters
    ----------
    ctx
        The context.
    value
        An array of any shape, or a scalar, of the same dtype and shape on every rank. Root may pass ``dtl.IN_PLACE`` if
        out already has its own entry.
    root
        The rank that gets the result; the same on every rank.
    out
        On root, a C-contiguous array that receives the result, of value's dtype and with size times its elements.
        Ignored on the other ranks.

    Returns
    -------
    ndarray or None
        On root, an array of shape ``(size, *value.shape)`` with the values in rank order, or out. None on the other
        ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If out has the wrong dtype or number of elements.
    InvalidTypeError
        If value has no dtype that can be sent.

    Notes
    -----
    Not a barrier: if the ranks share memory, a rank that sends a short value to root does not wait for it. The rank may
    then see an error of another rank in its next call instead of this one.
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
        The context.
    value
        An array of any shape, or a scalar, of the same dtype and shape on every rank. Pass ``dtl.IN_PLACE`` if out
        already has this rank's own entry.
    out
        A C-contiguous array that receives the result, of value's dtype and with size times its elements.

    Returns
    -------
    ndarray
        An array of shape ``(size, *value.shape)`` with the values in rank order, or out.

    Raises
    ------
    InvalidArgumentError
        If out has the wrong dtype or number of elements.
    InvalidTypeError
        If value has no dtype that can be sent.
    """
    this_rank(ctx)
    array, result = gather_arguments(ctx, resolve_in_place_entry(ctx, value, out), out)
    _call(_ALLGATHER, ctx, array, result, 0, 0, 0, 0)
    return result


@short(bridge.SCATTER, "owner in root0 out", "scattered")
@collective
@staged
def scatter(ctx: Context, values: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Send entry ``values[r]`` of root to rank r. Collective (MPI_Scatter).

    Parameters
    ----------
    ctx
        The context.
    values
        On root, an array of shape ``(size, ...)``. Ignored on the other ranks, which may pass None.
    root
        The rank that sends; the same on every rank.
    out
        A C-contiguous array that receives this rank's entry, of the dtype of values.

    Returns
    -------
    ndarray or scalar
        On rank r, ``values[r]``, of shape ``values.shape[1:]``: a NumPy scalar if values has one dimension. Or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size).
    InvalidArgumentError
        If root has no values, or not exactly one entry for each rank (on every rank); or if out does not match.

    Notes
    -----
    Not a barrier: if the ranks share memory, root does not wait for the others with short values. Root may then see an
    error of theirs in its next call instead of this one.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    prepared = input_value("values", values) if here else None
    if out is not None:
        check_output(out)
    return received(_call(_SCATTER, ctx, prepared, out, root, 0, 0, 0))


@collective
@staged
def alltoall(ctx: Context, values: Any, *, out: Any = None) -> Any:
    """Send entry ``values[r]`` of each rank to rank r. Collective (MPI_Alltoall).

    Parameters
    ----------
    ctx
        The context.
    values
        An array of shape ``(size, ...)``, of the same dtype and shape on every rank.
    out
        A C-contiguous array that receives the result, of the dtype and number of elements of values. It may be values
        itself.

    Returns
    -------
    ndarray
        An array of the shape of values, or out. Entry r is what rank r sent to this rank.

    Raises
    ------
    InvalidArgumentError
        If a rank has not exactly one entry for each rank, or its out does not match. On every rank.
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
