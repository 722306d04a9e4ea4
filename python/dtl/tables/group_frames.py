"""Functions of one's own that get the rows of a group as a frame of pandas, on the rank that owns the group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Iterator

import numpy as np

from ..algorithms.user_functions import AsProgram, check_function
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.formats import needs
from ..runtime.agreement import local_step
from . import group_rows
from .codes import in_order
from .folds import Groups
from .local_groups import without_null
from .making import settled
from .mapping import in_common_types
from .on_disk import kept, piece_rows, pieces
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Called:
    """A function of the user's that is called with the rows of each group. Making it is collective.

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
        self._program, self._function, self._columns = AsProgram(rows.context, op), function, columns
        #: The names of the columns that frames have.
        self.names = [columns] if isinstance(columns, str) else columns
        with local_step(rows.context, op), arrows_errors(op):
            check_function("the function", function)
            _pandas(op)
            mine = _with_null(rows, keys, dropna, self.names)
        #: What the ranks compare.
        self.words = getattr(function, "__name__", type(function).__name__)
        self._with_null: set[str] = set().union(*allgather_object(rows.context, mine))

    def frames(self, groups: Groups, table: Any) -> tuple[Array, Iterator[Any]]:
        """Return which row of a table each row of the frames is, and what yields a frame of each group."""
        order = in_order(groups.of_row, groups.width)
        whole = table.take(arrow().array(order)).to_pandas()
        for name in self._with_null.intersection(self.names):
            if not table.column(name).null_count:  # so that a group has the types that it has beside all others
                is_truth = arrow().types.is_boolean(table.schema.field(name).type)
                whole[name] = whole[name].astype(object if is_truth else np.float64)
        ends = np.cumsum(groups.sizes()).tolist()
        parts = (whole.iloc[begin:end].reset_index(drop=True) for begin, end in zip([0, *ends], ends))
        one = self._columns
        return order, (part[one] for part in parts) if isinstance(one, str) else parts

    def __call__(self, frames: Iterator[Any], by_column: bool = False) -> list[Any]:
        """Return what the function makes of each frame, or a dict of what it makes of the columns of each."""
        function, names = self._function, self.names if by_column else None
        return self._program(
            lambda: [{name: function(frame[name]) for name in names} if names else function(frame) for frame in frames]
        )


def _with_null(rows: Rows, keys: list[str], dropna: bool, names: list[str]) -> set[str]:
    """Return which columns of integers and truths have null in a row of a group: pandas has these in another type.

    Not collective.
    """
    types = arrow().types
    found: set[str] = set()
    left = [
        name
        for name, kind in zip(names, rows.chosen(names).schema.types)
        if (types.is_integer(kind) or types.is_boolean(kind)) and not (dropna and name in keys)
    ]
    if not left:
        return set()
    needed = rows.chosen(list(dict.fromkeys([*left, *keys])))
    for _, piece in pieces(needed, piece_rows(needed)):
        there = without_null([piece.column(name) for name in keys]) if dropna else None
        some = piece if there is None else piece.filter(there)
        found.update(name for name in left if some.column(name).null_count)
        left = [name for name in left if name not in found]
        if not left:
            break
    return found


def _pandas(op: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise needs("pandas", op, error) from None
    return pandas


def filtered(rows: Rows, keys: list[str], dropna: bool, columns: list[str] | str, function: Any) -> Rows:
    """Return the rows of the groups of which a function says True, on their ranks. Collective."""
    op = "filter"
    called = Called(rows, op, keys, dropna, columns, function)

    def made(groups: Groups, table: Any) -> dict[str, Any]:
        found = called(called.frames(groups, table)[1])
        for each in found:
            if not isinstance(each, (bool, np.bool_)):
                raise InvalidTypeError(f"the function must return True or False for a group, not {each!r}")
        return {"": np.array(found, np.bool_)[groups.of_row]}

    mask = group_rows.at_owners(rows, op, keys, dropna, called.names, called.words, made, bits=1)
    return group_rows.kept_where(rows, op, mask.column(0))


def transformed(rows: Rows, keys: list[str], dropna: bool, columns: list[str], function: Any) -> Any:
    """Return a table of pyarrow of what a function makes of each column of each group, for each row. Collective."""
    ctx, op = rows.context, "transform"
    called = Called(rows, op, keys, dropna, columns, function)

    def made(groups: Groups, table: Any) -> dict[str, Any]:
        order, frames = called.frames(groups, table)
        pd, back = _pandas(op), np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        found = [
            {name: _as_many(one, count) for name, one in each.items()}
            for count, each in zip(groups.sizes().tolist(), called(frames, by_column=True))
        ]
        columns_made = {}
        for name in columns:
            parts = [pd.Series(each[name]) for each in found]
            whole = pd.concat(parts, ignore_index=True) if parts else None
            array = arrow().array(whole, from_pandas=True) if parts else arrow().nulls(0)
            columns_made[name] = array.take(arrow().array(back))
        return columns_made

    together = partial(in_common_types, ctx, op)
    return group_rows.at_owners(rows, op, keys, dropna, columns, called.words, made, together=together)


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
    called = Called(rows, op, keys, dropna, columns, function)
    forms: set[str] = set()

    def made(distinct: Any, groups: Groups, table: Any) -> Any:
        found = called(called.frames(groups, table)[1])
        mine = {_form(each) for each in found}
        forms.update(mine)
        return _with_keys(distinct, found, mine.pop()) if len(mine) == 1 else None

    some = group_rows.of_whole_groups(rows, op, keys, dropna, called.names, called.words)
    with local_step(ctx, op), arrows_errors(op):
        tables = kept(ctx, op, (table for table in (made(*each) for each in some) if table is not None))
    every: set[str] = set().union(*allgather_object(ctx, forms))
    if len(every) > 1:
        raise InvalidTypeError(f"the function returns {' and '.join(sorted(every))} for groups; all must be alike")
    if not every:
        none = rows.chosen(keys).schema.empty_table()
        return Rows(ctx, none, (0,) * ctx.size)
    return settled(ctx, op, in_common_types(ctx, op, tables))


def _form(found: Any) -> str:
    """Return what a function has returned, in words."""
    pd = _pandas("apply")
    if isinstance(found, pd.DataFrame):
        return "frames"
    if isinstance(found, (pd.Series, Mapping)):
        return "rows"
    return "single values"


def _with_keys(distinct: Any, found: list[Any], form: str) -> Any:
    """Return the keys of groups beside what a function has returned of each."""
    frames, lengths = _frames(form, found)
    table = arrow().Table.from_pandas(frames, preserve_index=False)
    of_group = arrow().array(np.repeat(np.arange(len(found)), lengths))
    twice = [name for name in table.column_names if name in distinct.column_names]
    if twice:
        raise InvalidArgumentError(f"two columns of the result would be called {twice[0]!r}, as a key is")
    made = distinct.take(of_group)
    for name, column in zip(table.column_names, table.columns):
        made = made.append_column(name, column)
    return made


def _frames(form: str, found: list[Any]) -> tuple[Any, list[int]]:
    """Return one frame of what a function has returned, and how many rows are of each group."""
    pd = _pandas("apply")
    if form == "frames":
        return pd.concat(found, ignore_index=True), [len(each) for each in found]
    if form == "rows":
        return pd.DataFrame([dict(each) for each in found]), [1] * len(found)
    return pd.DataFrame({"value": found}), [1] * len(found)
