"""Messages between roles."""

from __future__ import annotations

from typing import Any

from .._native.library import invalid
from ..comm import collectives, objects, point_to_point
from ..comm.named_elements import sendable
from ..exceptions import DTLError, InvalidTypeError, from_text
from ..runtime.agreement import agree, confirm, local_step, tell_ranks
from .role_manager import RoleManager, lines_of, rank_of, ranks_of

# The tags of what one rank passes on to a role, or a role to one rank: elements, or why there are none.
_ELEMENTS, _REFUSAL = 0, 1


def intergroup_send(mgr: RoleManager, target_role: str, target_rank: int, data: Any, tag: int = 0) -> None:
    """Send an array or scalar to one rank of a role (MPI_Send). Not collective.

    Parameters
    ----------
    mgr
        The manager of the roles.
    target_role, target_rank
        The receiver: its role, and its rank among the ranks of that role, in [0, mgr.role_size(target_role)).
    data
        An array of any shape, or a scalar. Its dtype and shape are sent with it.
    tag
        A number, at least 0, by which the receiver can select the message.

    Raises
    ------
    InvalidArgumentError
        If there is no such role, or if the manager is not initialised.
    BoundsError
        If target_rank or tag is outside its range.
    InvalidTypeError
        If data has no dtype that can be sent.
    InvalidHandleError
        If the manager is destroyed.

    Notes
    -----
    Returns when data may be changed again, as ``send`` does. Every rank may send, whatever its roles.
    """
    dest = rank_of(_manager(mgr), "intergroup_send", "target_rank", target_role, target_rank)
    point_to_point.send(lines_of(mgr).messages, data, dest, tag)


def intergroup_recv(
    mgr: RoleManager,
    source_role: str,
    source_rank: int,
    count: int = 0,
    dtype: Any = None,
    tag: int = 0,
    *,
    out: Any = None,
) -> Any:
    """Receive an array or scalar that one rank of a role sent with intergroup_send (MPI_Recv). Not collective.

    Waits for the message.

    Parameters
    ----------
    mgr
        The manager of the roles.
    source_role, source_rank
        The sender: its role, and its rank among the ranks of that role, in [0, mgr.role_size(source_role)).
    count, dtype
        The number of elements and the dtype that the message has to have, as a check. Neither is needed: a message
        brings its own dtype and shape.
    tag
        The message's tag, or ANY_TAG.
    out
        A C-contiguous array that receives the elements, of the message's dtype and number of elements.

    Returns
    -------
    ndarray or scalar
        A value with the dtype and shape that were sent; or out.

    Raises
    ------
    InvalidArgumentError
        If the message does not match count, dtype or out; it can still be received. Also if there is no such role, or
        if the manager is not initialised.
    BoundsError
        If source_rank or tag is outside its range.
    InvalidHandleError
        If the manager is destroyed.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.RoleManager(ctx) as mgr:
    ...     mgr.add_role("worker", ctx.size)
    ...     mgr.initialize()
    ...     dtl.intergroup_send(mgr, "worker", mgr.role_rank("worker"), np.arange(3), tag=7)
    ...     dtl.intergroup_recv(mgr, "worker", mgr.role_rank("worker"), tag=7)
    array([0, 1, 2])
    """
    source = rank_of(_manager(mgr), "intergroup_recv", "source_rank", source_role, source_rank)
    return point_to_point.recv(lines_of(mgr).messages, source, tag, dtype, count, out=out)


def intergroup_broadcast(mgr: RoleManager, root: tuple[str, int], target_role: str, data: Any = None) -> Any:
    """Send a value of one rank to every rank of a role. Collective over root and the ranks of the role (MPI_Bcast).

    Parameters
    ----------
    mgr
        The manager of the roles.
    root
        The rank that sends: a pair of a role and a rank among the ranks of that role. It may have target_role itself.
    target_role
        The role whose ranks receive the value.
    data
        On root, an array of any shape, or a scalar. Ignored on the other ranks.

    Returns
    -------
    ndarray or scalar
        Root's value, with its shape and dtype.

    Raises
    ------
    InvalidArgumentError
        If there is no such role, if target_role has no ranks, or if this rank is neither root nor has target_role.
    InvalidTypeError
        If root is not a pair, or if its data has no dtype that can be sent. On all ranks that take part.
    BoundsError
        If the rank of root is outside its range.
    CollectiveMismatchError
        If ranks of target_role pass different roots. On all of these.
    InvalidHandleError
        If the manager is destroyed.
    """
    op = "intergroup_broadcast"
    source, members = _parties(op, mgr, root, target_role)
    if lines_of(mgr).whole.rank not in members:
        return _give(op, mgr, data, members[0])
    lane, value = lines_of(mgr).of_roles[target_role], data
    with local_step(lane, op):
        if source not in members and lane.rank == 0:
            value = _take(op, mgr, source)
    agree(lane, op, f"root {tuple(root)!r}")
    result = collectives.broadcast(lane, value, members.index(source) if source in members else 0)
    confirm()
    return result


def intergroup_gather(mgr: RoleManager, root: tuple[str, int], source_role: str, data: Any = None) -> Any:
    """Collect values of a role's ranks on one rank. Collective over root and the ranks of the role (MPI_Gather).

    Parameters
    ----------
    mgr
        The manager of the roles.
    root
        The rank that gets the result: a pair of a role and a rank among the ranks of that role. It may have source_role
        itself.
    source_role
        The role whose ranks send their values.
    data
        On these ranks, an array of any shape, or a scalar, of the same dtype and shape on each. Ignored on the other
        ranks.

    Returns
    -------
    ndarray or None
        On root, an array of shape ``(mgr.role_size(source_role), *data.shape)``, in rank order. None on the other
        ranks.

    Raises
    ------
    InvalidArgumentError
        If there is no such role, if source_role has no ranks, or if this rank is neither root nor has source_role.
    InvalidTypeError
        If root is not a pair, or if a rank's data has no dtype that can be sent. On all ranks that take part.
    BoundsError
        If the rank of root is outside its range.
    CollectiveMismatchError
        If the values differ in dtype or shape, on all ranks that take part. Also if ranks of source_role pass different
        roots.
    InvalidHandleError
        If the manager is destroyed.
    """
    op = "intergroup_gather"
    source, members = _parties(op, mgr, root, source_role)
    if lines_of(mgr).whole.rank not in members:
        return _take(op, mgr, members[0])
    lane, inside = lines_of(mgr).of_roles[source_role], source in members
    try:
        agree(lane, op, f"root {tuple(root)!r}")
        result = collectives.gather(lane, data, members.index(source) if inside else 0)
        confirm()
    except DTLError as error:
        if not inside and lane.rank == 0:
            _refuse(mgr, error, source)
        raise
    if inside or lane.rank != 0:
        return result
    _give(op, mgr, result, source)
    return None


def _manager(mgr: Any) -> RoleManager:
    if not isinstance(mgr, RoleManager):
        raise InvalidTypeError(f"mgr must be a dtl.RoleManager, not {type(mgr).__name__}")
    return mgr


def _parties(op: str, mgr: Any, root: Any, name: str) -> tuple[int, tuple[int, ...]]:
    """Return the rank of root in the whole context, and the ranks of a role. This rank has to be one of them."""
    lanes = lines_of(_manager(mgr)).of_roles
    # A rank that names no role at all but has one knows whom it keeps waiting; one that has several does not.
    known = isinstance(name, str) and name in mgr.roles
    mine = [lanes[name]] if known and name in lanes else [] if known else list(lanes.values())
    try:
        return _root_and_members(op, mgr, root, name)
    except Exception as error:
        if len(mine) == 1:
            tell_ranks(mine[0], op, error)
        raise


def _root_and_members(op: str, mgr: RoleManager, root: Any, name: str) -> tuple[int, tuple[int, ...]]:
    if not isinstance(root, (tuple, list)) or len(root) != 2:
        raise InvalidTypeError(f"{op}: root must be a role and a rank, such as ('reader', 0), not {root!r}")
    source, members = rank_of(mgr, op, "root's rank", *root), ranks_of(mgr, op, name)
    if not members:
        raise invalid(op, f"no rank has the role {name!r}")
    mine = lines_of(mgr).whole.rank
    if mine != source and mine not in members:
        raise invalid(op, f"rank {mine} is neither root, rank {root[1]} of {root[0]!r}, nor has the role {name!r}")
    return source, members


def _give(op: str, mgr: RoleManager, data: Any, dest: int) -> Any:
    """Pass a value on to a rank, or why there is none, and return it as it arrives there."""
    try:
        value = sendable("data", data)
    except DTLError as error:
        _refuse(mgr, error, dest)
        raise
    point_to_point.send(lines_of(mgr).passing, value, dest, _ELEMENTS)
    return value


def _refuse(mgr: RoleManager, error: DTLError, dest: int) -> None:
    lines = lines_of(mgr)
    objects.send_object(lines.passing, (error.code, f"rank {lines.whole.rank}: {error}"), dest, _REFUSAL)


def _take(op: str, mgr: RoleManager, source: int) -> Any:
    """Return the value that a rank passes on, or raise why there is none."""
    if point_to_point.probe(lines_of(mgr).passing, source).tag == _REFUSAL:
        code, text = objects.recv_object(lines_of(mgr).passing, source, _REFUSAL)
        raise from_text(f"[{code} {op}] {text}")
    return point_to_point.recv(lines_of(mgr).passing, source, _ELEMENTS)
