"""New containers, for packages that compute with containers: alike, or of a shape."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, Callable, Sequence, TypeVar

import numpy as np

from .._native import library
from .._native.arguments import stored_number
from .._native.kinds import computed_number
from .._native.library import bridge
from .._native.objects import raw_handle_of
from .._numbers import PLACEMENT
from ..exceptions import KNOWN_TO_RANKS, MemoryError, is_marked
from ..policies import Execution, Placement
from ..runtime.agreement import cause_of, tell_ranks
from ..runtime.context import Context
from .interior import owning_class_of
from .layout import Division

Made = TypeVar("Made")

#: What a container has in common with one that is laid out as it.
_facts = attrgetter(
    "_context", "_ndim", "_division", "_is_plain", "_placement", "_execution", "_layout", "_is_where_divided"
)

#: Makes an object that has none yet the container of a handle, on the host, of numbers: from (made, handle, ctx, dtype,
#: ndim, divided).
adopt_native = bridge.Container._adopt_native

#: Does the same of a small container of one rank, from (made, ctx, dtype, divided, shape, blank). Says whether it did.
adopt_whole = bridge.Container._adopt_whole

#: Looked up once: members of enumerations are slow to get at.
_DISK = Placement.DISK

#: The core's number for few elements in memory that are computed of some on disk. To users they are on the host.
NEAR_DISK: Any = PLACEMENT.NEAR_DISK

#: Whether this process has had containers on disk.
with_disks = False

#: The number by which the core knows a class of containers.
family_of: Callable[[Any], int] = attrgetter("_family")


def adopt(made: Any, handle: int, *facts: Any) -> None:
    """Make an object that has none yet the container of a handle: facts are the other arguments of ``_adopt``."""
    made._adopt(handle, *facts)


def mapped_of(
    kind: type[Made],
    ctx: Context,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    divided: Division,
    place: tuple[int, int],
) -> Made:
    """Return a container of the elements that a file has, of which each rank maps its own. Collective.

    The place is a descriptor, which stays the caller's, and the byte at which the elements begin.
    """
    made: Any = kind.__new__(kind)
    note_disks()
    spec = (family_of(made), stored_number(dtype), len(shape), *shape, *divided.numbers(), _DISK)
    handle = bridge.create_mapped(ctx, b"load", *place, spec)
    adopt(made, handle, ctx, dtype, len(shape), divided, _DISK)
    new: Made = made
    return new


def result_placement(of: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Placement:
    """Return where a container is that is computed of another one, for :func:`created`.

    Of containers on disk, few elements are in memory; and what is computed of these is on disk again, where it has
    many.
    """
    where: Placement = of.placement_policy
    if with_disks:
        mine = math.prod(shape) * dtype.itemsize // of.context.size
        number = library.container_result_placement(raw_handle_of(of), mine)
        where = NEAR_DISK if number == NEAR_DISK else Placement(number)
    return where


def placed_first(containers: Sequence[Any]) -> Any:
    """Return which of several containers says where a result is: one on disk or computed of such, else the first."""
    if with_disks:
        nothing = np.dtype(np.bool_)
        for c in containers:
            if result_placement(c, (0,), nothing) is NEAR_DISK:
                return c
    return containers[0]


def note_disks() -> None:
    """Note that this process has containers on disk. Not collective."""
    global with_disks
    with_disks = True


def lie_elsewhere(made: Any) -> None:
    """Note that the elements are not where a new container's of the same division would be."""
    made._is_where_divided = made._is_quick = False


def divide(c: Any, divided: Division) -> None:
    """Divide a container anew. Collective."""
    c._divide(divided)


def new_like(c: Any, dtype: Any, blank: bool = False) -> Any:
    """Return a container of zeros that is laid out as another one. Not collective.

    Blank elements, which those of managed memory cannot be, are anything: for a caller that writes all of them.
    """
    is_blank = blank and c.placement_policy is not Placement.UNIFIED
    try:
        handle = library.container_alike(raw_handle_of(c), stored_number(dtype), is_blank)
    except MemoryError as error:
        if c.placement_policy is _DISK:
            tell_full_disk(c.context, error)
        raise
    return of_handle(c, handle, dtype)


def tell_full_disk(ctx: Any, error: MemoryError) -> None:
    """Have the other ranks raise, too, in their next collective call, what this one has no room on a disk for.

    That is for calls that are not collective, in which the ranks agree on nothing.
    """
    if not is_marked(error, KNOWN_TO_RANKS):
        tell_ranks(ctx, error.op, error, text=cause_of(error) or str(error))


def of_handle(c: Any, handle: int, dtype: Any) -> Any:
    """Return the container of a handle that the core made, laid out as another one. Not collective."""
    kind = owning_class_of(c)
    made = kind.__new__(kind)
    given = np.dtype(dtype)
    ctx, ndim, divided, plain, placement, execution, layout, placed_as_divided = _facts(c)
    if placement is _DISK:  # of few elements, there are no files
        placement = Placement(library.container_placement(handle))
    if plain and placement is not _DISK and execution is Execution.PAR and computed_number(given):
        adopt_native(made, handle, ctx, given, ndim, divided)
    else:
        adopt(made, handle, ctx, given, ndim, divided, placement, execution)
    made._layout = layout
    if not placed_as_divided:
        lie_elsewhere(made)
    return made


def created(
    kind: type[Made],
    ctx: Context,
    shape: tuple[int, ...],
    dtype: Any,
    divided: Division,
    placement: Placement = Placement.HOST,
    blank: bool = False,
    words: str = "",
    execution: Execution = Execution.PAR,
    pieces: Sequence[int] = (),
) -> Made:
    """Return a container of a class, of zeros. Collective: the ranks agree on shape, dtype, division and placement.

    Blank elements are anything: for a caller that writes all of them before anyone else sees them. Words are what else
    the ranks agree on: the name of the call that makes the container, a space, and its arguments. Pieces are of
    containers from which elements move to it: their number, their handles, and the rows of a move for each.
    """
    made: Any = kind.__new__(kind)
    made._create(ctx, shape, np.dtype(dtype), divided, execution, placement, blank, words, pieces)
    new: Made = made
    return new
