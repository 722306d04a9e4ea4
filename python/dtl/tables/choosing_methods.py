"""The methods of tables that choose rows and columns by conditions, names and types."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from typing import Any, Callable, TypeVar

import numpy as np

from .._native.arguments import integer, listed
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step, on_context
from . import places
from .arrow_types import is_decimal, is_number, is_text, type_of
from .locating import Locator, PlaceLocator
from .operators import Operators
from .querying import Formula
from .rows import HasRows, arrow, as_table, column_names

T = TypeVar("T", bound="ChoosingMethods")


class ChoosingMethods(HasRows):
    """Methods of tables that choose rows and columns, and pass a table on."""

    __slots__ = ()

    @on_context
    def query(self: T, expr: str, *, local_dict: Mapping[str, Any] | None = None) -> T:
        """Return the rows where a condition is true, which is given as text. They stay on their ranks. Collective.

        Parameters
        ----------
        expr
            The condition: columns by their names, or in backticks, constants, lists, ``@name`` for variables of the
            caller, arithmetic, comparisons, ``and``, ``or``, ``not``, ``in``, functions of NumPy's such as ``sqrt``,
            and methods of columns, such as ``what.str.startswith("p")``. ``&`` and ``|`` are ``and`` and ``or``. It is
            not run as Python, and can do nothing else.
        local_dict
            The variables, in the place of the caller's.

        Raises
        ------
        KeyNotFoundError
            If there is no such column or variable.
        InvalidArgumentError, InvalidTypeError
            If it is no such condition, or no column of bool.
        CollectiveMismatchError
            If the ranks pass different conditions or variables.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"what": ["plum", "fig", "kiwi"], "price": [3, 2, 5]})
        ...     least = 2
        ...     print(table.query("price > @least and what in ['plum', 'fig']").to_arrow().to_pydict())
        {'what': ['plum'], 'price': [3]}
        """
        return self._queried(expr, _variables(inspect.currentframe(), local_dict))

    @collective
    def _queried(self: T, expr: Any, variables: Mapping[str, Any]) -> T:
        made = self._evaluated("query", expr, variables)
        if not isinstance(made, Operators) or made.rows.schema.types[0] != arrow().bool_():
            raise InvalidTypeError(f"query {expr!r} is no condition that is true or false for each row")
        table: Any = self
        chosen: T = table[made]
        return chosen

    @on_context
    def eval(self: T, expr: str, *, local_dict: Mapping[str, Any] | None = None) -> Any:
        """Return the column or number of a formula; of lines ``name = formula``, the table with them. Collective.

        See :meth:`query`.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"price": [3, 2], "count": [1, 4]})
        ...     print(table.eval("price * count").to_list(), table.eval("paid = price * count").columns)
        [3, 8] ['price', 'count', 'paid']
        """
        return self._evaluated("eval", expr, _variables(inspect.currentframe(), local_dict))

    @collective
    def _evaluated(self, what: str, expr: Any, variables: Mapping[str, Any]) -> Any:
        with local_step(self.rows.context, what):
            formula = Formula(what, expr, variables)
            words = formula.words()
        agree(self.rows.context, what, words)
        table: Any = self
        first = formula.statements[0]
        if isinstance(first, ast.Expr) and len(formula.statements) == 1:
            return formula.value(first.value, self.rows)
        for each in formula.statements:
            if what == "query" or not isinstance(each, ast.Assign) or len(each.targets) != 1:
                raise formula.refusal(each)
            table = table.assign(**{formula.name_of(each.targets[0]): formula.value(each.value, table.rows)})
        return table

    @property
    def loc(self) -> Locator:
        """Rows by masks and columns by names: ``table.loc[mask, ["a", "b"]]``, also to change them. Not collective."""
        return Locator(self)

    @property
    def iloc(self) -> PlaceLocator:
        """Rows and columns by number: ``table.iloc[2:6, 0]``. Not collective."""
        return PlaceLocator(self)

    def select_dtypes(self: T, include: Any = None, exclude: Any = None) -> T:
        """Return the columns of some types. Not collective.

        Parameters
        ----------
        include, exclude
            Types, or lists of them, of Arrow, NumPy or Python; or "number", "bool", "string", "category", "datetime",
            "datetimetz" and "timedelta".

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If neither is given, if there is no such type, or if no column is of one.
        """
        if include is None and exclude is None:
            raise InvalidArgumentError("select_dtypes takes include or exclude")
        fields = list(self.rows.schema)
        names = [each.name for each in fields if include is None or _is_one(each.type, include)]
        out = [each.name for each in fields if exclude is not None and _is_one(each.type, exclude)]
        return self._with([name for name in names if name not in out], "select_dtypes chooses")

    def filter(self: T, items: Any = None, *, like: str | None = None, regex: str | None = None) -> T:
        """Return the columns with some names. Not collective.

        Parameters
        ----------
        items
            A list of names, of which there may be no such columns.
        like
            A text that the names have.
        regex
            A regular expression of Python's that is found in the names.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If not one of the three is given, or no column is left.
        """
        if sum(each is not None for each in (items, like, regex)) != 1:
            raise InvalidArgumentError("filter takes one of items, like and regex; rows are chosen by table[mask]")
        names = self.rows.names
        if items is not None:
            try:
                wanted = listed(None if isinstance(items, str) else items)
            except TypeError:
                raise InvalidTypeError(f"items must be a list of names, not {items!r}") from None
            return self._with([name for name in wanted if isinstance(name, str) and name in names], "filter chooses")
        for what, each in (("like", like), ("regex", regex)):
            if each is not None and not isinstance(each, str):
                raise InvalidTypeError(f"{what} must be text, not {each!r}")
        try:
            found = re.compile(re.escape(like) if regex is None else regex)  # type: ignore[type-var]
        except re.error as error:
            raise InvalidArgumentError(f"regex {regex!r} is no regular expression: {error}") from None
        return self._with([name for name in names if found.search(name)], "filter chooses")

    def _with(self: T, names: list[str], what: str) -> T:
        if not names:
            raise InvalidArgumentError(f"{what} no column; the columns are of {self.rows.schema.types}")
        made: T = as_table(self.rows.chosen(column_names(self.rows, what, names)))
        return made

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a column, or columns, or another value where there is no such name. Not collective."""
        table: Any = self
        names = [key] if isinstance(key, str) else list(key) if isinstance(key, (list, tuple)) else [None]
        return table[key] if all(name in self.rows.names for name in names) else default

    def pop(self, name: str) -> Any:
        """Return a column, and remove it from the table. Not collective."""
        table: Any = self
        column = table[column_names(self.rows, "pop", _text("name", name))[0]]
        del table[name]
        return column

    def insert(self, loc: int, column: str, value: Any) -> None:
        """Add a column at a place among the others. Collective.

        Parameters
        ----------
        loc
            The place, from 0 to the number of columns.
        column
            Its name, which no column has.
        value
            As for :meth:`assign`.
        """
        made = self._inserted(loc, column, value)
        self._rows = made.rows

    @collective
    def _inserted(self: T, loc: Any, column: Any, value: Any) -> T:
        names, place = self.rows.names, integer("loc", loc)
        if not 0 <= place <= len(names):
            raise BoundsError(f"loc {place} outside [0, {len(names)}]")
        if not isinstance(column, str) or column in names:
            raise InvalidArgumentError(
                f"there is a column {column!r} already, or it is no text; the columns are {names}"
            )
        table: Any = self
        made = table.assign(**{column: value}).rows
        order = [*names[:place], column, *names[place:]]
        inserted: T = as_table(made.chosen(order))
        return inserted

    def add_prefix(self: T, prefix: str) -> T:
        """Return the table with a text before the name of each column. Not collective."""
        table: Any = self
        renamed: T = table.rename(lambda name: f"{_text('prefix', prefix)}{name}")
        return renamed

    def add_suffix(self: T, suffix: str) -> T:
        """Return the table with a text behind the name of each column. Not collective."""
        table: Any = self
        renamed: T = table.rename(lambda name: f"{name}{_text('suffix', suffix)}")
        return renamed

    def copy(self: T) -> T:
        """Return a table of the same columns: those added to one are not in the other. Not collective."""
        made: T = as_table(self.rows)
        return made

    def pipe(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return ``f(table, *args, **kwargs)``."""
        return f(self, *args, **kwargs)

    @collective
    def equals(self, other: Any) -> bool:
        """Return whether another table has the same columns and rows. Collective. See :meth:`Column.equals`."""
        return places.equal_rows(self.rows, "equals", other.rows if isinstance(other, ChoosingMethods) else other)

    @property
    def empty(self) -> bool:
        """Whether there are no rows. Not collective."""
        return self.rows.total == 0

    @property
    def size(self) -> int:
        """The number of rows on all ranks times that of columns. Not collective."""
        return self.rows.total * len(self.rows.names)

    @property
    def ndim(self) -> int:
        """2. Not collective."""
        return 2

    @property
    def nbytes(self) -> int:
        """The bytes of this rank's rows. Not collective."""
        return int(self.rows.local.nbytes)


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidTypeError(f"{what} must be text, not {value!r}")
    return value


def _variables(frame: Any, given: Any) -> Mapping[str, Any]:
    """Return the variables that ``@name`` stands for: of the caller of a method, unless others are given."""
    if given is None:
        return {**frame.f_back.f_globals, **frame.f_back.f_locals}
    return given if isinstance(given, Mapping) else {}


def _is_one(kind: Any, types: Any) -> bool:
    """Say whether a type is one of some, which are given as pandas' names of several, or as types."""
    checks = arrow().types
    several: dict[Any, Callable[[Any], bool]] = {
        "number": lambda kind: (is_number(kind) and not checks.is_boolean(kind)) or is_decimal(kind),
        np.number: lambda kind: is_number(kind) and not checks.is_boolean(kind),
        "string": is_text,
        "object": is_text,
        "str": is_text,
        str: is_text,
        "category": checks.is_dictionary,
        "datetime": lambda kind: checks.is_timestamp(kind) and kind.tz is None,
        "datetimetz": lambda kind: checks.is_timestamp(kind) and kind.tz is not None,
        "timedelta": checks.is_duration,
    }
    for each in types if isinstance(types, (list, tuple, set)) else [types]:
        known = isinstance(each, (str, type)) and each in several
        if several[each](kind) if known else type_of(each) == kind:
            return True
    return False
