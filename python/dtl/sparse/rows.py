"""What a sparse matrix consists of, for the modules that compute with it: this rank's rows, and how all are divided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NoReturn, TypeVar

import numpy as np

from ..comm.collectives import allgather
from ..containers import has_rows
from ..containers.layout import Division
from ..exceptions import InvalidTypeError
from ..runtime.context import Context
from . import division, protocols
from .ghosts import Ghosts
from .hints import missing_attribute
from .local_rows import LocalRows, Matrix, joined, matrix, split

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Held = TypeVar("Held", bound="HasRows")


class Pattern:
    """Where the elements of a matrix are divided, and what brings those of a vector that its rows need of other ranks.

    Matrices that store elements in the same places share one.
    """

    __slots__ = ("_ghosts", "_needed", "begins", "column_begins", "context", "nnz")

    def __init__(self, ctx: Context, begins: Array, column_begins: Array, local: LocalRows) -> None:
        self.context, self.begins, self.column_begins = ctx, begins, column_begins
        stored = np.asarray(allgather(ctx, np.array([local.nnz, len(local.ghosts)], np.int64)))
        self.nnz = int(stored[..., 0].sum())
        self._needed = local.ghosts if stored[..., 1].any() else None
        self._ghosts: Ghosts | None = None

    def ghosts(self) -> Ghosts | None:
        """Return what brings the elements that rows need of others; None if none do. Collective at first."""
        if self._ghosts is None and self._needed is not None:
            self._ghosts = Ghosts(self.context, self.column_begins, self._needed)
        return self._ghosts


class Rows:
    """The rows of a matrix, divided among ranks. Nothing of it changes."""

    __slots__ = ("local", "pattern")

    def __init__(self, pattern: Pattern, local: LocalRows) -> None:
        self.pattern, self.local = pattern, local

    @property
    def context(self) -> Context:
        """The context whose ranks have the rows."""
        return self.pattern.context

    @property
    def begins(self) -> Array:
        """Where the rows of each rank begin, and where the last ones end."""
        return self.pattern.begins

    @property
    def column_begins(self) -> Array:
        """The same of the columns: how vectors are divided that the matrix is multiplied by."""
        return self.pattern.column_begins

    @property
    def nnz(self) -> int:
        """How many elements all ranks store."""
        return self.pattern.nnz

    @property
    def shape(self) -> tuple[int, int]:
        """The rows on all ranks, and the columns."""
        return int(self.begins[-1]), int(self.column_begins[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        found: np.dtype[Any] = self.local.own.dtype
        return found

    @property
    def first(self) -> int:
        """The first row of this rank."""
        return int(self.begins[self.context.rank])

    @property
    def end(self) -> int:
        """The row behind the last one of this rank."""
        return int(self.begins[self.context.rank + 1])

    @property
    def divided(self) -> Division:
        """How containers are divided that have an element for each row."""
        return division.division_of(self.begins)

    def whole(self) -> Matrix:
        """Return this rank's rows with all columns. If one rank has all, they are the matrix's own."""
        return joined(self.local, self.shape[1])

    def text(self) -> str:
        """Return what the ranks compare of a matrix."""
        return f"matrix {self.shape} of {self.dtype} with {self.nnz}"

    def ghosts(self) -> Ghosts | None:
        """Return what brings the elements that rows need of others; None if none do. Collective at first."""
        return self.pattern.ghosts()

    def with_data(self, change: Callable[[Array], Array]) -> Rows:
        """Return a matrix that stores other elements in the same places: what a function makes of them. Local."""
        own, other = (
            matrix(change(each.data), each.indices, each.indptr, each.shape)
            for each in (self.local.own, self.local.other)
        )
        return Rows(self.pattern, self.local._replace(own=own, other=other))


def rows_of(ctx: Context, rows: Matrix, begins: Array, column_begins: Array | None = None) -> Rows:
    """Return the matrix that has these rows on this rank. Collective.

    Parameters
    ----------
    ctx
        The context.
    rows
        This rank's rows with all columns, each place stored once, in ascending order. Nobody else writes to them.
    begins
        Where the rows of each rank begin, and where the last ones end.
    column_begins
        The same of the columns; None for as the rows, if there are as many, else by blocks.
    """
    columns = rows.shape[1]
    if column_begins is None:
        column_begins = begins if columns == int(begins[-1]) else division.blocks(columns, ctx.size)
    local = split(rows, int(column_begins[ctx.rank]), int(column_begins[ctx.rank + 1]))
    return Rows(Pattern(ctx, begins, column_begins, local), local)


def divided_alike(rows: Rows) -> Rows:
    """Return a square matrix with its columns divided as its rows are. Collective if it is a copy."""
    if np.array_equal(rows.begins, rows.column_begins):
        return rows
    return rows_of(rows.context, rows.whole(), rows.begins, rows.begins)


def rows_by(name: str, value: Any) -> Rows:
    """Return what a matrix by rows consists of that a caller passes."""
    if not isinstance(value, HasRows):
        raise InvalidTypeError(f"{name} must be a matrix of dtl.sparse, not {type(value).__name__}")
    found: Rows = value.tocsr().rows
    return found


class HasRows(has_rows.HasRows[Rows]):
    """What matrices and transposed ones have in common, and their methods build on."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return protocols.computed(HasRows, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return protocols.called(HasRows, function, args, options)

    if TYPE_CHECKING:
        tocsr: Callable[[], Any]
        copy: Callable[[], Any]
    else:  # a type checker knows the methods that there are

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute(name)

    @property
    def ndim(self) -> int:
        """The number of dimensions: 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements. Not collective."""
        return self._rows.dtype

    @property
    def nnz(self) -> int:
        """How many elements are stored on all ranks, those that are zero among them. Not collective."""
        return self._rows.nnz

    @property
    def size(self) -> int:
        """How many elements are stored, as SciPy counts them: :attr:`nnz`. Not collective."""
        return self._rows.nnz

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the elements of each row are in the order of columns: they always are. Not collective."""
        return True

    @property
    def has_canonical_format(self) -> bool:
        """Whether each place is stored once, and in order: it always is. Not collective."""
        return True

    def sum_duplicates(self) -> None:
        """Do nothing: each place is stored once already. Not collective."""

    def sort_indices(self) -> None:
        """Do nothing: the elements of each row are in the order of columns already. Not collective."""

    def sorted_indices(self: Held) -> Held:
        """Return a copy, whose elements are in order as those of this matrix are. Collective."""
        made: Held = self.copy()
        return made

    def prune(self) -> None:
        """Do nothing: there is no memory beyond the elements. Not collective."""

    def check_format(self, full_check: bool = True) -> None:
        """Do nothing: a matrix is checked when it is made. Not collective."""
