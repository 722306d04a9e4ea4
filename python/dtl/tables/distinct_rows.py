"""Rows that are equal in some columns: which are the first or last of their kind, and how many there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import flag
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate
from .codes import in_order
from .dividing import is_larger
from .folds import Groups, fold
from .gather import taken
from .grouping import aggregated
from .hashes import hashed, ranks_of
from .local_groups import LocalGroups, check_keys
from .moves import TableCall, expect, in_words
from .nested_types import is_nested
from .on_disk import collected, piece_rows, pieces, pieces_of_texts, release, share_of_memory
from .ordering import Order, sorted_rows
from .owners import Owners
from .part_files import Part, PartFile
from .reductions import distinct
from .rows import Rows, arrow, arrows_errors, column_names, counted
from .within_groups import missing_of

#: A column of the numbers of rows, beside those that are counted.
_ROW = "\0row"

#: So many arrays of 8 bytes a row there are in memory of rows that are compared.
_ARRAYS = 12

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def repeated(rows: Rows, op: str, subset: Any, keep: Any) -> Array:
    """Return a mask of this rank's rows that are equal to another one, which is kept in their place. Collective."""
    ctx = rows.context
    with local_step(ctx, op), arrows_errors(op):
        names = rows.names if subset is None else column_names(rows, "subset", subset)
        if not names:
            raise InvalidArgumentError("subset names no column")
        if not (keep is False or (isinstance(keep, str) and keep in ("first", "last"))):
            raise InvalidArgumentError(f'keep must be "first", "last" or False, not {keep!r}')
        for name in names:
            kind = rows.schema.field(name).type
            if is_nested(kind):
                raise InvalidTypeError(f"the column {name!r} is of {kind}, whose values are not compared")
    op = TableCall(op, f"{op} by {in_words(names)}")
    agree(ctx, op, f"{in_words(names)}, keep {keep!r}{', with a limit of memory' * (share_of_memory() is not None)}")
    keys = rows.chosen(names)
    if is_larger(keys, _ARRAYS):
        return _repeated_in_parts(keys, op, keep)
    with local_step(ctx, op):
        numbers = np.arange(rows.first, rows.first + rows.length)
    return _marked(keys, op, keep, numbers)


def _marked(rows: Rows, op: str, keep: Any, numbers: Array) -> Array:
    """Return a mask of this rank's rows that are equal to another one, given the number of each. Collective."""
    ctx = rows.context
    with local_step(ctx, op), arrows_errors(op):
        local = LocalGroups(rows, rows.names, dropna=False)
        places = local.places()
        part = _part(Groups(places, local.count), numbers, keep)
    if keep == "first" and ctx.size == 1:
        told = part
    else:
        owners = Owners(ctx, op, local.keys, arrow().table({"\0": part}), answer=8)
        with local_step(ctx, op):
            how = "sum" if keep is False else "min" if keep == "first" else "max"
            whole = arrow().table({"\0": fold(how, owners.groups, owners.parts.column(0))})
        told = owners.told(whole)
    with local_step(ctx, op):
        answers = told.column(0).to_numpy() if told is not part else np.asarray(part)
        if keep is False:
            return np.asarray(answers[places] > 1)
        return np.asarray(answers[places] != numbers)


def _repeated_in_parts(rows: Rows, op: str, keep: Any) -> Array:
    """Return a mask of this rank's rows that are equal to another one, where they are more than may be in memory.

    Rows are written by the hashes of their values, and rows of a part of these are compared at a time. Collective.
    """
    ctx, pa, size = rows.context, arrow(), piece_rows(rows, _ARRAYS)
    # Between ranks, rows are in memory as they are, as keys, as what is sent and as what arrives.
    count = max(allgather_object(ctx, -(-rows.length // size))) * (1 if ctx.size == 1 else 4)
    with local_step(ctx, op), arrows_errors(op):
        file = PartFile(ctx, op)
        parts: list[list[Part]] = [[] for _ in range(count)]
        for start, piece in pieces_of_texts(rows, size):
            part = ranks_of(hashed(piece, rows.names), count)
            numbers = pa.array(np.arange(rows.first + start, rows.first + start + len(piece)))
            moved = taken(piece.append_column(_ROW, numbers), in_order(part, count))
            counts = np.bincount(part, minlength=count).tolist()
            for place, length, added in zip(parts, counts, file.add(moved, counts)):
                if length:
                    place.append(added)
        mask = np.zeros(rows.length, np.bool_)
    for number in range(count):
        with local_step(ctx, op):
            release()
            local = file.read(parts[number], moved.schema).unify_dictionaries()
        found = Rows.made(ctx, local)
        numbers = local.column(_ROW).to_numpy()
        mask[numbers - rows.first] = _marked(found.chosen(rows.names), op, keep, numbers)
    return mask


def different(rows: Rows, op: str) -> int:
    """Return how many different values that are not null a column has. Collective."""
    if not is_larger(rows, _ARRAYS):
        return distinct(rows, op)
    ctx = rows.context
    firsts, nulls = ~repeated(rows, op, None, "first"), 0
    with local_step(ctx, op):
        for start, piece in pieces(rows, piece_rows(rows, _ARRAYS)):
            if piece.column(0).null_count:
                nulls += int(np.count_nonzero(firsts[start : start + len(piece)] & missing_of(piece.column(0))))
    return sum(allgather_object(ctx, int(np.count_nonzero(firsts)) - nulls))


def _part(groups: Groups, numbers: Array, keep: Any) -> Any:
    """Return what this rank knows of each group: its first or last row's number, or how many rows it has."""
    if keep is False:
        return arrow().array(groups.sizes())
    made = np.empty(groups.width, np.int64)
    if keep == "first":
        made[groups.of_row[::-1]] = numbers[::-1]
    else:
        made[groups.of_row] = numbers
    return arrow().array(made)


def unrepeated(rows: Rows, op: str, subset: Any, keep: Any) -> Rows:
    """Return the rows that are kept of those that are equal, where they are. Collective."""
    mask = repeated(rows, op, subset, keep)
    with local_step(rows.context, op):
        size = piece_rows(rows)
        found = (piece.filter(arrow().array(~mask[start : start + size])) for start, piece in pieces(rows, size))
        made = collected(rows.context, op, found)
    return rows.of_held(made, counted(rows.context, len(made)))


def value_counts(
    rows: Rows, op: str, subset: Any, dropna: Any, normalize: Any = False, sort: Any = True, ascending: Any = False
) -> Rows:
    """Return the distinct rows of some columns and how many there are of each, or their share of all. Collective."""
    ctx, pa = rows.context, arrow()
    with local_step(ctx, op):
        names = rows.names if subset is None else column_names(rows, "subset", subset)
        shares, sorts, up = flag("normalize", normalize), flag("sort", sort), bool(flag("ascending", ascending))
        number = "proportion" if shares else "count"
        if number in names:
            raise InvalidArgumentError(f"two columns of the result would be called {number!r}")
        check_keys(rows, names, dropna)
        counted_rows = rows.chosen(names)
        wanted = {number: Aggregate(names[0], "size")}
        if not sorts:
            local = counted_rows.local
            local = local.append_column(_ROW, pa.array(np.arange(rows.first, rows.first + len(local))))
            counted_rows = rows.like(local)
            wanted[_ROW] = Aggregate(_ROW, "min")
    expect("these in order", None)
    counts = aggregated(counted_rows, op, names, dropna, wanted, f"normalize {shares}, ascending {up}")
    order = Order([number, *names], [up] + [True] * len(names), nulls_first=False)
    made = sorted_rows(counts, op, order if sorts else Order([_ROW], [True], nulls_first=False))
    made = made.chosen([*names, number])
    if not shares:
        return made
    with local_step(ctx, op):
        mine = made.local.column(number).to_numpy()
    total = sum(allgather_object(ctx, int(mine.sum())))
    return made.like(made.local.set_column(len(names), number, pa.chunked_array([mine / max(total, 1)])))
