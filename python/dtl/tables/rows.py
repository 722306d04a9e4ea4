"""The rows of a table or column: each rank's, one rank's after the other's, and how many each rank has.

Functions on tables take and return these, so that none of them needs the classes that programs see.
"""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .._native.threads import get_num_threads
from ..comm.collectives import allgather
from ..containers import has_rows
from ..exceptions import (
    KNOWN_TO_RANKS,
    DTLError,
    InvalidArgumentError,
    InvalidTypeError,
    KeyNotFoundError,
    OverflowError,
    is_marked,
)
from ..io.interchange import pyarrow_with_capsules
from ..io.names import names_in
from ..runtime.context import Context

#: How alike two names are, of which one is taken for a slip of the other.
_ALIKE = 0.6

_ready: list[Any] = []

#: What makes a table or column of rows: of table.py and column.py, which the functions below it do not import.
makers: dict[str, Callable[[Rows], Any]] = {}


def arrow() -> Any:
    """Return pyarrow, of 14 or later, with its ``compute``: it computes on as many threads as this rank has cores."""
    if not _ready:
        pa = pyarrow_with_capsules()
        pa.set_cpu_count(max(1, get_num_threads()))
        _ready.append(pa)
    return _ready[0]


class Rows:
    """A pyarrow.Table of this rank's rows, and the number of rows of each rank. It is not changed once it is made.

    Parameters
    ----------
    context
        The ranks.
    local
        This rank's rows. The schema is the same on every rank, in the form of ``arrow_types.normal``.
    counts
        How many rows each rank has, the same on every rank.
    """

    __slots__ = ("_local", "context", "counts")

    def __init__(self, context: Context, local: Any, counts: tuple[int, ...]) -> None:
        self.context = context
        self._local = local
        self.counts = counts

    @property
    def local(self) -> Any:
        """The rows of this rank, a pyarrow.Table."""
        return self._local

    @property
    def held(self) -> Any:
        """The rows of this rank, a pyarrow.Table whose texts may be categories."""
        return self.local

    def column(self, name: str) -> Any:
        """Return a column of this rank's rows."""
        return self.local.column(name)

    def of_held(self, held: Any, counts: tuple[int, ...]) -> Rows:
        """Return other rows of the same columns, given as ``held`` has them. Not collective."""
        return Rows(self.context, held, counts)

    def between(self, start: int, counts: tuple[int, ...]) -> Rows:
        """Return this rank's rows from one on, of which each rank has so many. Not collective."""
        return self.of_held(self.held.slice(start, counts[self.context.rank]), counts)

    @classmethod
    def made(cls, context: Context, local: Any) -> Rows:
        """Return rows of which the ranks tell each other how many they have. Collective."""
        return cls(context, local, counted(context, len(local)))

    def like(self, local: Any) -> Rows:
        """Return other columns of the same rows, or of as many on each rank. Not collective."""
        return Rows(self.context, local, self.counts)

    def chosen(self, names: Sequence[str]) -> Rows:
        """Return some columns of the same rows. Not collective."""
        return self.like(self.local.select(names))

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self.context

    @property
    def schema(self) -> Any:
        """The names and types of the columns."""
        return self.local.schema

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self.local.column_names
        return names

    @property
    def total(self) -> int:
        """The number of rows on all ranks."""
        return sum(self.counts)

    @property
    def length(self) -> int:
        """The number of this rank's rows."""
        return self.counts[self.context.rank]

    @property
    def first(self) -> int:
        """The number of rows before this rank's first."""
        return sum(self.counts[: self.context.rank])


class MappedRows(Rows):
    """Rows whose memory is a file, and those that are made of them without a copy.

    Parameters
    ----------
    context, local, counts
        As of Rows.
    file
        The container that the file is. Each use of the rows looks whether the file still has all of its bytes.
    """

    __slots__ = ("_file",)

    def __init__(self, context: Context, local: Any, counts: tuple[int, ...], file: Any) -> None:
        super().__init__(context, local, counts)
        self._file = file

    @property
    def local(self) -> Any:
        """The rows of this rank, a pyarrow.Table."""
        self._file.local_view()
        return super().local

    def of_held(self, held: Any, counts: tuple[int, ...]) -> Rows:
        """Return other rows of the same columns, given as ``held`` has them. Not collective."""
        return MappedRows(self.context, held, counts, self._file)

    def like(self, local: Any) -> Rows:
        """Return other columns of the same rows, or of as many on each rank. Not collective."""
        return MappedRows(self.context, local, self.counts, self._file)


class RowsByColumn(Rows):
    """Rows of which each column is held by itself.

    Parameters
    ----------
    context, counts
        As of Rows.
    schema
        The names and types of the columns.
    columns
        The columns by their names, for all rows that are made of these.
    """

    __slots__ = ("_columns", "_schema")

    def __init__(self, context: Context, schema: Any, counts: tuple[int, ...], columns: dict[str, Any]) -> None:
        self.context, self.counts, self._schema, self._columns = context, counts, schema, columns

    @property
    def local(self) -> Any:
        """The rows of this rank, a pyarrow.Table."""
        return arrow().table([self.column(name) for name in self.names], schema=self._schema)

    def column(self, name: str) -> Any:
        """Return a column of this rank's rows."""
        return self._columns[name]

    @property
    def schema(self) -> Any:
        """The names and types of the columns."""
        return self._schema

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self._schema.names
        return names

    def chosen(self, names: Sequence[str]) -> Rows:
        """Return some columns of the same rows. Not collective."""
        return self._of(arrow().schema([self._schema.field(name) for name in names]))

    def forget(self, names: Sequence[str]) -> None:
        """Give up columns of rows that nobody else has, for their memory."""
        for name in names:
            del self._columns[name]

    def _of(self, schema: Any) -> Rows:
        """Return the columns of a schema."""
        return type(self)(self.context, schema, self.counts, self._columns)


class HasRows(has_rows.HasRows[Rows]):
    """What tables and columns have in common, and their methods build on."""

    __slots__ = ()


def counted(context: Context, rows: int) -> tuple[int, ...]:
    """Return how many rows each rank has. Collective."""
    return tuple(allgather(context, np.array([rows], np.int64)).ravel().tolist())


def block_counts(context: Context, rows: int) -> tuple[int, ...]:
    """Return how many rows each rank has of a block division, the larger parts first."""
    share, more = divmod(rows, context.size)
    return tuple(share + (rank < more) for rank in range(context.size))


def as_table(rows: Rows) -> Any:
    """Return a dtl.Table of rows. Not collective."""
    return makers["table"](rows)


def as_column(rows: Rows) -> Any:
    """Return a dtl.Column of rows of one column. Not collective."""
    return makers["column"](rows)


def unknown_column(name: Any, names: list[str]) -> KeyNotFoundError:
    """Return the error of a name that no column has, with the names that are like it."""
    close = difflib.get_close_matches(str(name), names, 3, _ALIKE)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    return KeyNotFoundError(f"there is no column {name!r}; {hint}the columns are {names}")


def column_names(rows: Rows, what: str, names: Any) -> list[str]:
    """Return the names of columns, given as one or as a list, each of which there is and is named once."""
    found = names_in(what, names)
    for name in found:
        if name not in rows.names:
            raise unknown_column(name, rows.names)
        if found.count(name) > 1:
            raise InvalidArgumentError(f"{what} names the column {name!r} twice")
    return found


@contextmanager
def arrows_errors(what: str) -> Iterator[None]:
    """Raise the errors of Arrow's functions as DTL's: of a type, of a value, of a number that is too large."""
    pa = arrow()
    try:
        yield
    except DTLError:
        raise
    except MemoryError:
        raise
    except (pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        if is_marked(error, KNOWN_TO_RANKS):  # of a function of the user's
            raise
        raise InvalidTypeError(f"{what}: {_first_line(error)}") from None
    except (pa.ArrowException, ValueError, ArithmeticError) as error:
        if is_marked(error, KNOWN_TO_RANKS):
            raise
        text = _first_line(error)
        kind = OverflowError if "verflow" in text or isinstance(error, ArithmeticError) else InvalidArgumentError
        raise kind(f"{what}: {text}") from None


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
