"""Tables of columns, whose rows are divided among the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, NoReturn, overload

import numpy as np

from .._native.arguments import flag
from ..containers.layout import division
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.arrow import strings_of
from ..io.columns import Columns
from ..io.files import save
from ..io.formats import needs
from ..io.names import names_in
from ..io.steps import path_of
from ..policies import Partition, PartitionLike
from ..runtime.agreement import agree, check_context, collective, on_context, refuse_other_context
from ..runtime.context import Context
from . import changes, display, reductions, selection, writing
from .choosing_methods import ChoosingMethods
from .column import Column
from .column_wise import ColumnWise
from .columns_methods import ColumnsMethods
from .explaining import Explained
from .gathering import gathered
from .grouping import TableGroupBy
from .hints import missing_attribute
from .join_methods import JoinMethods
from .making import rows_of_columns, rows_of_dict, table_of
from .read_methods import ReadMethods
from .row_methods import RowMethods
from .rows import Rows, arrow, column_names, makers, unknown_column
from .table_operators import TableOperators
from .vectors import columns_of_rows


class Table(TableOperators, ChoosingMethods, ColumnWise, RowMethods, JoinMethods, ReadMethods, ColumnsMethods):
    """A table of columns of Arrow's types, whose rows are divided among the ranks of a context.

    Making one is collective. Rank 0 has the first rows, rank 1 those that follow, and so on. Each rank's rows are a
    table of pyarrow, which computes what concerns one rank; a missing value is null in every column.

    Parameters
    ----------
    ctx
        The context.
    data
        A mapping of names to columns: one-dimensional containers whose parts lie one rank's after the other's, columns
        of other tables, arrays and lists that are the same on every rank, and scalars. Or a :class:`Columns`,
        or a table of pandas, polars or pyarrow that is the same on every rank.

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
    __slots__ = ()

    @collective
    def __init__(self, ctx: Context, data: Any) -> None:
        check_context(ctx)
        if isinstance(data, (Table, Column)):
            refuse_other_context(f"the {type(data).__name__}", data, ctx)
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

    if not TYPE_CHECKING:  # a type checker knows the methods that there are

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("table", self, name)

    def __len__(self) -> int:
        return self._rows.total

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows on all ranks, and of columns. Not collective."""
        return self._rows.total, len(self._rows.names)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, which a list of as many others replaces. Not collective."""
        return self._rows.names

    @columns.setter
    def columns(self, names: Any) -> None:
        found = names_in("columns", names)
        if len(found) != len(self._rows.names):
            raise InvalidArgumentError(f"{len(found)} names of columns; the table has {len(self._rows.names)}")
        self._rows = changes.renamed(self._rows, dict(zip(self._rows.names, found)))

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
            return Column.of(rows.chosen([key]))
        if isinstance(key, slice):
            return self._slice(key)
        if isinstance(key, list) and not (key and all(isinstance(each, (bool, np.bool_)) for each in key)):
            return Table.of(rows.chosen(_some(column_names(rows, "the list", key))))
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

    @on_context
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

    @on_context
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
    def sample(
        self, n: Any = None, *, frac: Any = None, replace: bool = False, seed: Any = None, random_state: Any = None
    ) -> Table:
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
        random_state
            What pandas calls the seed.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If neither n nor frac is given, or both, or if there are not so many rows.
        CollectiveMismatchError
            If the ranks pass different arguments.
        """
        if seed is not None and random_state is not None:
            raise InvalidArgumentError("seed and random_state are the same; one of them is given")
        found = random_state if seed is None else seed
        return Table.of(selection.sampled(self._rows, "sample", n, frac, replace, found))

    @collective
    def batches(self, rows: int) -> Iterator[Table]:
        """Go over the table so many rows at a time: for tables that are larger than the memory. Collective.

        Parameters
        ----------
        rows
            The number of rows of a batch, at least 1; the last may have fewer.

        Yields
        ------
        Table
            The next rows, in their order, divided evenly among the ranks. Each step is collective.

        Notes
        -----
        All batches together take one pass over the rows. A rank has one batch's part in memory, and what the program
        keeps of those before.

        Raises
        ------
        InvalidArgumentError
            If rows is less than 1.
        InvalidTypeError
            If rows is not an integer.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"price": [3, 2, 5]})
        ...     print([int(batch["price"].sum()) for batch in table.batches(2)])
        [5, 5]
        """
        return (Table.of(batch) for batch in selection.batches(self._rows, "batches", rows))

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
            equal to each other, and so are 0.0 and -0.0. Or a column that is computed of this table's, also in the
            list, which is a key by its name, in the place of the column of that name.
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
        given = by if isinstance(by, list) else [by]
        rows = self._rows
        for each in given:
            if isinstance(each, Column):
                rows = changes.beside(rows, each.rows)
        if rows is not self._rows:
            names = [each.name if isinstance(each, Column) else each for each in given]
            by = names if isinstance(by, list) else names[0]
        return TableGroupBy(rows, by, dropna)

    def groupby(
        self, by: Any, *, as_index: bool = False, sort: bool = True, observed: bool = True, dropna: bool = True
    ) -> TableGroupBy:
        """Do what :meth:`group_by` does, with the arguments that pandas has. Not collective.

        Raises
        ------
        InvalidArgumentError
            If as_index is True, because a table has no index, if sort is False, or if observed is.
        """
        for name, given, wanted, why in (
            ("as_index", as_index, False, "a table has no index: the keys are columns"),
            ("sort", sort, True, "groups are in the order of their keys, on any number of ranks"),
            ("observed", observed, True, "a category without a row has no group"),
        ):
            if flag(name, given) != wanted:
                raise InvalidArgumentError(f"{name} must be {wanted}: {why}")
        return self.group_by(by, dropna=dropna)

    def explain(self) -> Explained:
        """Return the table with calls that say what they would send between ranks, and send no rows. Not collective.

        ``table.explain().merge(other, on="k")`` is collective, as the call itself is, and returns a
        :class:`~dtl.tables.explaining.Moves`:
        what would be sent, to whom, and how many bytes. So do the calls of its columns and groups.

        Each rank does what the call does before it sends rows, and the ranks tell each other what the call needs to
        know for that, such as which keys they have; so wrong arguments raise as in the call. The bytes are those that
        the call sends then, or come near them, where what it sends later depends on what it has got.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     paid = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     plan = paid.explain().group_by("shop").agg({"price": "sum"})
        >>> print(plan)
        agg: no row moves
        """
        return Explained(self.context, self)

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
        InvalidTypeError
            If a column is of a type that Polars has not, such as decimals of more than 38 digits. On every rank.
        BackendUnavailableError
            If polars is missing on that rank: ``pip install polars``.
        """
        for name, kind in self.dtypes.items():
            if "decimal256" in str(kind) or "month_day_nano" in str(kind):
                raise InvalidTypeError(f"the column {name!r} is of {kind}, which Polars has not")
        whole = self._gathered("to_polars", root)
        if whole is None:
            return None
        try:
            import polars
        except ImportError as error:
            raise needs("polars", "to_polars", error) from None
        frame: Any = polars.from_arrow(whole.rename_columns([str(place) for place in range(whole.num_columns)]))
        frame.columns = whole.column_names  # of which from_arrow has another for ""
        return frame

    @collective
    def to_columns(
        self, *, strings: Any = None, partition: PartitionLike = Partition.BLOCK, block_size: int | None = None
    ) -> Columns:
        """Return the columns as vectors, with codes of text and masks of missing values. Collective.

        Parameters
        ----------
        strings
            Which columns of text become vectors of str, as for :meth:`Columns.read_parquet`.
        partition, block_size
            How the vectors are divided, as for a :class:`DistributedVector`.

        Raises
        ------
        InvalidTypeError
            If vectors cannot hold the type of a column, such as lists or decimals.
        InvalidArgumentError
            If strings names no column.

        Notes
        -----
        One pass over the rows, of which a piece at a time is in memory beside the columns.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"what": ["plum", None], "price": [3, 2]})
        ...     with table.to_columns() as columns:
        ...         print(columns["what"].gather_to(), columns.categories["what"], columns["price"].sum())
        [ 0 -1] ['plum'] 5
        """
        divided, held = division(partition, block_size), strings_of(strings)
        agree(self.context, "to_columns", f"{divided}, strings {held}")
        return columns_of_rows(self._rows, "to_columns", divided, held)

    @collective
    def save(self, path: Any, *, format: str | None = None, compression: Any = None) -> None:
        """Write the table to a file of Parquet, Arrow or CSV, or to a folder of such files. Collective.

        The new file replaces an old one only when it is complete. Until then, and if the call fails or the program is
        killed, the old file is unchanged.

        Parameters
        ----------
        path
            The file, or a URL. Its suffix says the format: ``.parquet`` or ``.pq``; ``.arrow`` or ``.feather``;
            ``.csv``. If it ends with ``/``, as ``prices.parquet/``, it is a folder, to which each rank writes a file
            of its rows, ``part-0.parquet`` and so on; it replaces an empty folder, or one of such files alone.
        format
            "parquet", "arrow" or "csv", whatever the suffix is.
        compression
            For Parquet "snappy", "gzip", "brotli", "lz4" or "zstd"; for Arrow "lz4" or "zstd". False means none.
            None is "snappy" for Parquet, and none for Arrow.

        Raises
        ------
        FileError
            If a rank cannot write the file. On every rank.
        InvalidArgumentError, InvalidTypeError
            If the format is none, or if it has no columns of such types: CSV has no lists, structs, bytes and spans of
            time.

        Notes
        -----
        Every rank writes its lines of CSV, and its file in a folder. One file of Parquet or Arrow is written by rank 0,
        to which the others send rows of at most 64 MiB at a time.

        Examples
        --------
        >>> import dtl, os, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.parquet/")
        ...     dtl.Table(ctx, {"price": [3, 2, 5]}).save(path)
        ...     print(os.listdir(path), dtl.read_parquet(ctx, path)["price"].sum())
        ['part-0.parquet'] 10
        """
        writing.save(self._rows, "save", path_of(path), format, compression)

    def __dtl_save__(self, path: Any, format: Any, compression: Any, chunks: Any, append: Any) -> None:
        """Do what ``dtl.save`` does with a table."""
        if append or chunks is not None:  # which files of vectors have
            with self.to_columns() as columns:
                save(columns, path, format=format, compression=compression, chunks=chunks, append=append)
        else:
            self.save(path, format=format, compression=compression)

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
    refuse_other_context(name, thing, ctx)
    return thing.rows


makers["table"] = Table.of
