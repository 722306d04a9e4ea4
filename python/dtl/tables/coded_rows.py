"""Rows whose texts a file has by numbers: they are categories until a call asks for texts."""

from __future__ import annotations

from functools import partial
from typing import Any, Sequence

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.threaded import ROWS, each, over
from .gather import texts_of
from .rows import Rows, RowsByColumn, arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Texts stay categories where there are so many rows for each.
_PER_CATEGORY = 2


class CodedRows(RowsByColumn):
    """Rows of which some columns of texts are held as categories, each until its texts are asked for."""

    __slots__ = ()

    @property
    def held(self) -> Any:
        """The rows of this rank as they are held."""
        return arrow().table([self._columns[name] for name in self.names], names=self.names)

    def column(self, name: str) -> Any:
        """Return a column of this rank's rows, whose categories become texts."""
        if self._columns[name].type != self._schema.field(name).type:
            self._columns[name] = texts(self._columns[name])
        return self._columns[name]

    def of_held(self, held: Any, counts: tuple[int, ...]) -> Rows:
        """Return other rows of the same columns. Not collective."""
        return rows_of(self.context, held, self._schema, counts)


def rows_of(context: Context, held: Any, schema: Any, counts: tuple[int, ...]) -> Rows:
    """Return rows of a schema, whose texts a table may hold as categories. Not collective."""
    if held.schema.types == schema.types:
        return Rows(context, held, counts)
    return CodedRows(context, schema, counts, dict(zip(schema.names, held.columns)))


def alike(context: Context, op: str, held: Any, schema: Any) -> Any:
    """Return a table of which a column of texts is one of categories on all ranks, or on none. Collective.

    Categories are few beside the rows of each rank, so that these travel in fewer bytes than as texts.

    Parameters
    ----------
    context, op
        The ranks, and the name of the call that errors show.
    held, schema
        The table, which may hold texts as categories, and its types.
    """
    pa = arrow()
    if context.size == 1 or not any(pa.types.is_string(kind) for kind in schema.types):
        return held
    known = [
        sum(len(chunk.dictionary) for chunk in column.chunks) if column.type != kind else -1
        for column, kind in zip(held.columns, schema.types)
    ]
    found = allgather(context, np.array([len(held), *known], np.int64)).reshape(context.size, -1)
    rows, counts = found[:, :1], found[:, 1:]
    coded = ((rows == 0) | ((counts >= 0) & (_PER_CATEGORY * context.size * counts <= rows))).all(axis=0)
    coded &= (counts >= 0).any(axis=0)
    with local_step(context, op):
        columns = held.columns
        for number, (kind, stays) in enumerate(zip(schema.types, coded.tolist())):
            if columns[number].type != kind and not stays:
                columns[number] = texts(columns[number])
            elif columns[number].type == kind and stays:  # of a rank without rows
                columns[number] = columns[number].dictionary_encode()
        return pa.table(columns, names=held.column_names)


def texts(column: Any) -> Any:
    """Return a column of categories as one of texts."""
    parts = [
        chunk.slice(begin, ROWS) for chunk in column.chunks for begin in range(0, len(chunk), ROWS)
    ]  # each of which is one task
    found = each([partial(texts_of, part) for part in parts])
    return arrow().chunked_array([array for arrays in found for array in arrays], arrow().string())


def together(columns: Sequence[Any]) -> Any:
    """Return columns of texts, one after the other: as categories in order where all are and rows are many."""
    pa = arrow()
    if not columns or not all(pa.types.is_dictionary(column.type) for column in columns):
        plain = [texts(column) if pa.types.is_dictionary(column.type) else column for column in columns]
        return pa.chunked_array([chunk for column in plain for chunk in column.chunks], pa.string())
    whole = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    if not len(whole):
        return whole.cast(pa.string())
    whole = whole.unify_dictionaries().combine_chunks()
    known = whole.dictionary
    if _PER_CATEGORY * len(known) > len(whole) or len(known.unique()) < len(known):
        return texts(pa.chunked_array([whole]))
    order = pa.compute.sort_indices(known).to_numpy()
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    numbers = (whole.indices.fill_null(0) if whole.null_count else whole.indices).to_numpy()
    moved = np.empty(len(numbers), np.int32)

    def move(begin: int, end: int) -> None:
        moved[begin:end] = places[numbers[begin:end]]

    over(len(moved), move)
    index = pa.array(moved, mask=whole.is_null().to_numpy(zero_copy_only=False) if whole.null_count else None)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(index, known.take(pa.array(order)))])
