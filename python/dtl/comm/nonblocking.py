"""Collectives that are started, and waited for later: all ranks start them in the same order."""

from __future__ import annotations

from typing import Any, Callable

from .._native.arguments import exchanged, integer, operator_number, received
from .._native.library import bridge
from ..ops import SUM, OpLike
from ..runtime.agreement import collective_start
from ..runtime.context import Context, this_rank
from .operands import as_passed, broadcast_argument, gather_arguments, reduction_arguments
from .requests import Request, new_request
from .staging import staged

_start = bridge.start


@collective_start
def ibarrier(ctx: Context) -> Request:
    """Start what Context.barrier does. Collective (MPI_Ibarrier).

    Parameters
    ----------
    ctx
        The ranks.

    Returns
    -------
    Request
        Over when every rank has started it. Its result is None.
    """
    return new_request(ctx, "ibarrier", _start(bridge.IBARRIER, ctx, None, None, 0, 0, 0, 0))


@collective_start
@staged
def iallreduce(ctx: Context, value: Any, op: OpLike = SUM, *, out: Any = None) -> Request:
    """Start what allreduce does. Collective (MPI_Iallreduce).

    Parameters
    ----------
    ctx, value, op, out
        As for allreduce.

    Returns
    -------
    Request
        Its result is that of allreduce.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As for allreduce.
    CollectiveMismatchError
        If another rank has started another collective, or with other arguments.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     request = dtl.iallreduce(ctx, np.ones(3))
    ...     other_work = sum(range(1000))
    ...     request.wait() == ctx.size
    array([ True,  True,  True])
    """
    this_rank(ctx)
    number = operator_number(op)
    given, array, result = reduction_arguments(value, out, number)
    held = _start(bridge.IALLREDUCE, ctx, array, result, number, 0, 0, 0)
    return new_request(ctx, "iallreduce", held, lambda _: as_passed(given, result) if out is None else out)


@collective_start
@staged
def ibroadcast(ctx: Context, value: Any = None, root: int = 0, *, out: Any = None) -> Request:
    """Start what broadcast does. Collective (MPI_Ibcast).

    Parameters
    ----------
    ctx, value, root, out
        As for broadcast.

    Returns
    -------
    Request
        Its result is that of broadcast.

    Raises
    ------
    BoundsError, InvalidArgumentError
        As for broadcast.
    CollectiveMismatchError
        If another rank has started another collective, or with other arguments.

    Notes
    -----
    Up to about 1 KB travel through the ranks; longer values go from root to each rank.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    value = broadcast_argument(value, out, here)
    held = _start(bridge.IBROADCAST, ctx, value, out, root, 0, 0, 0)
    return new_request(ctx, "ibroadcast", held, _result(out, value if here else None))


@collective_start
@staged
def igather(ctx: Context, value: Any, root: int = 0, *, out: Any = None) -> Request:
    """Start what gather does. Collective (MPI_Igather).

    Parameters
    ----------
    ctx, value, root, out
        As for gather.

    Returns
    -------
    Request
        Its result is that of gather.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError
        As for gather.
    CollectiveMismatchError
        If another rank has started another collective, or with other arguments.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    array, result = gather_arguments(ctx, value, out, here)
    held = _start(bridge.IGATHER, ctx, array, result, root, 0, 0, 0)
    return new_request(ctx, "igather", held, lambda _: result)


@collective_start
@staged
def iallgather(ctx: Context, value: Any, *, out: Any = None) -> Request:
    """Start what allgather does. Collective (MPI_Iallgather).

    Parameters
    ----------
    ctx, value, out
        As for allgather.

    Returns
    -------
    Request
        Its result is that of allgather.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As for allgather.
    CollectiveMismatchError
        If another rank has started another collective, or with other arguments.
    """
    this_rank(ctx)
    array, result = gather_arguments(ctx, value, out)
    held = _start(bridge.IALLGATHER, ctx, array, result, 0, 0, 0, 0)
    return new_request(ctx, "iallgather", held, lambda _: result)


@collective_start
@staged
def ialltoallv(ctx: Context, send_data: Any, send_counts: Any, recv_counts: Any = None, *, out: Any = None) -> Request:
    """Start to give each rank the next so many of every rank's rows. Collective (MPI_Ialltoallv).

    Parameters
    ----------
    ctx
        The ranks.
    send_data
        An array of shape (k, ...): k rows, of the same dtype and shape on every rank. A scalar is one row.
    send_counts
        How many rows go to each rank, k in all.
    recv_counts
        How many rows must come from each rank; None takes what comes.
    out
        A C-contiguous array for the result, of send_data's dtype and as many elements.

    Returns
    -------
    Request
        Its result is what came, in rank order, of shape ``(sum of recv_counts, ...)``, or out.

    Raises
    ------
    InvalidArgumentError
        If send_counts has not one entry a rank, or does not add up to the rows. That what comes is not what recv_counts
        or out state, wait raises.
    InvalidTypeError
        If send_data has no dtype that can be sent.
    CollectiveMismatchError
        If another rank has started another collective, or has rows of another dtype or size.
    """
    this_rank(ctx)
    array, sent, expected = exchanged(send_data, send_counts, recv_counts, out)
    held = _start(bridge.IALLTOALLV, ctx, array, out, 0, 0, 0, 0, sent, expected)
    return new_request(ctx, "ialltoallv", held, _result(out, None))


def _result(out: Any, value: Any) -> Callable[[Any], Any]:
    """Return what makes a result: out, or root's own value, or what was received."""
    if out is not None:
        return lambda _: out
    if value is not None:
        return lambda _: value
    return received
