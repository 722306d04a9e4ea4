"""The methods of columns that give each row another value, and those that find values."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from ..algorithms.user_functions import with_options
from ..runtime.agreement import collective
from . import elementwise, filling, mapping, parsing, places
from .rows import HasRows, as_column, as_table

C = TypeVar("C", bound="ValueMethods")


class ValueMethods(HasRows):
    """Methods of columns of single values, and of where they are."""

    __slots__ = ()

    @collective
    def where(self: C, condition: Any, other: Any = None) -> C:
        """Return the values where a condition is true, and those of other elsewhere, null by default. Collective.

        Parameters
        ----------
        condition
            A column of bool of the same table, or a function of this column that returns one. Where it is null, it is
            not true.
        other
            A scalar or a column of the same table.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError
            If the column cannot have a value of other. On every rank.
        """
        made: C = as_column(elementwise.chosen(self.rows, "where", *self._given(condition, other)))
        return made

    @collective
    def mask(self: C, condition: Any, other: Any = None) -> C:
        """Return the values where a condition is false, and those of other elsewhere, null by default. Collective.

        See :meth:`where`.
        """
        made: C = as_column(elementwise.chosen(self.rows, "mask", *self._given(condition, other)))
        return made

    def _given(self, *given: Any) -> list[Any]:
        found = [each(self) if callable(each) else each for each in given]
        return [each.rows if isinstance(each, ValueMethods) else each for each in found]

    @collective
    def map(self: C, f: Any) -> C:
        """Return what a mapping has for each value, or what a function returns of it. Collective.

        Parameters
        ----------
        f
            A mapping of values to others: null where it has none. Or a function of one value, as Python's, which is
            called on each rank once for values that are equal, and not for null; with a limit of memory
            (:func:`dtl.set_memory_limit`), once in each of the pieces in which the rows are gone over.

        Returns
        -------
        Column
            Of the type that holds all results: numbers of several types are float64.

        Raises
        ------
        InvalidTypeError
            If f is neither, if the column is of lists or structs, or if no type holds the results. On every rank.
        CollectiveMismatchError
            If the ranks pass different mappings.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     size = dtl.Table(ctx, {"size": ["s", "l", None]})["size"]
        ...     print(size.map({"s": 1, "m": 2, "l": 3}).to_list(), size.map(lambda text: text * 2).to_list())
        [1, 3, None] ['ss', 'll', None]
        """
        made: C = as_column(mapping.mapped(self.rows, "map", f))
        return made

    @collective
    def apply(self: C, f: Any, args: Any = (), **kwargs: Any) -> C:
        """Return what a function returns of each value and of further arguments. Collective. As :meth:`map`."""
        made: C = self.map(with_options(f, args, kwargs))
        return made

    @collective
    def to_numeric(self: C, errors: str = "raise") -> C:
        """Return texts as int64, or as float64 if not all are integers. Collective.

        Parameters
        ----------
        errors
            What is made of texts that are no numbers: an error (``"raise"``) or null (``"coerce"``).

        Raises
        ------
        InvalidArgumentError
            If a text is no number. On every rank.
        InvalidTypeError
            If the column is neither of text nor of numbers.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": ["1", "2.5", "?", None]})["x"].to_numeric(errors="coerce").to_list())
        [1.0, 2.5, None, None]
        """
        made: C = as_column(parsing.numbers(self.rows, "to_numeric", errors))
        return made

    @collective
    def to_datetime(self: C, format: str | None = None, errors: str = "raise") -> C:
        """Return texts as times in microseconds, in the zone UTC if they name one. Collective.

        Parameters
        ----------
        format
            The form of the texts, as of ``datetime.strptime``, such as ``"%d.%m.%Y"``; None for ISO 8601.
        errors
            What is made of texts of another form: an error (``"raise"``) or null (``"coerce"``).

        Raises
        ------
        InvalidArgumentError
            If a text is of another form. On every rank.
        InvalidTypeError
            If the column is neither of text nor of times.

        Notes
        -----
        Python reads texts that are equal once, as of :meth:`map`. ``astype("timestamp[us]")`` reads ISO 8601 faster.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     days = dtl.Table(ctx, {"day": ["29.02.2024", "30.02.2024"]})["day"]
        ...     print(days.to_datetime("%d.%m.%Y", errors="coerce").dt.day.to_list())
        [29, None]
        """
        made: C = as_column(parsing.times(self.rows, "to_datetime", format, errors))
        return made

    @collective
    def replace(self: C, to_replace: Any, value: Any = None) -> C:
        """Return the column with other values in the places of some. Collective.

        Parameters
        ----------
        to_replace
            A value, a list of values, or a mapping of values to others. None is null, and NaN is NaN.
        value
            What stands in their places: a value for all, or a list of as many. None is null.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError
            If no value of the column's type is equal to one of these, or the column cannot have one: integers become
            float64 beside floats, and all else is for :meth:`map`. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     price = dtl.Table(ctx, {"price": [3, -1, None]})["price"]
        ...     print(price.replace(-1, None).to_list(), price.replace({-1: 0, None: 7}).to_list())
        [3, None, None] [3, 0, 7]
        """
        made: C = as_column(mapping.replaced(self.rows, "replace", to_replace, value))
        return made

    @collective
    def ffill(self: C, limit: int | None = None) -> C:
        """Return the column with each null as the last value before it, also one of the ranks before. Collective.

        Parameters
        ----------
        limit
            How many nulls in a row are filled at most; None for all.

        Raises
        ------
        BoundsError
            If limit is less than 1.
        """
        made: C = as_column(filling.filled_from(self.rows, "ffill", True, limit))
        return made

    @collective
    def bfill(self: C, limit: int | None = None) -> C:
        """Return the column with each null as the first value behind it. Collective. See :meth:`ffill`."""
        made: C = as_column(filling.filled_from(self.rows, "bfill", False, limit))
        return made

    @collective
    def interpolate(self: C) -> C:
        """Return numbers as float64, with nulls on the line between the values before and behind them. Collective.

        Behind the last value, nulls are as it is; before the first, they stay null.

        Raises
        ------
        InvalidTypeError
            If the column is not of numbers.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [None, 1, None, 2, None]})["x"].interpolate().to_list())
        [None, 1.0, 1.5, 2.0, 2.0]
        """
        made: C = as_column(filling.interpolated(self.rows, "interpolate"))
        return made

    @collective
    def pct_change(self: C, periods: int = 1) -> C:
        """Return by which share each value differs from that which is some rows before it. Collective.

        See :meth:`shift`.
        """
        column: Any = self
        made: C = column / column.shift(periods) - 1
        return made

    @collective
    def idxmax(self) -> int | None:
        """Return the number of the first row with the largest value; None of nothing. Rows count from 0. Collective."""
        return places.place_of_extreme(self.rows, "max")

    @collective
    def idxmin(self) -> int | None:
        """Return the number of the first row with the smallest value; None of nothing. Collective."""
        return places.place_of_extreme(self.rows, "min")

    @collective
    def argsort(self: C, *, ascending: bool = True, na_position: str = "last") -> C:
        """Return the numbers of the rows, in the order of the values. Collective. See :meth:`sort_values`."""
        made: C = as_column(places.sorting_places(self.rows, "argsort", ascending, na_position))
        return made

    @collective
    def mode(self: C, dropna: bool = True) -> C:
        """Return the most frequent values, in ascending order. Collective.

        Parameters
        ----------
        dropna
            Whether null is left out.
        """
        made: C = as_column(places.most_frequent(self.rows, "mode", dropna))
        return made

    def agg(self, how: Any, **kwargs: Any) -> Any:
        """Return what the column is reduced to by a method, such as "sum", or by each of a list of them. Collective.

        See :meth:`Table.agg`.
        """
        return as_table(self.rows).agg(how, **kwargs)[self.rows.names[0]]

    @property
    def is_unique(self) -> bool:
        """Whether no two values are equal, null included. Collective."""
        return self._is_unique()

    @collective
    def _is_unique(self) -> bool:
        return places.all_different(self.rows, "is_unique")

    @property
    def is_monotonic_increasing(self) -> bool:
        """Whether no value is less than the one before it. False if there are nulls or NaNs. Collective."""
        return self._monotonic("is_monotonic_increasing", True)

    @property
    def is_monotonic_decreasing(self) -> bool:
        """Whether no value is larger than the one before it. False if there are nulls or NaNs. Collective."""
        return self._monotonic("is_monotonic_decreasing", False)

    @collective
    def _monotonic(self, op: str, increasing: bool) -> bool:
        return places.monotonic(self.rows, op, increasing)

    @property
    def empty(self) -> bool:
        """Whether there are no rows. Not collective."""
        return self.rows.total == 0

    @property
    def size(self) -> int:
        """The number of values on all ranks. Not collective."""
        return self.rows.total

    @property
    def ndim(self) -> int:
        """1. Not collective."""
        return 1

    @property
    def nbytes(self) -> int:
        """The bytes of this rank's values. Not collective."""
        return int(self.rows.local.nbytes)

    def copy(self: C) -> C:
        """Return the same column, whose values are not changed in place anyway. Not collective."""
        made: C = as_column(self.rows)
        return made

    def pipe(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return ``f(column, *args, **kwargs)``."""
        return f(self, *args, **kwargs)

    def to_frame(self, name: str | None = None) -> Any:
        """Return a table of this column alone, with its name or another one. Not collective."""
        column: Any = self if name is None else self.rename(name)  # type: ignore[attr-defined]
        return as_table(column.rows)

    @collective
    def equals(self, other: Any) -> bool:
        """Return whether another column has the same type, and equal values in the same rows. Collective.

        Null is equal to null, and NaN to NaN. How rows are divided makes no difference.
        """
        return places.equal_rows(self.rows, "equals", other.rows if isinstance(other, ValueMethods) else other)

    def to_list(self, root: int = 0) -> list[Any] | None:
        """Return all values as Python's, in a list on one rank; None on the others. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        whole = self.to_arrow(root)  # type: ignore[attr-defined]
        return None if whole is None else list(whole.to_pylist())

    def to_numpy(self, root: int = 0) -> Any:
        """Return all values as an array of NumPy on one rank, as pyarrow makes it; None on the others. Collective.

        Integers with nulls are floats with NaN, and text is an array of objects. :meth:`to_vector` leaves values on
        their ranks.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        whole = self.to_arrow(root)  # type: ignore[attr-defined]
        return None if whole is None else whole.to_numpy()

    def gather_to(self, root: int = 0) -> Any:
        """Return all values as :meth:`to_numpy` does, by the name that containers have for it. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        return self.to_numpy(root)
