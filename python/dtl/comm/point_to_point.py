"""Messages between two ranks: blocking, non-blocking and persistent."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._lazy import late
from .._native.arguments import (
    check_output,
    dtype_numbered,
    input_array,
    input_value,
    integer,
    is_on_device,
    received,
    sent_number,
)
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..runtime.agreement import check_context, on_context
from ..runtime.context import Context
from ..runtime.scheduler import short
from .requests import PersistentRequest, Request, new_persistent_request, new_request
from .staging import StagingBuffer, staged

#: Receive from any rank.
ANY_SOURCE = -1
#: Receive with any tag.
ANY_TAG = -1
#: No rank: what is sent there vanishes, and nothing comes from there.
PROC_NULL = -2

_call, _start = bridge.call, bridge.start
_SEND, _RECV, _SENDRECV = bridge.SEND, bridge.RECV, bridge.SENDRECV
_ISEND, _IRECV = bridge.ISEND, bridge.IRECV
_PROBE, _IPROBE = bridge.PROBE, bridge.IPROBE

_records = late(".comm.named_elements", "records")


class MessageInfo:
    """A message that ``probe`` or ``iprobe`` has found.

    Attributes
    ----------
    source : int
        The sender's rank, or PROC_NULL.
    tag : int
        The message's tag; ANY_TAG from PROC_NULL.
    dtype : numpy.dtype or None
        The dtype of its elements; None from PROC_NULL.
    shape : tuple of int
        The shape of its array; ``()`` for a scalar.
    count : int
        The number of its elements.
    """

    __module__ = "dtl"

    __slots__ = ("count", "dtype", "shape", "source", "tag")

    def __init__(self, source: int, tag: int, dtype: np.dtype[Any] | None, shape: tuple[int, ...], count: int) -> None:
        self.source = source
        self.tag = tag
        self.dtype = dtype
        self.shape = shape
        self.count = count

    def __repr__(self) -> str:
        return f"<dtl.MessageInfo source {self.source}, tag {self.tag}, dtype {self.dtype}, shape {self.shape}>"


@short(bridge.SEND, "owner in 0 1", "sent")
@staged
def send(ctx: Context, data: Any, dest: int, tag: int = 0) -> None:
    """Send an array or scalar to one rank (MPI_Send). Not collective.

    Parameters
    ----------
    ctx
        The context.
    data
        An array of any shape, or a scalar. Its dtype and shape are sent with it.
    dest
        The receiver's rank, or PROC_NULL, for which the call does nothing.
    tag
        A number, at least 0, by which the receiver can select the message. Tags up to 32767 are always available.

    Raises
    ------
    BoundsError
        If dest or tag is outside its range.
    InvalidTypeError
        If data has no dtype that can be sent.

    Notes
    -----
    Returns when data may be changed again. Above 4 KiB, this is when the receiver takes the message; below, MPI
    decides. If two ranks send to each other before they receive, both may wait forever; use ``sendrecv`` for that.
    """
    if _call(_SEND, ctx, data, None, dest, tag, 0, 0) is NotImplemented:
        _call(_SEND, ctx, *_send_arguments(data, dest, tag))


@short(bridge.RECV, "owner 0 1 dtype2 3 out", "received")
@staged
def recv(ctx: Context, source: int, tag: int = 0, dtype: Any = None, count: int = 0, *, out: Any = None) -> Any:
    """Receive an array or scalar from one rank (MPI_Recv). Not collective; waits for the message.

    Parameters
    ----------
    ctx
        The context.
    source
        The sender's rank, ANY_SOURCE, or PROC_NULL.
    tag
        The message's tag, or ANY_TAG.
    dtype, count
        The dtype and the number of elements that the message has to have, as a check. Neither is needed: a message
        brings its own dtype and shape.
    out
        A C-contiguous array that receives the elements, of the message's dtype and number of elements.

    Returns
    -------
    ndarray, scalar or None
        A value with the dtype and shape that were sent; or out. From PROC_NULL, None, or out unchanged.

    Raises
    ------
    InvalidArgumentError
        If the message does not match dtype, count or out. It can still be received.
    BoundsError
        If source or tag is outside its range.
    CommunicationError
        If the context has one rank, and no such message is there.
    """
    return received(_receive(_call, _RECV, ctx, source, tag, dtype, count, out))


@short(bridge.SENDRECV, "owner in 0 2 1 3 out", "exchanged")
@staged
def sendrecv(
    ctx: Context,
    send_data: Any,
    dest: int,
    source: int,
    send_tag: int = 0,
    recv_tag: int = 0,
    *,
    out: Any = None,
) -> Any:
    """Send to one rank and receive from another in one call (MPI_Sendrecv). Not collective.

    Parameters
    ----------
    ctx
        The context.
    send_data, dest, send_tag
        As data, dest and tag of ``send``.
    source, recv_tag, out
        As source, tag and out of ``recv``.

    Returns
    -------
    ndarray, scalar or None
        A value with the dtype and shape that source sent; or out. From PROC_NULL, None, or out unchanged.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, BoundsError
        As for send and recv.

    Notes
    -----
    Ranks that exchange messages by sendrecv cannot block each other, however long the messages are.
    """
    result = _call(_SENDRECV, ctx, send_data, out, dest, send_tag, source, recv_tag)
    if result is NotImplemented:
        value = input_value("send_data", send_data)
        if out is not None:
            check_output(out)
        peers = integer("dest", dest), integer("send_tag", send_tag), integer("source", source)
        result = _call(_SENDRECV, ctx, value, out, *peers, integer("recv_tag", recv_tag))
    return received(result)


@staged
def isend(ctx: Context, data: Any, dest: int, tag: int = 0) -> Request:
    """Start to send an array or scalar to one rank, and return at once (MPI_Isend). Not collective.

    Parameters
    ----------
    ctx, data, dest, tag
        As for send. Do not change data until the request is complete.

    Returns
    -------
    Request
        Complete when data may be changed again. Its result is None.

    Raises
    ------
    BoundsError, InvalidTypeError
        As for send.

    Notes
    -----
    A list, or an array that is not contiguous, is copied first, and may be changed as soon as isend returns.
    """
    held = _start(_ISEND, ctx, data, None, dest, tag, 0, 0)
    if held is NotImplemented:
        held = _start(_ISEND, ctx, *_send_arguments(data, dest, tag))
    return new_request(ctx, "isend", held)


@staged
def irecv(ctx: Context, source: int, tag: int = 0, dtype: Any = None, count: int = 0, *, out: Any = None) -> Request:
    """Start to receive an array or scalar from one rank, and return at once (MPI_Irecv). Not collective.

    Parameters
    ----------
    ctx, source, tag, dtype, count, out
        As for recv. Do not use out until the request is complete.

    Returns
    -------
    Request
        Its result is that of recv. If a message matches several requests, the one that was made first receives it.

    Raises
    ------
    BoundsError
        If source or tag is outside its range. If the message does not match dtype, count or out, ``wait`` raises
        InvalidArgumentError.
    """
    return new_request(ctx, "irecv", _receive(_start, _IRECV, ctx, source, tag, dtype, count, out), _result_maker(out))


@on_context
def send_init(ctx: Context, data: Any, dest: int, tag: int = 0) -> PersistentRequest:
    """Prepare to send the same array to one rank many times (MPI_Send_init). Not collective.

    Parameters
    ----------
    ctx, dest, tag
        As for send.
    data
        An array, or an object whose memory can be used as one. Each start sends what it holds at that time. If it is
        not C-contiguous or not in this machine's byte order, each start copies it; so it does from a GPU.

    Returns
    -------
    PersistentRequest
        Each time that it is started, it is like a request of isend.

    Raises
    ------
    InvalidTypeError
        If data is not an array, or has no dtype that can be sent. A list is refused, since it would have to be copied
        now.
    BoundsError
        As for send.
    """
    args = integer("dest", dest), integer("tag", tag)
    if is_on_device(data):
        buffer = StagingBuffer("send_init", data)
        held = _start(bridge.SEND_INIT, ctx, buffer.here, None, *args, 0, 0)
        return new_persistent_request(ctx, "send_init", held, before=buffer.read)
    data = _records(data, in_place=True)
    held = _start(bridge.SEND_INIT, ctx, data, None, *args, 0, 0)
    if held is not NotImplemented:
        return new_persistent_request(ctx, "send_init", held)
    sent, shown = input_array("data", data), _array_of_buffer(data)
    if sent is shown:
        sent = sent.copy()
    held = _start(bridge.SEND_INIT, ctx, sent, None, *args, 0, 0)
    return new_persistent_request(ctx, "send_init", held, before=lambda: np.copyto(sent, shown))


@on_context
def recv_init(
    ctx: Context, source: int, tag: int = 0, dtype: Any = None, count: int = 0, *, out: Any = None
) -> PersistentRequest:
    """Prepare to receive from one rank many times (MPI_Recv_init). Not collective.

    Parameters
    ----------
    ctx, source, tag, dtype, count, out
        As for recv.

    Returns
    -------
    PersistentRequest
        Each time that it is started, it is like a request of irecv.

    Raises
    ------
    BoundsError
        If source or tag is outside its range.
    """
    if is_on_device(out):
        buffer = StagingBuffer("recv_init", out)
        held = _receive(_start, bridge.RECV_INIT, ctx, source, tag, dtype, count, buffer.here)
        return new_persistent_request(
            ctx, "recv_init", held, _result_maker(out) if source == PROC_NULL else buffer.write
        )
    held = _receive(_start, bridge.RECV_INIT, ctx, source, tag, dtype, count, _records(out, in_place=True))
    return new_persistent_request(ctx, "recv_init", held, _result_maker(out))


def probe(ctx: Context, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> MessageInfo:
    """Wait for a message, and describe it without receiving it (MPI_Probe). Not collective.

    Parameters
    ----------
    ctx
        The context.
    source
        The sender's rank, ANY_SOURCE, or PROC_NULL.
    tag
        The message's tag, or ANY_TAG.

    Returns
    -------
    MessageInfo
        The message's source, tag, dtype, shape and number of elements. From PROC_NULL, an empty message without a
        dtype.

    Raises
    ------
    BoundsError
        If source or tag is outside its range.
    CommunicationError
        If the message can never come, because there is no other rank that could send it.

    Notes
    -----
    The next receive that matches gets this message.
    """
    return _info(_probe_result(_PROBE, ctx, source, tag))


def iprobe(ctx: Context, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> MessageInfo | None:
    """Describe a message that has arrived, without waiting for one (MPI_Iprobe). Not collective.

    Parameters
    ----------
    ctx, source, tag
        As for probe.

    Returns
    -------
    MessageInfo or None
        As for probe; None if no such message has arrived.

    Raises
    ------
    BoundsError
        If source or tag is outside its range.

    Notes
    -----
    The next receive that matches gets this message.
    """
    result = _probe_result(_IPROBE, ctx, source, tag)
    return None if result is None else _info(result)


def _send_arguments(data: Any, dest: Any, tag: Any) -> tuple[Any, ...]:
    """Return the arguments of a send that the bridge does not take as they are."""
    return input_value("data", data), None, integer("dest", dest), integer("tag", tag), 0, 0


def _receive(
    run: Callable[..., Any], code: int, ctx: Context, source: Any, tag: Any, dtype: Any, count: Any, out: Any
) -> Any:
    """Make a receive, or start it, as run does of the bridge."""
    number = 0 if dtype is None else sent_number(dtype)
    result = run(code, ctx, None, out, source, tag, number, count)
    if result is NotImplemented:
        if out is not None:
            check_output(out)
        result = run(
            code, ctx, None, out, integer("source", source), integer("tag", tag), number, integer("count", count)
        )
    return result


def _result_maker(out: Any) -> Callable[[Any], Any]:
    """Return what makes the result of a receive."""
    return received if out is None else lambda result: out


def _array_of_buffer(data: Any) -> np.ndarray[Any, Any]:
    """Return an array of what data holds whenever one looks."""
    try:
        with memoryview(data):
            return np.asarray(data)
    except (TypeError, ValueError, BufferError):  # such as an array of dates: it has no buffer, nor can it be sent
        raise InvalidTypeError(
            f"data must be an array, not {type(data).__name__}: what is sent later must be there then"
        ) from None


def _probe_result(code: int, ctx: Context, source: Any, tag: Any) -> Any:
    try:
        result = _call(code, ctx, None, None, source, tag, 0, 0)
    except InvalidTypeError:
        check_context(ctx)
        raise
    if result is NotImplemented:
        result = _call(code, ctx, None, None, integer("source", source), integer("tag", tag), 0, 0)
    return result


def _info(numbers: Any) -> MessageInfo:
    source, tag, number, *shape = np.asarray(numbers).tolist()
    if not number:
        return MessageInfo(source, tag, None, (0,), 0)
    count = 1
    for extent in shape:
        count *= extent
    return MessageInfo(source, tag, dtype_numbered(number), tuple(shape), count)
