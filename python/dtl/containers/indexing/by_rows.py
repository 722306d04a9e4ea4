"""Elements at this rank's own indices, of all rows or of some at a time.

Where memory is limited, indices in any order are divided by ranges of the elements that they name, in files without a
name: so each range is in memory once, and no page of it is given back and read again for another index.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ..._native import library
from ..._native.library import bridge
from ...comm import collectives
from ...comm.reductions import allreduce
from ...ops import MAX, MIN, SUM
from ...policies import Placement
from ...runtime.agreement import local_step
from ...runtime.scratch import free_memory
from ...runtime.spill import Spill, add_by_range
from ..indices import check_inside, from_start
from ..interior import BLOCK, PAGE, as_carried, elements_at, end_write, is_limited, mapped_at_once
from ..places.place import set_part

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Of how many elements a rank looks how far its indices are from each other, in so many places of its list.
_SAMPLE, _SAMPLES = 1024, 8

#: Indices are divided by ranges if one of so many, or more, is far from the one before it: it costs as much time there.
_FEW_ARE_FAR = 12

#: Into how many ranges elements are divided at most, of which each is a piece of each piece of the file.
_MOST_RANGES = 2048

#: A piece of the indices, with what is made of it, takes up to this part of the memory that is free.
_SHARE = 12


def gather_elements(made: Any, a: Any, indices: Array, op: str = "take") -> None:
    """Write the elements of indices in C order, this rank's own list, to this rank's part. Collective."""
    wanted = np.ascontiguousarray(indices, np.int64)
    if made.placement_policy is Placement.DEVICE:
        set_part(made, elements_at(a, wanted.reshape(-1)).reshape(made.local_shape))
    else:
        elements_at(a, wanted.reshape(-1), made.local_view().reshape(-1))
    end_write(made, op)


def gather_rows(made: Any, a: Any, indices: Callable[[slice], Array], op: str = "take", run: int = 1) -> None:
    """Do the same, some rows at a time where memory is limited. Collective.

    Indices is a function of some rows of this rank's part, which returns those of their elements. Of a run, so many
    elements from a multiple of its length on, they are one after the other. Where they are in any order, there is one
    pass over the elements and one over the result, and files for the indices of runs and for the elements are written
    and read once each.
    """
    if not (is_limited(a) or is_limited(made)):
        gather_elements(made, a, indices(slice(None)), op)
        return
    view, ctx, inner = made.local_view(), a.context, math.prod(made.shape[1:])
    rows = _rows_of_block(inner)
    run = run if run * a.itemsize < PAGE else 1
    if _are_far(a, len(view), inner, indices, run):
        _gather_by_ranges(view.reshape(-1), a, len(view), inner, indices, op, run)
        return
    for some in _blocks(len(view), rows, allreduce(ctx, -(-len(view) // rows), MAX)):
        wanted = np.ascontiguousarray(indices(some), np.int64)
        elements_at(a, wanted.reshape(-1), view[some].reshape(-1))
        library.memory_ease()


def run_of_rows(made: Any, a: Any) -> int:
    """Return how many elements each row has that is selected whole: 1 where no rank has whole rows of the result."""
    return math.prod(a.shape[1:]) if made.ndim > 1 and made.grid[0] == made.context.size else 1


def scatter_rows(
    to: Any,
    length: int,
    inner: int,
    indices: Callable[[slice], Array],
    values: Callable[[slice], Array],
    op: str = "put",
    *,
    read: Sequence[Any] = (),
    fit: bool = True,
) -> None:
    """Write values to the elements of indices in C order, this rank's own list. Collective.

    Where memory is limited, it goes by some of the list at a time. Indices in any order, and their values, are written
    to a file and read once, and there is one pass over the elements.

    Parameters
    ----------
    to
        The container.
    length, inner
        How many rows the list has, and how many indices a row.
    indices
        A function of some rows of the list, which returns their indices; negative ones count from the end. An index
        outside is an error on every rank, and then nothing is written.
    values
        A function of the same rows, called once for each in their order, which returns their values in the element
        type. It may be collective. Of an index that occurs twice, the last value in a rank's list stays.
    op
        The call, for errors.
    read
        What indices and values are read from. Where containers of it share memory with this one, all of both are read
        before anything is written.
    fit
        Whether the values are sure to fit. Otherwise nothing is written before all of them are there.
    """
    ctx = to.context
    rows = _rows_of_block(inner)
    turns = shared = 0
    if is_limited(to):
        turns, shared = allreduce(ctx, np.array([-(-length // rows), share_memory(to, read)]), MAX).tolist()
    if turns <= 1:
        some = slice(0, length)
        _put(to, indices(some), values(some))
        return
    blocks = list(_blocks(length, rows, turns))
    if fit and not shared and not _are_far(to, length, inner, indices):
        with local_step(ctx, op):
            for some in blocks:
                check_inside(indices(some), to.global_size)
        for some in blocks:
            _put(to, indices(some), values(some))
            library.memory_ease()
        return
    scatter = Scatter(ctx, to.global_size, to.dtype, _rows_of_range(to))
    for some in blocks:
        given = values(some)
        with local_step(ctx, op):
            wanted = indices(some).reshape(-1).astype(np.int64, copy=False)
            check_inside(wanted, to.global_size)
            scatter.add(from_start(wanted, to.global_size), given.reshape(-1))
        library.memory_ease()
    scatter.put(to)


def share_memory(to: Any, others: Sequence[Any]) -> bool:
    """Say whether this rank's elements on disk of a container are, or may be, those of others, too. Not collective."""
    disk = [c for c in others if getattr(c, "placement_policy", None) is Placement.DISK]
    return any([np.may_share_memory(to.local_view(), c.local_view()) for c in disk])


def _put(to: Any, indices: Array, values: Array) -> None:
    wanted = np.ascontiguousarray(indices, np.int64).reshape(-1)
    bridge.put(to, wanted, as_carried(to, np.ascontiguousarray(values).reshape(-1)))


class Scatter:
    """Values that go to global indices of a container: written to a file by ranges of indices, then put range by range.

    A range is as much of each rank's elements, as blocks divide them.

    Parameters
    ----------
    ctx
        The context.
    size
        How many indices there are.
    dtype
        Of the values.
    rows
        How many a rank has in memory.
    """

    def __init__(self, ctx: Any, size: int, dtype: Any, rows: int) -> None:
        self._context, self._rows = ctx, rows
        self._ranges = _Ranges(ctx, size, rows)
        self._spill = Spill(ctx, [np.min_scalar_type(max(size - 1, 0)), np.dtype(dtype)])

    def add(self, indices: Array, values: Array) -> None:
        """Write what this rank has. Not collective."""
        add_by_range(self._spill, self._ranges.codes(indices), self._ranges.count, [indices, values])

    def put(self, into: Any) -> None:
        """Write all of it to a container. Collective."""
        for indices, values in _rounds(self._context, self._spill, self._ranges.count, self._rows):
            _put(into, indices, values)


class _Ranges:
    """Ranges of indices, each of which names so many elements of each rank, as blocks divide them, or a few more."""

    def __init__(self, ctx: Any, size: int, rows: int) -> None:
        self._each = max(1, -(-size // ctx.size))
        self._width = max(1, rows, -(-self._each // _MOST_RANGES))
        self.count = -(-self._each // self._width)

    def codes(self, indices: Array) -> Array:
        """Return the number of the range of each index."""
        return indices % self._each // self._width


def _rounds(ctx: Any, spill: Spill, ranges: int, rows: int) -> Iterator[list[Array]]:
    """Yield the columns of a file, range after range, of so many rows at a time, or of a piece. Collective.

    There are as many on each rank, of which some may be empty.
    """
    mine = np.array([len(spill.batches(number, rows)) for number in range(ranges)])
    most = collectives.allgather(ctx, mine).reshape(ctx.size, ranges).max(axis=0)
    for number, count in enumerate(most.tolist()):
        batches = spill.batches(number, rows)
        for turn in range(count):
            yield spill.read(number, batches[turn] if turn < len(batches) else [])
            library.memory_ease()


def _gather_by_ranges(
    out: Array, a: Any, length: int, inner: int, indices: Callable[[slice], Array], op: str, run: int
) -> None:
    ctx, count, few = a.context, a.global_size // run, max(1, _rows_of_range(a) // run)
    kind = a.dtype if run == 1 else np.dtype((np.void, run * a.itemsize))
    out = out.view(kind)
    ranges = _Ranges(ctx, count, few)
    places = np.min_scalar_type(len(out))
    asked = Spill(ctx, [np.min_scalar_type(count), places])
    rows = _rows_of_block(inner)
    with local_step(ctx, op):
        for start in range(0, length, rows):
            wanted = indices(slice(start, min(start + rows, length))).reshape(-1)[::run].astype(np.int64, copy=False)
            check_inside(wanted, a.global_size)
            wanted = from_start(wanted, a.global_size) // run
            at = start * inner // run + np.arange(len(wanted))
            add_by_range(asked, ranges.codes(wanted), ranges.count, [wanted, at])
            library.memory_ease()
    width = max(1, few, -(-len(out) // _MOST_RANGES))
    ends = np.arange(width, len(out) + width, width)
    found = Spill(ctx, [places, kind])
    for wanted, at in _rounds(ctx, asked, ranges.count, few):
        elements = elements_at(a, (wanted.astype(np.int64)[:, np.newaxis] * run + np.arange(run)).reshape(-1))
        with local_step(ctx, op):
            found.add([at, elements.view(kind)], np.searchsorted(at, ends))
    for number in range(len(ends)):
        at, elements = found.rows(number, number + 1)
        out[number * width : (number + 1) * width][at - number * width] = elements
        library.memory_ease()


def _blocks(length: int, rows: int, turns: int) -> Iterator[slice]:
    """Yield so many ranges of rows of a list, as many as the rank with most rows has: the last may be empty."""
    for start in range(0, turns * rows, rows):
        yield slice(min(start, length), min(start + rows, length))


def _rows_of_block(inner: int) -> int:
    """Return how many rows of so many indices are in memory at a time, with what they are made of."""
    return max(1, mapped_at_once() // (16 * max(1, inner)))


def _rows_of_range(a: Any) -> int:
    """Return how many elements of each rank there are in a range. Collective."""
    most = int(allreduce(a.context, min(mapped_at_once(), max(free_memory() or 0, BLOCK) // _SHARE), MIN))
    return max(1, most // (8 + int(a.itemsize)))


def _are_far(a: Any, length: int, inner: int, indices: Callable[[slice], Array], run: int = 1) -> bool:
    """Say whether many of the ranks' runs of indices name elements far from those of the ones before. Collective."""
    few = max(1, _SAMPLE // max(inner, 1))
    far = total = 0
    with local_step(a.context, "take"):
        for start in range(0, length, max(few, -(-length // _SAMPLES))):
            some = np.asarray(indices(slice(start, min(start + few, length)))).reshape(-1)[:_SAMPLE][::run]
            far += int(np.count_nonzero(np.abs(np.diff(some)) > PAGE // a.itemsize))
            total += len(some)
    count = allreduce(a.context, np.array([far, total, length * inner]), SUM)
    return bool(count[0] * _FEW_ARE_FAR > count[1] and count[2] > BLOCK // 16 and a.nbytes > BLOCK)
