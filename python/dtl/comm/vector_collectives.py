"""Collectives in which each rank sends or receives its own number of rows: indices of the first dimension."""

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
    """Concatenate the rows of all ranks, on every rank. Collective (MPI_Allgatherv).

    Parameters
    ----------
    ctx
        The context.
    value
        An array of shape ``(k, ...)``, which is k rows. k may differ between the ranks, and may be 0; the dtype and the
        shape of a row may not differ. A scalar is one row.
    out
        A C-contiguous array that receives the result, of value's dtype and with as many elements as all rows have.

    Returns
    -------
    ndarray
        All rows in rank order, of shape ``(sum of k, ...)``; or out.

    Raises
    ------
    InvalidArgumentError
        If a rank's out does not match. On every rank.
    InvalidTypeError
        If a rank's value has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the rows of the ranks differ in dtype or shape. On every rank.

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
    """Concatenate the rows of all ranks, on root. Collective (MPI_Gatherv).

    Parameters
    ----------
    ctx
        The context.
    data
        An array of shape ``(k, ...)``, which is k rows. k may differ between the ranks, and may be 0; the dtype and the
        shape of a row may not differ. A scalar is one row.
    recvcounts
        On root, how many rows each rank has to send, as a check. None accepts any number. Ignored on the other ranks.
    root
        The rank that gets the result; the same on every rank.
    out
        On root, a C-contiguous array that receives the result, of data's dtype and with as many elements as all rows
        have. Ignored on the other ranks.

    Returns
    -------
    ndarray or None
        On root, all rows in rank order, of shape ``(sum of k, ...)``; or out. None on the other ranks.

    Raises
    ------
    BoundsError
        If root is outside [0, size). On every rank.
    InvalidArgumentError
        If recvcounts has not exactly one entry for each rank, or differs from what the ranks send, or if out does not
        match. On every rank.
    InvalidTypeError
        If a rank's data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the rows of the ranks differ in dtype or shape, or if the ranks pass different roots. On every rank.

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
    """Send the first ``sendcounts[0]`` rows of root to rank 0, the next ``sendcounts[1]`` to rank 1, and so on.

    Collective (MPI_Scatterv).

    Parameters
    ----------
    ctx
        The context.
    data
        On root, an array of shape ``(k, ...)``, which is k rows. Ignored on the other ranks, which may pass None.
    sendcounts
        On root, how many rows each rank gets; the sum is k. Ignored on the other ranks, which may pass None.
    root
        The rank that sends; the same on every rank.
    out
        A C-contiguous array that receives this rank's rows, of data's dtype and with as many elements.

    Returns
    -------
    ndarray
        This rank's rows, of shape ``(sendcounts[rank], ...)``; or out.

    Raises
    ------
    BoundsError
        If root is outside [0, size). On every rank.
    InvalidArgumentError
        If root has no data or no sendcounts, if sendcounts has not exactly one entry for each rank or does not add up
        to the number of rows, or if a rank's out does not match. On every rank.
    InvalidTypeError
        If data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the ranks pass different roots. On every rank.

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
    """Send the first ``send_counts[0]`` rows of each rank to rank 0, the next ``send_counts[1]`` to rank 1, and so on.

    Collective (MPI_Alltoallv).

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
    ndarray
        The rows that this rank received, in the order of the ranks that sent them, of shape
        ``(sum of recv_counts, ...)``; or out.

    Raises
    ------
    InvalidArgumentError
        If a rank's counts have not exactly one entry for each rank, do not add up to its number of rows, or differ from
        what the ranks send, or if its out does not match. On every rank.
    InvalidTypeError
        If a rank's data has no dtype that can be sent. On every rank.
    CollectiveMismatchError
        If the rows of the ranks differ in dtype or shape. On every rank.

    Notes
    -----
    If every rank passes recv_counts, the ranks do not need an exchange of the counts before that of the rows.

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
