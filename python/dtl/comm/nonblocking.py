"""Non-blocking collectives: all ranks start them in the same order, and wait for them later."""

from __future__ import annotations

from typing import Any, Callable

from .._native.arguments import exchanged, integer, operator_number, received
from .._native.library import bridge
from ..ops import SUM, OpLike
from ..runtime.agreement import collective_start
from ..runtime.context import Context, this_rank
from .collective_arguments import as_passed, broadcast_argument, gather_arguments, reduction_arguments
from .requests import Request, new_request
from .staging import staged

_start = bridge.start


@collective_start
def ibarrier(ctx: Context) -> Request:
    """Start a barrier, and return before the other ranks reach it. Collective (MPI_Ibarrier).

    Parameters
    ----------
    ctx
        The context.

    Returns
    -------
    Request
        Complete when every rank has started the barrier. Its result is None.
    """
    return new_request(ctx, "ibarrier", _start(bridge.IBARRIER, ctx, None, None, 0, 0, 0, 0))


@collective_start
@staged
def iallreduce(ctx: Context, value: Any, op: OpLike = SUM, *, out: Any = None) -> Request:
    """Start an allreduce, and return before it is complete. Collective (MPI_Iallreduce).

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
        If another rank has started another collective, or the same one with other arguments.

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
    """Start a broadcast, and return before it is complete. Collective (MPI_Ibcast).

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
        If another rank has started another collective, or the same one with other arguments.

    Notes
    -----
    Values of up to about 1 KB are passed on from rank to rank. Longer values go from root straight to each rank.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    value = broadcast_argument(value, out, here)
    held = _start(bridge.IBROADCAST, ctx, value, out, root, 0, 0, 0)
    return new_request(ctx, "ibroadcast", held, _result(out, value if here else None))


@collective_start
@staged
def igather(ctx: Context, value: Any, root: int = 0, *, out: Any = None) -> Request:
    """Start a gather, and return before it is complete. Collective (MPI_Igather).

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
        If another rank has started another collective, or the same one with other arguments.
    """
    here = this_rank(ctx) == (root := integer("root", root))
    array, result = gather_arguments(ctx, value, out, here)
    held = _start(bridge.IGATHER, ctx, array, result, root, 0, 0, 0)
    return new_request(ctx, "igather", held, lambda _: result)


@collective_start
@staged
def iallgather(ctx: Context, value: Any, *, out: Any = None) -> Request:
    """Start an allgather, and return before it is complete. Collective (MPI_Iallgather).

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
        If another rank has started another collective, or the same one with other arguments.
    """
    this_rank(ctx)
    array, result = gather_arguments(ctx, value, out)
    held = _start(bridge.IALLGATHER, ctx, array, result, 0, 0, 0, 0)
    return new_request(ctx, "iallgather", held, lambda _: result)


@collective_start
@staged
def ialltoallv(ctx: Context, send_data: Any, send_counts: Any, recv_counts: Any = None, *, out: Any = None) -> Request:
    """Start an alltoallv, and return before it is complete. Collective (MPI_Ialltoallv).

    Parameters
    ----------
    ctx
        The context.
    send_data
        An array of shape ``(k, ...)``, which is k rows. k may differ between the ranks; the dtype and the shape of a
        row may not. A scalar is one row.
    send_counts
        How many rows go to each rank; the sum is k.
    recv_counts
        How many rows each rank has to send to this one. None accepts any number.
    out
        A C-contiguous array that receives the result, of send_data's dtype and with as many elements as all rows have.

    Returns
    -------
    Request
        Its result is the rows that this rank received, in the order of the ranks that sent them, of shape
        ``(sum of recv_counts, ...)``; or out.

    Raises
    ------
    InvalidArgumentError
        If send_counts has not exactly one entry for each rank, or does not add up to the number of rows. If the rows
        that arrive differ from recv_counts or out, ``wait`` raises it.
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
