"""One column of a table."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._native.arguments import flag, integer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective, on_context
from . import changes, display, distinct_rows, elementwise, reductions, selection
from .categories import categories_of, with_categories
from .category_methods import Categories
from .column_row_methods import ColumnRowMethods
from .gathering import gathered
from .hints import missing_attribute
from .operators import Operators
from .rows import arrow, makers
from .text import Texts
from .times import Times
from .value_methods import ValueMethods
from .vectors import vector_of


class Column(Operators, ColumnRowMethods, ValueMethods):
    """A column of a table: ``table["price"]``. It has the rows of the table, and their division among the ranks.

    Operators and NumPy's functions of single values work on columns as on arrays: with other columns of the table, with
    scalars, and with arrays that are the same on every rank. They are computed on each rank by itself, except for those
    of times and decimals, which are collective, because a result that is too large raises. A result is null where an
    operand is. Reductions are collective, and skip what is null.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     table = dtl.Table(ctx, {"what": ["plum", "fig", "plum"], "price": [3, None, 5], "count": [2, 1, 4]})
    ...     table["paid"] = table["price"] * table["count"]
    ...     dear = table[(table["what"] == "plum") & (np.sqrt(table["paid"]) > 3)]
    ...     print(dear.to_arrow().to_pydict(), table["paid"].sum(), table["price"].isna().sum())
    {'what': ['plum'], 'price': [5], 'count': [4], 'paid': [20]} 26 1
    """

    __module__ = "dtl"
    __slots__ = ()

    def __init__(self, *_: Any) -> None:
        raise InvalidTypeError("a column is made by a table: dtl.Table(ctx, {name: values})[name]")

    @property
    def name(self) -> builtins.str:
        """The name of the column. Not collective."""
        return self._rows.names[0]

    @property
    def dtype(self) -> Any:
        """The type of the values, as a pyarrow.DataType. Not collective."""
        return self._rows.schema.types[0]

    if not TYPE_CHECKING:  # a type checker knows the methods that there are

        def __getattr__(self, name: builtins.str) -> NoReturn:
            raise missing_attribute("column", self, name)

    def __len__(self) -> int:
        return self._rows.total

    @property
    def shape(self) -> tuple[int]:
        """The number of values on all ranks, in a tuple. Not collective."""
        return (self._rows.total,)

    def __iter__(self) -> NoReturn:
        raise InvalidTypeError(
            "a column is not iterated over, because its values are on several ranks: column.to_arrow(local=True) has "
            "those of this rank"
        )

    def __bool__(self) -> NoReturn:
        raise InvalidArgumentError(
            "the truth of a column is not that of one value: combine conditions by & and |, each in parentheses, and "
            "take column.any() or column.all()"
        )

    def __repr__(self) -> builtins.str:
        return f"<{display.described('Column', self._rows)}>\n{display.of_rank(self._rows).text()}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise InvalidTypeError(
            "a column becomes no array by itself: column.to_vector() is a container of its values, and "
            "column.to_arrow() has them on one rank"
        )

    # ---- Rows ----

    def __getitem__(self, key: Any) -> Column:
        """Return the values of a slice, or where a mask is true, as of a table. Collective."""
        return self._slice(key) if isinstance(key, slice) else self._filter(key)

    @collective
    def _filter(self, mask: Any) -> Column:
        given = mask.rows if isinstance(mask, Column) else mask
        if isinstance(given, (builtins.str, int)):
            raise InvalidTypeError(f"a column has rows by masks and slices, not by {given!r}")
        return Column.of(selection.filtered(self._rows, "filter", given))

    @collective
    def _slice(self, which: slice) -> Column:
        return Column.of(selection.sliced(self._rows, "slice", which))

    @collective
    def head(self, n: int = 5) -> Column:
        """Return the first n values; if n is negative, all but the last ones. Collective."""
        return Column.of(selection.sliced(self._rows, "head", slice(n)))

    @collective
    def tail(self, n: int = 5) -> Column:
        """Return the last n values; if n is negative, all but the first ones. Collective."""
        return Column.of(selection.last(self._rows, "tail", n))

    @collective
    def dropna(self) -> Column:
        """Return the values that are not null. Collective."""
        return Column.of(selection.without_null(self._rows, "dropna", None, "any"))

    # ---- Values ----

    @collective
    def astype(self, dtype: Any) -> Column:
        """Return the values in another type, as :meth:`Table.astype` does. Collective."""
        return Column.of(changes.cast(self._rows, "astype", dtype))

    @on_context
    def rename(self, name: builtins.str) -> Column:
        """Return the column with another name. Not collective."""
        if not isinstance(name, builtins.str):
            raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
        return Column.of(self._rows.like(self._rows.local.rename_columns([name])))

    def isna(self) -> Column:
        """Return where values are null. NaN is a value, for which there is ``numpy.isnan``. Not collective."""
        return Column.of(elementwise.missing(self._rows))

    def notna(self) -> Column:
        """Return where values are not null. Not collective."""
        return ~self.isna()

    @collective
    def fillna(self, value: Any) -> Column:
        """Return the values, with another value in the places of nulls. Collective.

        Parameters
        ----------
        value
            A value of the column's type, or a column of the same table. For ordered categories, one of them.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError
            If the column cannot have the value.
        """
        given = value.rows if isinstance(value, Column) else value
        made = elementwise.filled(self._rows, "fillna", self.name, given)
        return Column.of(self._rows.like(arrow().table([made], names=[self.name])))

    def isin(self, values: Any) -> Column:
        """Return where values are among those of a list, which is the same on every rank. Not collective.

        Null is in a list that has a None.
        """
        return Column.of(elementwise.one_of(self._rows, values))

    def between(self, left: Any, right: Any, inclusive: builtins.str = "both") -> Column:
        """Return where values are at least left and at most right. Collective as the comparisons are.

        Parameters
        ----------
        left, right
            The bounds.
        inclusive
            Which of them are between: "both", "left", "right" or "neither".
        """
        if inclusive not in ("both", "left", "right", "neither"):
            raise InvalidArgumentError(f"inclusive {inclusive!r} is none of both, left, right, neither")
        low = self >= left if inclusive in ("both", "left") else self > left
        high = self <= right if inclusive in ("both", "right") else self < right
        made: Column = low & high
        return made

    def round(self, decimals: int = 0) -> Column:
        """Return numbers rounded to some decimals; halves to the even neighbour, as NumPy's. Not collective."""
        inputs = (self._rows, integer("decimals", decimals))
        return Column.of(elementwise.computed(np.round, inputs, "round"))

    @on_context
    def clip(self, lower: Any = None, upper: Any = None) -> Column:
        """Return numbers that are at least lower and at most upper, in the places of those outside. Not collective.

        Parameters
        ----------
        lower, upper
            Numbers, or columns or arrays of them; where one is null or NaN, and if it is None, there is no bound.
        """
        made = self._rows
        for farther, bound in ((np.maximum, lower), (np.minimum, upper)):
            made = elementwise.bounded(farther, made, bound.rows if isinstance(bound, Column) else bound, "clip")
        return Column.of(made)

    @property
    def str(self) -> Texts[Column]:
        """Functions of each text, such as ``column.str.upper()``. Not collective."""
        return Texts(self._rows, Column.of)

    @property
    def dt(self) -> Times[Column]:
        """Functions of each date or time, such as ``column.dt.year``. Not collective."""
        return Times(self._rows, Column.of)

    @property
    def cat(self) -> Categories[Column]:
        """Functions of a column of categories, such as ``column.cat.codes``. Not collective by itself."""
        return Categories(self._rows, Column.of)

    @collective
    def categories(self) -> list[Any]:
        """Return the categories of a column of categories, in their order if they have one. Collective.

        Raises
        ------
        InvalidTypeError
            If the column is of no categories.
        """
        return categories_of(self._rows, "categories")

    @collective
    def to_category(self, categories: Any, *, ordered: bool = False) -> Column:
        """Return the column as one of given categories. Collective.

        Parameters
        ----------
        categories
            A list of the values that the column may have, the same on every rank.
        ordered
            Whether the list is in the order of the values, in which they are compared and sorted.

        Raises
        ------
        InvalidArgumentError
            If the column has another value. On every rank.
        """
        return Column.of(with_categories(self._rows, "to_category", categories, bool(flag("ordered", ordered))))

    # ---- Reductions ----

    @collective
    def sum(self, *, skipna: bool = True) -> Any:
        """Return the sum; 0 of nothing. Collective.

        Parameters
        ----------
        skipna
            Whether nulls are left out. Otherwise, the result is None if a value is null.

        Notes
        -----
        Integers are summed in 64 bits, and wrap as NumPy's. The sum of floats may differ in its last bits between
        numbers of ranks. Sums of decimals are exact; one of more than 38 digits raises OverflowError on every rank.
        """
        return reductions.reduced(self._rows, "sum", skipna)

    @collective
    def prod(self, *, skipna: bool = True) -> Any:
        """Return the product; 1 of nothing. Collective. As :meth:`sum`."""
        return reductions.reduced(self._rows, "prod", skipna)

    @collective
    def mean(self, *, skipna: bool = True) -> Any:
        """Return the mean; None of nothing. Collective. As :meth:`sum`; of integers, in float64.

        That of times is in whole units, rounded towards zero as pandas' is. That of decimals has their digits, with
        halves rounded away from zero, as Arrow's.
        """
        return reductions.reduced(self._rows, "mean", skipna)

    @collective
    def min(self, *, skipna: bool = True) -> Any:
        """Return the smallest value; None of nothing. Collective. NaN is left out beside numbers."""
        return reductions.reduced(self._rows, "min", skipna)

    @collective
    def max(self, *, skipna: bool = True) -> Any:
        """Return the largest value; None of nothing. Collective. NaN is left out beside numbers."""
        return reductions.reduced(self._rows, "max", skipna)

    @collective
    def var(self, *, ddof: int = 1, skipna: bool = True) -> Any:
        """Return the variance; None of no more than ddof values. Collective.

        Parameters
        ----------
        ddof
            What is subtracted from the number of values to divide by: 1 by default, as in pandas; NumPy has 0.
        skipna
            As for :meth:`sum`.
        """
        return reductions.reduced(self._rows, "var", skipna, ddof)

    @collective
    def std(self, *, ddof: int = 1, skipna: bool = True) -> Any:
        """Return the standard deviation. Collective. As :meth:`var`."""
        return reductions.reduced(self._rows, "std", skipna, ddof)

    @collective
    def sem(self, *, ddof: int = 1, skipna: bool = True) -> Any:
        """Return the standard error of the mean: ``std`` by the root of ``count``. Collective. As :meth:`var`."""
        return reductions.reduced(self._rows, "sem", skipna, ddof)

    @collective
    def skew(self, *, skipna: bool = True) -> Any:
        """Return the skewness, unbiased; None of fewer than three values, or equal ones. Collective. As :meth:`sum`."""
        return reductions.reduced(self._rows, "skew", skipna)

    @collective
    def kurt(self, *, skipna: bool = True) -> Any:
        """Return the excess kurtosis, unbiased; None of fewer than four, or equal ones. Collective. As :meth:`sum`."""
        return reductions.reduced(self._rows, "kurt", skipna)

    @collective
    def count(self) -> Any:
        """Return how many values are not null. Collective."""
        return reductions.reduced(self._rows, "count", True)

    @collective
    def any(self, *, skipna: bool = True) -> Any:
        """Return whether a value is true; False of nothing. Collective. As :meth:`sum`."""
        return reductions.reduced(self._rows, "any", skipna)

    @collective
    def all(self, *, skipna: bool = True) -> Any:
        """Return whether all values are true; True of nothing. Collective. As :meth:`sum`."""
        return reductions.reduced(self._rows, "all", skipna)

    @collective
    def quantile(self, q: Any = 0.5, *, skipna: bool = True) -> Any:
        """Return a quantile, or an array of several, with linear interpolation; None of nothing. Collective.

        Quantiles of dates and times are dates and times in whole units, with a zone as Python's; those of numbers and
        decimals are floats.

        Parameters
        ----------
        q
            A number in [0, 1], or a list of such.
        skipna
            As for :meth:`sum`.
        """
        return reductions.quantile(self._rows, "quantile", q, skipna)

    @collective
    def median(self, *, skipna: bool = True) -> Any:
        """Return the median, as :meth:`quantile`; None of nothing. Collective."""
        return reductions.quantile(self._rows, "median", 0.5, skipna)

    @collective
    def nunique(self, *, dropna: bool = True) -> int:
        """Return how many different values there are. Collective.

        Parameters
        ----------
        dropna
            Whether null is left out.
        """
        counts_null = not flag("dropna", dropna)
        found = distinct_rows.different(self._rows, "nunique")
        return found + int(counts_null and self.isna().any())

    # ---- Out ----

    @collective
    def to_vector(self) -> Any:
        """Return a vector of the values, divided as the column is. Collective.

        Returns
        -------
        DistributedVector
            Of the NumPy dtype of the values: numbers, bool, datetime64, timedelta64, or str.

        Raises
        ------
        InvalidArgumentError
            If a value is null: ``fillna`` and ``dropna`` come before.
        InvalidTypeError
            If no vector holds such values, such as decimals and lists.
        """
        return vector_of(self._rows, "to_vector")

    def to_arrow(self, root: int = 0, *, local: bool = False) -> Any:
        """Return values as a pyarrow.ChunkedArray: all of them on one rank, or those of each. Collective, unless local.

        As :meth:`Table.to_arrow`.
        """
        if local:
            return self._rows.local.column(0)
        whole = self._gathered("to_arrow", root)
        return None if whole is None else whole.column(0)

    def to_pandas(self, root: int = 0) -> Any:
        """Return all values as a pandas.Series on one rank; None on the others. Collective."""
        whole = self._gathered("to_pandas", root)
        return None if whole is None else whole.to_pandas()[self.name]

    @collective
    def _gathered(self, op: builtins.str, root: Any) -> Any:
        return gathered(self._rows, op, root)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return this rank's values for libraries that support Arrow's PyCapsule interface. Not collective."""
        return self._rows.local.column(0).__arrow_c_stream__(requested_schema)


makers["column"] = Column.of
