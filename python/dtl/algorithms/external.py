"""Algorithms on elements that are more than the limit of memory: by ranges of keys, one after the other.

One pass over the elements divides them into ranges of keys, each of which fits in the memory of the ranks, and writes
them to files without a name. A second pass reads one range after the other, and computes with it in memory.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from .._native import library
from .._native.kinds import kind_of
from ..comm import collectives
from ..containers.layout import Division
from ..containers.making import created, result_placement
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..policies import Partition, Placement
from ..runtime.agreement import local_step
from ..runtime.scratch import free_memory, trim
from ..runtime.spill import Spill, add_by_range
from .exchange import gathered, share
from .rows import has_rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What a call makes of a range, and has in memory meanwhile, is up to so many times as large as the range.
_SHARE = 16

#: How many elements of a range are in the sample that says where ranges end, about.
_SAMPLES = 32

#: The least that is reckoned with, where other memory of the process leaves less, or nothing.
_LEAST = 16 << 20

#: Into how many ranges elements are divided at most, of which each is a piece of each piece of the file.
_MOST_RANGES = 2048

#: How many elements that are already sorted are looked at together.
_PIECE = 1 << 17


def is_on_disk(c: Any) -> bool:
    """Say whether a container's elements are in files."""
    return bool(c.placement_policy is Placement.DISK)


def has_ranges(c: Any, reverse: bool = False) -> bool:
    """Say whether elements are divided by ranges: numbers, dates and texts are, and records in ascending order."""
    return bool(kind_of(c.dtype).is_divided(c.dtype, reverse))


def rows_at_a_time(of: Any, columns: Sequence[Any], also: Any = None, reverse: bool = False) -> int:
    """Return how many rows of columns a rank has in memory at a time; 0 if there is room for all of them. Collective.

    Parameters
    ----------
    of, also
        Containers of keys. Only those on disk are more than there is room for.
    columns
        The dtypes of a row.
    reverse
        Whether the ranges are in descending order.
    """
    both = [c for c in (of, also) if c is not None]
    if not any(is_on_disk(c) for c in both):
        return 0
    if not all(has_ranges(c, reverse) for c in both):
        return 0
    free = free_memory()
    row = sum(np.dtype(dtype).itemsize for dtype in columns)
    mine = sum(c.local_size for c in both)
    rows = -1 if free is None else max(free, _LEAST) // _SHARE // row
    told = share(of, "room", numbers=(rows, mine))
    if (told[:, 0] < 0).all():
        return 0
    most = int(told[:, 1].max())
    rows = max(1, int(told[told[:, 0] >= 0, 0].min()), 2 * most // _MOST_RANGES)
    return 0 if most <= rows else rows


class Cuts(NamedTuple):
    """Where ranges of keys end: each of the first begins one, and each of the heavy is one by itself."""

    keys: Array
    heavy: Array
    reverse: bool

    @property
    def ranges(self) -> int:
        """How many ranges there are."""
        return len(self.keys) + len(self.heavy) + 1

    def is_one_key(self, first: int, last: int) -> bool:
        """Say whether ranges are one of the heavy keys alone, which may have more elements than there is room for."""
        return last == first + 1 and first in (self.codes(self.heavy) if len(self.heavy) else ())

    def key(self, number: int) -> Any:
        """Return the key of a range that is one key."""
        return self.heavy[self.codes(self.heavy) == number][0]

    def ends(self, ordered: Array) -> Array:
        """Return where each range ends in sorted elements. Ranges are in ascending order."""
        search = kind_of(ordered.dtype).search
        ends = [search(ordered, self.keys, "left", False), search(ordered, self.heavy, "right", False), [len(ordered)]]
        return np.sort(np.concatenate(ends))

    def codes(self, elements: Array) -> Array:
        """Return the number of the range of each element."""
        search = kind_of(elements.dtype).search
        found = search(self.keys, elements, "right", self.reverse)
        if len(self.heavy):
            found = found + search(self.heavy, elements, "left", self.reverse)
        return found


def cuts_of(ctx: Any, op: str, parts: Sequence[Array], rows: int, reverse: bool = False) -> Cuts:
    """Return where to cut keys, of which each rank has some parts, into ranges of so many rows a rank. Collective."""
    total = int(collectives.allgather(ctx, sum(len(part) for part in parts)).sum())
    ranges = max(1, -(-2 * total // (rows * ctx.size)))
    wanted = ranges * _SAMPLES
    with local_step(ctx, op):
        samples = np.concatenate([sample(part, wanted * len(part) // max(total, 1) + 1) for part in parts])
    drawn = np.sort(gathered(ctx, samples))
    if reverse:
        missing = kind_of(drawn.dtype).missing(drawn)
        drawn = np.concatenate([drawn[~missing][::-1], drawn[missing]])
    every = max(1, len(drawn) // ranges)
    keys = drawn[every::every]
    differs = np.ones(len(keys), np.bool_)
    differs[1:] = kind_of(keys.dtype).differ(keys[1:], keys[:-1])
    lengths = np.diff(np.append(np.flatnonzero(differs), len(keys)))
    keys = keys[differs]
    return Cuts(keys, keys[lengths > 1], reverse)


def sample(part: Array, count: int) -> Array:
    """Return some elements of a part, the same in each run."""
    if not part.size:
        return np.empty(0, part.dtype)
    places = np.sort(np.random.default_rng(part.size).integers(0, part.size, min(count, part.size)))
    made = np.empty(len(places), part.dtype)
    for at in range(0, len(places), 8):  # around each the system may map 2 MiB
        made[at : at + 8] = part[np.unravel_index(places[at : at + 8], part.shape)]
        library.memory_ease()
    return made


def flat_part(c: Any) -> Array:
    """Return this rank's elements of a container in C order, each on one rank. Not collective."""
    part = c.local_view().reshape(-1)
    if c.partition_policy is Partition.REPLICATED:
        n, ranks, rank = len(part), c.context.size, c.context.rank
        part = part[n * rank // ranks : n * (rank + 1) // ranks]
    return part


def pieces(count: int, rows: int) -> Iterator[slice]:
    """Yield slices of so many rows, and let pages of files be given back behind each."""
    for start in range(0, count, rows):
        yield slice(start, min(start + rows, count))
        trim()
        library.memory_ease()


def rounds(of: Any, part: Array) -> Iterator[slice]:
    """Yield slices of a part, as many on each rank, of which some may be empty. Collective beside what is on disk."""
    limited = is_on_disk(of) and library.memory_limit()
    step = max(1, len(part) if not limited else (_LEAST >> 4) * len(part) // max(1, part.nbytes))
    count = -(-len(part) // step)
    if is_on_disk(of):
        count = int(collectives.allgather(of.context, count).max())
    for number in range(max(1, count)):
        yield slice(number * step, (number + 1) * step)
        library.memory_ease()


def divided(ctx: Any, op: str, columns: Sequence[Array], cuts: Cuts, rows: int, offset: int | None = None) -> Spill:
    """Write columns to a file, by ranges of the first. Collective.

    With the global index of the first row of this rank, the last column are the indices.
    """
    dtypes = [column.dtype for column in columns] + ([] if offset is None else [np.dtype(np.int64)])
    with local_step(ctx, op):
        spill = Spill(ctx, dtypes)
        for some in pieces(len(columns[0]), rows):
            given = [np.array(column[some]) for column in columns]
            if offset is not None:
                given.append(np.arange(offset + some.start, offset + some.stop))
            if len(given) == 1 and not cuts.reverse and _are_told_apart(given[0]):
                given[0].sort()  # takes less time than to search the range of each
                spill.add(given, cuts.ends(given[0]))
            else:
                add_by_range(spill, cuts.codes(given[0]), cuts.ranges, given)
    return spill


def _are_told_apart(elements: Array) -> bool:
    """Say whether equal elements have the same bits, so that nobody sees in which order they were."""
    kind = kind_of(elements.dtype)
    if not kind.is_float:
        return kind.is_integer
    return not any(bool(np.any(np.signbit(some) & (some == 0))) for some in np.array_split(elements, 16))


def steps(ctx: Any, ranges: int, rows: int, *spills: Spill) -> list[tuple[int, int]]:
    """Return which ranges to have in memory together: the first, and the one behind the last. Collective.

    Of files that are divided alike. A range of one key may be more than there is room for, and is then by itself. Some
    ranges that nobody has elements of are left out.
    """
    mine = sum(spill.counts(ranges) for spill in spills)
    most = collectives.allgather(ctx, mine).reshape(ctx.size, ranges).max(axis=0)
    found, first, held = [], 0, 0
    for number, count in enumerate(most.tolist()):
        if held + count > rows:
            if held:
                found.append((first, number))
            first, held = number, 0
        held += count
    return [*found, (first, ranges)]


def of_one_key(ctx: Any, spill: Spill, number: int, ranges: int) -> tuple[list[Array], int]:
    """Return a row of a range of one key, on the first rank alone that has any, and how many there are. Collective."""
    mine = int(spill.counts(ranges)[number])
    counts = collectives.allgather(ctx, mine)
    if mine and not counts[: ctx.rank].any():
        columns = next(spill.by_piece(number, number + 1))
    else:
        columns = [np.empty(0, dtype) for dtype in spill.dtypes]
    return [column[:1] for column in columns], int(counts.sum())


def held(ctx: Any, part: Array) -> DistributedVector:
    """Return a vector in memory of the ranks' arrays. Collective."""
    return from_parts(DistributedVector, ctx, part)


def on_disk(spill: Spill, ctx: Any, first: int, last: int, column: int = 0) -> list[DistributedVector]:
    """Return vectors on disk of some ranges of a file's columns from one on: each rank's own. Collective."""
    count = sum(len(piece[0]) for piece in spill.by_piece(first, last))
    sizes = tuple(collectives.allgather(ctx, count).tolist())
    divided_so = Division(Partition.EXPLICIT, sizes=sizes)
    made = [
        created(DistributedVector, ctx, (sum(sizes),), dtype, divided_so, Placement.DISK)
        for dtype in spill.dtypes[column:]
    ]
    at = 0
    for piece in spill.by_piece(first, last):
        for into, part in zip(made, piece[column:]):
            into.local_view()[at : at + len(part)] = part
        at += len(piece[0])
        library.memory_ease()
    return made


def repeated(values: Any, times: Callable[[slice], Array]) -> DistributedVector:
    """Return the elements of a vector, each as often as a function says for a slice of this rank's. Collective.

    They are on disk where they are worth it, if those of the vector are.
    """
    ctx, part, lies_there = values.context, values.local_view(), is_on_disk(values)
    step = _PIECE if lies_there else max(1, len(part))
    every = [slice(start, start + step) for start in range(0, len(part), step)]
    sizes = tuple(collectives.allgather(ctx, sum(int(times(some).sum()) for some in every)).tolist())
    total = sum(sizes)
    where = result_placement(values, (total,), values.dtype) if lies_there else Placement.HOST
    made = created(DistributedVector, ctx, (total,), values.dtype, Division(Partition.EXPLICIT, sizes=sizes), where)
    into, at = made.local_view(), 0
    for some in every:
        found = np.repeat(part[some], times(some))
        into[at : at + len(found)] = found
        at += len(found)
        library.memory_ease()
    return made


def put_rows(into: Any, start: int, part: Array) -> int:
    """Write the ranks' arrays, one after the other, to a vector from an index on. Return where they end. Collective."""
    ctx = into.context
    trim()
    if ctx.size == 1 and has_rows(into):
        into.local_view()[start : start + len(part)] = part
        library.memory_ease()
        return start + len(part)
    with held(ctx, part) as moved:
        stop = start + len(moved)
        if stop > start:
            into[start:stop] = moved
    return stop


def collected(of: Any, spills: Sequence[tuple[Spill, int]]) -> list[DistributedVector]:
    """Return vectors of the columns of files, file after file and range after range, each on all ranks. Collective.

    They are divided evenly, and on disk where they are worth it, beside a container on disk.
    """
    ctx = of.context
    counts = [collectives.allgather(ctx, spill.counts(ranges)).reshape(ctx.size, ranges) for spill, ranges in spills]
    total = int(sum(count.sum() for count in counts))
    sizes = tuple(total * (rank + 1) // ctx.size - total * rank // ctx.size for rank in range(ctx.size))
    made: list[DistributedVector] = []
    for dtype in spills[0][0].dtypes:
        on_disk = is_on_disk(of)
        where = result_placement(of, (total,), np.dtype(dtype)) if on_disk else Placement.HOST
        made.append(created(DistributedVector, ctx, (total,), dtype, Division(Partition.EXPLICIT, sizes=sizes), where))
    at = 0
    for spill, ranges in spills:
        for number in range(ranges):
            ends = [put_rows(into, at, part) for into, part in zip(made, spill.rows(number, number + 1))]
            at = ends[0]
    return made
