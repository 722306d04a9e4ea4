"""What a sparse matrix consists of, for the modules that compute with it: this rank's rows, and how all are divided."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..comm.collectives import allgather
from ..containers.layout import Division
from ..runtime.context import Context
from . import division
from .ghosts import Ghosts
from .local_rows import LocalRows, Matrix, joined, split

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Held = TypeVar("Held", bound="HasRows")


class Rows:
    """The rows of a matrix, divided among ranks. Making it is collective; nothing of it changes.

    Parameters
    ----------
    ctx
        The context.
    rows
        This rank's rows with all columns, each place stored once, in ascending order. Nobody else writes to them.
    begins
        Where the rows of each rank begin, and where the last ones end.
    column_begins
        The same of the columns, as vectors are divided that the matrix is multiplied by; None for as the rows, if there
        are as many, else by blocks.
    """

    __slots__ = ("_ghosts", "begins", "column_begins", "context", "local", "nnz")

    def __init__(self, ctx: Context, rows: Matrix, begins: Array, column_begins: Array | None = None) -> None:
        if column_begins is None:
            columns = rows.shape[1]
            column_begins = begins if columns == int(begins[-1]) else division.blocks(columns, ctx.size)
        self.context, self.begins, self.column_begins = ctx, begins, column_begins
        self.local: LocalRows = split(rows, int(column_begins[ctx.rank]), int(column_begins[ctx.rank + 1]))
        stored = np.asarray(allgather(ctx, np.array([self.local.nnz, len(self.local.ghosts)], np.int64)))
        self.nnz = int(stored[..., 0].sum())
        self._ghosts: Ghosts | bool | None = None if stored[..., 1].any() else False

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
        if self._ghosts is None:
            self._ghosts = Ghosts(self.context, self.column_begins, self.local.ghosts)
        return self._ghosts if isinstance(self._ghosts, Ghosts) else None


class HasRows:
    """What matrices and transposed ones have in common, and their methods build on."""

    __slots__ = ("__weakref__", "_rows")

    _rows: Rows

    #: NumPy's arrays leave operators to these classes.
    __array_ufunc__ = None

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    @classmethod
    def of(cls: type[Held], rows: Rows) -> Held:
        """Return a matrix of rows, without communication. For the modules of this package."""
        made = cls.__new__(cls)
        HasRows.__init__(made, rows)
        return made

    @property
    def context(self) -> Context:
        """The context whose ranks have the matrix."""
        return self._rows.context

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @property
    def rows(self) -> Rows:
        """What the matrix, or that which it transposes, consists of: for the modules of this package."""
        return self._rows

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
