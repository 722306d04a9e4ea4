"""Tables of columns, whose rows are divided among the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Iterator, overload

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.columns import Columns
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from .column import Column
from .gathering import gathered
from .making import rows_of_arrow, rows_of_columns, rows_of_dict, table_of
from .rows import Rows, arrow, column_names, makers, unknown_column


class Table:
    """A table of columns of Arrow's types, whose rows are divided among the ranks of a context.

    Making one is collective. Rank 0 has the first rows, rank 1 those that follow, and so on. Each rank's rows are a
    table of pyarrow, which computes what concerns one rank; a missing value is null in every column.

    Parameters
    ----------
    ctx
        The context.
    data
        A mapping of names to columns: one-dimensional containers whose parts lie one rank's after the other's, columns
        of other tables, arrays and lists that are the same on every rank, and scalars. Or a :class:`Columns`, as
        ``read_csv`` returns it, or a table of pandas, polars or pyarrow that is the same on every rank.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If there is no column, if the columns have different lengths or are divided in different ways, or if no type of
        Arrow holds the values. On every rank.
    CollectiveMismatchError
        If the ranks pass different arrays, names or scalars.
    BackendUnavailableError
        If pyarrow is missing or older than 14: ``pip install pyarrow``.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     table = dtl.Table(ctx, {"what": ["plum", "fig", None], "price": [3, 2, 5], "shop": "here"})
    ...     print(len(table), table.columns, table[["price"]].to_arrow().to_pydict())
    3 ['what', 'price', 'shop'] {'price': [3, 2, 5]}
    """

    __module__ = "dtl"
    __slots__ = ("__weakref__", "_rows")

    _rows: Rows

    @collective
    def __init__(self, ctx: Context, data: Any) -> None:
        check_context(ctx)
        if isinstance(data, Table):
            self._rows = data._rows
            agree(ctx, "table", "a table")
        elif isinstance(data, Columns):
            self._rows = rows_of_columns(ctx, "table", data)
        else:
            if not isinstance(data, Mapping):
                whole = table_of(arrow(), data)
                data = dict(zip(whole.column_names, whole.columns))
            columns = {name: value._rows for name, value in data.items() if isinstance(value, Column)}
            self._rows = rows_of_dict(ctx, "table", data, columns)

    @classmethod
    def of(cls, rows: Rows) -> Table:
        """Return a table of rows, without communication. For the modules of this package."""
        made = cls.__new__(cls)
        made._rows = rows
        return made

    @classmethod
    @collective
    def from_arrow(cls, ctx: Context, table: Any) -> Table:
        """Make a table of tables in memory, of which each rank passes its own rows. Collective.

        Parameters
        ----------
        ctx
            The context.
        table
            This rank's rows, which follow those of the ranks before it: a table of pyarrow, pandas, polars or any other
            library with the method ``__arrow_c_stream__``. None means no rows, for example if one rank has all of them.

        Raises
        ------
        InvalidTypeError
            If table is not a table.
        InvalidArgumentError
            If the tables of the ranks have different columns, if no rank has a table, or if two columns have the same
            name.
        BackendUnavailableError
            If pyarrow is missing or older than 14: ``pip install pyarrow``.

        Notes
        -----
        Every error is raised on every rank, even if it occurs on one rank only.

        Nothing is copied that Arrow need not copy: rows stay on the rank that passes them. NaNs of pandas become null,
        because pandas tells Arrow so.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     rows = pyarrow.table({"what": ["plum", "fig"], "price": [3, None]})
        ...     table = dtl.Table.from_arrow(ctx, rows if ctx.is_root else None)
        ...     print(table.shape, table["price"].dtype)
        (2, 2) int64
        """
        check_context(ctx)
        return cls.of(rows_of_arrow(ctx, "from_arrow", table))

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
        """The rows as Arrow's, for the modules of this package."""
        return self._rows

    def __len__(self) -> int:
        return self._rows.total

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows on all ranks, and of columns. Not collective."""
        return self._rows.total, len(self._rows.names)

    @property
    def columns(self) -> list[str]:
        """The names of the columns. Not collective."""
        return self._rows.names

    @property
    def dtypes(self) -> dict[str, Any]:
        """The type of each column, as a pyarrow.DataType, by its name. Not collective."""
        return dict(zip(self._rows.names, self._rows.schema.types))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows.names)

    def __contains__(self, name: object) -> bool:
        return name in self._rows.names

    def keys(self) -> list[str]:
        """Return the names of the columns. Not collective."""
        return self._rows.names

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: Any) -> Table: ...
    def __getitem__(self, key: Any) -> Any:
        rows = self._rows
        if isinstance(key, str):
            if key not in rows.names:
                raise unknown_column(key, rows.names)
            return Column.of(rows.like(rows.local.select([key])))
        if isinstance(key, list) and not all(isinstance(name, (bool, np.bool_)) for name in key):
            names = column_names(rows, "the list", key)
            return Table.of(rows.like(rows.local.select(names)))
        raise InvalidTypeError(f"a table has columns by names, lists of names, masks and slices of rows, not {key!r}")

    def to_arrow(self, root: int = 0, *, local: bool = False) -> Any:
        """Return rows as a pyarrow.Table: all of them on one rank, or those of each rank. Collective, unless local.

        Parameters
        ----------
        root
            The rank that gets all rows; the others get None.
        local
            Return this rank's rows on every rank instead. This communicates nothing, and copies nothing.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        return self._rows.local if local else self._gathered("to_arrow", root)

    def to_pandas(self, root: int = 0) -> Any:
        """Return all rows as a pandas.DataFrame on one rank; None on the others. Collective.

        Parameters
        ----------
        root
            The rank that gets the rows.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        whole = self._gathered("to_pandas", root)
        return None if whole is None else whole.to_pandas()

    @collective
    def _gathered(self, op: str, root: Any) -> Any:
        return gathered(self._rows, op, root)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return this rank's rows for libraries that support Arrow's PyCapsule interface. Not collective."""
        return self._rows.local.__arrow_c_stream__(requested_schema)


def rows_of(thing: Any, name: str, ctx: Context) -> Rows:
    """Return the rows of an argument that has to be a table on the same ranks as others."""
    if not isinstance(thing, Table):
        raise InvalidTypeError(f"{name} must be a dtl.Table, not {type(thing).__name__}")
    if thing.context is not ctx:
        raise InvalidArgumentError(f"{name} is on another context")
    return thing.rows


makers["table"] = Table.of
