"""Tables of columns, whose rows are divided among the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Iterator, overload

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.columns import Columns
from ..io.formats import needs
from ..io.steps import path_of
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from . import changes, display, reading, reading_batches, reading_csv, reading_json, reductions, selection, writing
from .column import Column
from .gathering import gathered
from .grouping import TableGroupBy
from .join_methods import JoinMethods
from .making import rows_of_arrow, rows_of_columns, rows_of_dict, table_of
from .row_methods import RowMethods
from .rows import Rows, arrow, column_names, makers, unknown_column


class Table(RowMethods, JoinMethods):
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
    __slots__ = ("__weakref__",)

    @collective
    def __init__(self, ctx: Context, data: Any) -> None:
        check_context(ctx)
        if isinstance(data, (Table, Column)):
            if data.context is not ctx:
                raise InvalidArgumentError(f"the {type(data).__name__} is on another context")
            self._rows = data.rows
            agree(ctx, "table", f"{data.rows.names} of a table")
        elif isinstance(data, Columns):
            self._rows = rows_of_columns(ctx, "table", data)
        else:
            if not isinstance(data, Mapping):
                whole = table_of(arrow(), data)
                data = dict(zip(whole.column_names, whole.columns))
            columns = {name: value.rows for name, value in data.items() if isinstance(value, Column)}
            self._rows = rows_of_dict(ctx, "table", data, columns)

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
        because pandas tells Arrow so. Levels of pandas' index that have a name are the first columns, as after
        ``reset_index``; an index without a name is left out.

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

    @classmethod
    @collective
    def read_parquet(cls, ctx: Context, path: Any, *, columns: Any = None, filters: Any = None) -> Table:
        """Return the table of files of Parquet; each rank reads its groups of rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, or a folder of files. If folders in it are named by values, such
            as ``year=2024``, these are columns: of int64 if all are integers, and of text otherwise. Files whose names
            begin with ``_`` or a dot are left out.
        columns
            The names of the columns to read; None for all.
        filters
            Which rows to read: terms such as ``[("price", ">", 3), ("year", "in", [2023, 2024])]`` that must all be
            true, a list of such lists of which one must be, or an expression of pyarrow. Groups in which no row is
            wanted are not read.

        Returns
        -------
        Table
            The rows in the order of the files. Each rank has whole groups, where that deals the rows out evenly.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        FileError
            If a file is damaged, or if its columns are not those of the first file. On every rank.
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError, InvalidTypeError
            If columns or filters are none.
        BackendUnavailableError
            If pyarrow is missing or older than 14: ``pip install pyarrow``.

        Examples
        --------
        >>> import dtl, os, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.parquet")
        ...     dtl.Table(ctx, {"what": ["plum", "fig", None], "price": [3, 2, 5]}).save(path)
        ...     table = dtl.Table.read_parquet(ctx, path, filters=[("price", ">", 2)])
        ...     print(table.to_arrow().to_pydict())
        {'what': ['plum', None], 'price': [3, 5]}
        """
        check_context(ctx)
        return cls.of(reading.read_parquet(ctx, "read_parquet", path_of(path), columns, filters))

    @classmethod
    @collective
    def read_csv(
        cls,
        ctx: Context,
        path: Any,
        *,
        sep: str = ",",
        header: Any = "infer",
        names: Any = None,
        usecols: Any = None,
        dtype: Any = None,
        parse_dates: Any = None,
        decimal: str = ".",
        thousands: str | None = None,
        comment: str | None = None,
        skiprows: int = 0,
        na_values: Any = None,
        encoding: str = "utf-8",
    ) -> Table:
        r"""Return the table of files of CSV; each rank parses its rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, or a folder of files. They may be compressed by gzip, bzip2, xz
            or zstd, whatever their suffixes say; then one rank unpacks each file.
        sep
            The character between values.
        header
            0 if the first row has the names of the columns, and None if there is none: then they are "0", "1" and so
            on. "infer" is 0, or None if there are names.
        names
            Other names of all columns.
        usecols
            The names of the columns to read; None for all.
        dtype
            A mapping of names to types, as for :meth:`astype`.
        parse_dates
            The names of columns of times, or a mapping of names to formats, such as ``{"at": "%d.%m.%Y"}``. Times as in
            ISO 8601 are recognised without it.
        decimal, thousands
            The character before decimals, and that between groups of three digits.
        comment
            The character that begins a comment, up to the end of the line.
        skiprows
            How many lines at the beginning of each file are left out.
        na_values
            Further texts that are null, beside an empty one, NA, N/A, null, NULL and None. In quotes, they are text.
        encoding
            The encoding, such as "latin-1". Of other encodings than UTF-8, one rank decodes each file.

        Raises
        ------
        FileNotFoundError, FileError, BackendUnavailableError
            As for :meth:`read_parquet`. FileError also if a row has more or fewer values than the first one, or if a
            value is not of the type said.
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError, InvalidTypeError
            If an argument is none. On every rank.

        Notes
        -----
        Rows and types do not depend on the number of ranks: a column has the type that holds all of its values, and
        integers that float64 would not hold are text. A rank has the rows that begin in its share of the bytes; rows of
        files that one rank unpacks are dealt out evenly.

        Examples
        --------
        >>> import dtl, os, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "towns.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("town;people\nUlm;126.000\nBonn;332.000\n")
        ...     dtl.Table.read_csv(ctx, path, sep=";", thousands=".", decimal=",").to_arrow().to_pydict()
        {'town': ['Ulm', 'Bonn'], 'people': [126000, 332000]}
        """
        check_context(ctx)
        text = path_of(path)
        options = reading_csv.options_of(
            sep, header, names, usecols, dtype, parse_dates, decimal, thousands, comment, skiprows, na_values, encoding
        )
        return cls.of(reading_csv.read_csv(ctx, "read_csv", text, options))

    @classmethod
    @collective
    def read_json(cls, ctx: Context, path: Any, *, columns: Any = None) -> Table:
        """Return the table of files of JSON lines, an object a line; each rank parses its lines. Collective.

        Parameters
        ----------
        ctx, path, columns
            As for :meth:`read_arrow`. Where an object has no value of a name, it is null.

        Raises
        ------
        FileError
            If a line is no object, or if the values of a column are of types that have nothing in common.
        FileNotFoundError, KeyNotFoundError, InvalidArgumentError, BackendUnavailableError
            As for :meth:`read_parquet`.
        """
        check_context(ctx)
        return cls.of(reading_json.read_json(ctx, "read_json", path_of(path), columns))

    @classmethod
    @collective
    def read_arrow(cls, ctx: Context, path: Any, *, columns: Any = None) -> Table:
        """Return the table of files of Arrow's IPC format, such as Feather; each rank reads its rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, or a folder of files.
        columns
            The names of the columns to read; None for all.

        Raises
        ------
        FileNotFoundError, FileError, KeyNotFoundError, InvalidArgumentError, BackendUnavailableError
            As for :meth:`read_parquet`.
        """
        check_context(ctx)
        return cls.of(reading_batches.read_arrow(ctx, "read_arrow", path_of(path), columns))

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
        if isinstance(key, slice):
            return self._slice(key)
        if isinstance(key, list) and not (key and all(isinstance(each, (bool, np.bool_)) for each in key)):
            return Table.of(rows.like(rows.local.select(_some(column_names(rows, "the list", key)))))
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            end = "" if key == -1 else int(key) + 1
            raise InvalidTypeError(f"{key!r} is no name of a column; the row of that number is table[{key}:{end}]")
        if isinstance(key, tuple):
            raise InvalidTypeError(f"{key!r} is a tuple; several columns are table[{list(key)!r}]")
        return self._filter(key)

    @collective
    def _filter(self, mask: Any) -> Table:
        """Return the rows where a mask is true."""
        given = mask.rows if isinstance(mask, Column) else mask
        return Table.of(selection.filtered(self._rows, "filter", given))

    @collective
    def _slice(self, which: slice) -> Table:
        """Return the rows of a slice."""
        return Table.of(selection.sliced(self._rows, "slice", which))

    def __setitem__(self, name: str, value: Any) -> None:
        """Add a column, or replace one. Collective, as :meth:`assign`."""
        if not isinstance(name, str):
            raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
        self._rows = self._assign("setitem", {name: value})

    def __delitem__(self, name: str) -> None:
        self._rows = changes.without(self._rows, "del", name)

    @collective
    def _assign(self, op: str, given: dict[str, Any]) -> Rows:
        columns = {name: value.rows for name, value in given.items() if isinstance(value, Column)}
        return changes.assigned(self._rows, op, given, columns)

    def assign(self, **columns: Any) -> Table:
        """Return a table with further columns, or with others in the places of some. Collective.

        Parameters
        ----------
        columns
            For each name, a column of this table or of one divided alike, a one-dimensional container divided alike, an
            array that is the same on every rank, or a scalar. Or a function of the table that returns one of these; the
            table has the columns that were named before.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If a column has another length or division than the table, or values of no type of Arrow. On every rank.
        CollectiveMismatchError
            If the ranks pass different arrays or scalars.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"price": [3, 2], "count": [5, 7]})
        ...     table["shop"] = "here"
        ...     table.assign(paid=lambda t: t["price"]).to_arrow().to_pydict()
        {'price': [3, 2], 'count': [5, 7], 'shop': ['here', 'here'], 'paid': [3, 2]}
        """
        made = Table.of(self._rows)
        for name, value in columns.items():
            made._rows = made._assign("assign", {name: value(made) if callable(value) else value})
        return made

    def rename(self, columns: Mapping[str, str] | Callable[[str], str]) -> Table:
        """Return the table with other names of columns. Not collective.

        Parameters
        ----------
        columns
            A mapping of names to new ones, or a function that returns the new name of each.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If two columns would have one name.
        """
        return Table.of(changes.renamed(self._rows, columns))

    def drop(self, columns: Any) -> Table:
        """Return the table without some columns: a name or a list of names. Not collective.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If no column would be left.
        """
        return Table.of(changes.without(self._rows, "drop", columns))

    @collective
    def astype(self, dtype: Any) -> Table:
        """Return the table with values of other types. Collective.

        Parameters
        ----------
        dtype
            The type of every column, or a mapping of names to types: of Arrow, of NumPy or of Python, or the name of
            one, such as "float32", "string", "category" or "timestamp[ms]".

        Raises
        ------
        InvalidArgumentError
            If a value has no equal in the new type, such as 1.5 in integers, or text that is no number. On every rank.
        InvalidTypeError
            If there is no such type, or no conversion to it.
        KeyNotFoundError
            If there is no such column.
        """
        return Table.of(changes.cast(self._rows, "astype", dtype))

    @collective
    def head(self, n: int = 5) -> Table:
        """Return the first n rows; if n is negative, all but the last ones. They stay on their ranks. Collective.

        Raises
        ------
        InvalidTypeError
            If n is no integer.
        """
        return Table.of(selection.sliced(self._rows, "head", slice(n)))

    @collective
    def tail(self, n: int = 5) -> Table:
        """Return the last n rows; if n is negative, all but the first ones. They stay on their ranks. Collective.

        Raises
        ------
        InvalidTypeError
            If n is no integer.
        """
        return Table.of(selection.last(self._rows, "tail", n))

    @collective
    def sample(self, n: Any = None, *, frac: Any = None, replace: bool = False, seed: Any = None) -> Table:
        """Return rows chosen at random, in the order of the table. They stay on their ranks. Collective.

        Parameters
        ----------
        n, frac
            How many rows, or which share of all: one of the two.
        replace
            Whether a row may be chosen more than once.
        seed
            An integer from which the choice follows, the same for any number of ranks; None for another choice each
            time.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If neither n nor frac is given, or both, or if there are not so many rows.
        CollectiveMismatchError
            If the ranks pass different arguments.
        """
        return Table.of(selection.sampled(self._rows, "sample", n, frac, replace, seed))

    @collective
    def dropna(self, subset: Any = None, *, how: str = "any") -> Table:
        """Return the rows without nulls. They stay on their ranks. Collective.

        Parameters
        ----------
        subset
            The names of the columns to look at; None for all.
        how
            "any" leaves out rows with a null in one of these columns, "all" those with nulls in all of them.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If how is neither, or if subset names no column.
        """
        return Table.of(selection.without_null(self._rows, "dropna", subset, how))

    @collective
    def fillna(self, value: Any) -> Table:
        """Return the table with other values in the places of nulls. Collective.

        Parameters
        ----------
        value
            A value for every column, or a mapping of names to values.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidTypeError, InvalidArgumentError
            If a column cannot have the value. On every rank.
        """
        return Table.of(changes.filled(self._rows, "fillna", value))

    @collective
    def describe(self) -> Table:
        """Return statistics of the columns of numbers: count, mean, std, min, quartiles and max. Collective.

        Returns
        -------
        Table
            A column ``statistic`` with their names, and a column of float64 for each column of numbers. All rows are on
            rank 0.

        Raises
        ------
        InvalidTypeError
            If no column is of numbers.
        """
        return Table.of(reductions.described(self._rows, "describe"))

    def items(self) -> list[tuple[str, Column]]:
        """Return the names and columns. Not collective."""
        return [(name, self[name]) for name in self._rows.names]

    def __repr__(self) -> str:
        return f"<{display.described('Table', self._rows)}>\n{display.of_rank(self._rows).text()}"

    def _repr_html_(self) -> str:
        return f"<p>{display.described('Table', self._rows)}</p>{display.of_rank(self._rows).html()}"

    @collective
    def show(self, root: int = 0) -> None:
        """Print the first and last rows of the whole table on one rank. Collective.

        ``print(table)`` shows those of the rank that prints, and is not collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        display.show(self._rows, "show", root)

    @collective
    def info(self, root: int = 0) -> None:
        """Print the columns on one rank, with their types and how many values are not null. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        display.info(self._rows, "info", root)

    def group_by(self, by: Any, *, dropna: bool = True) -> TableGroupBy:
        """Return the groups of rows with equal keys, to make aggregates of. Not collective.

        Parameters
        ----------
        by
            The name of a column, or a list of names. Two rows are of one group if all of these are equal; NaNs are
            equal to each other, and so are 0.0 and -0.0.
        dropna
            Whether rows with null among the keys belong to no group; else nulls are equal, and come last.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If no column is named, or one is twice.
        InvalidTypeError
            If a column is of lists or structs.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", None, "b"], "price": [5, 3, 1]})
        ...     table.group_by("shop").agg(paid=("price", "sum"), median=("price", "median")).to_arrow().to_pydict()
        {'shop': ['b'], 'paid': [6], 'median': [3.0]}
        """
        return TableGroupBy(self._rows, by, dropna)

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

    def to_polars(self, root: int = 0) -> Any:
        """Return all rows as a polars.DataFrame on one rank; None on the others. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        BackendUnavailableError
            If polars is missing on that rank: ``pip install polars``.
        """
        whole = self._gathered("to_polars", root)
        if whole is None:
            return None
        try:
            import polars
        except ImportError as error:
            raise needs("polars", "to_polars", error) from None
        return polars.from_arrow(whole)

    @collective
    def save(self, path: Any, *, format: str | None = None, compression: Any = None) -> None:
        """Write the table to a file of Parquet, Arrow or CSV. Collective.

        The new file replaces an old one only when it is complete. Until then, and if the call fails or the program is
        killed, the old file is unchanged.

        Parameters
        ----------
        path
            The file, in a folder that rank 0 can write to, or a URL. Its suffix says the format: ``.parquet`` or
            ``.pq``; ``.arrow`` or ``.feather``; ``.csv``.
        format
            "parquet", "arrow" or "csv", whatever the suffix is.
        compression
            For Parquet "snappy", "gzip", "brotli", "lz4" or "zstd"; for Arrow "lz4" or "zstd". False means none.
            None is "snappy" for Parquet, and none for Arrow.

        Raises
        ------
        FileError
            If rank 0 cannot write the file. On every rank.
        InvalidArgumentError, InvalidTypeError
            If the format is none, or if it has no columns of such types: CSV has no lists, structs, bytes and spans of
            time.
        """
        writing.save(self._rows, "save", path_of(path), format, compression)

    @collective
    def _gathered(self, op: str, root: Any) -> Any:
        return gathered(self._rows, op, root)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return this rank's rows for libraries that support Arrow's PyCapsule interface. Not collective."""
        return self._rows.local.__arrow_c_stream__(requested_schema)


def _some(names: list[str]) -> list[str]:
    if not names:
        raise InvalidArgumentError("the list names no column; a table has at least one")
    return names


def rows_of(thing: Any, name: str, ctx: Context) -> Rows:
    """Return the rows of an argument that has to be a table on the same ranks as others."""
    if not isinstance(thing, Table):
        raise InvalidTypeError(f"{name} must be a dtl.Table, not {type(thing).__name__}")
    if thing.context is not ctx:
        raise InvalidArgumentError(f"{name} is on another context")
    return thing.rows


makers["table"] = Table.of
