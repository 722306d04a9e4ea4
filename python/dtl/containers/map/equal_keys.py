"""Keys that are equal made equal byte by byte, as the core compares them: floats, and records of fields of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.named_types import native_of
from ...exceptions import InvalidArgumentError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def check_record(dtype: np.dtype[Any]) -> None:
    """Refuse a dtype of records that has no keys: what its fields hold must tell equal ones by their bytes."""
    if dtype.hasobject or any(base.char in "gG" for base in _bases(dtype)):
        raise InvalidArgumentError(f"key_dtype {dtype} has a field of objects or of long floats")
    if not dtype.itemsize:
        raise InvalidArgumentError(f"key_dtype {dtype} has no elements in its fields")
    try:
        assert dtype.descr
    except ValueError as error:  # which NumPy says of them
        raise InvalidArgumentError(f"key_dtype {dtype} has fields that overlap, or no order: {error}") from None


def _bases(dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    """Return the dtypes of what fields hold in the end."""
    if dtype.names is None:
        return [dtype.base] if dtype.base.names is None else _bases(dtype.base)
    return [base for name in dtype.names for base in _bases(dtype[name])]


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype without gaps between its fields, in this machine's byte order."""
    if dtype.subdtype is not None:
        return np.dtype((packed(dtype.base), dtype.shape))
    if dtype.names is None:
        return native_of(dtype)
    return np.dtype([(name, packed(dtype[name])) for name in dtype.names])


def is_kept(made: Any, given: Any) -> bool:
    """Say whether a record has what the tuple has that it was made of."""
    if made.dtype.names is not None:
        fields: Any = given if isinstance(given, (tuple, np.void)) else ()
        return len(fields) == len(made.dtype.names) and all(map(is_kept, made, fields))
    stored: Any = made.item() if made.dtype.kind in "fc" and not made.ndim else made  # Python compares it exactly
    wanted: Any = np.asarray(given) if made.ndim else given
    return bool(np.all((stored == wanted) | ((stored != stored) & (wanted != wanted))))  # noqa: PLR0124  # NaN, NaT


def alike(keys: Array) -> Array:
    """Return keys of which the equal ones are the same bytes: -0.0 is 0.0, all NaNs are one, and gaps are zero."""
    dtype = keys.dtype
    if dtype.names is not None:
        made = np.zeros(keys.shape, dtype)
        for name in dtype.names:
            made[name] = alike(keys[name])
        return made
    if dtype.kind == "c":
        made = np.empty(keys.shape, dtype)
        made.real, made.imag = alike(keys.real), alike(keys.imag)
        return made
    if dtype.kind == "f":
        return np.where(np.isnan(keys), dtype.type(np.nan), keys + dtype.type(0))
    return keys != 0 if dtype.kind == "b" else keys
