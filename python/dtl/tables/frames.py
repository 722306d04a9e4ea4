"""The tables of pandas, whose columns and index become columns of Arrow's."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .rows import arrow, arrows_errors


def check_one_kind(name: str, kind: Any, values: Any) -> None:
    """Refuse values of several types of Python's, of which pyarrow makes times or bytes without a word.

    Of the first one's type, it takes numbers for microseconds, the date of a datetime, and text for bytes.
    """
    types = arrow().types
    if not (types.is_temporal(kind) or types.is_binary(kind)):
        return
    found = {_kind_of(each) for each in values if each is not None and each == each}  # noqa: PLR0124 - of NaN and NaT
    if len(found) > 1:
        names = " and ".join(sorted(each.__name__ for each in found))
        raise InvalidTypeError(f"the values of {name!r} are of {names}, which no one type of Arrow's holds")


def _kind_of(value: Any) -> Any:
    """Return the type of a value: of times, that of Python's from which theirs derives."""
    kinds = (datetime.datetime, datetime.date, datetime.timedelta, np.datetime64, np.timedelta64, bytes)
    return next((kind for kind in kinds if isinstance(value, kind)), type(value))


def is_frame(table: Any) -> bool:
    """Say whether an object is a DataFrame of pandas."""
    kind = type(table)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def table_of_frame(frame: Any) -> Any:
    """Return a table of pyarrow of a DataFrame: levels of the index that have names first, as ``reset_index`` does.

    An index without a name, such as a filter leaves, is left out.
    """
    pa = arrow()
    index = frame.index
    columns = [(name, index.get_level_values(i)) for i, name in enumerate(index.names) if name is not None]
    columns += [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    names = [name if isinstance(name, str) else str(name) for name, _ in columns]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(f"the frame has two columns {name!r}; its columns are {names}")
    made = []
    for name, (_, values) in zip(names, columns):
        with arrows_errors(f"the column {name!r} of the frame, of {values.dtype}"):
            column = pa.Array.from_pandas(values)
            if values.dtype == object:
                check_one_kind(name, column.type, values[values.notna()])
            made.append(column)
    return pa.table(made, names=names)
