"""What tables and sparse matrices have in common: an object of a class that holds the rows of all ranks."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from ..runtime.context import Context


class Held(Protocol):
    """What is held: the rows of a table, or those of a matrix."""

    @property
    def context(self) -> Context:
        """The context whose ranks have the rows."""


Rows = TypeVar("Rows", bound=Held)
Made = TypeVar("Made", bound="HasRows[Any]")


class HasRows(Generic[Rows]):
    """Rows, which methods of the classes below compute with."""

    __slots__ = ("__weakref__", "_rows")

    _rows: Rows

    @classmethod
    def of(cls: type[Made], rows: Rows) -> Made:
        """Return an object of the class that has these rows, without communication. For the modules of this package."""
        made = cls.__new__(cls)
        made._rows = rows
        return made

    @property
    def context(self) -> Context:
        """The context whose ranks have the rows."""
        return self._rows.context

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @property
    def rows(self) -> Rows:
        """The rows, for the modules of this package: of a transposed matrix, those that it transposes."""
        return self._rows
