"""Columns: vectors by their names, all divided in the same way, with the text of codes and with missing values."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, KeysView, Literal, NoReturn, TypeVar, cast, overload

import numpy as np

from .._native.arguments import flag
from .._native.kinds import fitting, kind_of
from ..algorithms.elementwise import nonzero
from ..algorithms.exchange import share
from ..algorithms.join import Pairs, join
from ..algorithms.sort import refine_order
from ..containers.interior import division_of, note_meaning
from ..containers.layout import division
from ..containers.making import divide, new_like
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ..policies import Partition, PartitionLike
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from .arrow import strings_of
from .interchange import columns_of, gathered, local_table
from .meaning import add_column, meaning_of, named_vectors
from .merging import coalesced, join_known, merged_names, take_rows
from .names import names_in
from .read import ReadColumns

Self = TypeVar("Self", bound="Columns")

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Columns(ReadColumns):
    r"""Vectors by their names, all divided in the same way: a table for computations with vectors.

    It is used like a read-only mapping: ``columns["price"]``, ``list(columns)``, ``{**columns, "more": vector}``. As a
    context manager, it closes the vectors. Libraries that support Arrow's PyCapsule interface accept it as a table of
    this rank's rows: ``pyarrow.table(columns)``, ``polars.DataFrame(columns)``, and with pandas 3
    ``pandas.DataFrame.from_arrow(columns)``. This communicates nothing.

    Attributes
    ----------
    masks : dict
        For each column with missing values, a vector of bool that is true where a value is missing. Such a column of
        numbers or times cannot be used as a vector: :meth:`filled` replaces the missing values, and
        :meth:`drop_missing` removes their rows.

    Notes
    -----
    The vector of a column knows what its elements stand for, such as the texts of codes or a time zone: :func:`save`
    writes that, also if the vector is passed in another mapping. What subscripts, :func:`take`, :func:`unique` and
    :func:`value_counts` return, the keys of :func:`group_by` and its "min", "max", "first" and "last" know it, too.
    Whatever else is computed from a vector, and a copy of it, are numbers.

    Examples
    --------
    >>> import dtl, os, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "prices.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("what,price\napple,3\nplum,\napple,5\n")
    ...     with dtl.Columns.read_csv(ctx, path) as columns:
    ...         print(columns["what"].gather_to(), columns.categories["what"])
    ...         print(columns.filled("price", 0).gather_to(), columns.masks["price"].gather_to())
    ...         print(columns.drop_missing("price")["price"].mean())
    [0 1 0] ['apple', 'plum']
    [3 0 5] [False  True False]
    4.0
    """

    __module__ = "dtl"

    def __init__(self) -> None:
        self._vectors: dict[str, DistributedVector] = {}
        self.masks: dict[str, DistributedVector] = {}

    @property
    def categories(self) -> dict[str, list[str]]:
        """For each column of text, the list of its different texts, the same on every rank.

        The vector has the indices into this list, as int32, and -1 for a missing text. The texts are in ascending
        order, or in their own if the column is :attr:`ordered`. Indices into different lists cannot be compared;
        :meth:`join` compares the texts. Columns read with ``strings=`` are not in it: their vectors have the texts
        themselves, as str.
        """
        found = ((name, meaning_of(vec).texts) for name, vec in self._vectors.items())
        return {name: texts for name, texts in found if texts is not None}

    @property
    def ordered(self) -> list[str]:
        """The names of the columns of text that are in an order of their own, such as ordered categories of pandas.

        Sorting and grouping use this order.
        """
        return [name for name, vec in self._vectors.items() if meaning_of(vec).ordered]

    @property
    def times(self) -> dict[str, str]:
        """For each column of dates or times, the NumPy dtype of its int64, such as ``datetime64[ns]``."""
        return {name: meaning_of(vec).time for name, vec in self._vectors.items() if meaning_of(vec).time}

    @property
    def zones(self) -> dict[str, str]:
        """For each column of times with a time zone, its name, such as ``Europe/Berlin``. The int64 count in UTC."""
        return {name: meaning_of(vec).zone for name, vec in self._vectors.items() if meaning_of(vec).zone}

    @property
    def _context(self) -> Context | None:
        """The ranks, which hear of a call that fails here."""
        return next((vec.context for vec in self._vectors.values()), None)

    @classmethod
    @collective
    def from_arrow(
        cls,
        ctx: Context,
        table: Any,
        *,
        strings: Any = None,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
    ) -> Columns:
        """Make columns from tables in memory, of which each rank passes its own rows. Collective.

        Parameters
        ----------
        ctx
            The context.
        table
            This rank's rows, which follow those of the ranks before it: a table of pyarrow, pandas, polars or any other
            library with the method ``__arrow_c_stream__``. None means no rows, for example if one rank has all of them.
        strings
            Which columns of text become vectors of str, as for :meth:`Columns.read_parquet`.
        partition, block_size
            How the vectors are divided, as for a :class:`DistributedVector`.

        Raises
        ------
        InvalidTypeError
            If table is not a table, or if vectors cannot hold the type of a column.
        InvalidArgumentError
            If the tables of the ranks have different columns, if no rank has a table, or if two columns have the same
            name.
        CollectiveMismatchError
            If the ranks pass different partitions.
        BackendUnavailableError
            If pyarrow is missing or older than 14: ``pip install pyarrow``.

        Notes
        -----
        Every error is raised on every rank, even if it occurs on one rank only.

        The elements are copied. NaNs of pandas become missing values, because pandas tells Arrow so. An index of pandas
        becomes a column, unless it is just the row numbers.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     table = pyarrow.table({"what": ["plum", "fig", None], "price": [3, 2, 5]})
        ...     columns = dtl.Columns.from_arrow(ctx, table if ctx.is_root else None)
        ...     print(columns, columns["price"].gather_to(), columns.categories["what"])
        <dtl.Columns: what text with missing values, price int64> [3 2 5] ['fig', 'plum']
        """
        check_context(ctx)
        divided, held = division(partition, block_size), strings_of(strings)
        agree(ctx, "from_arrow", f"{divided}, strings {held}")
        return columns_of(ctx, "from_arrow", table, divided, cls(), held)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return this rank's rows for libraries that support Arrow's PyCapsule interface. Not collective.

        Numbers without missing values share the memory of the vectors; everything else is copied.
        """
        return local_table(self).__arrow_c_stream__(requested_schema)

    @collective
    def gather_to(self, root: int = 0) -> Any:
        """Collect all rows on one rank, as a table. Collective.

        Parameters
        ----------
        root
            The rank that gets them; the same on every rank.

        Returns
        -------
        pyarrow.Table or None
            On root, the table; its ``to_pandas()`` makes a data frame. None on the other ranks.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        MemoryError
            If root has no memory for the elements. On every rank.
        BackendUnavailableError
            If pyarrow is missing: ``pip install pyarrow``.
        """
        return gathered(self, "gather_to", root)

    @collective
    def take(self, indices: Any, *, allow_fill: bool = False) -> Columns:
        """Return the rows with given indices. Collective.

        Parameters
        ----------
        indices
            Global indices from 0 on: an array that is the same on every rank, or a one-dimensional container, such as
            ``join`` returns. Unlike for :func:`take`, negative indices do not count from the end.
        allow_fill
            Whether -1 is a row with missing values in all columns, as in the indices of a left, right or outer
            ``join``. Otherwise, -1 raises.

        Returns
        -------
        Columns
            New vectors, divided as the container of indices is, or by blocks if it is an array.

        Raises
        ------
        BoundsError
            If an index is no row. On every rank.
        InvalidTypeError, CollectiveMismatchError
            As for :func:`take`.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     columns = dtl.Columns.from_arrow(ctx, pyarrow.table({"a": ["x", "y"], "b": [1.5, 2.5]}))
        ...     print(columns.take([1, 0, 1])["b"].gather_to())
        ...     print(columns.take([1, -1], allow_fill=True).filled("b").gather_to())
        [2.5 1.5 2.5]
        [2.5 nan]
        """
        fill, made = bool(flag("allow_fill", allow_fill)), Columns()
        try:
            return cast(Columns, take_rows(self, indices, fill, made))
        except BaseException:
            made.close()
            raise

    @collective
    def filled(self, name: str, value: Any = np.nan) -> DistributedVector:
        """Return a column with its missing values replaced by a value. Collective.

        Parameters
        ----------
        name
            A column of numbers, times or str.
        value
            A number that the column's dtype can hold. The default is NaN: integers and bool become float64, and missing
            times become NaT. For a column of str, a text of any length.

        Returns
        -------
        DistributedVector
            A new vector, divided as the columns are.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidTypeError
            If the column has codes of text, or if the value is of another kind.
        OverflowError
            If the column's dtype cannot hold the value.
        CollectiveMismatchError
            If the ranks pass different names or values.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     columns = dtl.Columns.from_arrow(ctx, pyarrow.table({"price": [3, None, 5]}))
        ...     with columns.filled("price") as prices:
        ...         print(prices.gather_to(), dtl.nanmean(prices))
        [ 3. nan  5.] 4.0
        """
        vec = self._vector(name)
        if name in self.categories:
            raise InvalidTypeError(f"column {name!r} is of text, of which missing ones have the code -1")
        dtype, given = vec.dtype, value
        if isinstance(value, (float, np.floating)) and np.isnan(value):
            if name in self.times:
                given = np.iinfo(np.int64).min  # as NumPy has NaT
            elif kind_of(dtype).is_whole:
                dtype = np.dtype(np.float64)
        elif kind_of(dtype).is_str and isinstance(value, str):
            dtype = np.promote_types(dtype, np.asarray(value).dtype)
        fitted = fitting("value", given, dtype)
        if np.ndim(value):
            raise InvalidTypeError(f"value has shape {np.shape(value)}; it must be one number")
        agree(vec.context, "filled", f"{name!r} with {value!r}")
        made: DistributedVector = new_like(vec, dtype)
        made.local_view()[:] = vec.local_view()
        if name in self.masks:
            made.local_view()[self.masks[name].local_view()] = fitted
        if name in self.times:
            note_meaning(made, meaning_of(vec))
        return made

    @collective
    def drop_missing(self, names: Any = None) -> Columns:
        """Return the rows without missing values in some columns. Collective.

        Parameters
        ----------
        names
            The name of a column, or a list of names; None for all columns.

        Returns
        -------
        Columns
            New vectors, with the same partition policy and in the same order.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        CollectiveMismatchError
            If the ranks pass different names.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     columns = dtl.Columns.from_arrow(ctx, pyarrow.table({"price": [3, None, 5]}))
        ...     print(columns.drop_missing()["price"].gather_to())
        [3 5]
        """
        chosen = list(self._vectors) if names is None else names_in("names", names)
        vectors = [self._vector(name) for name in chosen]
        if not vectors:
            raise InvalidArgumentError("there are no columns to look at" if names is None else "names names no column")
        share(vectors[0], "drop_missing", f"{chosen}", also=vectors[1:])
        with new_like(vectors[0], np.bool_) as whole:
            whole.local_view()[:] = True
            for name in self.masks.keys() & chosen:
                whole.local_view()[self.masks[name].local_view()] = False
            with nonzero(whole)[0] as rows:
                divide(rows, division_of(whole).for_other_size())
                made = self.take(rows)
        for name in self.masks.keys() & chosen:
            made.masks.pop(name).close()
        return made

    @collective
    def sort_by(self, by: Any, *, reverse: Any = False) -> Columns:
        """Return the rows sorted by some columns. The sort is stable. Collective.

        Parameters
        ----------
        by
            The name of a column, or a list of names. Rows that are equal in the first are sorted by the second, and so
            on.
        reverse
            Whether to sort in descending order: for all columns, or a list with an entry for each.

        Returns
        -------
        Columns
            New vectors, divided as these are. Text is sorted by Unicode code points. NaNs come last, and missing values
            after them, in ascending and in descending order.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If by is empty, or if reverse has another length.
        CollectiveMismatchError
            If the ranks pass different columns or arguments.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     table = pyarrow.table({"what": ["plum", "fig", "fig"], "price": [3, 2, 5]})
        ...     columns = dtl.Columns.from_arrow(ctx, table)
        ...     print(columns.sort_by(["what", "price"], reverse=[False, True])["price"].gather_to())
        [5 2 3]
        """
        names = names_in("by", by)
        if not names:
            raise InvalidArgumentError("by names no column to sort by")
        down = [flag("reverse", each) for each in (reverse if isinstance(reverse, (list, tuple)) else [reverse])]
        down *= len(names) if not isinstance(reverse, (list, tuple)) else 1
        if len(down) != len(names):
            raise InvalidArgumentError(f"reverse has {len(down)} values for {len(names)} columns")
        keys = [self._vector(name) for name in names]
        share(keys[0], "sort_by", f"{names}, reverse {down}", also=keys[1:])
        order: Any = None
        for name, key, descending in zip(names[::-1], keys[::-1], down[::-1]):
            order = refine_order(order, key, bool(descending))
            if name in self.masks:
                order = refine_order(order, self.masks[name], False)
        with order:
            return self.take(order)

    @overload
    def join(
        self,
        other: Columns,
        on: str,
        how: Literal["inner", "left", "right", "outer"] = "inner",
        *,
        other_on: str | None = None,
    ) -> Pairs: ...

    @overload
    def join(
        self, other: Columns, on: str, how: Literal["semi", "anti"], *, other_on: str | None = None
    ) -> DistributedVector: ...

    @collective
    def join(self, other: Columns, on: str, how: Any = "inner", *, other_on: str | None = None) -> Any:
        """Find the rows of two tables that belong together, by comparing a column of each. Collective.

        Parameters
        ----------
        other
            Columns on the same ranks, divided in any way.
        on, other_on
            The name of the column to compare, here and in other; None for the same name. Both columns have text, or
            both have numbers or times. Missing values equal nothing.
        how
            As for :func:`join`.

        Returns
        -------
        left, right : DistributedVector
            The indices of the rows here and in other, as for :func:`join`, with -1 for rows that have none:
            ``columns.take(left, allow_fill=True)`` and ``other.take(right, allow_fill=True)`` are the rows, and
            :meth:`merge` makes one table of both. Rows are in the order of this table's texts, followed by texts that
            only other has. Rows with a missing value come after the others without a partner.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidTypeError
            If other is not a Columns, or if only one of the columns has text or times.
        InvalidArgumentError
            As for :func:`join`.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     fruit = dtl.Columns.from_arrow(ctx, pyarrow.table({"what": ["plum", "fig"]}))
        ...     price = dtl.Columns.from_arrow(ctx, pyarrow.table({"what": ["kiwi", "plum"], "price": [1, 3]}))
        ...     left, right = fruit.join(price, "what")
        ...     print(left.gather_to(), price.take(right)["price"].gather_to())
        [0] [3]
        """
        if not isinstance(other, Columns):
            raise InvalidTypeError(f"other must be Columns, not {type(other).__name__}")
        there = on if other_on is None else other_on
        mine, others = self._vector(on), _vector_named(other, there)
        kinds = self._kind(on), meaning_of(others).kind(others.dtype)
        if kinds[0] != kinds[1]:
            raise InvalidTypeError(f"column {on!r} is of {kinds[0]}, and {there!r} of {kinds[1]}")
        if kinds[0] != "text":
            missing = on in self.masks or there in other.masks
            return join_known(self, other, (on, there), how) if missing else join(mine, others, how)
        texts = other.categories[there]
        places = {text: place for place, text in enumerate(self.categories[on])}
        only = (text for text in texts if text not in places)
        places.update({text: len(places) + place for place, text in enumerate(list(only))})
        to = np.array([*(places[text] for text in texts), -2], np.int32)  # -1 is missing here
        with new_like(mine, np.int32) as left, new_like(others, np.int32) as right:
            left.local_view()[:] = mine.local_view()
            right.local_view()[:] = to[others.local_view()]
            return join(left, right, how)

    @collective
    def merge(
        self,
        other: Columns,
        on: str,
        how: Literal["inner", "left", "right", "outer"] = "inner",
        *,
        other_on: str | None = None,
        suffixes: Any = ("_x", "_y"),
    ) -> Columns:
        """Return the table of the rows of two tables that belong together, as a database's join does. Collective.

        Parameters
        ----------
        other, on, other_on
            As for :meth:`join`.
        how
            "inner": the pairs of rows. "left", "right", "outer": also the rows of this table, of other or of both that
            are in no pair, with missing values in the columns of the other table.
        suffixes
            What is appended to the names of columns that both tables have, here and in other.

        Returns
        -------
        Columns
            The columns of this table, and those of other. If other_on is None, the column to compare is there once.
            Rows are in the order of :meth:`join`.

        Raises
        ------
        KeyNotFoundError, InvalidTypeError, InvalidArgumentError, CollectiveMismatchError
            As for :meth:`join`. InvalidArgumentError also if two columns would have the same name.

        Notes
        -----
        It is as ``left.merge(right, how)`` of pandas, but for the order of the rows, and missing keys, which pandas
        takes for equal to each other. Integers with missing values stay integers.

        Examples
        --------
        >>> import dtl, pyarrow
        >>> with dtl.Context() as ctx:
        ...     fruit = dtl.Columns.from_arrow(ctx, pyarrow.table({"what": ["plum", "fig"]}))
        ...     price = dtl.Columns.from_arrow(ctx, pyarrow.table({"what": ["kiwi", "plum"], "price": [1, 3]}))
        ...     fruit.merge(price, "what", "outer").gather_to().to_pydict()
        {'what': ['plum', 'fig', 'kiwi'], 'price': [3, None, 1]}
        """
        if how not in ("inner", "left", "right", "outer"):
            raise InvalidArgumentError(f"how {how!r} is none of inner, left, right, outer")
        if not isinstance(other, Columns):
            raise InvalidTypeError(f"other must be Columns, not {type(other).__name__}")
        shared = on if other_on is None else None
        for table, name in ((self, on), (other, on if other_on is None else other_on)):
            _vector_named(table, name)
        mine, others = merged_names(self, other, shared, _suffixes(suffixes))
        theirs = named_vectors(other)[on if shared else str(other_on)]
        share(
            self._vectors[on],
            "merge",
            f"{mine}, {others}",
            also=(theirs,),
        )
        made, (left, right) = Columns(), self.join(other, on, how, other_on=other_on)
        with left, right, self.take(left, allow_fill=True) as lefts, other.take(right, allow_fill=True) as rights:
            if shared is not None:
                coalesced(lefts, rights, on, left.local_view() < 0)
            for table, names in ((lefts, mine), (rights, others)):
                for name, new in names.items():
                    vec = named_vectors(table).pop(name)
                    add_column(made, new, vec, meaning_of(vec))
                    if name in table.masks:
                        made.masks[new] = table.masks.pop(name)
        return made

    def _kind(self, name: str) -> str:
        """Return a value in the form in which it is compared with the values of a column."""
        vec = self._vectors[name]
        return meaning_of(vec).kind(vec.dtype)

    def __getitem__(self, name: str) -> DistributedVector:
        vec = self._vector(name)
        if name in self.masks and name not in self.categories:
            absent, nan = ("''", "") if kind_of(vec.dtype).is_str else ("0", f"filled({name!r}) with NaN, ")
            raise InvalidArgumentError(
                f"column {name!r} is {self._type(name)}, which a vector would have as {absent}: take "
                f"filled({name!r}, value), {nan}or drop_missing({name!r}) without those rows"
            )
        return vec

    def _vector(self, name: str) -> DistributedVector:
        """Return the vector of a column, with 0 for missing values, or -1 for missing text."""
        if not isinstance(name, (str, int)):
            raise InvalidTypeError(
                f"a column's name is text, not of type {type(name).__name__}; the rows where a mask is true are "
                "columns.take(dtl.nonzero(mask)[0])"
            )
        try:
            return self._vectors[name]
        except KeyError:
            raise KeyNotFoundError(f"there is no column {name!r}; the columns are {list(self._vectors)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._vectors)

    def __contains__(self, name: object) -> bool:
        return name in self._vectors

    def keys(self) -> KeysView[str]:
        """Return the names of the columns. Not collective."""
        return self._vectors.keys()

    def values(self) -> list[DistributedVector]:
        """Return the vectors of the columns, none of which may have missing values. Not collective."""
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, DistributedVector]]:
        """Return the names and vectors of the columns, none of which may have missing values. Not collective."""
        return [(name, self[name]) for name in self]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the vector of a column; default if there is no such column. Not collective."""
        return self[name] if name in self._vectors else default

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise InvalidTypeError(
            "Columns do not become an array or a pandas.DataFrame by themselves: take a table of this rank's rows with "
            "pyarrow.table(columns), or of all rows on one rank with columns.gather_to(root), and its to_pandas()"
        )

    def __len__(self) -> int:
        return len(self._vectors)

    def __repr__(self) -> str:
        return f"<dtl.Columns: {', '.join(f'{name or repr(name)} {self._type(name)}' for name in self._vectors)}>"

    def _type(self, name: str) -> str:
        vec = self._vectors[name]
        kind = meaning_of(vec).name(vec.dtype)
        return f"{kind} with missing values" if name in self.masks else kind

    def local_text(self, name: str) -> Array:
        """Return this rank's values of a column of text as an array of str; None where one is missing. Not collective.

        Raises
        ------
        KeyNotFoundError
            If there is no such column of text.
        """
        texts = [each for each in self._vectors if self._kind(each) in ("text", "str")]
        if name not in texts:
            raise KeyNotFoundError(f"there is no column {name!r} of text; there are {texts}")
        part = self._vectors[name].local_view()
        if name in self.categories:
            return np.array([*self.categories[name], None], object)[part]
        found = part.astype(object)
        if name in self.masks:
            found[self.masks[name].local_view()] = None
        return found

    def close(self) -> None:
        """Close the vectors. Not collective."""
        for vec in (*self._vectors.values(), *self.masks.values()):
            vec.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def _suffixes(suffixes: Any) -> tuple[str, str]:
    """Return what names are made different by."""
    found = tuple(names_in("suffixes", suffixes))
    if len(found) != 2:
        raise InvalidArgumentError(f"suffixes {suffixes!r} are not two")
    return found[0], found[1]


_vector_named = Columns._vector
