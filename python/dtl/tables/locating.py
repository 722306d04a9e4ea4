"""Rows and columns together: ``table.loc[mask, names]`` and ``table.iloc[2:6, 0:2]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective
from ..runtime.context import Context
from .rows import HasRows, column_names, unknown_column
from .selection import rows_at

_BY_NUMBER = "rows by number are table[2:6]; a table has no index"


class Locator:
    """Rows by masks, and columns by names, as ``table.loc``.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     table = dtl.Table(ctx, {"what": ["plum", "fig"], "price": [3, 2]})
    ...     print(table.loc[table["price"] > 2, "what"].to_list())
    ...     table.loc[table["what"] == "fig", "price"] = 5
    ...     print(table["price"].to_list())
    ['plum']
    [3, 5]
    """

    __slots__ = ("_table",)

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._table.context  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        """Return the rows where a mask is true, and some columns of them. Collective, unless all rows are taken."""
        return self._columns(key) if _takes_all_rows(key) else self._loc(key)

    def _columns(self, key: Any) -> Any:
        _, names = _two(key)
        return self._table if names is None else self._table[_named(self._table, names)]

    @collective
    def _loc(self, key: Any) -> Any:
        return self._columns(key)[_mask(self._table, _two(key)[0])]

    @collective
    def __setitem__(self, key: Any, value: Any) -> None:
        """Change columns where a mask is true; a new one is null elsewhere. Collective."""
        mask, names = _two(key)
        table = self._table
        if names is None:
            raise InvalidTypeError("a value is given to columns: table.loc[mask, name] = value")
        new = isinstance(names, str) and names not in table.columns
        found = names if new else _named(table, names)
        several = [found] if isinstance(found, str) else found
        condition = None if _is_all(mask) else _known(table, _mask(table, mask))
        changed = table.copy()  # so that an error leaves the table as it is
        for name in several:
            if condition is None or new:
                changed[name] = value
            if condition is not None:
                changed[name] = changed[name].where(condition) if new else changed[name].mask(condition, value)
        for name in several:
            table[name] = changed[name]


class PlaceLocator:
    """Rows and columns by number, as ``table.iloc``."""

    __slots__ = ("_table",)

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._table.context  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        """Return the rows of a slice, of a list of numbers, or where a mask is true, and some columns. Collective.

        Rows of a list are in its order, divided evenly; a negative number counts from the end. Not collective if all
        rows are taken.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"what": ["plum", "fig", "pear"], "price": [3, 2, 4]})
        ...     print(table.iloc[[-1, 0], 0].to_list())
        ['pear', 'plum']
        """
        return self._columns(key) if _takes_all_rows(key) else self._iloc(key)

    def _columns(self, key: Any) -> Any:
        _, columns = _two(key)
        return self._table if columns is None else self._table[_of_places(self._table.columns, columns)]

    @collective
    def _iloc(self, key: Any) -> Any:
        which, chosen = _two(key)[0], self._columns(key)
        if isinstance(which, slice):
            return chosen[which]
        if isinstance(which, (int, np.integer)) and not isinstance(which, bool):
            end = "" if which == -1 else int(which) + 1
            raise InvalidTypeError(f"iloc takes slices and lists of rows; the row {which} is table[{which}:{end}]")
        if _is_numbers(which):
            return type(chosen).of(rows_at(chosen.rows, "iloc", which))
        return chosen[_mask(self._table, which)]


def _is_numbers(which: Any) -> bool:
    """Say whether rows are chosen by a list or array of numbers."""
    if isinstance(which, np.ndarray):
        return which.dtype.kind in "iu"
    return isinstance(which, list) and not any(isinstance(each, (bool, np.bool_)) for each in which)


def _takes_all_rows(key: Any) -> bool:
    return _is_all(key[0] if isinstance(key, tuple) and len(key) == 2 else key)


def _two(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple):
        return key, None
    if len(key) != 2:
        raise InvalidArgumentError(f"rows and columns are chosen by two keys, not by {len(key)}")
    return key


def _is_all(which: Any) -> bool:
    return isinstance(which, slice) and which == slice(None)


def _mask(table: Any, mask: Any) -> Any:
    """Return a mask of rows."""
    given = mask(table) if callable(mask) else mask
    if isinstance(given, (slice, str, int, np.integer)) and not isinstance(given, bool):
        raise InvalidTypeError(f"rows are chosen by masks, not by {given!r}; {_BY_NUMBER}")
    if isinstance(given, list) and given and not all(isinstance(each, (bool, np.bool_)) for each in given):
        raise InvalidTypeError(f"rows are chosen by masks, not by a list of other values; {_BY_NUMBER}")
    return given


def _known(table: Any, mask: Any) -> Any:
    """Return a mask as a column that is false where it is null, where nothing is changed."""
    if not isinstance(mask, HasRows):
        mask = table.assign(**{"": mask})[""]
    column: Any = mask
    return column.fillna(False)


def _named(table: Any, names: Any) -> Any:
    """Return the name of a column, or a list of names: also those of a slice from one to another."""
    columns = table.columns
    if isinstance(names, slice):
        for name in (names.start, names.stop):
            if name is not None and name not in columns:
                raise unknown_column(name, columns)
        first = 0 if names.start is None else columns.index(names.start)
        end = len(columns) if names.stop is None else columns.index(names.stop) + 1
        return columns[first : end : names.step]
    if isinstance(names, str):
        if names not in columns:
            raise unknown_column(names, columns)
        return names
    given = list(names) if isinstance(names, (list, tuple, np.ndarray)) else names
    if isinstance(given, list) and given and all(isinstance(each, (bool, np.bool_)) for each in given):
        if len(given) != len(columns):
            raise InvalidArgumentError(
                f"the mask of columns has {len(given)} values; the table has {len(columns)} columns"
            )
        return [name for name, wanted in zip(columns, given) if wanted]
    return column_names(table.rows, "loc", given)


def _of_places(columns: list[str], places: Any) -> Any:
    """Return the name of the column at a place, or the names at several."""
    if isinstance(places, slice):
        return columns[places]
    several = list(places) if isinstance(places, (list, tuple, np.ndarray)) else [places]
    for place in several:
        if isinstance(place, (bool, np.bool_)) or not isinstance(place, (int, np.integer)):
            raise InvalidTypeError(f"iloc takes numbers of columns, not {place!r}; loc takes their names")
        if not -len(columns) <= place < len(columns):
            raise InvalidArgumentError(f"column {place} outside [0, {len(columns)})")
    names = [columns[place] for place in several]
    return names if isinstance(places, (list, tuple, np.ndarray)) else names[0]
