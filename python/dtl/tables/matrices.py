"""Columns of numbers beside each other, as a matrix: for linear algebra, and for how they vary together."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..comm.reductions import allreduce
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .codes import integers_of
from .on_disk import piece_rows, pieces
from .rows import Rows, arrow, block_counts, column_names

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many arrays of 8 bytes a row there are in memory of each column of which it is found how it varies with others.
_ARRAYS = 6


def _numbers(rows: Rows, columns: Any) -> list[str]:
    """Return the names of columns of numbers: those that are given, or all there are."""
    types = arrow().types
    kinds = dict(zip(rows.names, rows.schema.types))
    known = [name for name, kind in kinds.items() if types.is_integer(kind) or types.is_floating(kind)]
    names = known if columns is None else column_names(rows, "columns", columns)
    for name in names:
        if name not in known and not types.is_boolean(kinds[name]):
            raise InvalidTypeError(f"the column {name!r} is of {kinds[name]}, not of numbers")
    if not names:
        raise InvalidArgumentError(
            "the table has no column of numbers" if columns is None else "columns names no column"
        )
    return names


def matrix(rows: Rows, op: str, columns: Any) -> Any:
    """Return a tensor with a row for each row and a column for each of some columns. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        names = _numbers(rows, columns)
        arrays = []
        for name in names:
            column = rows.local.column(name)
            if column.null_count:
                raise InvalidArgumentError(
                    f"the column {name!r} has {column.null_count} nulls on rank {ctx.rank}, which no tensor has: "
                    "fillna(value) or dropna() comes before"
                )
            arrays.append(_values(column))
        dtype = np.result_type(*arrays)
        part = np.empty((rows.length, len(arrays)), dtype)
        for place, array in enumerate(arrays):
            part[:, place] = array
    agree(ctx, op, f"{names}")
    if rows.counts != block_counts(ctx, rows.total):
        return DistributedTensor.from_local(ctx, part)
    made = DistributedTensor(ctx, (rows.total, len(names)), dtype)
    made.local_view()[...] = part
    return made


def _values(column: Any) -> Array:
    pa = arrow()
    if pa.types.is_boolean(column.type):
        return integers_of(column.cast(pa.uint8())) != 0
    return integers_of(column)


def _each(rows: Rows, size: int) -> Iterator[tuple[Array, Array]]:
    """Yield what ``_known`` does of so many rows at a time. Not collective."""
    return (_known(piece) for _, piece in pieces(rows, size))


def _known(piece: Any) -> tuple[Array, Array]:
    """Return the numbers of a table as a matrix, 0 in the places of nulls, and one of where they are, 1 or 0."""
    known = np.ones((len(piece), piece.num_columns))
    values = np.empty(known.shape)
    for place, column in enumerate(piece.columns):
        values[:, place] = _values(column)
        if column.null_count:
            known[:, place] = column.is_valid().to_numpy()
    values[known == 0] = 0
    return values, known


def together(rows: Rows, op: str, columns: Any, scaled: bool) -> Rows:
    """Return the correlation or covariance of each pair of columns, of the rows where neither is null. Collective.

    One pass over the rows; with less memory than they have, two.
    """
    pa, ctx = arrow(), rows.context
    with local_step(ctx, op):
        names = _numbers(rows, columns)
        if "column" in names:
            raise InvalidArgumentError("two columns of the result would be called 'column'")
        chosen = rows.chosen(names)
        size = piece_rows(chosen, _ARRAYS * len(names))
        held = list(_each(chosen, size)) if size >= rows.length else None
        sums = np.zeros((2, len(names)))
        for values, known in held or _each(chosen, size):
            sums += np.array([known.sum(axis=0), values.sum(axis=0)])
    agree(ctx, op, f"{names}")
    counts, sums = allreduce(ctx, sums)
    with local_step(ctx, op), np.errstate(all="ignore"):
        mine = np.zeros((4, len(names), len(names)))
        for values, known in held or _each(chosen, size):
            away = (values - sums / np.maximum(counts, 1)) * known
            mine += np.array([known.T @ known, away.T @ known, (away * away).T @ known, away.T @ away])
    count, rest, squares, products = allreduce(ctx, mine)
    with np.errstate(all="ignore"):
        products = products - rest * rest.T / count
        squares = np.maximum(squares - rest * rest / count, 0)
        made = products / np.sqrt(squares * squares.T) if scaled else products / (count - 1)
        if scaled:
            made = np.clip(made, -1, 1)
    none = (count < 2) | ~np.isfinite(made) & scaled & (squares * squares.T == 0)
    mine_of = slice(*np.cumsum([0, *block_counts(ctx, len(names))])[ctx.rank : ctx.rank + 2].tolist())
    table = {"column": pa.array(names, pa.string())[mine_of.start : mine_of.stop]}
    for place, name in enumerate(names):
        table[name] = pa.array(made[mine_of, place], mask=none[mine_of, place])
    return Rows(ctx, pa.table(table), block_counts(ctx, len(names)))
