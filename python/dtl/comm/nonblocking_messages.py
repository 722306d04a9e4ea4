"""Messages that are started, and waited for later."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import check_output, dtype_number, input_array, input_value, integer, received
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..runtime.context import Context
from .requests import PersistentRequest, Request, begun, prepared

_start = bridge.start
_ISEND, _IRECV = bridge.ISEND, bridge.IRECV


def isend(ctx: Context, data: Any, dest: int, tag: int = 0) -> Request:
    """Start to send an array or scalar to one rank (MPI_Isend).

    Parameters
    ----------
    ctx, data, dest, tag
        As for send.

    Returns
    -------
    Request
        Over when data may change again. Its result is None.

    Raises
    ------
    BoundsError, InvalidTypeError
        As for send.

    Notes
    -----
    Not collective. What has to be copied first, such as a list or an array with strides, may change at once.
    """
    held = _start(_ISEND, ctx, data, None, dest, tag, 0, 0)
    if held is NotImplemented:
        value = input_value("data", data)
        held = _start(_ISEND, ctx, value, None, integer("dest", dest), integer("tag", tag), 0, 0)
    return begun(ctx, "isend", held)


def irecv(ctx: Context, source: int, tag: int = 0, dtype: Any = None, count: int = 0, *, out: Any = None) -> Request:
    """Start to receive an array or scalar from one rank (MPI_Irecv).

    Parameters
    ----------
    ctx, source, tag, dtype, count, out
        As for recv.

    Returns
    -------
    Request
        Its result is like what was sent, or out. Messages go to the requests that match in the order in which these
        were made.

    Raises
    ------
    BoundsError
        If source or tag is outside its range. That the message is not what dtype, count or out state, wait raises.

    Notes
    -----
    Not collective.
    """
    return begun(ctx, "irecv", _receive(_IRECV, ctx, source, tag, dtype, count, out), _into(out))


def send_init(ctx: Context, data: Any, dest: int, tag: int = 0) -> PersistentRequest:
    """Prepare to send an array to one rank again and again (MPI_Send_init).

    Parameters
    ----------
    ctx, dest, tag
        As for send.
    data
        An array, or what shows its memory as one. What it holds when the request is started is what is sent. If it is
        not C-contiguous, or in another byte order than this machine's, each start copies it.

    Returns
    -------
    PersistentRequest
        As isend's, each time that it is started.

    Raises
    ------
    InvalidTypeError
        If data is no array: what is sent later must be there then. Also as for send.
    BoundsError
        As for send.

    Notes
    -----
    Not collective.
    """
    args = integer("dest", dest), integer("tag", tag)
    held = _start(bridge.SEND_INIT, ctx, data, None, *args, 0, 0)
    if held is not NotImplemented:
        return prepared(ctx, "send_init", held)
    sent, shown = input_array("data", data), _shown(data)
    if sent is shown:
        sent = sent.copy()
    held = _start(bridge.SEND_INIT, ctx, sent, None, *args, 0, 0)
    return prepared(ctx, "send_init", held, before=lambda: np.copyto(sent, shown))


def _shown(data: Any) -> np.ndarray[Any, Any]:
    """Return an array of what data holds whenever one looks."""
    try:
        with memoryview(data):
            return np.asarray(data)
    except (TypeError, ValueError, BufferError):  # NumPy shows no array of dates as a buffer, but none is sent
        raise InvalidTypeError(
            f"data must be an array, not {type(data).__name__}: what is sent later must be there then"
        ) from None


def recv_init(
    ctx: Context, source: int, tag: int = 0, dtype: Any = None, count: int = 0, *, out: Any = None
) -> PersistentRequest:
    """Prepare to receive from one rank again and again (MPI_Recv_init).

    Parameters
    ----------
    ctx, source, tag, dtype, count, out
        As for recv.

    Returns
    -------
    PersistentRequest
        As irecv's, each time that it is started.

    Raises
    ------
    BoundsError
        If source or tag is outside its range.

    Notes
    -----
    Not collective.
    """
    return prepared(ctx, "recv_init", _receive(bridge.RECV_INIT, ctx, source, tag, dtype, count, out), _into(out))


def _receive(code: int, ctx: Context, source: Any, tag: Any, dtype: Any, count: Any, out: Any) -> Any:
    number = 0 if dtype is None else dtype_number(dtype)
    held = _start(code, ctx, None, out, source, tag, number, count)
    if held is NotImplemented:
        if out is not None:
            check_output(out)
        args = integer("source", source), integer("tag", tag), number, integer("count", count)
        held = _start(code, ctx, None, out, *args)
    return held


def _into(out: Any) -> Callable[[Any], Any]:
    """Return what makes the result of a receive."""
    return received if out is None else lambda result: out
