"""The elements of a container in the order of files: C order, by ranges of rows, of which each rank has its own.

Where a rank's elements are such a range they are taken as they lie. Others, as of PARTITION_CYCLIC or of a grid, are
exchanged by the ranks in windows of a few MiB, so that each rank reads and writes long ranges all the same, and no two
ranks write to one page of a file.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Tuple

import numpy as np

from ..containers.base import DistributedContainer
from ..containers.expressions import copied_rows, is_pending, windows
from ..containers.indexing.regions import Axis, Region, move
from ..containers.layout import Division
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..policies import Partition, Placement
from ..runtime.agreement import local_step
from ..runtime.device_array import memory_of_array
from ..runtime.staging import Staging

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many rows each rank has, of so many: they add up to them.
Shares = Callable[[int], Tuple[int, ...]]

#: Rows that lie side by side in C order: the indices of the dimensions before, the first row, and the one after them.
Box = Tuple[Tuple[int, ...], int, int]

#: The bytes of each rank's part of a window.
WINDOW = 2 << 20

#: The bytes of a GPU that are on the host at once, and of an expression that is computed for a file.
STAGED, COMPUTED = 8 << 20, 4 << 20

#: The bytes of a run that is worth a call of the system of its own.
RUN = 2 << 10

#: How many ranks at most read all of a file, each for the elements of its own, in pieces of so many bytes.
READERS, PIECE = 4, 1 << 20


class Block(NamedTuple):
    """Some rows: where the first is, by its index in the leading dimensions, and the elements from there on."""

    at: tuple[int, ...]
    elements: Array


def owning(c: DistributedContainer) -> type[Any]:
    """Return the class of a new container of the same dimensions."""
    return DistributedVector if c.ndim == 1 else DistributedTensor


def in_order(c: DistributedContainer) -> bool:
    """Say whether each rank has a range of rows, one rank's after the other's. The same on every rank."""
    if c.context.size == 1:
        return True
    return c.partition_policy in (Partition.BLOCK, Partition.EXPLICIT) and c.grid[0] == c.context.size


def evenly(ranks: int, unit: int = 1) -> Shares:
    """Return shares that differ by at most one unit of rows; the last rows may be less than a unit."""

    def shares(rows: int) -> tuple[int, ...]:
        units = -(-rows // unit)
        ends = [min(rows, units * (rank + 1) // ranks * unit) for rank in range(ranks)]
        return tuple(end - start for start, end in zip([0, *ends], ends))

    return shares


def of_root(ranks: int) -> Shares:
    """Return shares of which rank 0 has all."""
    return lambda rows: (rows, *[0] * (ranks - 1))


def blocks_of(op: str, c: DistributedContainer, unit: int = 1, alone: bool = False, first: int = 0) -> Iterator[Block]:
    """Yield the blocks that this rank is to write, each of whole units of rows. Collective, unless in order.

    Where the root is to be alone, it is to write all. The first rows, which end another unit, are the root's.
    """
    ranks = c.context.size
    if alone and ranks > 1:
        row = max(1, c.itemsize * math.prod(c.shape[1:]))
        yield from windows_of(c, unit * max(1, WINDOW // (row * unit)), of_root(ranks))
    elif on_gpu(c) and in_order(c) and unit == 1:
        yield from _staged(op, c)
    elif is_computed_in_windows(c) and in_order(c) and unit == 1:
        yield from _computed(c)
    elif in_order(c) and (unit == 1 or ranks == 1) and not on_gpu(c):
        yield Block((c.local_offset,), c.local_view())
    elif unit == 1:
        yield from _exchanged(c, _boxes(c.shape, c.itemsize, WINDOW * ranks), evenly(ranks))
    else:
        row = max(1, c.itemsize * math.prod(c.shape[1:]))
        first = min(first, c.shape[0])
        if first:
            yield from _exchanged(c, [((), 0, first)], of_root(ranks))
        yield from windows_of(c, unit * ranks * max(1, WINDOW // (row * unit)), evenly(ranks, unit), first)


def on_gpu(c: DistributedContainer) -> bool:
    """Say whether the elements are on a GPU alone."""
    return c.placement_policy is Placement.DEVICE


def is_computed_in_windows(c: DistributedContainer) -> bool:
    """Say whether elements are still to be computed, and are for a file alone: those that would be on a disk."""
    return is_pending(c) and c.placement_policy is Placement.DISK


def _computed(c: DistributedContainer) -> Iterator[Block]:
    """Yield this rank's part, which is still to be computed, in windows, each of which the next overwrites."""
    first = c.local_offset
    for own in copied_rows(c):
        yield Block((first,), own)
        first += len(own)
    if first > c.local_offset:
        return
    computed = windows(c)
    boxes = list(_boxes(c.local_shape, c.itemsize, COMPUTED))
    if computed is None or (computed.whole_rows and boxes[0][0]):
        yield Block((c.local_offset,), c.local_view())
        return
    for at, lo, hi in boxes:
        shape = (hi - lo, *c.local_shape[len(at) + 1 :])
        start = linear((*at, lo), c.local_shape)
        elements = computed.elements(start, start + math.prod(shape))
        first, *rest = (*at, lo)
        yield Block((first + c.local_offset, *rest), elements.reshape(shape))
    computed.warn()


def _staged(op: str, c: DistributedContainer) -> Iterator[Block]:
    """Yield this rank's part, a range of rows on a GPU, in pieces on the host, each of which the next overwrites."""
    memory = memory_of_array(c.device_view())
    for at, piece in _pieces_on_host(c):
        with local_step(c.context, op), Staging(op, logs=True) as staging:
            memory.read(piece, at)
            staging.bytes = piece.nbytes
        yield Block((c.local_offset + at[0], *at[1:]), piece)


def _pieces_on_host(c: DistributedContainer) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield an index in this rank's part of each piece of it, and memory of the host for its elements."""
    room = np.empty(0, c.dtype)
    for at, lo, hi in _boxes(c.local_shape, c.itemsize, STAGED):
        shape = (hi - lo, *c.local_shape[len(at) + 1 :])
        if room.size < math.prod(shape):
            room = np.empty(math.prod(shape), c.dtype)
        yield (*at, lo), room[: math.prod(shape)].reshape(shape)


def windows_of(c: DistributedContainer, rows: int, shares: Shares, start: int = 0) -> Iterator[Block]:
    """Yield this rank's share of each so many rows of dimension 0, whatever the division. Collective."""
    boxes = (((), lo, min(lo + rows, c.shape[0])) for lo in range(start, c.shape[0], rows))
    return _exchanged(c, boxes, shares)


def _exchanged(c: DistributedContainer, boxes: Iterable[Box], shares: Shares) -> Iterator[Block]:
    """Yield this rank's share of the rows of each box, which is overwritten by the next. Collective."""
    with _Window(c, shares) as window:
        for at, lo, hi in boxes:
            rows = window.of(at, hi - lo)
            move(rows, c, _region(c, at, lo, hi).source())
            yield Block((*at, lo + rows.local_offset), rows.local_view())


def fill(
    op: str, c: DistributedContainer, read: Callable[[tuple[int, ...], Array], None], window: int = WINDOW
) -> None:
    """Write to a container what is read. Collective, unless each rank's elements are a range of rows.

    It is read by a function of an index in the leading dimensions and an array, which it fills with the elements from
    there on. The function tells the other ranks of its errors. Where ranks exchange what they read, a rank's part of a
    window has so many bytes.
    """
    if in_order(c):
        if on_gpu(c):
            _fill_staged(op, c, read)
            return
        view = c.local_view()
        if view.size:
            read((c.local_offset,), view)
        return
    with _Window(c, evenly(c.context.size)) as made:
        for at, lo, hi in _boxes(c.shape, c.itemsize, window * c.context.size):
            rows = made.of(at, hi - lo)
            view = rows.local_view()
            if view.size:
                read((*at, lo + rows.local_offset), view)
            move(c, rows, _region(c, at, lo, hi).destination())


def _fill_staged(op: str, c: DistributedContainer, read: Callable[[tuple[int, ...], Array], None]) -> None:
    """Write to this rank's part, a range of rows on a GPU, what is read to pieces on the host."""
    memory = memory_of_array(c.device_view())
    for at, piece in _pieces_on_host(c):
        read((c.local_offset + at[0], *at[1:]), piece)
        with local_step(c.context, op), Staging(op, logs=True) as staging:
            memory.write(piece, at)
            staging.bytes = piece.nbytes


def may_read_all(c: DistributedContainer) -> bool:
    """Say whether a rank's elements lie evenly among those of others, of which there are few. The same on every rank.

    Then each rank reads all, and takes what is its own: that costs less than an exchange.
    """
    if in_order(c) or on_gpu(c) or c.context.size > READERS:
        return False
    return c.partition_policy in (Partition.CYCLIC, Partition.BLOCK)


def fill_from_all(c: DistributedContainer, read: Callable[[tuple[int, ...], Array], None]) -> None:
    """Write to a container what is read, as ``fill`` does, where each rank may read all. Not collective."""
    view = c.local_view()
    if not view.size:
        return
    own = [_evenly_spaced(c.local_indices(d)) for d in range(c.ndim)]
    piece: Any = None
    for at, lo, hi in _boxes(c.shape, c.itemsize, PIECE):
        part = view
        for index, mine in zip(at, own):
            part = part[mine.index(index)] if index in mine else part[:0]
        rows = own[len(at)]
        first, last = (max(0, -(-(edge - rows.start) // rows.step)) for edge in (lo, hi))
        last = min(last, len(rows))
        if first >= last or not part.size:
            continue
        if piece is None or piece.shape != (hi - lo, *c.shape[len(at) + 1 :]):
            piece = np.empty((hi - lo, *c.shape[len(at) + 1 :]), c.dtype)
        read((*at, lo), piece)
        chosen = [slice(each.start, each.stop, each.step) for each in own[len(at) + 1 :]]
        part[first:last] = piece[(slice(rows[first] - lo, rows[last - 1] + 1 - lo, rows.step), *chosen)]


def _evenly_spaced(indices: Array) -> range:
    """Return indices that lie evenly apart as a range."""
    step = int(indices[1] - indices[0]) if len(indices) > 1 else 1
    return range(int(indices[0]), int(indices[-1]) + 1, step)


class Runs(NamedTuple):
    """A rank's elements as runs that lie side by side in C order, and where each begins."""

    elements: Array
    starts: Array

    def slabs(self) -> Iterator[tuple[Array, list[int]]]:
        """Yield contiguous elements, and where their runs begin: all, or where memory has gaps, those of a row each."""
        if self.elements.flags.c_contiguous:
            yield self.elements, self.starts.reshape(-1).tolist()
            return
        for elements, starts in zip(self.elements, self.starts):
            yield elements, starts.tolist()


def runs_of(c: DistributedContainer) -> Runs | None:
    """Return the runs of a part of a grid, where those of all ranks are long; else None. The same on every rank."""
    last = max((d for d, extent in enumerate(c.grid) if extent > 1), default=0)
    if c.partition_policy is not Partition.BLOCK or not last or on_gpu(c):
        return None
    if c.shape[last] // c.grid[last] * math.prod(c.shape[last + 1 :]) * c.itemsize < RUN:
        return None
    starts = np.zeros((), np.int64)
    for d in range(last + 1):
        indices = c.local_indices(d)
        starts = starts[..., np.newaxis] * c.shape[d] + (indices if d < last else indices[:1])
    return Runs(
        c.local_view(), (starts * math.prod(c.shape[last + 1 :])).reshape(len(starts), math.prod(starts.shape[1:]))
    )


class _Window:
    """A container for the rows of a box, which is kept for the next box where that has the same shape."""

    def __init__(self, of: DistributedContainer, shares: Shares) -> None:
        self._of, self._shares = of, shares
        self._rows: Any = None

    def of(self, at: tuple[int, ...], rows: int) -> Any:
        """Return a container for so many rows. Collective."""
        shape = (rows, *self._of.shape[len(at) + 1 :])
        if self._rows is None or self._rows.shape != shape:
            self.close()
            kind = DistributedVector if len(shape) == 1 else DistributedTensor
            divided = Division(Partition.EXPLICIT, sizes=self._shares(rows))
            self._rows = created(kind, self._of.context, shape, self._of.dtype, divided)
        return self._rows

    def close(self) -> None:
        """Let the container go."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def __enter__(self) -> _Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _region(c: DistributedContainer, at: tuple[int, ...], lo: int, hi: int) -> Region:
    """Return the region of some rows at an index of the dimensions before them."""
    axes = [Axis(d, index, 1, 1, False) for d, index in enumerate(at)]
    axes.append(Axis(len(at), lo, 1, hi - lo, True))
    axes += [Axis(d, 0, 1, c.shape[d], True) for d in range(len(at) + 1, c.ndim)]
    return Region(tuple(axes))


def _boxes(shape: tuple[int, ...], itemsize: int, limit: int) -> Iterator[Box]:
    """Yield what lies side by side in C order and has at most so many bytes: leading indices, and a range of rows."""
    row = itemsize * math.prod(shape[1:])
    if not row:
        return
    if row > limit and len(shape) > 1:
        for index in range(shape[0]):
            for at, lo, hi in _boxes(shape[1:], itemsize, limit):
                yield (index, *at), lo, hi
        return
    rows = max(1, limit // row)
    for lo in range(0, shape[0], rows):
        yield (), lo, min(lo + rows, shape[0])


def pieces(at: tuple[int, ...], elements: Array, limit: int) -> Iterator[Block]:
    """Yield a block in blocks of at most so many bytes."""
    if elements.nbytes <= limit or not elements.ndim:
        yield Block(at, elements)
        return
    row = elements[:1].nbytes
    if row > limit and elements.ndim > 1:
        for index, one in enumerate(elements):
            yield from pieces((*at[:-1], at[-1] + index, 0), one, limit)
        return
    rows = max(1, limit // row)
    for lo in range(0, len(elements), rows):
        yield Block((*at[:-1], at[-1] + lo), elements[lo : lo + rows])


def linear(at: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Return the place in C order of the first element at an index of the leading dimensions."""
    place = 0
    for index, extent in zip(at, shape):
        place = place * extent + index
    return place * math.prod(shape[len(at) :])
