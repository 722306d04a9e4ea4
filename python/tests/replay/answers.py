"""Compares what a call gave with containers with what NumPy gave."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import dtl

#: Functions of which several answers are right: only shapes and dtypes are compared, and of the last two the shapes, as
#: they return complex numbers on purpose, where NumPy's dtype depends on the values.
_MANY_RIGHT = {"eigh", "svd", "qr", "argpartition", "partition", "eig", "eigvals"}


class Elsewhere(NamedTuple):
    """What a rank other than 0 compares of a container: the elements are compared on rank 0."""

    shape: tuple[int, ...]
    dtype: Any


def whole(value: Any) -> Any:
    """Return a result with arrays in place of containers, whose elements rank 0 has. Collective."""
    if hasattr(value, "gather_to"):
        elements = value.gather_to(0)
        return Elsewhere(value.shape, value.dtype) if elements is None else elements
    if isinstance(value, (list, tuple)):
        return type(value)(*map(whole, value)) if hasattr(value, "_fields") else type(value)(map(whole, value))
    return value


def difference(got: Any, expected: Any, name: str, scale: float) -> str | None:  # noqa: PLR0911 - a kind each
    """Return what differs: a class of difference and how; None if nothing does."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or isinstance(got, Elsewhere) or len(got) != len(expected):
            return f"shape: {_kind(got)} for {_kind(expected)}"
        found = (difference(one, other, name, scale) for one, other in zip(got, expected))
        return next(filter(None, found), None)
    if expected is None or isinstance(expected, (str, bytes, type, np.dtype, slice, dict)):
        return None if got is expected or got == expected else f"value: {got!r:.80} for {expected!r:.80}"
    if isinstance(got, Elsewhere):
        return _of_kinds(got, np.asarray(expected), name)
    if type(got) is int and isinstance(expected, np.integer):
        return None if got == expected else f"value: {got} for {expected}"
    if got is None:
        return f"shape: None for {_kind(expected)}"
    return _of_arrays(np.asarray(got), np.asarray(expected), name, scale)


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of {len(value)}"
    return f"{type(value).__name__} {getattr(value, 'dtype', '')} {getattr(value, 'shape', '')}"


def _last(name: str) -> str:
    return name.replace(":", ".").rpartition(".")[2]


def _of_kinds(got: Any, expected: Any, name: str) -> str | None:
    if got.shape != expected.shape:
        return f"shape: {got.shape} for {expected.shape}"
    text = expected.dtype.kind in "SU" and not expected.shape  # a single text is as long as it is
    if _last(name) in ("eig", "eigvals"):
        return None
    if _packed(got.dtype) != _packed(expected.dtype) and not (text and got.dtype.kind == expected.dtype.kind):
        return f"dtype: {got.dtype} for {expected.dtype}"
    return None


def _packed(dtype: Any) -> Any:
    """Return a dtype in this machine's order of bytes, of records without room between the fields."""
    if dtype.names is None:
        return dtype.newbyteorder("=")
    return np.dtype([(name, _packed(dtype[name])) for name in dtype.names])


def _of_arrays(got: Any, expected: Any, name: str, scale: float) -> str | None:
    different = _of_kinds(got, expected, name)
    if different is not None:
        return different
    if _last(name) in _MANY_RIGHT or _same(got, expected, scale):
        return None
    where = np.argwhere(~_near(got, expected, scale))[:1].tolist() if got.dtype.kind in "fc" and got.ndim else []
    return f"value: {_few(got)} for {_few(expected)}" + (f", first at {where[0]}" if where else "")


def _few(array: Any) -> str:
    return np.array2string(array, threshold=8, edgeitems=3).replace("\n", "")[:120]


def _same(got: Any, expected: Any, scale: float) -> bool:
    if got.dtype.kind in "fc":
        return bool(np.all(_near(got, expected, scale)))
    if got.dtype.kind in "mM":
        return bool(np.all((got == expected) | (np.isnat(got) & np.isnat(expected))))
    if got.dtype.names:
        return all(_same(got[field], expected[field], scale) for field in got.dtype.names)
    return bool(np.all(got == expected))


def _near(got: Any, expected: Any, scale: float) -> Any:
    """Say which elements agree within the rounding of another order of the same operations."""
    if got.dtype.kind == "c":
        return _near(got.real, expected.real, scale) & _near(got.imag, expected.imag, scale)
    eps = float(np.finfo(got.dtype).eps)
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= 1e3 * eps * np.abs(expected) + 64 * eps * scale
        return near | (got == expected) | (np.isnan(got) & np.isnan(expected))


def in_order(array: Any, order: Any, axis: Any) -> Any:
    """Return what a result of argsort sorts, as equal elements are in any order. Other ranks have no elements."""
    if isinstance(order, Elsewhere):
        return order._replace(dtype=array.dtype)
    if axis is None:
        return np.ravel(array)[order]
    return np.take_along_axis(array, order, axis)


def scale_of(*values: Any) -> float:
    """Return the largest finite magnitude among floating numbers, times the square root of how many there are."""
    most = 0.0
    for value in values:
        if isinstance(value, (list, tuple)):
            most = max(most, scale_of(*value))
        elif isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "fciu":
            with np.errstate(all="ignore"):
                sizes = np.abs(np.asarray(value)).astype(float)
            finite = sizes[np.isfinite(sizes)]
            if finite.size:
                most = max(most, float(finite.max()) * finite.size**0.5)
    return most


def error_class(error: BaseException, expected: BaseException | None) -> str:
    """Return the class of an error: the same as NumPy's, refused by name, or raw."""
    text = str(error)
    if text.startswith("expected a sequence of integers or a single integer, got") or "object has no attribute" in text:
        return "refused"  # by NumPy, which says what it was given, or by Python, which says what a container has not
    if isinstance(error, dtl.CollectiveMismatchError):
        return "disagree"
    if isinstance(error, dtl.CommunicationError):  # ranks that no longer wait for each other
        return "hang"
    if expected is not None:
        known = isinstance(error, (dtl.DTLError, type(expected)))
        return "same" if known or isinstance(expected, type(error)) else "raw"
    return "refused" if isinstance(error, dtl.DTLError) else "raw"
