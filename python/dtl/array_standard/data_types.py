"""Data types of the array API standard: their names, what they promote to, and what a namespace says about itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native.arguments import dtype_number, element_types
from .._native.kinds import kind_of
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Placement
from ..runtime.backends import placement_available

#: The kinds of the standard, and NumPy's letters of them.
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_TYPES = {dtype.name: dtype for dtype in element_types()}


class FloatInfo(NamedTuple):
    """What is known of a type of floats, or of the parts of complex numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


class IntegerInfo(NamedTuple):
    """What is known of a type of integers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def _type_of(value: Any) -> Any:
    """Return the dtype of an array, or what may name one."""
    return getattr(value, "dtype", value) if not isinstance(value, type) else value


def finfo(type: Any, /) -> FloatInfo:
    """Return what is known of a dtype of floats, given itself or as an array's."""
    found = np.finfo(_type_of(type))
    dtype = np.dtype(found.dtype)
    return FloatInfo(int(found.bits), float(found.eps), float(found.max), float(found.min), float(found.tiny), dtype)


def iinfo(type: Any, /) -> IntegerInfo:
    """Return what is known of a dtype of integers, given itself or as an array's."""
    dtype = np.dtype(_type_of(type))
    found = np.iinfo(dtype)
    return IntegerInfo(int(found.bits), int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Say whether a dtype is another one, or of a kind such as ``"integral"``; of several, whether it is of any."""
    if isinstance(kind, tuple):
        return any([isdtype(dtype, each) for each in kind])
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise InvalidArgumentError(f"kind {kind!r} is none of {', '.join(_KINDS)}")
        return np.dtype(dtype).kind in _KINDS[kind]
    return bool(np.dtype(dtype) == np.dtype(kind))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that operations give arrays, dtypes and numbers, of which one at least is no number."""
    given = [_type_of(value) for value in arrays_and_dtypes]
    dtypes = [value for value in given if not isinstance(value, (bool, int, float, complex))]
    if not dtypes:
        raise InvalidArgumentError("result_type: at least one argument must be an array or a dtype")
    common = np.result_type(*dtypes)
    kinds = [np.result_type(value).kind for value in given if isinstance(value, (bool, int, float, complex))]
    for kind, single, double in (
        ("c", np.complex64, np.complex128),
        ("f", np.float32, np.float64),
    ):  # a number of a higher kind than the dtypes'
        if kind in kinds and common.kind not in ("c", kind):
            small = kind_of(common).is_float and common.itemsize == 4
            common = np.dtype(single if small else double)
    if "i" in kinds and kind_of(common).is_boolean:
        common = np.dtype(np.int64)
    return common


def can_cast(from_: Any, to: Any, /) -> bool:
    """Say whether a dtype, or an array's, becomes another by promotion."""
    return bool(np.can_cast(_type_of(from_), to))


class Info:
    """What ``xp.__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Return what of the standard's optional parts there is."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Placement:
        """Return where arrays are made."""
        return Placement.HOST

    def devices(self) -> tuple[Placement, ...]:
        """Return where arrays can be."""
        places = Placement.HOST, Placement.DEVICE, Placement.UNIFIED
        return tuple([place for place in places if placement_available(place)])

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of arrays that are made without one."""
        names = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: _TYPES[name] for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind, or of several, by name."""
        return {name: dtype for name, dtype in _TYPES.items() if kind is None or isdtype(dtype, kind)}


def held(dtype: Any) -> np.dtype[Any]:
    """Return a dtype that arrays have."""
    dtype_number(dtype)
    known: np.dtype[Any] = np.dtype(dtype)
    return known


def placement(device: Any) -> Placement | None:
    """Return the placement that a device is; None where none is said. NumPy's name of the host is one, too."""
    if device is None:
        return None
    if isinstance(device, Placement):
        return device
    if device == "cpu":
        return Placement.HOST
    raise InvalidTypeError(f"device {device!r} is none of dtl.PLACEMENT_*")


NAMES: dict[str, Any] = {
    **_TYPES,
    "finfo": finfo,
    "iinfo": iinfo,
    "isdtype": isdtype,
    "result_type": result_type,
    "can_cast": can_cast,
}
