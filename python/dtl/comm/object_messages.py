"""Messages of Python objects, pickled on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.library import bridge
from ..runtime.agreement import check_context
from ..runtime.context import Context
from .pickling import Head, pack, send_parts
from .point_to_point import PROC_NULL


def send_object(ctx: Context, obj: Any, dest: int, tag: int = 0) -> None:
    """Send a Python object to one rank, which receives it with recv_object (MPI_Send).

    Parameters
    ----------
    ctx
        The context.
    obj
        Anything that can be pickled. The memory of large NumPy arrays in it is sent as it is, without a copy.
    dest
        The receiver's rank, or PROC_NULL.
    tag
        What the receiver can tell it by, at least 0.

    Raises
    ------
    InvalidTypeError
        If obj cannot be pickled.
    BoundsError
        If dest or tag is outside its range.

    Notes
    -----
    Not collective. Returns when obj may be changed again, as send does. Pickles with protocol 5 (PEP 574).

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     dtl.send_object(ctx, {"step": 3, "field": np.zeros(4)}, dest=ctx.rank)
    ...     dtl.recv_object(ctx, source=ctx.rank)
    {'step': 3, 'field': array([0., 0., 0., 0.])}
    """
    check_context(ctx)
    dest = integer("dest", dest)
    packed = pack(ctx, obj)
    bridge.call(bridge.SEND_OBJECT, ctx, packed.head, None, dest, integer("tag", tag), 0, 0)
    if dest != PROC_NULL:
        send_parts(ctx, packed, dest)


def recv_object(ctx: Context, source: int, tag: int = 0) -> Any:
    """Receive a Python object that one rank sent with send_object (MPI_Recv).

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
    object
        A copy of what was sent; None from PROC_NULL.

    Raises
    ------
    InvalidArgumentError
        If the message is no object. It stays there to be received, by recv.
    BoundsError
        If source or tag is outside its range.

    Notes
    -----
    Not collective. Waits for the message. What unpickling raises, such as ImportError for a class that is not there, is
    raised here; the message is gone then. Unpickling runs what the sender says, as pickle always does: the ranks of one
    job trust each other.
    """
    check_context(ctx)
    args = integer("source", source), integer("tag", tag)
    received = bridge.call(bridge.RECV_OBJECT, ctx, None, None, *args, 0, 0)
    if received is None:
        return None
    head = Head(np.asarray(received))
    head.make_room()
    head.receive(ctx)
    return head.unpack()
