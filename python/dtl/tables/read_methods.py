"""The methods that make tables of files and of tables in memory."""

from __future__ import annotations

from typing import Any, TypeVar

from ..io.steps import path_of, paths_of
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context
from . import reading, reading_batches, reading_csv, reading_delta, reading_iceberg, reading_json, reading_sql
from .csv_options import one_of, options_of
from .making import rows_of_arrow
from .rows import HasRows

T = TypeVar("T", bound="ReadMethods")


class ReadMethods(HasRows):
    """Class methods of tables, which programs also call as functions of the package, such as ``dtl.read_csv``."""

    __slots__ = ()

    @classmethod
    @collective
    def from_arrow(cls: type[T], ctx: Context, table: Any) -> T:
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
        ...     table = dtl.from_arrow(ctx, rows if ctx.is_root else None)
        ...     print(table.shape, table["price"].dtype)
        (2, 2) int64
        """
        check_context(ctx)
        return cls.of(rows_of_arrow(ctx, "from_arrow", table))

    @classmethod
    @collective
    def read_parquet(
        cls: type[T], ctx: Context, path: Any, *, columns: Any = None, filters: Any = None, placement: Any = "host"
    ) -> T:
        """Return the table of files of Parquet; each rank reads its groups of rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, a folder of files, or a list of these, whose rows are in its
            order. If folders in a folder are named by values, such as ``year=2024``, these are columns: of int64 if all
            are integers, and of text otherwise. Files whose names begin with ``_`` or a dot are left out.
        columns
            The names of the columns to read; None for all.
        filters
            Which rows to read: terms such as ``[("price", ">", 3), ("year", "in", [2023, 2024])]`` that must all be
            true, a list of such lists of which one must be, or an expression of pyarrow. Groups in which no row is
            wanted are not read.
        placement
            "host", or "disk" for rows that are more than the memory holds: a column is read when it is first asked for,
            a group of rows at a time, and stays in a file in the scratch folder. With filters, all are read at once.
            So the columns of a call take one pass over the files, which has a group of rows in memory, and later calls
            none.

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
        ...     table = dtl.read_parquet(ctx, path, filters=[("price", ">", 2)])
        ...     print(table.to_arrow().to_pydict())
        {'what': ['plum', None], 'price': [3, 5]}
        """
        check_context(ctx)
        rows = reading.read_parquet(ctx, "read_parquet", paths_of(path), columns, filters, placement=placement)
        return cls.of(rows)

    @classmethod
    @collective
    def read_csv(
        cls: type[T],
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
        columns: Any = None,
        dtypes: Any = None,
        placement: Any = "host",
    ) -> T:
        r"""Return the table of files of CSV; each rank parses its rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, a folder of files, or a list of these. They may be compressed by
            gzip, bzip2, xz or zstd, whatever their suffixes say, or be archives of zip, each of one file. Then one rank
            unpacks each file, and sends the others their rows as it does: no rank holds more than its share of the
            text.
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
            A mapping of names to types, as for :meth:`Table.astype`.
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
            Further texts that are null, beside an empty one, NA, N/A, null, NULL and None. In quotes, they are text in
            a column of text.
        encoding
            The encoding, such as "latin-1". Of other encodings than UTF-8, one rank decodes each file.
        columns, dtypes
            The same as usecols and dtype, by the names that :meth:`Columns.read_csv` has.
        placement
            "host", or "disk" for rows that are more than the memory holds: they are parsed a few at a time, and stay in
            a file in the scratch folder. It takes one pass over the files; columns of some rows that look like another
            type than those of other rows are parsed once more, unless dtype says the type.

        Raises
        ------
        FileNotFoundError, FileError, BackendUnavailableError
            As for :func:`read_parquet`. FileError also if a row has more or fewer values than the first one, or if a
            value is not of the type said.
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError, InvalidTypeError
            If an argument is none, or if two say the same. On every rank.

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
        ...     dtl.read_csv(ctx, path, sep=";", thousands=".", decimal=",").to_arrow().to_pydict()
        {'town': ['Ulm', 'Bonn'], 'people': [126000, 332000]}
        """
        check_context(ctx)
        paths = paths_of(path)
        usecols, dtype = one_of("usecols", usecols, "columns", columns), one_of("dtype", dtype, "dtypes", dtypes)
        options = options_of(
            sep, header, names, usecols, dtype, parse_dates, decimal, thousands, comment, skiprows, na_values, encoding
        )
        return cls.of(reading_csv.read_csv(ctx, "read_csv", paths, options, placement=placement))

    @classmethod
    @collective
    def read_json(cls: type[T], ctx: Context, path: Any, *, columns: Any = None) -> T:
        """Return the table of files of JSON lines, an object a line; each rank parses its lines. Collective.

        Parameters
        ----------
        ctx, path, columns
            As for :func:`read_arrow`. Where an object has no value of a name, it is null.

        Raises
        ------
        FileError
            If a line is no object, or if the values of a column are of types that have nothing in common.
        FileNotFoundError, KeyNotFoundError, InvalidArgumentError, BackendUnavailableError
            As for :func:`read_parquet`.
        """
        check_context(ctx)
        return cls.of(reading_json.read_json(ctx, "read_json", paths_of(path), columns))

    @classmethod
    @collective
    def read_arrow(cls: type[T], ctx: Context, path: Any, *, columns: Any = None, placement: Any = "host") -> T:
        """Return the table of files of Arrow's IPC format, such as Feather; each rank reads its rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            A file, a pattern of several files, a URL, a folder of files, or a list of these.
        columns
            The names of the columns to read; None for all.
        placement
            "host", or "disk" for rows that are more than the memory holds: they are read once, a batch of rows at a
            time, and stay in a file in the scratch folder. :func:`load` with ``mapped=True`` copies nothing.

        Raises
        ------
        FileNotFoundError, FileError, KeyNotFoundError, InvalidArgumentError, BackendUnavailableError
            As for :func:`read_parquet`.
        """
        check_context(ctx)
        rows = reading_batches.read_arrow(ctx, "read_arrow", paths_of(path), columns, placement=placement)
        return cls.of(rows)

    @classmethod
    @collective
    def read_sql(cls: type[T], ctx: Context, query: str, connection: Any, *, partition_on: str | None = None) -> T:
        """Return the table of a query of SQL; each rank asks for its range of a key. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        query
            The query, a ``SELECT``.
        connection
            ``"sqlite:///path"`` or ``"postgresql://…"``, of which the driver of ADBC connects on each rank; or a
            function that returns a connection as PEP 249 has it, such as ``lambda: sqlite3.connect(path)``. Those of
            ADBC and DuckDB return tables of Arrow, and of others, rows become columns one value after the other.
        partition_on
            A column of integers in the result, best one with an index: each rank asks for the rows of a range, all as
            wide. None has rank 0 ask for all rows, and deal them out.

        Returns
        -------
        Table
            The rows, whose order is not promised, as in SQL: the ranges are in order, and rows without a key are last.

        Raises
        ------
        FileError
            If a rank cannot connect, or the database refuses the query; or if ranges have values of types that have
            nothing in common.
        InvalidArgumentError, InvalidTypeError
            If an argument is none, if the key is not of integers, or if no column has the values.
        BackendUnavailableError
            If the driver is missing, such as ``adbc-driver-sqlite``, or pyarrow.

        Notes
        -----
        Every error is raised on every rank. The ranks ask one by one, so a table that changes meanwhile may have rows
        twice or not at all.

        Tried with SQLite, and with PostgreSQL 15 by the driver of ADBC 1.13, psycopg 3.3, psycopg2 2.9 and pg8000 1.31.
        PostgreSQL's ``numeric`` becomes decimals. An infinite time is refused; psycopg2 makes it one at the end of the
        year 9999. ADBC's driver returns ``money`` as integers of cents, and an array of two dimensions as one list: a
        cast in the query, to ``numeric`` or ``text``, tells what is meant.

        Examples
        --------
        >>> import dtl, os, sqlite3, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "towns.db")
        ...     with sqlite3.connect(path) as database:
        ...         _ = database.execute("CREATE TABLE towns (id INTEGER PRIMARY KEY, name TEXT)")
        ...         _ = database.execute("INSERT INTO towns VALUES (1, 'Ulm'), (2, 'Bonn')")
        ...     database.close()
        ...     table = dtl.read_sql(ctx, "SELECT * FROM towns", lambda: sqlite3.connect(path), partition_on="id")
        ...     print(table.to_arrow().to_pydict())
        {'id': [1, 2], 'name': ['Ulm', 'Bonn']}
        """
        check_context(ctx)
        return cls.of(reading_sql.read_sql(ctx, "read_sql", query, connection, partition_on))

    @classmethod
    @collective
    def read_delta(
        cls: type[T], ctx: Context, path: Any, *, version: int | None = None, columns: Any = None, filters: Any = None
    ) -> T:
        """Return a table of Delta Lake; each rank reads its groups of rows. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        path
            The folder of the table, or its URL.
        version
            Which version of the table; None for the newest one, the same on every rank.
        columns, filters
            As for :func:`read_parquet`.

        Returns
        -------
        Table
            The rows in the order of the names of their files. Columns that a file has not, because they were added
            later, are null.

        Raises
        ------
        FileNotFoundError
            If there is no table.
        FileError
            If a file is damaged, or if the table has deletion vectors or a mapping of its columns, of which the files
            do not tell.
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError
            If there is no such column or version. On every rank.
        BackendUnavailableError
            If deltalake is missing: ``pip install deltalake``.
        """
        check_context(ctx)
        return cls.of(reading_delta.read_delta(ctx, "read_delta", path_of(path), version, columns, filters))

    @classmethod
    @collective
    def read_iceberg(
        cls: type[T],
        ctx: Context,
        table: str,
        *,
        catalog: Any = None,
        snapshot: int | None = None,
        columns: Any = None,
        filters: str | None = None,
    ) -> T:
        """Return a table of Iceberg; each rank reads its files. Collective.

        Parameters
        ----------
        ctx
            The context. All ranks pass the same arguments.
        table
            The name of the table in the catalog, such as ``"shop.sales"``, or the path of its ``.metadata.json``.
        catalog
            The name of a catalog that pyiceberg is configured for, or a mapping of its properties, such as ``{"name":
            "shop", "type": "sql", "uri": "sqlite:///catalog.db"}``. None for the default one.
        snapshot
            The number of a snapshot; None for the current one, the same on every rank.
        columns
            The names of the columns to read; None for all.
        filters
            Which rows to read, in pyiceberg's words, such as ``"price > 3 and shop = 'a'"``.

        Returns
        -------
        Table
            The rows in the order of the files, which Iceberg does not promise. Rows that were deleted are left out.

        Raises
        ------
        FileNotFoundError
            If there is no such table.
        FileError
            If a file cannot be read.
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError
            If there is no such column or snapshot, or if an argument is none. On every rank.
        BackendUnavailableError
            If pyiceberg is missing: ``pip install pyiceberg``.
        """
        check_context(ctx)
        return cls.of(reading_iceberg.read_iceberg(ctx, "read_iceberg", table, catalog, snapshot, columns, filters))
