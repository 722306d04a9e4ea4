"""What the elements of a column stand for: numbers, the codes of texts, dates and times, or nothing."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.arguments import dtype_number
from .._native.kinds import kind_of
from ..containers.interior import note_meaning, noted_meaning
from ..exceptions import InvalidTypeError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Meaning(NamedTuple):
    """What the elements of a column's vector stand for. A vector of a column has it, wherever it is passed."""

    texts: list[str] | None = None  # of which the elements are indices, or -1
    ordered: bool = False  # whether the order of the texts is that of their values, as of sizes
    time: str = ""  # the NumPy dtype that int64 stand for
    zone: str = ""  # the time zone in which times are to be shown; they count from 1970 in UTC
    nothing: bool = False  # whether the column has no type, because it has no values

    def kind(self, dtype: np.dtype[Any]) -> str:
        """Return what is compared with values of such a column."""
        if kind_of(dtype).is_str:
            return "str"
        if self.texts is not None:
            return "text"
        return f"{self.time} with a time zone" if self.zone else self.time or "numbers"

    def name(self, dtype: np.dtype[Any]) -> str:
        """Return the type of the column, for people."""
        if self.zone:
            return f"{self.time[:-1]}, {self.zone}]"
        return f"ordered {self.kind(dtype)}" if self.ordered else self.time or self._plain(dtype)

    def _plain(self, dtype: np.dtype[Any]) -> str:
        return "text" if self.texts is not None else "str" if kind_of(dtype).is_str else str(dtype)

    def array(self, pa: Any, part: Array, mask: Array) -> Any:
        """Return some elements as an array of Arrow. Not collective."""
        if self.nothing and (len(part) == 0 if mask is None else mask.all()):
            return pa.nulls(len(part))
        if self.texts is not None:
            codes = pa.array(part, mask=part < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(self.texts, pa.string()), ordered=self.ordered)
        if _has_nul(part):
            part = part.astype(object)  # pyarrow ends NumPy's str at the first NUL
        made = pa.array(part.view(self.time) if self.time else part, mask=mask)
        return made.cast(pa.timestamp(made.type.unit, self.zone)) if self.zone else made


def _has_nul(part: Array) -> bool:
    """Say whether an element is a str with a NUL in it."""
    if not kind_of(part.dtype).is_str:
        return False
    characters = np.ascontiguousarray(part).view(np.uint32).reshape(len(part), part.itemsize // 4)
    return bool(((characters[:, :-1] == 0) & (characters[:, 1:] != 0)).any())


def meaning_of(vec: Any) -> Meaning:
    """Return what the elements of a container stand for: themselves, unless it is the vector of a column."""
    found: Meaning = noted_meaning(vec) or Meaning()
    return found


def values_type(pa: Any, kind: Any) -> Any:
    """Return the type of the values, where Arrow has each different one once, or runs of them."""
    while pa.types.is_dictionary(kind) or is_run_end_encoded(pa, kind):
        kind = kind.value_type
    return kind


def is_run_end_encoded(pa: Any, kind: Any) -> bool:
    """Say whether an array has runs of equal values, which old versions of pyarrow do not know."""
    return hasattr(pa.types, "is_run_end_encoded") and bool(pa.types.is_run_end_encoded(kind))


def is_text(pa: Any, kind: Any) -> bool:
    """Say whether a column is of text, in any of Arrow's ways."""
    kind = values_type(pa, kind)
    views = hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views)


def is_ordered(pa: Any, kind: Any) -> bool:
    """Say whether the texts of a column have an order of their own."""
    return bool(pa.types.is_dictionary(kind) and kind.ordered and is_text(pa, kind))


def time_of(pa: Any, kind: Any) -> str:
    """Return the NumPy dtype of a column of dates or times; "" of another one."""
    if pa.types.is_timestamp(kind):
        return f"datetime64[{kind.unit}]"
    if pa.types.is_date32(kind):
        return "datetime64[D]"
    if pa.types.is_date64(kind):
        return "datetime64[ms]"
    return f"timedelta64[{kind.unit}]" if pa.types.is_duration(kind) else ""


def held(pa: Any, name: str, kind: Any) -> np.dtype[Any]:
    """Return the dtype of a column of numbers."""
    if pa.types.is_null(kind):
        return np.dtype(np.float64)
    if pa.types.is_float16(kind):
        return np.dtype(np.float32)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        dtype_number(dtype)
        return dtype
    raise InvalidTypeError(
        f"the column {name!r} of {kind} is not held by vectors: convert it before, or choose other columns"
    )


def unified(pa: Any, one: Any, other: Any) -> Any:
    """Return the type of a column that has one type in a table and another in a further one; None if it has none.

    A column without values goes with every type, and text with text, in whatever way Arrow has it.
    """
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if is_text(pa, one) and is_text(pa, other) and is_ordered(pa, one) == is_ordered(pa, other):
        return one
    return one if values_type(pa, one) == values_type(pa, other) and not is_text(pa, one) else None


#: The vector of each column, by its name.
named_vectors: Callable[[Any], dict[str, Any]] = attrgetter("_vectors")


def add_column(columns: Any, name: str, vec: Any, meaning: Meaning) -> None:
    """Add a column. Its vector has what the elements stand for, wherever it is passed."""
    note_meaning(vec, meaning)
    named_vectors(columns)[name] = vec
