"""What NumPy's functions do with containers that have no function of their own in dtl, with NumPy's parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.callsite import warn
from .._native.keywords import check_sort_kind, index_mode
from .._native.kinds import kind_of
from .._native.values import array_from
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import compare_arrays, elementwise
from ..containers.indexing import fields
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import local_step
from . import sort as sorting
from .array_operands import beside, together
from .concatenate import concat
from .creation import full, zeros
from .elementwise import diff as differences
from .elementwise import where as choose
from .layouts import dimensions, laid_out_as, redivided, rows_over_ranks
from .manipulation import dimension, divided_dimensions, flip, moveaxis, permute_dims, ravel, reshape
from .ordered import searchsorted as places_in
from .output import written
from .statistics import max as greatest
from .statistics import mean
from .statistics import min as least
from .statistics import sum as total
from .taking import rearranged, take_along_axis
from .taking import take as taken

# ---- What a container is ----


def shape(a: Any) -> tuple[int, ...]:
    """Return the extents of the whole."""
    extents: tuple[int, ...] = a.shape
    return extents


def ndim(a: Any) -> int:
    """Return the number of dimensions."""
    dims: int = a.ndim
    return dims


def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, or the extent of a dimension, or how many elements several dimensions have."""
    return math.prod(a.shape[d] for d in dimensions(axis, a.ndim))


def isrealobj(x: Any) -> bool:
    """Say whether the elements are not complex."""
    return not kind_of(x.dtype).is_complex


def iscomplexobj(x: Any) -> bool:
    """Say whether the elements are complex."""
    return kind_of(x.dtype).is_complex


def _types(values: tuple[Any, ...]) -> list[Any]:
    return [value.dtype if isinstance(value, DistributedContainer) else value for value in values]


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that NumPy gives values of several."""
    try:
        dtype: np.dtype[Any] = np.result_type(*_types(arrays_and_dtypes))
    except TypeError as error:
        raise InvalidTypeError(f"np.result_type: {error}") from None
    return dtype


def common_type(*arrays: Any) -> Any:
    """Return the type of floats that is common to several."""
    return np.common_type(*(np.empty(0, a.dtype) if isinstance(a, DistributedContainer) else a for a in arrays))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Say whether elements may be cast to a dtype."""
    return np.can_cast(_types((from_,))[0], to, casting)


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """Return the dtype of the elements."""
    dtype: np.dtype[Any] = a.dtype
    return dtype


# ---- Copies and orders ----


def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    """Return a sorted copy. Every sort here is stable, so it does not matter which kind is asked for."""
    check_sort_kind(kind, stable, descending)
    if order is None:
        return sorted_copy(a, axis, bool(descending))
    if axis is None:
        a, axis = ravel(a), -1
    indices = argsort(a, axis, order=order, descending=descending)
    return take_along_axis(a, indices, axis) if a.ndim > 1 else taken(a, indices)


def sorted_copy(a: Any, axis: int | None, reverse: bool = False) -> Any:
    """Return a copy that is sorted along any dimension, or in C order. Collective."""
    if axis is None:
        result, axis = ravel(a), -1
    else:
        result = undivided(a, dimension(axis, a.ndim))
        result = a.copy() if result is a else result
    sorting.sort(result, reverse, axis=axis)
    return laid_out_as(result, a)


def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    """Return the indices that sort: records by the fields of an order, and then by those that are left."""
    check_sort_kind(kind, stable, descending)
    return sorting_order(a if order is None else fields.in_order(a, order), axis, bool(descending))


def sorting_order(a: Any, axis: int | None, reverse: bool = False) -> Any:
    """Return the indices that sort along any dimension, or in C order. Collective."""
    if axis is None:
        return sorting.argsort(ravel(a), reverse)
    return laid_out_as(sorting.argsort(undivided(a, dimension(axis, a.ndim)), reverse, axis=axis), a)


def undivided(a: Any, dim: int) -> Any:
    """Return a container of the same elements whose dimension is not divided, if it has several. Collective."""
    if a.ndim == 1 or dim not in divided_dimensions(a):
        return a
    return redivided(a, rows_over_ranks(a, a.shape, 0 if dim else 1))


def fliplr(m: Any) -> Any:
    """Reverse dimension 1."""
    check_container("m", m)
    if m.ndim < 2:
        raise InvalidArgumentError("Input must be >= 2-d.")
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """Reverse dimension 0."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turn the plane of two dimensions by quarters."""
    check_container("m", m)
    if len(axes) != 2:
        raise InvalidArgumentError(f"rot90: len(axes) must be 2, not {len(axes)}")
    if m.ndim < 2:
        raise InvalidArgumentError(f"rot90: m has shape {m.shape}; it must have 2 dimensions or more")
    one, other = (dimension(axis, m.ndim) for axis in axes)
    if one == other:
        raise InvalidArgumentError("Axes must be different.")
    turns = integer("k", k) % 4
    if turns == 0:
        return m.copy()
    if turns == 2:
        return flip(m, (one, other))
    order = list(range(m.ndim))
    order[one], order[other] = other, one
    return permute_dims(flip(m, other), order) if turns == 1 else flip(permute_dims(m, order), other)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Move a dimension before another."""
    check_container("a", a)
    of = dimension(axis, a.ndim)
    to = start + a.ndim if start < 0 else start
    return moveaxis(a, of, to - 1 if of < to else to)


def take(a: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> Any:
    """Return the elements, or rows, of given indices, of which those outside are moved inside if a mode says how."""
    mode = index_mode(mode)
    if mode != "raise":
        extent = np.size(a, axis)
        if not isinstance(indices, DistributedContainer):
            indices = array_from("indices", indices)
        indices = indices % max(extent, 1) if mode == "wrap" else np.clip(indices, 0, max(extent - 1, 0))
    return taken(a, indices, axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return where values belong in a vector that is sorted, or that indices sort."""
    return places_in(a if sorter is None else taken(a, sorter), v, side)


def resize(a: Any, new_shape: Any) -> Any:
    """Return the elements in C order in any shape, again from the first where there are not enough."""
    check_container("a", a)
    extents = tuple(integer("new_shape", n) for n in np.atleast_1d(new_shape).tolist())
    if any(extent < 0 for extent in extents):
        raise InvalidArgumentError("all elements of `new_shape` must be non-negative")
    size = math.prod(extents)
    if not extents:
        return taken(ravel(a), 0) if a.global_size else np.zeros((), a.dtype)[()]
    if size and not a.global_size:
        return zeros(a.context, extents, a.dtype, like=a)
    n = max(a.global_size, 1)
    return reshape(rearranged(a, "resize", size, lambda places: places % n, None), extents)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along a dimension, n times, of what is joined first."""
    before, a, after = together(prepend, a, append)
    check_container("a", a)
    dim = dimension(axis, a.ndim)
    if n == 0:
        return differences(a, 0, dim)
    parts = [_as_long(each, a, dim) for each in (before, a, after) if each is not None]
    return differences(concat(parts, dim) if len(parts) > 1 else a, n, dim)


def _as_long(value: Any, a: Any, dim: int) -> Any:
    """Return a container; of a number, one with as much in the other dimensions as another has, and 1 in one."""
    if isinstance(value, DistributedContainer):
        return value
    if np.ndim(value):
        raise InvalidTypeError("np.diff: what is joined must be a container, an array or a number")
    extents = tuple(1 if d == dim else extent for d, extent in enumerate(a.shape))
    dtype = np.asarray(value).dtype if kind_of(a.dtype).is_number else np.result_type(a.dtype, value)
    return full(a.context, extents, value, dtype, like=a)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours in C order, between what is joined to both ends."""
    ary, to_end, to_begin = together(ary, to_end, to_begin)
    check_container("ary", ary)
    flat = ravel(ary)
    apart = flat[1:] - flat[:-1]
    parts = [apart]
    for name, ends, place in (("to_begin", to_begin, 0), ("to_end", to_end, 2)):
        if ends is None:
            continue
        held = ravel(together(ary, np.atleast_1d(ends))[1])
        if not np.can_cast(held.dtype, ary.dtype, "same_kind"):
            raise InvalidTypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        parts.insert(place, held.astype(apart.dtype, casting="same_kind"))
    return concat(parts) if len(parts) > 1 else apart


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return for each element that of the first choice whose condition is true."""
    if len(condlist) != len(choicelist):
        raise InvalidArgumentError("list of cases must be same length as list of conditions")
    if not condlist:
        raise InvalidArgumentError("select with an empty condition list is not possible")
    for number, condition in enumerate(condlist):
        if getattr(condition, "dtype", np.bool_) != np.bool_:
            raise InvalidTypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    *given, default = together(*condlist, *choicelist, default)
    conditions, choices = given[: len(condlist)], given[len(condlist) :]
    dtype = _type_of_any([*choices, default])
    result = np.asarray(default).astype(dtype)[()] if np.ndim(default) == 0 else default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = choose(condition, _in_dtype(choice, dtype), result)
    return result


def _type_of_any(values: list[Any]) -> np.dtype[Any]:
    """Return the dtype that holds any of several values, of which Python's numbers count by their kind."""
    # Arrays for containers: NumPy before 2.0 looks at the values of numbers beside these, and not beside dtypes.
    given = [np.empty(0, v.dtype) if isinstance(v, DistributedContainer) else v for v in values]
    given = [v if type(v) in (int, float, complex) else np.asarray(v) for v in given]
    try:
        return result_type(*given)
    except TypeError as error:
        raise InvalidTypeError(f"choicelist and default value do not have a common dtype: {error}") from None


def _in_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, DistributedContainer):
        return value.astype(dtype, copy=False)
    return np.asarray(value).astype(dtype)[()]


# ---- Numbers ----


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the greatest less the least element."""
    value = np.subtract(greatest(a, axis, keepdims=keepdims), least(a, axis, keepdims=keepdims))
    return value if out is None else written("ptp", value, out)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Return the mean, with weights where there are any."""
    a = beside(a, weights)
    if weights is None:
        value = mean(a, axis, keepdims=keepdims)
        counted = math.prod(a.shape) / math.prod(np.shape(value))  # of no means, NumPy divides by 0, too
        if not returned:
            return value
        return value, np.full_like(value, counted) if np.ndim(value) else value.dtype.type(counted)
    check_container("a", a)
    weights = weights_along(a, weights, axis)
    dtype = None
    if not kind_of(a.dtype).is_date:
        dtype = np.result_type(a.dtype, weights.dtype, *([np.float64] if kind_of(a.dtype).is_whole else []))
    by_element = weights.shape == a.shape  # else the sum is the same for each result
    scale = np.sum(weights, axis if by_element else None, dtype=dtype, keepdims=by_element and keepdims)
    is_nothing = (scale == 0).any()
    with local_step(a.context, "average"):
        if is_nothing:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    value = ((a if dtype is None else a.astype(dtype, copy=False)) * weights).sum(axis, keepdims=keepdims) / scale
    if not returned:
        return value
    return value, np.full_like(value, scale, dtype=scale.dtype) if np.ndim(value) > np.ndim(scale) else scale


def weights_along(a: Any, weights: Any, axis: Any) -> Any:
    """Return weights that spread to a: as they are where they have its shape, or have an extent a dimension of axis."""
    if not isinstance(weights, DistributedContainer):
        weights = np.asarray(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise InvalidTypeError(
            f"Axis must be specified when shapes of a and weights differ: {a.shape}, {weights.shape}"
        )
    dims = tuple(dimension(each, a.ndim) for each in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if weights.shape != tuple(a.shape[d] for d in dims):
        text = f"Shape of weights must be consistent with shape of a along specified axis: {weights.shape}, {a.shape}"
        raise InvalidArgumentError(text)
    if dims != tuple(sorted(dims)):
        weights = np.transpose(weights, tuple(int(d) for d in np.argsort(dims)))
    return weights.reshape(tuple(extent if d in dims else 1 for d, extent in enumerate(a.shape)))


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral by the trapezoidal rule."""
    y, x = together(y, x)
    check_container("y", y)
    dim = dimension(axis, y.ndim)
    before = (slice(None),) * dim
    both = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    if x is None:
        return total(dx * both / 2.0, axis)
    if np.ndim(x) == 0:
        raise InvalidArgumentError("x is a number; it must have at least one dimension")
    steps = differences(x, 1, 0 if x.ndim == 1 else axis)
    if x.ndim == 1:
        steps = reshape(steps, tuple(steps.shape[0] if d == dim else 1 for d in range(y.ndim)))
    return total(steps * both / 2.0, axis)


trapz = trapezoid


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the covariances of the rows, or of the columns: of one variable, a number."""
    if ddof is not None and ddof != int(ddof):
        raise InvalidArgumentError("ddof must be integer")
    m = beside(m, y, fweights, aweights)
    if y is not None:
        m, y = together(m, y)
    observed = _variables(m, rowvar)
    if y is not None:
        observed = concat([observed, _variables(y, rowvar)], 0 if rowvar else 1)
    along = 1 if rowvar else 0  # which dimension the observations are: no transpose is made of them
    wanted = np.dtype(np.result_type(observed.dtype, np.float64) if dtype is None else dtype)
    if not kind_of(wanted).is_inexact:
        raise InvalidTypeError(f"covariances are of floats, or of complex numbers, and not of {wanted}")
    observed = observed.astype(wanted, copy=False)
    lost = ddof if ddof is not None else 0 if bias else 1
    weights, divisor = _observation_weights(fweights, aweights, observed.shape[along], lost)
    if weights is None:
        apart = other = observed - mean(observed, along, keepdims=True)
    else:
        if np.sum(weights) == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        weights = weights if rowvar else weights.reshape(-1, 1)
        apart = observed - total(observed * weights, along, keepdims=True) / np.sum(weights)
        other = apart * weights
    if divisor <= 0:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
    other = kind_of(other.dtype).conjugated(other)
    with np.errstate(all="ignore"):
        found = np.tensordot(apart, other, (along, along)) / max(divisor, 0)
    return found[0, 0] if found.shape == (1, 1) else found


def _observation_weights(fweights: Any, aweights: Any, count: int, lost: int) -> tuple[Any, Any]:
    """Return the weight of each observation, or None, and what sums of squares are divided by. Collective."""
    frequencies, importances = _weights("fweights", fweights, count), _weights("aweights", aweights, count)
    if importances is None:
        weights, divisor = frequencies, (count if frequencies is None else np.sum(frequencies)) - lost
    else:
        weights = importances if frequencies is None else frequencies * importances
        scale = np.sum(weights)
        if scale == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        divisor = scale - lost * np.sum(weights * importances) / scale if lost else scale
    return weights, divisor


def _weights(name: str, given: Any, count: int) -> Any:
    """Return weights as float64, if there are any. Collective if they are in a container."""
    if given is None:
        return None
    values = given.astype(np.float64) if isinstance(given, DistributedContainer) else np.asarray(given, np.float64)
    if name == "fweights" and not (values == np.around(values)).all():
        raise InvalidTypeError("fweights must be integer")
    if values.ndim != 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")  # the class that NumPy has for it
    if values.shape[0] != count:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if (values < 0).any():
        raise InvalidArgumentError(f"{name} cannot be negative")
    return values


def _variables(m: Any, rowvar: bool) -> Any:
    """Return observations in two dimensions; of one dimension, those of one variable."""
    check_container("m", m)
    if m.ndim > 2:
        raise InvalidArgumentError("m has more than 2 dimensions")
    if m.ndim == 2:
        return m
    return reshape(m, (1, m.shape[0]) if rowvar else (m.shape[0], 1))


def corrcoef(
    x: Any, y: Any = None, rowvar: bool = True, bias: Any = None, ddof: Any = None, *, dtype: Any = None
) -> Any:
    """Return the correlation coefficients of the rows, or of the columns."""
    c = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    n = c.shape[0]
    places = np.arange(n)
    scale = np.sqrt(np.real(np.asarray(c.get((places, places)))))
    return (
        np.clip(c / scale[:, np.newaxis] / scale, -1, 1)
        if not kind_of(c.dtype).is_complex
        else c / scale[:, np.newaxis] / scale
    )


def array_equiv(a1: Any, a2: Any) -> bool:
    """Say whether all elements are equal, where two spread against each other."""
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return bool((a1 == a2).all())


# ---- Single elements ----


def as_array(value: Any) -> Any:
    """Return a list or a tuple as an array, and anything else as it is."""
    return array_from("a list", value) if isinstance(value, (list, tuple)) else value


def _by_parts(name: str, operands: str = "x") -> Any:
    """Return NumPy's function for containers: it computes each element of its operands by itself.

    Its operands, which it names in this order, spread against each other. All other arguments are the same on every
    rank, such as tables; of these none is a container.
    """
    function, words = getattr(np, name), operands.split()

    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args[: len(words)], *(kwargs.pop(word) for word in words[len(args) :] if word in kwargs)]
        others = (*args[len(words) :], *kwargs.values())
        if any(isinstance(value, DistributedContainer) for value in others):
            raise InvalidTypeError(f"np.{name}: {' and '.join(words)} alone may be containers")
        known = next((value for value in given if isinstance(value, DistributedContainer)), None)
        if known is None:
            check_container(words[0], given[0])
        else:
            compare_arrays(f"np.{name}", known.context, map(as_array, others))
        return elementwise(f"np.{name}", lambda *parts: function(*parts, *args[len(words) :], **kwargs), given)

    call.__name__ = call.__qualname__ = name
    return call


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Return elements with numbers in the place of NaN and infinities; without a copy, write them to the container."""
    check_container("x", x)
    values = {"nan": nan, "posinf": posinf, "neginf": neginf}
    words = [word for word, value in values.items() if value is not None]
    given = [as_array(values[word]) for word in words]
    for word, value in zip(words, given):
        extents = np.shape(value)
        if len(extents) > x.ndim or any(n not in (1, of) for n, of in zip(extents[::-1], x.shape[::-1])):
            raise InvalidArgumentError(f"np.nan_to_num: {word} of shape {extents} for elements of shape {x.shape}")
    made = elementwise(
        "np.nan_to_num", lambda part, *parts: np.nan_to_num(part, **dict(zip(words, parts))), (x, *given)
    )
    if copy:
        return made
    x[...] = made
    return x


def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the real parts of complex elements, if all imaginary parts are next to nothing. Collective."""
    check_container("a", a)
    if not kind_of(a.dtype).is_complex:
        return a.copy()
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return real(a) if bool((np.absolute(imag(a)) < limit).all()) else a.copy()


real = _by_parts("real", "val")
imag = _by_parts("imag", "val")
angle = _by_parts("angle", "z")
isreal = _by_parts("isreal")
iscomplex = _by_parts("iscomplex")
isneginf = _by_parts("isneginf")
isposinf = _by_parts("isposinf")
sinc = _by_parts("sinc")
i0 = _by_parts("i0")
fix = _by_parts("fix")
digitize = _by_parts("digitize")
interp = _by_parts("interp")
is_busday = _by_parts("is_busday", "dates")
busday_offset = _by_parts("busday_offset", "dates offsets")
busday_count = _by_parts("busday_count", "begindates enddates")
datetime_as_string = _by_parts("datetime_as_string", "arr")
