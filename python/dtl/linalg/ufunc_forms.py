"""The ufuncs of vectors and matrices with NumPy's keywords: which dtype they compute in, and along which dimensions."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.values import array_from
from ..algorithms.manipulation import expand_dims
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .matrix_arguments import everywhere

#: Of how many dimensions the matrices and vectors are that each ufunc takes, and returns.
_CORES = {"matmul": (2, 2, 2), "vecdot": (1, 1, 0), "matvec": (2, 1, 1), "vecmat": (1, 2, 1)}


def called(name: str, function: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function computes of two operands, with the keywords of the ufunc of that name. Collective."""
    if not options:
        return function(*inputs)
    known = next(c for c in inputs if isinstance(c, DistributedContainer))
    left = {word for word in options if word not in ("dtype", "casting", "order", "subok", "axes", "axis", "keepdims")}
    if left or (name != "vecdot" and ("axis" in options or "keepdims" in options)):
        word = sorted(left or options.keys() & {"axis", "keepdims"})[0]
        raise InvalidTypeError(f"np.{name}: {word}= is not taken with containers")
    given = [c if isinstance(c, DistributedContainer) else array_from("an operand", c) for c in inputs]
    given = _cast(name, given, options.get("dtype"), options.get("casting", "same_kind"))
    axis, axes = options.get("axis"), options.get("axes")
    if axis is not None and axes is not None:
        raise InvalidTypeError(f"np.{name}: cannot specify both axis and axes")
    if axis is not None:
        axes = [axis, axis]
    if axes is None and not options.get("keepdims"):
        return function(*given)
    places = _places(name, axes)
    cores = _CORES[name]
    moved = [np.moveaxis(c, place, _last(core)) for c, place, core in zip(given, places, cores)]
    made = function(*moved)
    if options.get("keepdims"):
        place = places[0][0]
        return expand_dims(made, place) if np.ndim(made) else everywhere(known, np.reshape(made, 1))
    return np.moveaxis(made, _last(cores[2]), places[2]) if cores[2] and np.ndim(made) else made


def _last(core: int) -> tuple[int, ...]:
    return tuple(range(-core, 0))


def _cast(name: str, given: list[Any], dtype: Any, casting: Any) -> list[Any]:
    """Return operands as elements of a dtype, as a rule of casting allows."""
    if dtype is None and casting not in ("no", "equiv"):
        return given
    to = np.result_type(*(c.dtype for c in given)) if dtype is None else np.dtype(dtype)
    for c in given:
        if not np.can_cast(c.dtype, to, casting):
            raise InvalidTypeError(f"np.{name}: elements of {c.dtype} may not be cast to {to} with casting {casting!r}")
    return [c.astype(to, copy=False) for c in given]


def _places(name: str, axes: Any) -> list[tuple[int, ...]]:
    """Return which dimensions the matrices and vectors of each operand are, and of the result."""
    cores = _CORES[name]
    if axes is None:
        return [_last(core) for core in cores]
    entries = [each if isinstance(each, tuple) else (each,) for each in axes] if isinstance(axes, list) else []
    if len(entries) == 2 and not cores[2]:
        entries.append(())
    if [len(each) for each in entries] != list(cores):
        raise InvalidArgumentError(f"np.{name}: axes {axes!r} must be a list of {cores} dimensions of the operands")
    return entries
