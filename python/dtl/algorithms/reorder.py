"""Algorithms that reorder elements, or combine neighbours, by their global index."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, overload

import numpy as np

from .._native.arguments import integer
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..containers.base import DistributedContainer, check_container, indices_of_rows
from ..containers.indexing.regions import Axis, Region, move, move_all
from ..containers.interior import end_write, in_blocks, is_limited
from ..containers.making import new_like
from ..containers.places import device
from ..containers.places.copies import computed
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.array_libraries import LibraryLike
from ..runtime.scheduler import algorithm, calls_functions, writes
from . import device_functions
from .exchange import share
from .sort import sort_by_key
from .user_functions import check_function, evaluate_predicate, named, user_code

if TYPE_CHECKING:
    from ..containers.types import Owned

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_STEP = 0x9E3779B97F4A7C15


@algorithm
@writes("c")
def reverse(c: DistributedContainer) -> None:
    """Reverse the order of the elements in place, along every dimension. Collective.

    Each rank needs temporary memory as large as its part: of what is on disk under a limit of memory, a file.

    Raises
    ------
    MemoryError
        If a rank has no such memory. On every rank; nothing is changed.
    CollectiveMismatchError
        If the ranks pass different containers.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4) as vec:
    ...     dtl.iota(vec)
    ...     dtl.reverse(vec)
    ...     print(vec[...].gather_to())
    [3. 2. 1. 0.]
    """
    check_container("c", c)
    refuse_closed(c)
    axes = [Axis(d, extent - 1, -1, extent, True) for d, extent in enumerate(c.shape)]
    move(c, c, Region(tuple(axes)).source())


@algorithm
@writes("c")
def rotate(c: DistributedContainer, by: int) -> None:
    """Rotate the elements to the left along dimension 0, in place. Collective.

    The element of index ``by`` becomes the first, and those before it the last: ``np.roll(a, -by, axis=0)``. Each rank
    needs temporary memory as large as its part.

    Parameters
    ----------
    c
        A container, the same on every rank.
    by
        How far to rotate, any integer; negative ones rotate to the right. The same on every rank.

    Raises
    ------
    InvalidTypeError
        If by is not an integer. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or distances.
    MemoryError
        If a rank has no such memory. On every rank; nothing is changed.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 5) as vec:
    ...     dtl.iota(vec)
    ...     dtl.rotate(vec, 2)
    ...     print(vec[...].gather_to())
    [2. 3. 4. 0. 1.]
    """
    check_container("c", c)
    refuse_closed(c)
    n = c.shape[0]
    distance = integer("by", by) % max(n, 1)
    rest = [Axis(d, 0, 1, extent, True) for d, extent in enumerate(c.shape)][1:]
    copy = c.copy()
    with copy:
        share(c, "rotate", f"by {by}")
        for start, to, extent in ((distance, 0, n - distance), (0, n - distance, distance)):
            _move_rows(c, copy, rest, start, to, extent)


@algorithm
@calls_functions
@writes("c")
def partition_by(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> int:
    """Move the elements for which a predicate is true before the others, in place. Collective.

    Both groups keep their order. Each rank needs temporary memory as large as its part. What is on disk under a limit
    of memory is read in blocks and written to files three times, of which the last is its own.

    Parameters
    ----------
    c
        A one-dimensional container, the same on every rank.
    f, elementwise, library
        As for ``find_if``.

    Returns
    -------
    int
        The number of elements for which the predicate is true, which is the index of the first of the others.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, CommunicationError
        As for ``find_if``; also if c has more than one dimension. On every rank; nothing is changed.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6, dtype=int) as vec:
    ...     dtl.iota(vec)
    ...     print(dtl.partition_by(vec, lambda a: a % 2 == 1), vec[...].gather_to())
    3 [1 3 5 0 2 4]
    """
    check_container("c", c)
    _check_one_dimensional(c)
    check_function("f", f, library)
    with in_global_order(c) as line:
        groups, words = computed("partition_by", _groups, (line, f, library, elementwise), _groups_there, written=())
        held = int(share(line, "partition_by", words, (len(groups[0]),), anywhere=True)[:, 0].sum())
        for part, at, extent in ((groups[0], 0, held), (groups[1], held, c.shape[0] - held)):
            with from_parts(DistributedVector, c.context, part, line.placement_policy) as piece:
                _move_rows(c, piece, [], 0, at, extent)
    end_write(c, "partition_by")
    return held


def _groups(line: DistributedContainer, f: Any, _: Any, elementwise: bool) -> tuple[Any, str]:
    """Return this rank's elements for which a predicate is true, and the others, and words for the agreement."""
    with user_code(line.context, "partition_by"):
        view, mask = line.local_view(), evaluate_predicate("partition_by", f, line, elementwise)
    if not is_limited(line):
        return (view[mask], view[~mask]), named(f)
    made = new_like(line, line.dtype).local_view()
    first = sum(int(np.count_nonzero(mask[rows])) for rows in in_blocks(mask))
    ends = [0, first]
    for rows in in_blocks(view):
        for group, chosen in enumerate((view[rows][mask[rows]], view[rows][~mask[rows]])):
            made[ends[group] : ends[group] + len(chosen)] = chosen
            ends[group] += len(chosen)
    return (made[:first], made[first:]), named(f)


def _groups_there(line: DistributedContainer, f: Any, library: Any, elementwise: bool) -> tuple[Any, str]:
    mask, words = device_functions.predicate("partition_by", line, f, library, elementwise)
    return (device.chosen(line, mask), device.chosen(line, np.logical_not(mask))), words


@overload
def adjacent_difference(c: Owned) -> Owned: ...
@overload
def adjacent_difference(c: Any) -> Any: ...
@algorithm
def adjacent_difference(c: DistributedContainer) -> Any:
    """Return each element minus the one before it; the first element remains as it is. Collective.

    The result is ``np.diff(a, prepend=0)`` in the dtype of the elements.

    Parameters
    ----------
    c
        A one-dimensional container, the same on every rank.

    Returns
    -------
    container
        The differences, with the dtype and partition of c.

    Raises
    ------
    InvalidArgumentError
        If c has more than one dimension, or if the elements are bool. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 5, 4, 4]))
    ...     print(dtl.adjacent_difference(vec)[...].gather_to())
    [ 3  2 -1  0]
    """
    check_container("c", c)
    _check_one_dimensional(c)
    if kind_of(c.dtype).is_boolean:
        raise InvalidArgumentError("truth values have no difference; convert to an integer dtype")
    result = new_like(c, c.dtype)
    with in_global_order(c) as line:
        view = line.local_view()
        end = view[-1:].tobytes().ljust(16, b"\0")
        rows = share(c, "adjacent_difference", "", (len(view), *np.frombuffer(end, np.int64).tolist()))
        before = np.zeros(1, c.dtype)
        for held, *value in rows[: c.context.rank].tolist():
            if held:
                before = np.array(value, np.int64).view(np.uint8)[: c.itemsize].view(c.dtype)
        made = result.local_view() if line is c else view
        for some in in_blocks(view):
            rows, to = view[some], made[some]
            last = rows[-1:].copy()
            np.subtract(rows[1:], rows[:-1], out=to[1:])
            np.subtract(rows[:1], before[: len(rows)], out=to[:1])
            before = last
        if line is not c:
            move_all(result, line)
    return result


@contextmanager
def in_global_order(c: DistributedContainer) -> Iterator[DistributedContainer]:
    """Give a container's elements in the order of the ranks: as they are, or as a copy by blocks. Collective."""
    if c.partition_policy in (Partition.BLOCK, Partition.EXPLICIT):
        yield c
        return
    with DistributedVector(c.context, c.shape[0], dtype=c.dtype, placement=c.placement_policy) as line:
        move_all(line, c)
        yield line


def _check_one_dimensional(c: DistributedContainer) -> None:
    refuse_closed(c)
    if c.ndim != 1:
        raise InvalidArgumentError(f"c of shape {c.shape} has {c.ndim} dimensions; it must have 1")


def _move_rows(
    to: DistributedContainer, of: DistributedContainer, rest: list[Axis], start: int, at: int, extent: int
) -> None:
    """Move as many rows of dimension 0, from one on, to others. Collective."""
    first = [0, start, 1, 0, at, 1, extent]
    others = [n for axis in rest for n in (axis.dim, 0, 1, axis.dim, 0, 1, axis.extent)]
    bridge.move(to, np.array([handle_of(of), *first, *others], np.int64))


@algorithm
@writes("c")
def shuffle(c: DistributedContainer, seed: int) -> None:
    """Put the elements in a random order, in place. Collective.

    The order depends only on the seed and the number of elements: it is the same on any number of ranks, and for any
    partition. All orders are equally likely.

    Parameters
    ----------
    c
        A one-dimensional container, the same on every rank.
    seed
        An integer in [0, 2**63), the same on every rank.

    Raises
    ------
    InvalidTypeError
        If seed is not an integer. On every rank.
    InvalidArgumentError
        If seed is negative, or if c has more than one dimension. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or seeds.
    MemoryError
        If a rank has no memory for intermediate results, 40 bytes for each element; of what is on disk, these are in
        files, as for ``sort_by_key``. On every rank; nothing is changed.

    Notes
    -----
    The elements are sorted by random numbers of 64 bits, which SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) makes
    from the seed and the global index. Two elements with the same number keep their order. With a thousand million
    elements, one pair in forty shuffles is expected to have the same number.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6, dtype=int) as vec:
    ...     dtl.iota(vec)
    ...     dtl.shuffle(vec, seed=3)
    ...     print(sorted(vec[...].gather_to().tolist()))
    [0, 1, 2, 3, 4, 5]
    """
    check_container("c", c)
    refuse_closed(c)
    number = integer("seed", seed)
    if number < 0:
        raise InvalidArgumentError(f"seed {number} is negative")
    if c.ndim != 1:
        raise InvalidArgumentError(f"c of shape {c.shape} has {c.ndim} dimensions; it must have 1")
    keys = new_like(c, np.uint64)
    view = keys.local_view()
    for rows in in_blocks(view):
        view[rows] = _random(indices_of_rows(c, rows), number)
    with keys:
        share(c, "shuffle", f"seed {number}")
        sort_by_key(keys, c)


def _random(indices: Any, seed: int) -> Any:
    """Return SplitMix64's number of each index, in a sequence that the seed chooses."""
    return splitmix64(splitmix64(indices.astype(np.uint64)) ^ splitmix64(np.array([seed], np.uint64)))


def splitmix64(state: Any) -> Any:
    """Return what SplitMix64 returns in each of some states, an array of uint64."""
    z = state + np.uint64(_STEP)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z
