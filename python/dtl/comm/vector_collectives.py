"""Collectives that move parts: rows along the first dimension, as many to or from each rank as it has."""

from __future__ import annotations

from typing import Any

from .._native.arguments import are_counts, check_output, count_array, exchanged, input_array, received, rows
from .._native.library import bridge
from ..runtime.agreement import check_context, collective, root_number
from ..runtime.context import Context
from .staging import staged

_call = bridge.call
_ALLGATHERV, _GATHERV = bridge.ALLGATHERV, bridge.GATHERV
_SCATTERV, _ALLTOALLV = bridge.SCATTERV, bridge.ALLTOALLV


@collective
@staged
def allgatherv(ctx: Context, value: Any, *, out: Any = None) -> Any:
    """Put every rank's rows one after the other, on every rank. Collective (MPI_Allgatherv).

    Parameters
    ----------
    ctx
        The ranks.
    value
        An array of shape (k, ...): k rows, of the same dtype and shape on every rank. k may differ between ranks,
        and be 0. A scalar is one row.
    out
        A C-contiguous array for the result, of value's dtype and as many elements.

    Returns
    -------
    ndarray
        All rows, in rank order, of shape ``(sum of k, ...)``, or out.

    Raises
    ------
    InvalidArgumentError
        If an out does not fit. On every rank.
    InvalidTypeError
        If a value has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the ranks' rows are of different dtypes or shapes. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     rows = dtl.allgatherv(ctx, np.ones((ctx.rank + 1, 3)))
    ...     rows.shape == (ctx.size * (ctx.size + 1) // 2, 3)
    True
    """
    check_context(ctx)
    result = _call(_ALLGATHERV, ctx, value, out, 0, 0, 0, 0)
    if result is NotImplemented:
        array = rows("value", value, out)
        result = _call(_ALLGATHERV, ctx, array, out, 0, 0, 0, 0)
    return received(result)


@collective
@staged
def gatherv(ctx: Context, data: Any, recvcounts: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Put every rank's rows one after the other, on root. Collective (MPI_Gatherv).

    Parameters
    ----------
    ctx
        The ranks.
    data
        An array of shape (k, ...): k rows, of the same dtype and shape on every rank. k may differ between ranks,
        and be 0. A scalar is one row.
    recvcounts
        On root, how many rows each rank must send; None takes what comes. Ignored elsewhere.
    root
        The rank that gets the result.
    out
        On root, a C-contiguous array for the result, of data's dtype and as many elements; ignored elsewhere.

    Returns
    -------
    ndarray
        On root all rows, in rank order, of shape ``(sum of k, ...)``, or out; None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size). On every rank.
    InvalidArgumentError
        If recvcounts has not one entry a rank, or is not what the ranks send, or out does not fit. On every rank.
    InvalidTypeError
        If data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the ranks' rows are of different dtypes or shapes, or their roots differ. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     dtl.gatherv(ctx, np.arange(3))
    array([0, 1, 2])
    """
    root = root_number(ctx, root)
    if ctx.rank != root:
        recvcounts = out = None
    result = NotImplemented
    if recvcounts is None or are_counts(recvcounts):
        result = _call(_GATHERV, ctx, data, out, root, 0, 0, 0, recvcounts)
    if result is NotImplemented:
        array, counts = rows("data", data, out), count_array("recvcounts", recvcounts)
        result = _call(_GATHERV, ctx, array, out, root, 0, 0, 0, counts)
    return received(result)


@collective
@staged
def scatterv(ctx: Context, data: Any = None, sendcounts: Any = None, root: int = 0, *, out: Any = None) -> Any:
    """Give each rank the next so many of root's rows. Collective (MPI_Scatterv).

    Parameters
    ----------
    ctx
        The ranks.
    data
        On root, an array of shape (k, ...): k rows. Ignored elsewhere, so None will do.
    sendcounts
        On root, how many rows each rank gets, k in all. Ignored elsewhere, so None will do.
    root
        The rank whose rows they are.
    out
        A C-contiguous array for this rank's rows, of data's dtype and as many elements.

    Returns
    -------
    ndarray
        This rank's rows, of shape ``(sendcounts[rank], ...)``, or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size). On every rank.
    InvalidArgumentError
        If root has no data or sendcounts, or sendcounts has not one entry a rank, or does not add up to the rows, or
        an out does not fit. On every rank.
    InvalidTypeError
        If data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the ranks' roots differ. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     rows = np.arange(10.0).reshape(5, 2)
    ...     mine = dtl.scatterv(ctx, rows, [5] + [0] * (ctx.size - 1))
    ...     mine.shape == (5 if ctx.is_root else 0, 2)
    True
    """
    root = root_number(ctx, root)
    if ctx.rank != root:
        data = sendcounts = None
    result = NotImplemented
    if sendcounts is None or are_counts(sendcounts):
        result = _call(_SCATTERV, ctx, data, out, root, 0, 0, 0, sendcounts)
    if result is NotImplemented:
        array = None if data is None else input_array("data", data)
        if out is not None:
            check_output(out)
        counts = count_array("sendcounts", sendcounts)
        result = _call(_SCATTERV, ctx, array, out, root, 0, 0, 0, counts)
    return received(result)


@collective
@staged
def alltoallv(ctx: Context, send_data: Any, send_counts: Any, recv_counts: Any = None, *, out: Any = None) -> Any:
    """Give each rank the next so many of every rank's rows. Collective (MPI_Alltoallv).

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
    ndarray
        What came, in rank order, of shape ``(sum of recv_counts, ...)``, or out.

    Raises
    ------
    InvalidArgumentError
        If a rank's counts have not one entry a rank, or do not add up to its rows, or are not what the ranks send, or
        its out does not fit. On every rank.
    InvalidTypeError
        If a rank's data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the ranks' rows are of different dtypes or shapes. On every rank.

    Notes
    -----
    Where every rank passes recv_counts, the ranks need not tell each other first.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     got = dtl.alltoallv(ctx, np.full(2 * ctx.size, ctx.rank), [2] * ctx.size)
    ...     got.tolist() == [rank for rank in range(ctx.size) for _ in range(2)]
    True
    """
    check_context(ctx)
    result = NotImplemented
    if are_counts(send_counts) and (recv_counts is None or are_counts(recv_counts)):
        result = _call(_ALLTOALLV, ctx, send_data, out, 0, 0, 0, 0, send_counts, recv_counts)
    if result is NotImplemented:
        array, sent, expected = exchanged(send_data, send_counts, recv_counts, out)
        result = _call(_ALLTOALLV, ctx, array, out, 0, 0, 0, 0, sent, expected)
    return received(result)
