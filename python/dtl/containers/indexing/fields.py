"""Fields of records, as in ``people["age"]``. As slices do, they copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ..base import DistributedContainer
from ..interior import end_write
from ..making import new_like
from ..places.place import place_of

Names = Any  # str | list[str]


def are_named(of: DistributedContainer, key: Any) -> bool:
    """Say whether a subscript of records is a name of a field, or a list of them."""
    if not (isinstance(key, str) or (isinstance(key, list) and key and all(isinstance(name, str) for name in key))):
        return False
    return bool(of.dtype.names)


def select(of: Any, key: Names) -> Any:
    """Return a container of one field, or of records of several, laid out as the other. Not collective."""
    return _selected(of, _dtype(of.dtype, key), key)


def assign(of: Any, key: Names, value: Any) -> None:
    """Assign what a container of the field, or of the fields, takes. Collective."""
    made = select(of, key)
    made[...] = value
    for name in [key] if isinstance(key, str) else key:
        place_of(of).copy_field(made, "" if isinstance(key, str) else name, of, name)
    end_write(of, "a field")


def in_order(of: Any, order: Names) -> Any:
    """Return a container of the same records, in which the fields of an order come first. Not collective."""
    known = of.dtype.names or ()
    if not known:
        raise InvalidArgumentError("Cannot specify order when the array has no fields.")
    first = [order] if isinstance(order, str) else list(order)
    for name in first:
        if name not in known:
            raise InvalidArgumentError(f"unknown field name: {name}")
    if len(set(first)) < len(first):
        raise InvalidArgumentError(f"order {order!r} has a field more than once")
    names = [*first, *(name for name in known if name not in first)]
    return _selected(of, _dtype(of.dtype, names), names)


def _selected(of: Any, dtype: np.dtype[Any], key: Names) -> Any:
    made = new_like(of, dtype, blank=True)
    for name in [key] if isinstance(key, str) else key:
        place_of(of).copy_field(of, name, made, "" if isinstance(key, str) else name)
    return made


def _dtype(of: np.dtype[Any], key: Names) -> np.dtype[Any]:
    """Return the dtype of one field, or of records of several, without gaps."""
    fields: Any = of.fields
    for name in [key] if isinstance(key, str) else key:
        if name not in fields:
            error = InvalidArgumentError if isinstance(key, str) else KeyNotFoundError  # as NumPy
            raise error(f"no field of name {name}; there are {', '.join(fields)}")
    if not isinstance(key, str):
        return np.dtype([(name, fields[name][0]) for name in key])
    dtype: np.dtype[Any] = fields[key][0]
    if dtype.shape:
        raise InvalidTypeError(f"field {key!r} is an array of shape {dtype.shape} in each record, which is not held")
    return dtype
