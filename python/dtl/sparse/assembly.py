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


class Memory(NamedTuple):
    """What an assembly computes in that adds to the same places as the one before."""

    #: All values that this rank adds, and whether those of one call go elsewhere.
    values: Array
    differ: Array
    #: Those for its own rows, and for others.
    kept: Array
    sent: Array
    #: The sums.
    sums: Array


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
    #: Which element of this rank's rows each value is added to: those kept, then those that come. Elements of columns
    #: whose elements of vectors this rank has come first, in ascending order, and then the others.
    places: Array
    #: How many elements come first.
    own: int
    #: The memory of one assembly, unless one is under way that has it.
    memory: list[Memory]


class _Again:
    """What is added to the places of the assembly before, in the same order."""

    def __init__(self, known: Structure, memory: Memory) -> None:
        self._known, self.memory, self._count = known, memory, 0

    def takes(self, rows: Array, columns: Array, values: Array) -> bool:
        """Keep values if they go where those of the assembly before went, and say whether they do."""
        part, shape = slice(self._count, self._count + rows.size), rows.shape
        if part.stop > len(self._known.rows):
            return False
        differ = self.memory.differ[: rows.size].reshape(shape)
        for given, known in ((rows, self._known.rows), (columns, self._known.columns)):
            if np.not_equal(given, known[part].reshape(shape), out=differ).any():
                return False
        np.copyto(self.memory.values[part].reshape(shape), values, casting="same_kind")
        self._count = part.stop
        return True

    def is_all(self) -> bool:
        """Say whether all places have been added to."""
        return self._count == len(self._known.rows)

    def so_far(self) -> tuple[Array, Array, Array]:
        """Return the rows, columns and values of what has been added."""
        return tuple(each[: self._count] for each in (self._known.rows, self._known.columns, self.memory.values))


class Assembly:
    """A block in which ranks add values to a matrix. Entering it is not collective, and leaving it is."""

    def __init__(self, rows: Rows, structure: Structure | None, keep: Callable[[Rows, Structure], None]) -> None:
        self._rows, self._structure, self._keep = rows, structure, keep
        self._added: list[tuple[Array, Array, Array]] = []
        self._again: _Again | None = None

    def __enter__(self) -> Callable[[Any, Any, Any], None]:
        self._added.clear()
        known = self._structure
        self._again = _Again(known, known.memory.pop()) if known is not None and known.memory else None
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
        if self._again is not None and not self._added:
            if self._again.takes(*spread):
                return
            self._added.append(self._again.so_far())
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
        try:
            if error is None:
                self._finish()
            elif isinstance(error, Exception):
                tell(error, "assemble", (self._rows.context,))
        finally:
            if self._again is not None and self._structure is not None:
                self._structure.memory.append(self._again.memory)
            self._again = None
            self._added.clear()

    def _finish(self) -> None:
        """Bring what was added to its rows. Collective."""
        before, ctx, known, again = self._rows, self._rows.context, self._structure, self._again
        is_known = again is not None and not self._added and again.is_all()
        agree(ctx, "assemble", before.text())
        if int(allreduce(ctx, int(is_known), MIN)) and known is not None and again is not None:
            sums = _added_up(known, again.memory)
            before.local.own.data[...] = sums[: known.own]
            before.local.other.data[...] = sums[known.own :]
            self._keep(before, known)
            return
        with local_step(ctx, "assemble"):
            empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, before.dtype))
            added = self._added if again is None or self._added else [again.so_far()]
            rows, columns, values = (np.concatenate(each) for each in zip(empty, *added))
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
    own = int(is_own.sum())
    order = np.where(is_own, np.cumsum(is_own) - 1, own + np.cumsum(~is_own) - 1)
    memory = Memory(
        values,
        np.zeros(len(values), np.bool_),
        np.zeros(len(kept), values.dtype),
        np.zeros(len(sent), values.dtype),
        np.zeros(made.nnz, values.dtype),
    )
    structure = Structure(rows, columns, kept, sent, exchange, order[places], own, [memory])
    made.data = _added_up(structure, memory)[order]
    return rows_of(ctx, made, before.begins, before.column_begins), structure


def _added_up(known: Structure, memory: Memory) -> Array:
    """Return the sums for this rank's rows, of values in memory. Collective if values go to other ranks."""
    memory.sums[...] = 0
    np.take(memory.values, known.kept, out=memory.kept, mode="clip")
    np.add.at(memory.sums, known.places[: len(known.kept)], memory.kept)
    if known.exchange is not None:
        came = known.exchange.sent_back(np.take(memory.values, known.sent, out=memory.sent, mode="clip"))
        np.add.at(memory.sums, known.places[len(known.kept) :], came)
    return memory.sums
