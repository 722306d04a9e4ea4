"""What a container shows of itself: its division in words, as tiles and as HTML, and its first and last values.

Nothing is communicated, but by show.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .._native import library
from .._native.library import bridge
from .._native.objects import handle_of, owner_of, refuse_closed
from ..comm.objects import gather_object
from ..exceptions import DTLError
from ..policies import Partition
from ..runtime.agreement import agree, local_step, root_number
from ..runtime.scheduler import calls_of, root_of
from ..topology.drawing import EVERY, colour, label
from .interior import elements_at

_CONTIGUOUS = (Partition.BLOCK, Partition.EXPLICIT, Partition.REPLICATED)
_SHOWN = 3  # indices of a part that is no range are written out
_LOOKED_THROUGH = 1024  # indices are searched for them
_TILES, _TILES_EACH_WAY = 64, 16
_RANKS = 16  # of which show says what they hold
_COPIED = 1 << 20  # bytes of a part on a GPU, up to which it is copied to be shown
# Pixels of the drawing: its width, its greatest and its least height, and the least extent of a tile.
_WIDTH, _HEIGHT, _STRIP, _LEAST = 480, 320, 32, 2
_ROOM = 16  # pixels, below which a tile shows no number
_LEGEND = 16


class Range(NamedTuple):
    """The indices [start, stop)."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"[{self.start}, {self.stop})"


class Tile(NamedTuple):
    """Neighbouring elements of one rank, or of every rank; a container of one dimension has one row."""

    rows: Range
    columns: Range
    rank: int


class Picture(NamedTuple):
    """The tiles of a container, or of its beginning."""

    tiles: list[Tile]
    rows: int
    columns: int
    whole: bool
    line: bool  # whether the container has one dimension

    def area(self, rows: Range, columns: Range) -> str:
        """Return the indices of a part, in words."""
        return str(columns) if self.line else f"{rows} x {columns}"


def describe(container: Any) -> str:
    """Return the ``repr`` of a container: its type, sizes, dtype, partition, and what this rank holds."""
    kind = f"dtl.{type(container).__name__}"
    if not handle_of(container):
        return f"<{kind}, closed>"
    try:
        return f"<{_of_all_ranks(container)}, rank {container.context.rank} holds {_held(container)}>"
    except DTLError as error:  # of a span whose container has changed, or in a forked child
        return f"<{kind}, {error}>"


def _of_all_ranks(container: Any) -> str:
    """Return what all ranks say of a container."""
    sizes = " x ".join(map(str, container.shape))
    return f"dtl.{type(container).__name__} of {sizes} {container.dtype}, {_division(container)}"


def printed(container: Any) -> str:
    """Return the ``str`` of a container: its description, and this rank's values as NumPy prints them."""
    values = _own_values(container)
    return f"{describe(container)}\n{values}" if values else describe(container)


def _own_values(container: Any) -> str:
    """Return this rank's values in words; "" of those that cannot be looked at now, and where there are none."""
    if not handle_of(container) or calls_of(root_of(container)).in_flight:
        return ""
    try:
        if 0 in container.local_shape:
            return ""
        view: Any = container.local_view()
        if isinstance(view, np.ndarray):
            return str(view)
        return str(view.to_numpy()) if view.nbytes <= _COPIED else ""
    except DTLError:  # the description has its text
        return ""


def show(container: Any, root: Any) -> None:
    """Print a container's first and last values on one rank, with what each rank holds. Collective."""
    ctx = container.context
    with local_step(ctx, "show"):
        refuse_closed(container)
        number = root_number(ctx, root)
    agree(ctx, "show", f"root {number}")
    values = _first_and_last(container, number)
    held = gather_object(ctx, _held(container), number)
    if held is not None:
        lines = [f"rank {rank}: {indices}" for rank, indices in enumerate(held[:_RANKS])]
        if len(held) > _RANKS:
            lines.append(f"… and {len(held) - _RANKS} more ranks")
        print(f"<{_of_all_ranks(container)}>", values, *lines, sep="\n")


def _first_and_last(container: Any, root: int) -> str:
    """Return the values as NumPy prints an array of all of them, on root; "" elsewhere. Collective."""
    shape, options = container.shape, np.get_printoptions()
    wanted = np.empty(0, np.int64)
    here = container.context.rank == root
    shortened = math.prod(shape) > options["threshold"]
    edge = options["edgeitems"]
    if here and 0 not in shape:
        # Where NumPy leaves values out, any one stands in the gap.
        axes = [np.r_[: edge + 1, n - edge : n] if shortened and n > 2 * edge else np.arange(n) for n in shape]
        wanted = np.ravel_multi_index(np.ix_(*axes), shape).astype(np.int64)
    found = elements_at(container, np.ascontiguousarray(wanted))
    if not here:
        return ""
    if 0 in shape:
        return str(np.empty(shape, container.dtype))
    return np.array2string(found.reshape(wanted.shape), threshold=0 if shortened else found.size, edgeitems=edge)


def _division(container: Any) -> str:
    name = Partition(container.partition_policy).name
    if container.partition_policy == Partition.BLOCK_CYCLIC:
        name += f" of {container.block_size}"
    grid = _extents(library.container_grid, container)
    ranks = container.context.size
    if max(grid[1:], default=1) > 1:
        return f"{name} over {' x '.join(map(str, grid))} ranks"
    return f"{name} over {ranks} rank{'' if ranks == 1 else 's'}"


def _held(container: Any) -> str:
    local = _extents(library.container_local_shape, container)
    if 0 in local:
        return "nothing"
    return " x ".join(_held_along(container, d, count) for d, count in enumerate(local))


def _held_along(container: Any, d: int, count: int) -> str:
    first = library.container_offset(handle_of(container), d)
    if d > 0 or container.partition_policy in _CONTIGUOUS or count == container.shape[0]:
        return str(Range(first, first + count))
    indices = _indices(container, Range(first, min(first + _LOOKED_THROUGH, container.shape[0])))[:_SHOWN]
    rest = ["…"] if len(indices) < count else []
    return "{" + ", ".join([*map(str, indices), *rest]) + "}"


def _indices(container: Any, within: Range) -> list[int]:
    """Return which indices of a range of the first dimension this rank holds."""
    span = owner_of(bridge.span(container, within.start, within.stop - within.start))
    try:
        indices = np.asarray(bridge.indices(span))
    finally:
        library.container_close(handle_of(span))
    return [within.start + int(index) for index in indices]


def _extents(ask: Callable[[int, int], int], container: Any) -> list[int]:
    return [ask(handle_of(container), d) for d in range(len(container.shape))]


def picture(container: Any) -> Picture:
    """Return the tiles of the first two dimensions, at index 0 of the others."""
    shape = container.shape
    if 0 in shape:
        return Picture([], 0, 0, True, len(shape) == 1)
    if len(shape) == 1:
        rows, columns = [Range(0, 1)], list(_runs(container, 0, _TILES))
    else:
        rows, columns = (list(_runs(container, d, _TILES_EACH_WAY)) for d in (0, 1))
    tiles = []
    for row in rows:
        for column in columns:
            index = [column.start] if len(shape) == 1 else [row.start, column.start, *[0] * (len(shape) - 2)]
            tiles.append(Tile(row, column, _owner(container, index)))
    height, width = rows[-1].stop, columns[-1].stop
    whole = (height, width) == ((1, *shape) if len(shape) == 1 else shape[:2])
    return Picture(tiles, height, width, whole, len(shape) == 1)


def _owner(container: Any, index: list[int]) -> int:
    if container.partition_policy == Partition.REPLICATED:
        return EVERY
    return int(bridge.owner(container, np.array(index, np.int64)))


def _runs(container: Any, d: int, most: int) -> Iterator[Range]:
    """Yield the first ranges of indices along a dimension that lie on one rank each."""
    n, start, index = container.shape[d], 0, [0] * len(container.shape)
    longest = n
    if d == 0 and container.partition_policy not in _CONTIGUOUS and container.context.size > 1:
        longest = container.block_size if container.partition_policy == Partition.BLOCK_CYCLIC else 1

    def owner(i: int) -> int:
        index[d] = i
        return _owner(container, index)

    while start < n and most > 0:
        here, inside, stop = owner(start), start, min(start + longest, n)
        while stop - inside > 1:  # bisect: up to the longest range, the owner changes once
            middle = (inside + stop) // 2
            if owner(middle) == here:
                inside = middle
            else:
                stop = middle
        yield Range(start, stop)
        start, most = stop, most - 1


def html(container: Any) -> str:
    """Return the ``_repr_html_`` of a container: its description, this rank's values, and which rank holds what."""
    from html import escape

    values = _own_values(container)
    text = f"<code>{escape(describe(container))}</code>" + (f"<pre>{escape(values)}</pre>" if values else "")
    try:
        drawn = _svg(picture(container)) if handle_of(container) else ""
    except DTLError:  # the description has its text
        drawn = ""
    return f"<div>{text}{drawn}</div>"


def _svg(shown: Picture) -> str:
    if not shown.tiles:
        return ""
    height = _STRIP if shown.rows == 1 else min(max(_WIDTH * shown.rows // shown.columns, _STRIP), _HEIGHT)
    across, down = _WIDTH / shown.columns, height / shown.rows
    parts = [_tile(tile, shown.area(tile.rows, tile.columns), across, down) for tile in shown.tiles]
    caption = _legend(shown)
    return (
        f'<br><svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" role="img" '
        f'style="font: 11px sans-serif">{"".join(parts)}</svg><br><small>{caption}</small>'
    )


def _tile(tile: Tile, area: str, across: float, down: float) -> str:
    x, y = tile.columns.start * across, tile.rows.start * down
    width = max((tile.columns.stop - tile.columns.start) * across, _LEAST)
    height = max((tile.rows.stop - tile.rows.start) * down, _LEAST)
    rank = "every rank" if tile.rank == EVERY else f"rank {tile.rank}"
    text = (
        f'<text x="{x + width / 2:.1f}" y="{y + height / 2:.1f}" text-anchor="middle" '
        f'dominant-baseline="central" fill="#000">{label(tile.rank)}</text>'
        if min(width, height) >= _ROOM
        else ""
    )
    return (
        f'<g><title>{rank}: {area}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" fill="{colour(tile.rank)}" stroke="#fff"/>{text}</g>'
    )


def _legend(shown: Picture) -> str:
    ranks = sorted({tile.rank for tile in shown.tiles})
    entries = [f'<span style="color: {colour(rank)}">&#9632;</span> {label(rank)}' for rank in ranks[:_LEGEND]]
    if len(ranks) > _LEGEND:
        entries.append("…")
    if not shown.whole:
        entries.append(f"; drawn: {shown.area(Range(0, shown.rows), Range(0, shown.columns))}")
    return "rank " + " ".join(entries)
