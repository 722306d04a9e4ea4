"""Functions of one's own that get the rows of a group as a frame of pandas, on the rank that owns the group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import numpy as np

from ..algorithms.user_functions import check_function, user_code
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..runtime.agreement import agree, local_step
from .arrow_types import normalized
from .codes import in_order
from .gather import kept
from .group_rows import spread
from .local_groups import LocalGroups, expect_values
from .making import settled
from .mapping import common_type
from .moves import TableCall, in_words
from .owners import Owners
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class GroupFrames:
    """The rows of each group on the rank that owns it, which are taken to it. Making it is collective.

    Parameters
    ----------
    rows, op
        The table, and the name of the call that errors show.
    keys, dropna
        The names of the keys, and whether rows with null among these belong to no group.
    columns
        The columns that frames have; the name of one for a series of pandas.
    function
        What is called with each.
    """

    def __init__(
        self, rows: Rows, op: str, keys: list[str], dropna: bool, columns: list[str] | str, function: Any
    ) -> None:
        self._context, self._columns = rows.context, columns
        names = [columns] if isinstance(columns, str) else columns
        with local_step(rows.context, op), arrows_errors(op):
            check_function("the function", function)
            _pandas(op)
            self.local = LocalGroups(rows, keys, dropna)
        name = getattr(function, "__name__", type(function).__name__)
        agree(rows.context, op, f"{name} of {in_words(names)} by {in_words(keys)}, {dropna}")
        self._op = TableCall(op, f"group_by {in_words(keys)}, {op} of {in_words(names)}")
        expect_values(rows.context, self.local, names)
        answer = int(op == "filter")  # of each group, which is a bit and its share of a message
        self.owners = Owners(rows.context, self._op, self.local.keys, arrow().table({}), answer)
        self.route = route = self.owners.routed(self.local.places())
        there = route.there(arrow().table({each: self.local.column(each) for each in names}))
        with local_step(rows.context, op), arrows_errors(op):
            #: Which row each of the frames' rows is of those that have arrived.
            self.order = in_order(route.groups.of_row, route.groups.width)
            self._frame = there.take(arrow().array(self.order)).to_pandas()
            self._ends = np.cumsum(route.groups.sizes())

    def called(self, function: Callable[[Any], Any]) -> list[Any]:
        """Return what the function makes of each group that this rank owns, in the order of their keys."""
        made, begin = [], 0
        with user_code(self._context, self._op):
            for end in self._ends.tolist():
                frame = self._frame.iloc[begin:end].reset_index(drop=True)
                made.append(function(frame[self._columns] if isinstance(self._columns, str) else frame))
                begin = end
        return made


def _pandas(op: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise needs("pandas", op, error) from None
    return pandas


def filtered(rows: Rows, keys: list[str], dropna: bool, columns: list[str] | str, function: Any) -> Rows:
    """Return the rows of the groups of which a function says True, on their ranks. Collective."""
    op = "filter"
    groups = GroupFrames(rows, op, keys, dropna, columns, function)
    found = groups.called(function)
    with local_step(rows.context, op):
        for each in found:
            if not isinstance(each, (bool, np.bool_)):
                raise InvalidTypeError(f"the function must return True or False for a group, not {each!r}")
        mine = arrow().table({"": arrow().array(list(map(bool, found)), arrow().bool_())})
    told = groups.owners.told(mine)
    with local_step(rows.context, op):
        chosen = spread(groups.local, told.take(arrow().array(groups.local.places()))).column(0)
        local = kept(rows.local, chosen.fill_null(False).to_numpy())
    return Rows.made(rows.context, local)


def transformed(rows: Rows, keys: list[str], dropna: bool, columns: list[str], function: Any) -> Any:
    """Return a table of pyarrow of what a function makes of each column of each group, for each row. Collective."""
    ctx, op = rows.context, "transform"
    groups = GroupFrames(rows, op, keys, dropna, columns, function)
    called = groups.called(lambda frame: (len(frame), {name: function(frame[name]) for name in columns}))
    with local_step(ctx, op), arrows_errors(op):
        found = [{name: _as_many(one, count) for name, one in each.items()} for count, each in called]
        pd, back = _pandas(op), np.empty(len(groups.order), np.int64)
        back[groups.order] = np.arange(len(back))
        made = {}
        for name in columns:
            parts = [pd.Series(each[name]) for each in found]
            whole = pd.concat(parts, ignore_index=True) if parts else None
            made[name] = arrow().array(whole, from_pandas=True) if parts else arrow().nulls(0)
    for name in columns:
        kind = common_type(ctx, op, name, [made[name].type])
        with local_step(ctx, op), arrows_errors(op):
            made[name] = made[name].cast(kind).take(arrow().array(back))
    arrived = groups.route.back(arrow().table(made))
    with local_step(ctx, op):
        return normalized(spread(groups.local, arrived))


def _as_many(found: Any, count: int) -> Any:
    """Return the values that a function has returned for so many rows: as many, or one, which is repeated."""
    if np.ndim(found) == 0:
        return [found] * count
    if len(found) != count:
        raise InvalidTypeError(f"the function returns {len(found)} values for a group of {count} rows")
    return np.asarray(found) if not hasattr(found, "dtype") else found


def applied(rows: Rows, keys: list[str], dropna: bool, columns: list[str] | str, function: Any) -> Rows:
    """Return what a function makes of each group, with its keys. Collective."""
    ctx, op = rows.context, "apply"
    groups = GroupFrames(rows, op, keys, dropna, columns, function)
    found = groups.called(function)
    with local_step(ctx, op), arrows_errors(op):
        pd = _pandas(op)
        forms = [_form(pd, each) for each in found]
        form = next(iter(forms), None)
    every: set[str] = set().union(*allgather_object(ctx, set(forms)))
    if len(every) > 1:
        raise InvalidTypeError(f"the function returns {' and '.join(sorted(every))} for groups; all must be alike")
    with local_step(ctx, op), arrows_errors(op):
        made = None
        if form is not None:
            frames, lengths = _frames(pd, form, found)
            table = arrow().Table.from_pandas(frames, preserve_index=False)
            of_group = arrow().array(np.repeat(np.arange(len(found)), lengths))
            twice = [name for name in table.column_names if name in keys]
            if twice:
                raise InvalidArgumentError(f"two columns of the result would be called {twice[0]!r}, as a key is")
            made = groups.owners.keys.take(of_group)
            for name, column in zip(table.column_names, table.columns):
                made = made.append_column(name, column)
            made = normalized(made)
    if not every:
        return Rows(ctx, groups.owners.keys, groups.owners.counts)
    return settled(ctx, op, made)


def _form(pd: Any, found: Any) -> str:
    """Return what a function has returned, in words."""
    if isinstance(found, pd.DataFrame):
        return "frames"
    if isinstance(found, (pd.Series, Mapping)):
        return "rows"
    return "single values"


def _frames(pd: Any, form: str, found: list[Any]) -> tuple[Any, list[int]]:
    """Return one frame of what a function has returned, and how many rows are of each group."""
    if form == "frames":
        return pd.concat(found, ignore_index=True), [len(each) for each in found]
    if form == "rows":
        return pd.DataFrame([dict(each) for each in found]), [1] * len(found)
    return pd.DataFrame({"value": found}), [1] * len(found)
