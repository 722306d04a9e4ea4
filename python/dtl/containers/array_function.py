"""NumPy's reductions as methods of containers, and NumPy's functions on containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable

import numpy as np

from .._lazy import LateMethod, late
from .._lazy import argsort as _argsort
from .._lazy import sort as _sort
from ..runtime.scheduler import defer

if TYPE_CHECKING:
    from ..algorithms import statistics

#: The modules of the functions that NumPy's functions of the same names call for containers.
_HOMES = {
    ".algorithms.statistics": "sum prod min max argmin argmax all any mean var std",
    ".algorithms.scan": "cumsum cumprod",
    ".algorithms.linalg": "dot vdot",
    ".algorithms.histogram": "histogram bincount",
    ".algorithms.select": "median quantile",
    ".algorithms.ordered": "searchsorted",
    ".containers.array_function": "shape ndim size sort argsort",
}

_FUNCTIONS = {getattr(np, name): late(home, name) for home, names in _HOMES.items() for name in names.split()}
_FUNCTIONS[np.amin], _FUNCTIONS[np.amax] = _FUNCTIONS[np.min], _FUNCTIONS[np.max]
_FUNCTIONS[np.linalg.norm] = late(".algorithms.linalg", "norm")

#: Parameters that NumPy's functions have and these do not, with NumPy's defaults: a call may pass these values.
_ABSENT = {"out": None, "initial": np._NoValue, "where": np._NoValue}


class ReductionMethods:
    """NumPy's reductions as methods: they make numbers, or smaller containers, of a container. All are collective."""

    if TYPE_CHECKING:
        sum = statistics.sum
        prod = statistics.prod
        min = statistics.min
        max = statistics.max
        argmin = statistics.argmin
        argmax = statistics.argmax
        all = statistics.all
        any = statistics.any
        mean = statistics.mean
        var = statistics.var
        std = statistics.std
    else:
        sum = LateMethod(".algorithms.statistics")
        prod = LateMethod(".algorithms.statistics")
        min = LateMethod(".algorithms.statistics")
        max = LateMethod(".algorithms.statistics")
        argmin = LateMethod(".algorithms.statistics")
        argmax = LateMethod(".algorithms.statistics")
        all = LateMethod(".algorithms.statistics")
        any = LateMethod(".algorithms.statistics")
        mean = LateMethod(".algorithms.statistics")
        var = LateMethod(".algorithms.statistics")
        std = LateMethod(".algorithms.statistics")

    def cumsum(self, axis: int | None = None, dtype: Any = None, *, exclusive: bool = False) -> Any:
        """Return the cumulative sums. Collective; see :func:`dtl.cumsum`."""
        return _called(self, np.cumsum, axis, dtype, exclusive=exclusive)

    def cumprod(self, axis: int | None = None, dtype: Any = None, *, exclusive: bool = False) -> Any:
        """Return the cumulative products. Collective; see :func:`dtl.cumprod`."""
        return _called(self, np.cumprod, axis, dtype, exclusive=exclusive)

    def dot(self, b: Any, *, reproducible: bool = False) -> Any:
        """Return the inner product with a vector, or the product of matrices. Collective; see :func:`dtl.dot`."""
        return _called(self, np.dot, b, reproducible=reproducible)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if func in _FUNCTIONS:
            known = _FUNCTIONS[func]
            return known(*args, **{key: v for key, v in kwargs.items() if _ABSENT.get(key, _ABSENT) is not v})
        # Others get arrays. On one rank a container becomes one; on several the conversion raises, and says what to do.
        return func(*(_as_arrays(value) for value in args), **{key: _as_arrays(value) for key, value in kwargs.items()})


def _as_arrays(value: Any) -> Any:
    """Return an argument of one of NumPy's functions with its containers as arrays."""
    if isinstance(value, ReductionMethods):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_as_arrays(each) for each in value) if type(value) in (list, tuple) else value
    return value


def shape(a: Any) -> tuple[int, ...]:
    """Return the extents of the whole."""
    extents: tuple[int, ...] = a.shape
    return extents


def ndim(a: Any) -> int:
    """Return the number of dimensions."""
    dims: int = a.ndim
    return dims


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or the extent of a dimension."""
    number: int = a.global_size if axis is None else a.shape[axis]
    return number


def sort(a: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Return a sorted copy. Every sort here is stable, so it does not matter which kind is asked for."""
    result = a.copy()
    _sort(result, axis=axis)
    return result


def argsort(a: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Return the indices that sort."""
    return _argsort(a, axis=axis)


def _called(c: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what one of NumPy's functions returns of a container, or its future, as its method does."""
    f = _FUNCTIONS[function]
    if c._deferred:
        return defer(f, (c, *args), kwargs, depth=3)
    return f(c, *args, **kwargs)
