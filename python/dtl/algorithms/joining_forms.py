"""NumPy's functions that give arrays dimensions and join them, of which some are containers.

What else is an operand, a number, a list or an array, is the same on every rank, and becomes a container.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import spread_to
from ..containers.places.copies import computed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .array_operands import together
from .concatenate import common_dtype, concat, split
from .concatenate import stack as stacked
from .manipulation import meshgrid as grid_of
from .manipulation import ravel, reshape
from .output import written

#: What NumPy's functions return that return several arrays: a list before NumPy 2.
several: Any = tuple if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else list


def atleast_1d(*arys: Any) -> Any:
    """Return containers, which have one dimension at least."""
    return _each(arys, lambda a: a)


def atleast_2d(*arys: Any) -> Any:
    """Return containers with two dimensions at least."""
    return _each(arys, _two)


def atleast_3d(*arys: Any) -> Any:
    """Return containers with three dimensions at least."""
    return _each(arys, _three)


def _each(arys: tuple[Any, ...], f: Any) -> Any:
    made = [f(a) for a in _containers(arys)]
    return made[0] if len(made) == 1 else several(made)


def _two(a: Any) -> Any:
    return reshape(a, (1, *a.shape)) if a.ndim == 1 else a


def _three(a: Any) -> Any:
    if a.ndim > 2:
        return a
    return reshape(a, (1, *a.shape, 1) if a.ndim == 1 else (*a.shape, 1))


def _containers(operands: Any) -> list[Any]:
    """Return operands as containers of at least one dimension."""
    given = together(*operands, numbers=True)
    for a in given:
        check_container("each operand", a)
    return given


def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Join along a dimension."""
    given = _cast("np.concatenate", arrays, out, dtype, casting, numbers=axis is None)
    return _into("np.concatenate", concat(given, axis), out)


def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Join along a new dimension."""
    return _into("np.stack", stacked(_cast("np.stack", arrays, out, dtype, casting), axis), out)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Join along dimension 0."""
    return concat([_two(a) for a in _joined("np.vstack", tup, dtype, casting)], 0)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Join along dimension 1, and vectors along the one that they have."""
    given = _joined("np.hstack", tup, dtype, casting)
    return concat(given, 0 if given and given[0].ndim == 1 else 1)


def dstack(tup: Any) -> Any:
    """Join along dimension 2."""
    return concat([_three(a) for a in _containers(_sequence("np.dstack", tup))], 2)


def column_stack(tup: Any) -> Any:
    """Join along dimension 1, vectors being columns."""
    given = _containers(_sequence("np.column_stack", tup))
    return concat([reshape(a, (*a.shape, 1)) if a.ndim == 1 else a for a in given], 1)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Join two, of which one may be an array, the same on every rank."""
    return concat([np.atleast_1d(arr), np.atleast_1d(values)] if axis is None else [arr, values], axis)


def _sequence(name: str, arrays: Any) -> Any:
    """Refuse one container in the place of several."""
    if isinstance(arrays, DistributedContainer):
        raise InvalidTypeError(f"{name}: arrays must be a list or tuple of containers, not {type(arrays).__name__}")
    return arrays


def _joined(name: str, arrays: Any, dtype: Any, casting: Any) -> Any:
    """Return what is joined, as containers of at least one dimension."""
    return _cast(name, _containers(_sequence(name, arrays)), None, dtype, casting)


def _cast(name: str, arrays: Any, out: Any, dtype: Any, casting: Any, numbers: bool = False) -> Any:
    """Return what is joined: each in the dtype of the result, if the caller says which it has.

    Numbers are operands of functions that join the elements of all.
    """
    if out is not None:
        if dtype is not None:
            raise InvalidTypeError(f"{name}: only one of out and dtype may be given, not both")
        check_container("out", out)
    if out is None and dtype is None and casting in ("same_kind", "unsafe"):
        return arrays
    beside = [] if out is None else [out]
    given = together(*beside, *_sequence(name, arrays), numbers=numbers)[len(beside) :]
    for a in given:
        check_container("each operand", a)
    wanted = out.dtype if out is not None else common_dtype(arrays, given) if dtype is None else dtype
    rules = ["unsafe" if isinstance(a, (bool, int, float, complex)) else casting for a in arrays]
    return [a.astype(wanted, casting=rule, copy=False) for a, rule in zip(given, rules)]


def _into(name: str, made: Any, out: Any) -> Any:
    """Return what was made, in the container that the caller gave for it, if there is one."""
    return made if out is None else written(name, made, out)


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """Spread containers against each other."""
    given = _containers(args)
    try:
        extents = tuple(np.broadcast_shapes(*(a.shape for a in given)))
    except ValueError as error:
        raise InvalidArgumentError(f"np.broadcast_arrays: {error}") from None
    return several(computed("broadcast_arrays", spread_to, (a, extents)) for a in given)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Return the coordinates of the points of a grid, which are copies in any case."""
    given = [a if a.ndim == 1 else ravel(a) for a in _containers(xi)]
    lines = grid_of(*given, indexing=indexing, sparse=sparse)
    return lines if sparse and not copy else several(lines)


def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along dimension 1, and a vector along the one that it has."""
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along dimension 0."""
    if ary.ndim < 2:
        raise InvalidArgumentError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """Split along dimension 2."""
    if ary.ndim < 3:
        raise InvalidArgumentError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)
