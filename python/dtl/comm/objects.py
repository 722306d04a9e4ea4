"""Messages and collectives of Python objects, which they pickle. Those of arrays never pickle."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer, listed
from .._native.library import bridge
from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, check_context, collective, last_step, on_context, root_number
from ..runtime.context import Context
from ..runtime.scheduler import in_one_turn
from . import collectives, vector_collectives
from .pickling import Head, Packed, pack, send_parts
from .point_to_point import PROC_NULL


@on_context
def send_object(ctx: Context, obj: Any, dest: int, tag: int = 0) -> None:
    """Send a Python object to one rank, which receives it with recv_object (MPI_Send). Not collective.

    Parameters
    ----------
    ctx
        The context.
    obj
        Anything that can be pickled. Large NumPy arrays in it are sent from their own memory, without a copy.
    dest
        The receiver's rank, or PROC_NULL, for which the call does nothing.
    tag
        A number, at least 0, by which the receiver can select the message.

    Raises
    ------
    InvalidTypeError
        If obj cannot be pickled.
    BoundsError
        If dest or tag is outside its range.

    Notes
    -----
    Returns when obj may be changed again, as ``send`` does. Pickles with protocol 5 (PEP 574).

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
    packed = pack(ctx, "send_object", obj)
    bridge.send_object(ctx, packed.head, dest, integer("tag", tag))
    if dest != PROC_NULL:
        send_parts(ctx, packed, dest)


@on_context
def recv_object(ctx: Context, source: int, tag: int = 0) -> Any:
    """Receive a Python object that one rank sent with send_object (MPI_Recv). Not collective; waits for the message.

    Parameters
    ----------
    ctx
        The context.
    source
        The sender's rank, ANY_SOURCE, or PROC_NULL, for which the call does nothing.
    tag
        The message's tag, or ANY_TAG.

    Returns
    -------
    object
        A copy of what was sent; None from PROC_NULL.

    Raises
    ------
    InvalidArgumentError
        If the message is an array or scalar, not an object. It can still be received, with ``recv``.
    BoundsError
        If source or tag is outside its range.

    Notes
    -----
    If unpickling fails, for example because the class of the object cannot be imported here, that exception is raised,
    and the message is lost. Unpickling can run any code that the sender chooses; the ranks of a job trust each other.
    """
    check_context(ctx)
    args = integer("source", source), integer("tag", tag)
    received = bridge.recv_object(ctx, *args)
    if received is None:
        return None
    head = Head(np.asarray(received))
    head.make_room()
    head.receive(ctx)
    return head.unpack()


@in_one_turn
@collective
def broadcast_object(ctx: Context, obj: Any = None, root: int = 0) -> Any:
    """Send root's object to every rank. Collective (MPI_Bcast).

    Parameters
    ----------
    ctx
        The context.
    obj
        On root, anything that can be pickled. Ignored on the other ranks.
    root
        The rank that sends its object; the same on every rank.

    Returns
    -------
    object
        On root, obj itself; on the other ranks, a copy.

    Raises
    ------
    InvalidTypeError
        If obj cannot be pickled. On every rank.
    BoundsError
        If root is outside [0, size). On every rank.
    CollectiveMismatchError
        If the ranks pass different roots. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.broadcast_object(ctx, {"name": "run 7"} if ctx.is_root else None)
    {'name': 'run 7'}
    """
    op = "broadcast_object"
    root = root_number(ctx, root)
    packed = None
    if ctx.rank == root:
        packed = pack(ctx, "broadcast_object", obj)
    agree(ctx, op, f"root {root}")
    head = Head(collectives.broadcast(ctx, packed.head if packed else None, root))
    if head.has_parts:
        if packed is None:
            head.make_room()
        agree(ctx, op)
        _broadcast_parts(ctx, head, packed, root)
    with last_step():
        return obj if packed else head.unpack()


@in_one_turn
@collective
def gather_object(ctx: Context, obj: Any, root: int = 0) -> list[Any] | None:
    """Collect every rank's object on root. Collective (MPI_Gather).

    Parameters
    ----------
    ctx
        The context.
    obj
        Anything that can be pickled.
    root
        The rank that gets the result; the same on every rank.

    Returns
    -------
    list or None
        On root, a copy of each rank's object, in rank order; None on the other ranks.

    Raises
    ------
    InvalidTypeError
        If a rank's obj cannot be pickled. On every rank.
    BoundsError
        If root is outside [0, size). On every rank.
    CollectiveMismatchError
        If the ranks pass different roots. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     names = dtl.gather_object(ctx, f"rank {ctx.rank}")
    ...     None if names is None else names[0]
    'rank 0'
    """
    op = "gather_object"
    root = root_number(ctx, root)
    packed = pack(ctx, "gather_object", obj)
    agree(ctx, op, f"root {root}")
    gathered = vector_collectives.gatherv(ctx, packed.head, None, root)
    heads = _heads(gathered) if ctx.rank == root else []
    for head in heads:
        head.make_room()
    agree(ctx, op)
    if ctx.rank != root:
        send_parts(ctx, packed, root)
        return None
    for head in heads:
        _receive(ctx, head, packed)
    with last_step():
        return [head.unpack() for head in heads]


@in_one_turn
@collective
def allgather_object(ctx: Context, obj: Any) -> list[Any]:
    """Collect every rank's object on every rank. Collective (MPI_Allgather).

    Parameters
    ----------
    ctx
        The context.
    obj
        Anything that can be pickled.

    Returns
    -------
    list
        A copy of each rank's object, in rank order.

    Raises
    ------
    InvalidTypeError
        If a rank's obj cannot be pickled. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.allgather_object(ctx, {ctx.rank}) == [{rank} for rank in range(ctx.size)]
    True
    """
    op = "allgather_object"
    check_context(ctx)
    packed = pack(ctx, "allgather_object", obj)
    agree(ctx, op)
    heads = _heads(vector_collectives.allgatherv(ctx, packed.head))
    if any(head.has_parts for head in heads):
        for head in heads:
            head.make_room()
        agree(ctx, op)
        for source, head in enumerate(heads):
            _broadcast_parts(ctx, head, packed if source == ctx.rank else None, source)
    with last_step():
        return [head.unpack() for head in heads]


@in_one_turn
@collective
def scatter_object(ctx: Context, objs: Any = None, root: int = 0) -> Any:
    """Send object ``objs[r]`` of root to rank r. Collective (MPI_Scatter).

    Parameters
    ----------
    ctx
        The context.
    objs
        On root, a sequence with one object for each rank, each of which can be pickled. Ignored on the other ranks.
    root
        The rank that sends; the same on every rank.

    Returns
    -------
    object
        A copy of ``objs[rank]``.

    Raises
    ------
    InvalidArgumentError
        If root has not exactly one object for each rank. On every rank.
    InvalidTypeError
        If one of the objects cannot be pickled. On every rank.
    BoundsError
        If root is outside [0, size). On every rank.
    CollectiveMismatchError
        If the ranks pass different roots. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     jobs = [("part", rank) for rank in range(ctx.size)] if ctx.is_root else None
    ...     dtl.scatter_object(ctx, jobs) == ("part", ctx.rank)
    True
    """
    op = "scatter_object"
    root = root_number(ctx, root)
    packed: list[Packed] = []
    if ctx.rank == root:
        packed = [pack(ctx, "scatter_object", obj, f"objs[{rank}]") for rank, obj in enumerate(_one_a_rank(ctx, objs))]
    agree(ctx, op, f"root {root}")
    heads = np.concatenate([one.head for one in packed]) if packed else None
    head = Head(vector_collectives.scatterv(ctx, heads, [len(one.head) for one in packed], root))
    head.make_room()
    agree(ctx, op)
    if ctx.rank == root:
        for rank, one in enumerate(packed):
            if rank != root:
                send_parts(ctx, one, rank)
    _receive(ctx, head, packed[root] if packed else None)
    with last_step():
        return head.unpack()


def _one_a_rank(ctx: Context, objs: Any) -> list[Any]:
    try:
        several = listed(objs)
    except TypeError:
        raise InvalidArgumentError(
            f"objs of type {type(objs).__name__} must be a sequence, with one object for each of {ctx.size} ranks"
        ) from None
    if len(several) != ctx.size:
        raise InvalidArgumentError(f"objs has {len(several)} objects, but there are {ctx.size} ranks")
    return several


def _heads(gathered: Any) -> list[Head]:
    """Return the heads that lie one after the other."""
    heads: list[Head] = []
    while len(gathered):
        heads.append(Head(gathered))
        gathered = gathered[heads[-1].size :]
    return heads


def _receive(ctx: Context, head: Head, own: Packed | None) -> None:
    """Receive the parts of an object, or copy them where it is this rank's own."""
    if own is None or head.source != ctx.rank:
        head.receive(ctx)
    else:
        _copy(head, own)


def _copy(head: Head, own: Packed) -> None:
    for room, part in zip(head.parts, own.parts):
        room[:] = np.frombuffer(part, np.uint8)


def _broadcast_parts(ctx: Context, head: Head, own: Packed | None, root: int) -> None:
    """Move the parts of root's object, which own is on root, to every rank that has room for them."""
    if own is None:
        for part in head.parts:
            collectives.broadcast(ctx, None, root, out=part)
        return
    for part in own.parts:
        collectives.broadcast(ctx, np.frombuffer(part, np.uint8), root)
    _copy(head, own)
