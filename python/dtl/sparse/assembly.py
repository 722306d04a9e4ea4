"""Matrices put together of what ranks add to any rows, many times, with one exchange at the end."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, NamedTuple

import numpy as np

from ..comm.reductions import allreduce
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..ops import MIN
from ..runtime.agreement import agree, local_step, tell
from . import division
from .ghosts import Ghosts
from .local_rows import canonical, scipy_sparse
from .rows import Rows, rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Structure(NamedTuple):
    """Where values go that ranks add to the same places in the same order again."""

    #: The rows and columns that this rank adds to.
    rows: Array
    columns: Array
    #: Which of its values are for its own rows, and which for others, those for rank 0 first.
    kept: Array
    sent: Array
    #: What brings the others to their ranks; None if no rank has any.
    exchange: Ghosts | None
    #: Which element of this rank's rows, in ascending order, each value is added to: those kept, then those that come.
    places: Array
    #: Which of the elements are of columns whose elements of vectors this rank has.
    is_own: Array


class Assembly:
    """A block in which ranks add values to a matrix. Entering it is not collective, and leaving it is."""

    def __init__(self, rows: Rows, structure: Structure | None, keep: Callable[[Rows, Structure], None]) -> None:
        self._rows, self._structure, self._keep = rows, structure, keep
        self._added: list[tuple[Array, Array, Array]] = []

    def __enter__(self) -> Callable[[Any, Any, Any], None]:
        self._added.clear()
        return self.add

    def add(self, rows: Any, columns: Any, values: Any) -> None:
        """Add values to elements, of any rank's rows. Not collective.

        Parameters
        ----------
        rows, columns
            Which elements: integers, or arrays of them.
        values
            What is added. The three spread as NumPy's arrays do: for the matrix of one finite element with nodes n,
            ``add(n[:, None], n, values)``.

        Raises
        ------
        BoundsError
            If a row or column is outside the matrix.
        InvalidArgumentError, InvalidTypeError
            If shapes do not spread, or values do not fit the type of the matrix.
        """
        given = [np.asarray(each) for each in (rows, columns, values)]
        for name, each, extent in zip(("row", "column"), given, self._rows.shape):
            if each.size and not np.can_cast(each.dtype, np.int64, "same_kind"):
                raise InvalidTypeError(f"{name}s must be integers, not {each.dtype}")
            if each.size and not 0 <= int(each.min()) <= int(each.max()) < extent:
                wrong = each[(each < 0) | (each >= extent)].reshape(-1)[0]
                raise BoundsError(f"{name} {wrong} outside [0, {extent})")
        if not np.can_cast(given[2].dtype, self._rows.dtype, "same_kind"):
            raise InvalidTypeError(f"values of {given[2].dtype} do not fit a matrix of {self._rows.dtype}")
        try:
            spread = np.broadcast_arrays(*given)
        except ValueError as error:
            raise InvalidArgumentError(str(error)) from None
        index = np.int64
        self._added.append(
            (
                spread[0].astype(index).reshape(-1),
                spread[1].astype(index).reshape(-1),
                spread[2].astype(self._rows.dtype).reshape(-1),
            )
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self._finish()
        elif isinstance(error, Exception):
            tell(error, "assemble", (self._rows.context,))

    def _finish(self) -> None:
        """Bring what was added to its rows. Collective."""
        before, ctx = self._rows, self._rows.context
        with local_step(ctx, "assemble"):
            empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, before.dtype))
            rows, columns, values = (np.concatenate(each) for each in zip(empty, *self._added))
            known = self._structure
            is_known = known is not None and np.array_equal(rows, known.rows) and np.array_equal(columns, known.columns)
        self._added.clear()
        agree(ctx, "assemble", before.text())
        if int(allreduce(ctx, int(is_known), MIN)) and known is not None:
            data = _added_up(known, values)
            before.local.own.data[...] = data[known.is_own]
            before.local.other.data[...] = data[~known.is_own]
            return
        self._keep(*_first(before, rows, columns, values))


def _first(before: Rows, rows: Array, columns: Array, values: Array) -> tuple[Rows, Structure]:
    """Return the matrix of what was added, and what the next assembly needs. Collective."""
    ctx = before.context
    owners = division.owners(before.begins, rows)
    kept = np.flatnonzero(owners == ctx.rank)
    sent = np.argsort(owners, kind="stable")
    sent = sent[owners[sent] != ctx.rank]
    own_rows, own_columns = rows[kept] - before.first, columns[kept]
    exchange = None
    if int(allreduce(ctx, int(len(sent) == 0), MIN)) == 0:
        exchange = Ghosts(ctx, before.begins, rows[sent])
        came = exchange.sent_back(columns[sent])
        own_rows = np.concatenate([own_rows, exchange.sent])
        own_columns = np.concatenate([own_columns, came])
    shape = (before.end - before.first, before.shape[1])
    places_of = scipy_sparse().coo_array((np.ones(len(own_rows), before.dtype), (own_rows, own_columns)), shape=shape)
    made = canonical(places_of)
    numbers = np.repeat(np.arange(shape[0], dtype=np.int64), np.diff(made.indptr)) * shape[1] + made.indices
    places = np.searchsorted(numbers, own_rows * shape[1] + own_columns)
    low, high = before.column_begins[ctx.rank], before.column_begins[ctx.rank + 1]
    is_own = (made.indices >= low) & (made.indices < high)
    structure = Structure(rows, columns, kept, sent, exchange, places, is_own)
    made.data = _added_up(structure, values)
    return rows_of(ctx, made, before.begins, before.column_begins), structure


def _added_up(structure: Structure, values: Array) -> Array:
    """Return the elements of this rank's rows, in ascending order. Collective if values go to other ranks."""
    data = np.zeros(len(structure.is_own), values.dtype)
    own = values[structure.kept]
    there = own
    if structure.exchange is not None:
        came = structure.exchange.sent_back(values[structure.sent])
        there = np.concatenate([own, came])
    np.add.at(data, structure.places, there)
    return data
