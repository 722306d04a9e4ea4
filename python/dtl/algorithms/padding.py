"""numpy.pad: what is put beyond the ends of each dimension."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.kinds import kind_of
from .._native.values import cast
from ..containers.base import check_container
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .concatenate import concat
from .creation import asarray, full
from .exchange import share
from .manipulation import dimension, flip, squeeze
from .select import median
from .statistics import max as greatest
from .statistics import mean
from .statistics import min as least
from .taking import rearranged

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def _edge(places: Array, n: int) -> Array:
    return np.clip(places, 0, n - 1)


def _wrap(places: Array, n: int) -> Array:
    return places % n


def _symmetric(places: Array, n: int) -> Array:
    around = places % (2 * n)
    return np.where(around < n, around, 2 * n - 1 - around)


def _reflect(places: Array, n: int) -> Array:
    around = places % max(2 * n - 2, 1)
    return np.where(around < n, around, 2 * n - 2 - around)


#: Of so few elements, all are taken by their indices at once: one step in place of three.
_SMALL = 1 << 13

#: The modes that put elements beyond the ends: the index of the one that is there, for each place from 0 on.
_BEYOND: dict[str, Callable[[Array, int], Array]] = {
    "edge": _edge,
    "wrap": _wrap,
    "symmetric": _symmetric,
    "reflect": _reflect,
}
#: The modes that put there what a function makes of the elements nearest to the end.
_STATISTICS: dict[str, Callable[..., Any]] = {"maximum": greatest, "mean": mean, "median": median, "minimum": least}

#: The further keyword of each mode, and what it is by default.
_WORDS: dict[str, tuple[str, Any]] = {
    "constant": ("constant_values", 0),
    "linear_ramp": ("end_values", 0),
    "symmetric": ("reflect_type", "even"),
    "reflect": ("reflect_type", "even"),
    **{mode: ("stat_length", None) for mode in _STATISTICS},
    **{mode: ("", None) for mode in ("edge", "wrap", "empty")},
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Join constants, or what the elements give, to each end of each dimension, of those before it in turn."""
    check_container("array", array)
    if callable(mode):
        raise InvalidTypeError("np.pad: mode is a function, which containers do not take; name one of NumPy's modes")
    if mode not in _WORDS:
        raise InvalidArgumentError(f"mode {mode!r} is not supported; the modes are {', '.join(_WORDS)}")
    word, default = _WORDS[mode]
    option = kwargs.pop(word, default)
    if kwargs:
        raise InvalidArgumentError(f"unsupported keyword arguments for mode {mode!r}: {', '.join(kwargs)}")
    widths = _pairs(array, pad_width, array.ndim)
    if not kind_of(widths.dtype).is_integer:
        raise InvalidTypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise InvalidArgumentError("index can't contain negative values")
    if word == "reflect_type":
        if option not in ("even", "odd"):
            raise InvalidArgumentError(f"reflect_type {option!r} must be 'even' or 'odd'")
        options: Any = [option] * array.ndim
    elif word == "stat_length":
        options = _lengths(array, option)
    else:
        options = _pairs(array, option, array.ndim)
    share(array, "np.pad", f"mode {mode!r}, {widths.tolist()} elements, {word} {option!r}", anywhere=True)
    result = array
    for d, ((before, after), given) in enumerate(zip(widths.tolist(), options)):
        n = array.shape[d]
        if not n and (before or after) and mode not in ("constant", "empty"):
            raise InvalidArgumentError(f"can't extend empty axis {d} using modes other than 'constant' or 'empty'")
        if before or after:
            result = _padded(result, d, (before, after), mode, given)
    return result.copy() if result is array else result


def _pairs(array: Any, given: Any, ndim: int) -> Array:
    """Return what is said of each end of each dimension, from one value, a pair, or a pair of each dimension.

    As NumPy, it may also be a dict of dimensions.
    """
    if isinstance(given, dict):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, value in given.items():
            pairs[dimension(axis, ndim)] = value if isinstance(value, tuple) else (value, value)
        given = pairs
    try:
        return np.broadcast_to(np.asarray(given), (ndim, 2))
    except ValueError as error:
        raise InvalidArgumentError(f"np.pad: {given!r} is no pair for each of {ndim} dimensions: {error}") from None


def _lengths(array: Any, given: Any) -> Any:
    """Return of how many elements statistics are at each end of each dimension; None is of all."""
    if given is None:
        return [(None, None)] * array.ndim
    pairs = _pairs(array, given, array.ndim)
    if not kind_of(pairs.dtype).is_real:
        raise InvalidTypeError(f"np.pad: stat_length {given!r} must be integers")
    lengths = np.round(pairs).astype(np.int64)
    if (lengths < 0).any():
        raise InvalidArgumentError(f"np.pad: stat_length {given!r}: index can't contain negative values")
    return lengths.tolist()


def _padded(a: Any, dim: int, widths: tuple[int, int], mode: str, option: Any) -> Any:
    """Return a container with so many more elements at both ends of a dimension. Collective."""
    if option is not None and mode in ("reflect", "symmetric") and option == "odd" and a.shape[dim] > 1:
        return _odd(a, dim, widths, mode == "symmetric")
    if mode in _BEYOND and a.global_size <= _SMALL:
        n, (before, after) = a.shape[dim], widths
        return rearranged(a, "pad", n + before + after, lambda places: _BEYOND[mode](places - before, n), dim)
    parts = [a]
    for side, width in enumerate(widths):
        if width:
            parts.insert(side * len(parts), _end(a, dim, side, width, mode, option).astype(a.dtype, copy=False))
    return concat(parts, dim)


def _end(a: Any, dim: int, side: int, width: int, mode: str, option: Any) -> Any:
    """Return what is joined to one end of a dimension. Collective."""
    extents = tuple(width if d == dim else extent for d, extent in enumerate(a.shape))
    if mode in ("constant", "empty"):
        value = 0 if mode == "empty" else cast("np.pad", option[side], a.dtype, "unsafe")
        return full(a.context, extents, value, a.dtype, like=a)
    n = a.shape[dim]
    if mode in _BEYOND:
        return rearranged(a, "pad", width, lambda places: _BEYOND[mode](places + (n if side else -width), n), dim)
    if mode in _STATISTICS:
        length = n if option[side] is None else min(option[side], n)
        if not length and mode in ("maximum", "minimum"):
            raise InvalidArgumentError("stat_length of 0 yields no value for padding")
        near = _between(a, dim, *((0, length) if side == 0 else (n - length, n)))
        value = _STATISTICS[mode](near, dim, keepdims=True)
        value = full(a.context, (1,), value.item(), value.dtype, like=a) if isinstance(value, np.ndarray) else value
        value = np.rint(value) if kind_of(a.dtype).is_integer and kind_of(value.dtype).is_float else value
        return rearranged(value, "pad", width, np.zeros_like, dim)
    if kind_of(a.dtype).is_whole and kind_of(np.asarray(option[side]).dtype).is_complex:
        raise InvalidTypeError(f"np.pad: end_values {option[side]!r} do not become {a.dtype}")
    edge = squeeze(_between(a, dim, *((0, 1) if side == 0 else (n - 1, n))), dim)
    ramp: Any = np.linspace(option[side], edge, width, endpoint=False, dtype=a.dtype, axis=dim)
    ramp = asarray(a.context, ramp, like=a) if isinstance(ramp, np.ndarray) else ramp
    return ramp if side == 0 else flip(ramp, dim)


def _between(a: Any, dim: int, start: int, stop: int) -> Any:
    return a[tuple(slice(start, stop) if d == dim else slice(None) for d in range(a.ndim))]


def _odd(a: Any, dim: int, widths: tuple[int, int], with_edge: bool) -> Any:
    """Return a container whose elements go on beyond the ends turned about the last one, as NumPy does it. Collective.

    Each step reflects as many whole periods as there are, so that these double, and reads what the last one has put.
    """
    period, (before, after) = a.shape[dim] - (not with_edge), widths
    while before or after:
        length = (a.shape[dim] - (not with_edge)) // period * period
        if before:
            a, before = _reflected(a, dim, min(length, before), with_edge), before - min(length, before)
        if after:
            turned = _reflected(flip(a, dim), dim, min(length, after), with_edge)
            a, after = flip(turned, dim), after - min(length, after)
    return a


def _reflected(a: Any, dim: int, count: int, with_edge: bool) -> Any:
    """Return a container with so many elements before it, which are those after the first turned about it."""
    start = 0 if with_edge else 1
    near = flip(_between(a, dim, start, start + count), dim)
    return concat([(2 * _between(a, dim, 0, 1) - near).astype(a.dtype, copy=False), a], dim)
