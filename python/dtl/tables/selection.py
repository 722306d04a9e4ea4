"""Rows of a table that a mask, a slice or chance selects. They stay on their ranks."""

from __future__ import annotations

import zlib
from typing import Any, Iterator

import numpy as np

from .._native.arguments import flag, integer
from ..comm.objects import broadcast_object
from ..containers.base import DistributedContainer
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .exchange import balanced, sent
from .gather import taken
from .making import fingerprint, of_container, whole_column
from .on_disk import collected, piece_rows, pieces, release
from .rows import Rows, arrow, block_counts, column_names, counted


def _with_categories(before: Rows, local: Any) -> Any:
    """Return rows with the categories that columns had before, of which a table of no rows has none by itself."""
    for i, field in enumerate(local.schema):
        if arrow().types.is_dictionary(field.type) and not local.column(i).num_chunks:
            local = local.set_column(i, field, before.chosen([field.name]).held.column(0).slice(0, 0))
    return local


def filtered(rows: Rows, op: str, mask: Any) -> Rows:
    """Return the rows where a mask is true: a column, container, or array that is the same on every rank. Collective.

    Where the mask is null, it is not true.
    """
    with local_step(rows.context, op):
        words, chosen = _mask(rows, mask)
        size = piece_rows(rows)
        found = (piece.filter(chosen.slice(start, size)) for start, piece in pieces(rows, size))
        held = _with_categories(rows, collected(rows.context, op, found))
    agree(rows.context, op, words)
    return rows.of_held(held, counted(rows.context, len(held)))


def _mask(rows: Rows, mask: Any) -> tuple[str, Any]:
    """Return a mask in words, and what this rank has of it."""
    pa, mine = arrow(), rows.length
    if isinstance(mask, Rows):
        words, found, counts = "a column", mask.local.column(0), mask.counts
        if counts != rows.counts:
            raise InvalidArgumentError(
                f"the mask has {list(counts)} rows on the ranks, and the table has {list(rows.counts)}: a mask is "
                "computed of columns of the same table"
            )
    elif isinstance(mask, DistributedContainer):
        words, found = "a container", of_container(rows.context, "the mask", mask)
        if len(found) != mine:
            raise InvalidArgumentError(
                f"the mask has {len(found)} rows on rank {rows.context.rank}, and the table has {mine}"
            )
    else:
        found = whole_column("the mask", mask)
        if len(found) != rows.total:
            raise InvalidArgumentError(f"the mask has {len(found)} rows, and the table has {rows.total}")
        words = f"{len(found)} values with fingerprint {fingerprint(found):08x}"
        found = found.slice(rows.first, mine)
    if pa.types.is_null(found.type):
        found = found.cast(pa.bool_())
    if not pa.types.is_boolean(found.type):
        raise InvalidTypeError(f"the mask is of {found.type}; a mask is of bool")
    return words, found


def range_of(which: slice, total: int) -> range:
    """Return the numbers of the rows of a slice."""
    try:
        chosen = range(*which.indices(total))
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"the slice {which} has bounds that are no integers: {error}") from None
    if chosen.step < 0:
        raise InvalidArgumentError(f"the slice {which} goes backwards; rows of a table are sliced forwards")
    return chosen


def sliced(rows: Rows, op: str, which: slice) -> Rows:
    """Return the rows of a slice, as of a list of all rows. Collective."""
    with local_step(rows.context, op):
        chosen = range_of(which, rows.total)
    step = chosen.step
    agree(rows.context, op, f"{chosen.start}:{chosen.stop}:{step}")
    bounds = np.cumsum([0, *rows.counts]).tolist()
    parts = [_within(chosen, lo, hi) for lo, hi in zip(bounds, bounds[1:])]
    mine, first, counts = parts[rows.context.rank], rows.first, tuple(len(part) for part in parts)
    with local_step(rows.context, op):
        if step == 1 or max(counts) < 2:
            return rows.between(mine.start - first if len(mine) else 0, counts)
        return rows.of_held(_ascending(rows, op, np.arange(mine.start - first, mine.stop - first, step)), counts)


def rows_at(rows: Rows, op: str, places: Any) -> Rows:
    """Return the rows of some numbers, in their order and in equal parts. Collective."""
    ctx, total = rows.context, rows.total
    with local_step(ctx, op):
        for each in places:
            if not -total <= integer("the number of a row", each) < total:
                raise BoundsError(f"the row {each} is outside [{-total}, {total})")
        chosen = np.array(places, np.int64)
        chosen += total * (chosen < 0)
        words = f"{len(chosen)} rows with fingerprint {zlib.crc32(chosen.tobytes()):08x}"
    agree(ctx, op, words)
    counts = block_counts(ctx, len(chosen))
    with local_step(ctx, op):
        owner = np.searchsorted(np.cumsum(rows.counts), chosen, "right")
        of_ranks = [slice(end - count, end) for end, count in zip(np.cumsum(counts).tolist(), counts)]
        own = owner == ctx.rank
        mine, back = np.unique(chosen[own] - rows.first, return_inverse=True)
        held, at = _ascending(rows, op, mine).cast(rows.schema), np.cumsum(own) - 1
        parts = [taken(held, back[at[part][own[part]]]) for part in of_ranks]
    arrived = sent(ctx, op, parts, "rows in the order that is asked for")
    with local_step(ctx, op):
        order = np.argsort(owner[of_ranks[ctx.rank]], kind="stable")
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return Rows(ctx, _with_categories(rows, taken(arrived, back)), counts)


def batches(rows: Rows, op: str, size: Any) -> Iterator[Rows]:
    """Yield so many rows after the other, in equal parts. Collective, and each step is."""
    ctx = rows.context
    with local_step(ctx, op):
        count = integer("rows", size)
        if count < 1:
            raise InvalidArgumentError(f"a batch of {count} rows; it has at least 1")
    agree(ctx, op, f"{count} rows")
    return _batches(rows, op, count)


def _batches(rows: Rows, op: str, count: int) -> Iterator[Rows]:
    with local_step(rows.context, op):
        whole = rows.of_held(rows.held, rows.counts)  # so that no group of rows of a file is read for each batch
    for start in range(0, whole.total, count):
        found = sliced(whole, op, slice(start, start + count))
        even = block_counts(rows.context, found.total)
        yield Rows(rows.context, balanced(rows.context, op, found.local, found.counts, even), even)
        release()


def last(rows: Rows, op: str, n: Any) -> Rows:
    """Return the last n rows, or all but the first -n. Collective."""
    with local_step(rows.context, op):
        count = integer("n", n)
        first = max(0, rows.total - count) if count >= 0 else min(rows.total, -count)
    return sliced(rows, op, slice(first, None))


def _within(chosen: range, lo: int, hi: int) -> range:
    """Return those of ascending numbers that are in [lo, hi)."""
    first = max(0, -(-(lo - chosen.start) // chosen.step))
    last = max(first, -(-(hi - chosen.start) // chosen.step))
    return chosen[first:last]


def sampled(rows: Rows, op: str, n: Any, frac: Any, replace: Any, seed: Any) -> Rows:
    """Return some rows by chance, in the order of the table. Collective."""
    ctx, total = rows.context, rows.total
    with local_step(ctx, op):
        again = bool(flag("replace", replace))
        if (n is None) == (frac is None):
            raise InvalidArgumentError("sample takes n, the number of rows, or frac, their share of all")
        if n is None:
            if isinstance(frac, bool) or not isinstance(frac, (int, float, np.number)) or not frac >= 0:
                raise InvalidArgumentError(f"frac {frac!r} is no number that is at least 0")
            count = int(np.floor(float(frac) * total + 0.5))
        else:
            count = integer("n", n)
        if count < 0 or (count > total and not again) or (count and not total):
            raise InvalidArgumentError(f"{count} rows outside [0, {total}], which the table has")
        start = None if seed is None else integer("seed", seed)
        if start is not None and start < 0:
            raise InvalidArgumentError(f"seed {start} is negative")
    agree(ctx, op, f"{count} rows, replace {again}, seed {start}")
    if start is None:
        start = broadcast_object(ctx, np.random.SeedSequence().entropy, 0)
    drawn = np.random.Generator(np.random.PCG64(start))
    chosen = np.sort(drawn.choice(total, count, replace=again, shuffle=False)) if count else np.empty(0, np.int64)
    cuts = np.searchsorted(chosen, np.cumsum([0, *rows.counts])).tolist()
    mine = chosen[cuts[ctx.rank] : cuts[ctx.rank + 1]] - rows.first
    with local_step(ctx, op):
        return rows.of_held(_ascending(rows, op, mine), tuple(hi - lo for lo, hi in zip(cuts, cuts[1:])))


def _ascending(rows: Rows, op: str, places: Any) -> Any:
    """Return rows of this rank at places that ascend, piece by piece. Not collective."""

    def of_piece(start: int, piece: Any) -> Any:
        first, end = np.searchsorted(places, (start, start + len(piece)))
        return piece.take(arrow().array(places[first:end] - start))

    found = (of_piece(start, piece) for start, piece in pieces(rows, piece_rows(rows)))
    return _with_categories(rows, collected(rows.context, op, found))


def without_null(rows: Rows, op: str, subset: Any, how: Any) -> Rows:
    """Return the rows without nulls in some columns. Collective."""
    pa = arrow()
    with local_step(rows.context, op):
        names = rows.names if subset is None else column_names(rows, "subset", subset)
        if not names:
            raise InvalidArgumentError("subset names no column")
        if how not in ("any", "all"):
            raise InvalidArgumentError(f"how {how!r} is neither any nor all")
        join = pa.compute.and_ if how == "any" else pa.compute.or_

        def without(piece: Any) -> Any:
            kept = piece.column(names[0]).is_valid()
            for name in names[1:]:
                kept = join(kept, piece.column(name).is_valid())
            return piece.filter(kept)

        found = (without(piece) for _, piece in pieces(rows, piece_rows(rows)))
        held = _with_categories(rows, collected(rows.context, op, found))
    agree(rows.context, op, f"{names}, how {how!r}")
    return rows.of_held(held, counted(rows.context, len(held)))
