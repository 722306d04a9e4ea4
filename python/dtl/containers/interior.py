"""What a container is made of, and this rank's part of it, for packages that compute with containers.

No other module reads a container's private names: what is asked of one stands here, and what makes new ones in
``making``. ``handle_of`` and ``refuse_closed``, for native objects of all kinds, are in ``_native.objects``.

What only reads is an ``attrgetter``, or a method of the class, so that a call costs no frame of its own.
"""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import Any, Callable, Iterator

import numpy as np

from .._native import element_loops, library
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import handle_of, raw_handle_of
from .._native.threads import threads
from ..policies import Placement
from ..runtime.agreement import agree
from ..runtime.scheduler import Deferrable
from .layout import Division

#: Looked up once: members of enumerations are slow to get at.
_DEVICE = Placement.DEVICE

#: How many elements NumPy takes of a container at once in less time than the core.
_MANY = 4096

#: The context, in less time than by the property.
context_of: Callable[[Any], Any] = attrgetter("_context")

#: How the elements are divided among the ranks. Of a container of PARTITION_BLOCK without a grid, it is BLOCK itself.
division_of: Callable[[Any], Division] = attrgetter("_division")

#: The same object in containers of one context that are known to be laid out alike.
layout_of: Callable[[Any], Any] = attrgetter("_layout")

#: Whether the elements are where division_of puts those of this shape. Those of a span, and of what is laid out as one,
#: are where another container has them, and a resize does not change the sizes of an explicit partition.
is_where_divided: Callable[[Any], bool] = attrgetter("_is_where_divided")

#: The type as which the core moves elements that it does not compute with; None where it does.
carrier_of: Callable[[Any], Any] = attrgetter("_carrier")

#: Whether the elements are numbers in the memory of this process, which the core computes with.
is_plain: Callable[[Any], bool] = attrgetter("_is_plain")

#: What the elements stand for, such as categories, as the columns of a table note it; None if nobody noted anything.
noted_meaning: Callable[[Any], Any] = attrgetter("_meaning")

#: The class of new containers made of the elements of one: its own, unless that owns none.
owning_class_of: Callable[[Any], Any] = methodcaller("_owning_class")

#: Lets go of what is known of the place of this rank's part, which is to change.
forget_part: Callable[[Any], None] = methodcaller("_forget_part")

#: DistributedTensor, for results of several dimensions.
tensor_class_of: Callable[[Any], Any] = attrgetter("_tensor_class")

#: Sets the execution policy of a container, from (c, execution).
run_as = Deferrable._run_as


def note_meaning(c: Any, meaning: Any) -> None:
    """Note what the elements stand for. Not collective."""
    c._meaning = meaning


def move_to(c: Any, ctx: Any) -> None:
    """Give a container of another context of the same ranks, such as a stream's, to a context. Not collective."""
    library.container_settle(handle_of(c), handle_of(ctx))
    c._context = ctx


def check_idle(c: Any, op: str) -> None:
    """Refuse a container that is closed, or of which asynchronous calls are under way."""
    c._check_idle(op)


def is_laid_out_as(c: Any, other: Any) -> bool:
    """Say whether each element of another container is where that of one is. Not collective."""
    layout = layout_of(c)
    if layout is layout_of(other):
        return True
    if other.context.size != c.context.size or other.context.rank != c.context.rank:
        return False
    if not library.container_equal(raw_handle_of(c), raw_handle_of(other)):
        return False
    if other.context is c.context:
        other._layout = layout
    return True


def as_elements(c: Any, of_core: Any) -> np.ndarray[Any, Any]:
    """Return what the core gives of a container's elements, as elements."""
    array: np.ndarray[Any, Any] = np.asarray(of_core)
    return array if carrier_of(c) is None else array.view(c.dtype)


def elements_at(c: Any, wanted: np.ndarray[Any, Any], out: Any = None) -> np.ndarray[Any, Any]:
    """Return the elements of this rank's own list of indices in C order. Collective.

    The indices are an array of int64; negative ones count from the end. Out is an array for as many, of one dimension.
    """
    whole = _elements_of_only_rank(c) if wanted.size >= _MANY else None
    if whole is None or not _are_within(wanted, whole.size):  # which the core refuses
        if out is not None and out.dtype == c.dtype and out.flags.c_contiguous:
            bridge.get(c, wanted, room_for(c, out))
            written: np.ndarray[Any, Any] = out
            return written
        found = as_elements(c, bridge.get(c, wanted))
        if out is not None:
            out[...] = found
        return found
    made: np.ndarray[Any, Any] = np.empty(wanted.shape, whole.dtype) if out is None else out
    flat, wanted = made.reshape(-1), wanted.reshape(-1)
    if not library.memory_limit() and element_loops.take(flat, whole, wanted, threads(c.execution_policy)):
        return made
    for some in in_blocks(wanted):
        for few in _stretches(wanted[some], whole):
            whole.take(wanted[some][few], out=flat[some][few], mode="wrap")  # the fastest mode
    return made


def _stretches(wanted: np.ndarray[Any, Any], whole: np.ndarray[Any, Any]) -> Iterator[slice]:
    """Yield ranges of indices, between which pages are given back where memory is limited.

    The system maps some pages around each element that is far from the one before it, and of a large folio in its cache
    2 MiB.
    """
    if not library.memory_limit() or not len(wanted) or int(np.ptp(wanted)) * whole.itemsize <= mapped_at_once():
        yield slice(None)
        return
    far, start = np.flatnonzero(np.abs(np.diff(wanted)) > PAGE // whole.itemsize) + 1, 0
    for end in (*far[_FAR - 1 :: _FAR].tolist(), len(wanted)):
        yield slice(start, end)
        library.memory_ease()
        start = end


def _are_within(wanted: np.ndarray[Any, Any], size: int) -> bool:
    """Say whether indices, of which negative ones count from the end, are those of so many elements."""
    return all([-size <= int(wanted[some].min()) and int(wanted[some].max()) < size for some in in_blocks(wanted)])


def _elements_of_only_rank(c: Any) -> Any:
    """Return all elements in C order if this rank is the only one, which then meets nobody."""
    if c.context.size > 1 or c.placement_policy is _DEVICE:
        return None
    part = c.local_view()
    return part.reshape(-1) if part.flags.c_contiguous else None


def as_carried(c: Any, elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return elements of a container's type as the core takes them, and compares them on all ranks: by their bytes."""
    return room_for(c, kind_of(c.dtype).cleared(elements))


def room_for(c: Any, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array for elements of a container's type as the core writes to it."""
    carrier = carrier_of(c)
    return out if carrier is None else out.view(carrier)


#: How many bytes of an array a loop takes before it lets pages of files be given back, and how many elements far apart.
BLOCK, _FAR = 4 << 20, 8

#: How many bytes a page has, and about how many the system maps where one of a file is touched.
PAGE, _MAPPED = 4 << 10, 128 << 10


def in_blocks(part: Any, most: int = BLOCK) -> Iterator[slice]:
    """Yield ranges of rows of so many bytes at most where memory is limited, and else all of them at once."""
    if not library.memory_limit() or part.nbytes <= most:
        yield slice(None)
        return
    step = max(most * len(part) // max(part.nbytes, 1), 1)
    for start in range(0, len(part), step):
        yield slice(start, start + step)
        library.memory_ease()


#: Of the limit of memory, what a band of lines takes, of which NumPy makes some copies.
_SHARE = 16


def in_bands(c: Any, left: list[int], itemsize: int = 0) -> Iterator[tuple[slice, ...] | None]:
    """Yield where bands of this rank's lines are, which are ranges of the largest of the dimensions that are left.

    None is all lines at once: where memory is not limited, or has room for them. Itemsize is how many bytes an element
    takes, if not those that it has.
    """
    shape, most, mine = c.local_shape, library.memory_limit() // _SHARE, c.local_size * (itemsize or c.dtype.itemsize)
    if not is_limited(c) or mine <= most:
        yield None
        return
    across = max(left, key=lambda d: int(shape[d]))
    width = max(most * shape[across] // mine, 1)
    for start in range(0, shape[across], width):
        lines = slice(start, min(start + width, shape[across]))
        yield tuple([lines if d == across else slice(None) for d in range(c.ndim)])


def mapped_at_once() -> int:
    """Return how many bytes of a file, side by side, a loop may have mapped without a look. Not collective."""
    return max(BLOCK, int(library.memory_limit()) // 64)


def is_limited(c: Any) -> bool:
    """Say whether a container is on disk, and the memory of the process limited. Not collective."""
    return bool(c.placement_policy is Placement.DISK and library.memory_limit())


def in_memory(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy in memory, made so that the pages of all rows, which may be far apart, are not there at once."""
    made = np.empty(x.shape, x.dtype)
    copy_rows(made, x)
    return made


def copy_rows(to: np.ndarray[Any, Any], of: np.ndarray[Any, Any], number: int = 0) -> None:
    """Copy elements to an array of the same shape, a block after the other where memory is limited.

    At most so many threads copy; 0 is all of this rank.
    """
    if not library.memory_limit() or not to.size:
        if not element_loops.assign(to, of, number):
            np.copyto(to, of, "unsafe")
        return
    # Of rows that are far apart, the system maps what is around each, too.
    reach = max([min(abs(x.strides[0]), x[:1].nbytes + _MAPPED) for x in (to, of)])
    step = max(BLOCK // max(reach, 1), 1)
    for start in range(0, len(to), step):
        rows = slice(start, start + step)
        if not element_loops.assign(to[rows], of[rows], number):
            np.copyto(to[rows], of[rows], "unsafe")
        library.memory_ease()


def conjugate(c: Any) -> None:
    """Replace this rank's elements by their conjugates, block by block where memory is limited. Not collective."""
    if kind_of(c.dtype).is_complex:
        view = c.local_view()
        for some in in_blocks(view):
            np.conjugate(view[some], out=view[some])


def check_numbers(c: Any, op: str) -> None:
    """Refuse elements that are moved, compared and sorted, and not computed with."""
    kind_of(c.dtype).check_computed(op, c.dtype)


def end_write(c: Any, op: str) -> None:
    """End a collective call whose last step has written elements of a container on each rank. Collective.

    A GPU may fail at it on one rank alone: then the call raises on every rank.
    """
    if c.placement_policy is _DEVICE:
        agree(c.context, op, "elements were written")
