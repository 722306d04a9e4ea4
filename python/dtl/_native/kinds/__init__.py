"""Kinds of elements, an object each: how they are moved, ordered, compared and converted.

Functions ask the object of a dtype, ``kind_of(dtype)``, for what they need. A kind is a file, and a line of _FILES.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

import numpy as np

from ..._lazy import loaded
from ...exceptions import InvalidTypeError
from .. import library

if TYPE_CHECKING:
    from .kind import Kind


def _element_types() -> dict[str, int]:
    """Return the core's number of each dtype, by NumPy's ``str`` of it, which says the byte order too."""
    numbers: dict[str, int] = {}
    while name := library.dtype_name(len(numbers) + 1):
        numbers[np.dtype(name).str] = len(numbers) + 1
    return numbers


#: The core's number of each dtype that it computes with.
NUMBERS = _element_types()

#: The same by NumPy's numbers of the types, in native byte order: of several that are one type here, of each.
COMPUTED = {np.dtype(c).num: NUMBERS[np.dtype(c).str] for c in np.typecodes["All"] if np.dtype(c).str in NUMBERS}

#: Where the kinds are, by NumPy's letters of their dtypes. Whatever has none of these is of another library.
_FILES = {
    "?": (".numbers", "Boolean"),
    "bhilqpBHILQP": (".numbers", "Integer"),
    "f": (".numbers", "Real"),
    "d": (".numbers", "Double"),
    "FD": (".numbers", "Complex"),
    "e": (".half", "Half"),
    "M": (".dates", "Date"),
    "m": (".dates", "Span"),
    "S": (".text", "Text"),
    "U": (".text", "Str"),
    "V": (".records", "Record"),
    "g": (".numbers", "Long"),
    "G": (".numbers", "LongComplex"),
}
_OF_OBJECTS, _OF_OTHERS = (".kind", "Kind"), (".others", "Other")

#: NumPy's number of the first dtype that another library registers.
_FIRST_OF_OTHERS = 256


class _Kinds(Dict[int, "Kind"]):
    """The kinds by NumPy's numbers of dtypes. One is imported when it is first asked for."""

    def __missing__(self, number: int) -> Kind:
        names: dict[int, str] = {
            np.dtype(c).num: np.dtype(np.dtype(c).str).char for c in np.typecodes["All"]
        }  # "g" may be "d"
        homes = [home for letters, home in _FILES.items() if names.get(number, " ") in letters]
        (home,) = homes or [_OF_OTHERS if number >= _FIRST_OF_OTHERS else _OF_OBJECTS]
        made: Kind = loaded(f"._native.kinds{home[0]}", home[1])()
        made.of = kind_of
        self[number] = made
        return made


_KINDS = _Kinds()


def kind_of(dtype: np.dtype[Any]) -> Kind:
    """Return the object of the kind that elements of a dtype are of."""
    return _KINDS[dtype.num]


def computed_number(dtype: np.dtype[Any]) -> int:
    """Return the core's number of a dtype that it computes with, in this machine's byte order; 0 of any other."""
    return COMPUTED.get(dtype.num, 0) if dtype.isnative else 0


def carrier(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the type as which the core moves elements that it does not compute with; None for all other types."""
    return None if dtype.num in COMPUTED else kind_of(dtype).carrier(dtype)


def computed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which elements are computed: ``Kind.computed_in``."""
    return kind_of(dtype).computed_in(dtype)


def fitting(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a scalar or array as a C-contiguous array of a dtype, if it stays what it is: ``Kind.fit``."""
    return kind_of(dtype).fit(name, value, dtype)


def filling(fill: Any, dtype: np.dtype[Any]) -> Any:
    """Return the value of every element of a new container: ``Kind.fill``."""
    return kind_of(dtype).fill(fill, dtype)


def compared_in(name: str, *dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which elements of several are compared: numbers with numbers, dates with dates, and so on."""
    families = {"number" if kind_of(dtype).is_number else dtype.kind for dtype in dtypes}
    try:
        if len(families) == 1:
            common: np.dtype[Any] = np.result_type(*dtypes)
            return common
    except TypeError:  # records of other fields
        pass
    raise InvalidTypeError(f"{name}: elements of {' and '.join(str(dtype) for dtype in dtypes)} are not compared")


def fingerprint(array: Any) -> str:
    """Return what, in all likelihood, tells the arrays of two ranks apart."""
    return f"{kind_of(array.dtype).checksum(array, 0):08x} of {array.size} {array.dtype}"
