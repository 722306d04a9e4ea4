"""The tables of pandas, whose columns and index become columns of Arrow's."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidArgumentError
from .rows import arrow, arrows_errors


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
            made.append(pa.Array.from_pandas(values))
    return pa.table(made, names=names)
