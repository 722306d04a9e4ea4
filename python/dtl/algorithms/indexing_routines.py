"""NumPy's functions that choose elements, or say where elements are, with NumPy's parameters."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from .._native.arguments import integer
from .._native.keywords import check_select_kind, index_mode
from .._native.kinds import kind_of
from .._native.values import array_from
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import elementwise
from ..containers.indexing import masks
from ..containers.interior import is_laid_out_as
from ..containers.places.copies import check_placements
from ..containers.places.place import from_parts, place_of
from ..containers.sequences import DistributedVector
from ..containers.ufunc_operands import moves, operand
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Placement
from ..runtime.scheduler import algorithm, computed_on_devices
from . import sort as sorting
from . import statistics
from .array_operands import together
from .concatenate import concat, unstack
from .creation import asarray
from .elementwise import flatnonzero
from .exchange import share
from .layouts import laid_out_as
from .manipulation import dimension, ravel, reshape
from .numpy_functions import argsort, sort
from .output import written
from .taking import take
from .writing import truth_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: NumPy takes no more, either.
_MOST_CHOICES = 64

# ---- By conditions and numbers ----


@algorithm
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """Return for each entry of a container of integers the element of the choice of that number."""
    several = isinstance(choices, (list, tuple)) or (isinstance(choices, np.ndarray) and choices.ndim)
    if not several or len(choices) > _MOST_CHOICES:
        raise InvalidTypeError(f"choices must be a sequence of at most {_MOST_CHOICES}, not {type(choices).__name__}")
    a, *given = together(a, *choices)
    check_container("a", a)
    given = [operand("np.choose", each, moves(given)) for each in given]
    beside = [c for c in given if isinstance(c, DistributedContainer)]
    mode = index_mode(mode)
    share(a, "choose", f"{len(given)} choices, mode {mode!r}", also=beside)
    if not np.can_cast(a.dtype, np.int64):
        raise InvalidTypeError(f"np.choose: a holds {a.dtype}; it must be integers that int64 can hold")
    if mode == "raise" and a.global_size:
        least, most = statistics.min(a), statistics.max(a)
        if least < 0 or most >= len(given):
            raise InvalidArgumentError("invalid entry in choice array")
    dtype = np.result_type(*(c.dtype if isinstance(c, DistributedContainer) else c for c in given))
    made = elementwise("np.choose", lambda at, *of: _chosen(at, of, mode), (a, *given), dtype)
    return _into("np.choose", out, made)


def _into(name: str, out: Any, made: Any) -> Any:
    """Return what was made, in the container of the argument out where there is one."""
    return made if out is None else written(name, made, out)


def _chosen(at: Array, of: tuple[Array, ...], mode: str) -> Array:
    numbers = at % len(of) if mode == "wrap" else np.clip(at, 0, len(of) - 1)
    shape = np.broadcast_shapes(np.shape(at), *(np.shape(each) for each in of))
    result = np.empty(shape, np.result_type(*of))
    for number, each in enumerate(of):
        np.copyto(result, each, where=np.broadcast_to(numbers == number, shape))
    return result


@algorithm
@computed_on_devices
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Return what lies along a dimension where a condition is true; it may be shorter than the extent."""
    a = together(condition, a)[1] if isinstance(condition, DistributedContainer) else a
    check_container("a", a)
    condition = condition if isinstance(condition, DistributedContainer) else array_from("condition", condition)
    if condition.ndim != 1:
        raise InvalidArgumentError("condition must be a 1-d array")
    if isinstance(condition, DistributedContainer):
        check_placements("compress", (a, condition, out))
        share(a, "compress", f"axis {axis}", also=(condition,), anywhere=True)
        if condition.dtype == np.bool_ and condition.shape == a.shape:
            return _into("np.compress", out, _chosen_by_mask(a, condition))
        places: Any = flatnonzero(condition)
        if axis is not None and a.ndim > 1:
            places = places[np.arange(len(places))]  # as many as there are rows
    else:
        places = np.flatnonzero(condition)
    return _into(
        "np.compress", out, take(ravel(a) if axis is None and a.ndim > 1 else a, places, 0 if axis is None else axis)
    )


def _chosen_by_mask(a: Any, condition: Any) -> Any:
    """Return the elements where a condition of their shape is true, in C order. Collective."""
    elements, true = masks.in_global_order(a), masks.in_global_order(laid_out_as(condition, a))
    if a.placement_policy is Placement.DISK:
        return masks.selected_on_disk(DistributedVector, elements, true)
    return from_parts(DistributedVector, a.context, place_of(a).chosen(elements, true), a.placement_policy)


@algorithm
@computed_on_devices
def extract(condition: Any, arr: Any) -> Any:
    """Return the elements in C order where a condition is true."""
    if isinstance(condition, DistributedContainer):
        check_placements("extract", (arr, condition))
        if isinstance(arr, DistributedContainer):
            share(arr, "extract", also=(condition,), anywhere=True)
            if condition.shape == arr.shape:
                return _chosen_by_mask(arr, truth_of(condition))
    return compress(ravel(condition) if isinstance(condition, DistributedContainer) else np.ravel(condition), arr)


@algorithm
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Return a container without the zeros at the ends of its dimensions, or of some."""
    check_container("filt", filt)
    ends = str(trim).lower()
    if not ends or set(ends) - set("fb"):
        raise InvalidArgumentError(f"unexpected character(s) in `trim`: {trim!r}")
    dims = range(filt.ndim) if axis is None else [dimension(each, filt.ndim) for each in np.atleast_1d(axis).tolist()]
    chosen = [slice(None)] * filt.ndim
    places = flatnonzero(filt)
    for d in dims:
        inner = int(np.prod(filt.shape[d + 1 :], dtype=np.int64))
        if not len(places):
            chosen[d] = slice(0, 0)
            continue
        at = places // inner % filt.shape[d]
        low = int(statistics.min(at)) if "f" in ends else 0
        high = int(statistics.max(at)) + 1 if "b" in ends else filt.shape[d]
        chosen[d] = slice(low, high)
    return filt[tuple(chosen)]


# ---- By order ----


@algorithm
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Return a copy in which elements stand where they would if it were sorted: it is sorted."""
    check_places(a, kth, axis, kind)
    return sort(a, axis, order=order)


@algorithm
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Return the indices of a copy that :func:`partition` makes."""
    check_places(a, kth, axis, kind)
    return argsort(a, axis, order=order)


def check_places(a: Any, kth: Any, axis: Any, kind: Any = "introselect") -> None:
    """Refuse places that a dimension does not have, and ways to select that NumPy does not have."""
    check_container("a", a)
    check_select_kind(kind)
    extent = a.global_size if axis is None else a.shape[dimension(axis, a.ndim)]
    for place in np.atleast_1d(kth).tolist():
        if not -extent <= integer("kth", place) < extent and a.global_size:  # of none, any will do
            raise InvalidArgumentError(f"kth(={place}) out of bounds ({extent})")


@algorithm
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return the indices that sort by several keys, the last one first."""
    if isinstance(keys, DistributedContainer):
        keys = unstack(keys)
    given = together(*keys)
    check_container("each of the keys", given[0])
    dimension(axis, given[0].ndim)
    return sorting.lexsort([laid_out_as(key, given[0]) if _moves(key, given[0]) else key for key in given])


def _moves(key: Any, to: Any) -> bool:
    """Say whether a key has to move to where another one is."""
    return isinstance(key, DistributedContainer) and key.shape == to.shape and not is_laid_out_as(key, to)


@algorithm
def sort_complex(a: Any) -> Any:
    """Return a sorted copy of complex elements."""
    made = sort(a)
    if kind_of(made.dtype).is_complex:
        return made
    return made.astype(np.complex64 if made.dtype.char in "bhBH" else np.complex128)


# ---- Indices ----


@algorithm
def ix_(*args: Any) -> tuple[Any, ...]:
    """Return vectors of indices, each along a dimension of its own."""
    like = next(c for c in args if isinstance(c, DistributedContainer))
    made = []
    for place, given in enumerate(args):
        c = given if isinstance(given, DistributedContainer) else asarray(like.context, _as_indices(given))
        if c.ndim != 1:
            raise InvalidArgumentError("Cross index must be 1 dimensional")
        if kind_of(c.dtype).is_boolean:
            c = flatnonzero(c)
        made.append(reshape(c, tuple(c.shape[0] if d == place else 1 for d in range(len(args)))))
    return tuple(made)


def _as_indices(given: Any) -> Array:
    """Return an array of indices: of a list of none, one of integers."""
    array = np.asarray(given)
    return array.astype(np.int64) if not array.size and not isinstance(given, np.ndarray) else array


@algorithm
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """Return the indices in C order of elements that have an index along each dimension."""
    if isinstance(multi_index, DistributedContainer):
        raise InvalidTypeError("np.ravel_multi_index: the indices are a tuple, one for each dimension")
    _check_inside(multi_index, dims, mode)
    return elementwise(
        "np.ravel_multi_index", lambda *parts: _raveled(parts, dims, mode, order), tuple(multi_index), np.int64
    )


def _raveled(parts: tuple[Array, ...], dims: Any, mode: Any, order: Any) -> Array:
    if not all(np.size(part) for part in parts):
        return np.zeros(np.broadcast_shapes(*(np.shape(part) for part in parts)), np.int64)
    return np.asarray(np.ravel_multi_index(parts, dims, mode, order))


def _check_inside(indices: Any, dims: Any, mode: Any) -> None:
    """Refuse on every rank indices that NumPy refuses on the rank that has them. Collective."""
    dtypes = [(i if isinstance(i, DistributedContainer) else np.asarray(i)).dtype for i in indices]
    if any(not kind_of(dtype).is_whole for dtype in dtypes):
        raise InvalidTypeError("only int indices permitted")
    if not all(i.global_size if isinstance(i, DistributedContainer) else np.size(i) for i in indices):
        return
    if 0 in np.atleast_1d(dims):
        raise InvalidArgumentError(
            f"np.ravel_multi_index: there is no index in a shape of {dims}, which has no elements"
        )
    for d, (index, extent) in enumerate(zip(indices, dims)):
        own = mode if isinstance(mode, str) else mode[d]
        if own == "raise" and (np.min(index) < 0 or np.max(index) >= extent):
            raise InvalidArgumentError("invalid entry in coordinates array")


@algorithm
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Any, ...]:
    """Return the index along each dimension of elements that have one in C order."""
    check_container("indices", indices)
    extents = tuple(integer("shape", n) for n in np.atleast_1d(shape).tolist())
    size = int(np.prod(extents, dtype=np.int64))
    if not kind_of(indices.dtype).is_integer:
        raise InvalidTypeError("only int indices permitted")
    if indices.global_size and (statistics.min(indices) < 0 or statistics.max(indices) >= size):
        raise InvalidArgumentError(f"an index is out of bounds for array with size {size}")
    return tuple(
        elementwise(
            "np.unravel_index", lambda part, d=d: np.unravel_index(part, extents, order)[d], (indices,), np.int64
        )
        for d in range(len(extents))
    )


# ---- Parts put together ----


@algorithm
def block(arrays: Any) -> Any:
    """Return containers put together as their nesting in lists says: the innermost along the last dimension."""
    depth = _depth(arrays)
    leaves = together(*_leaves(arrays), numbers=True)
    for c in leaves:
        check_container("arrays", c)
    ndim = max(depth, *(c.ndim for c in leaves))
    arrays = _with_leaves(arrays, iter(leaves))
    made = _joined(arrays, depth, ndim)
    return made.copy() if isinstance(arrays, DistributedContainer) else made


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise InvalidArgumentError("List at arrays cannot be empty")
    depths = {_depth(each) for each in arrays}
    if len(depths) > 1:
        raise InvalidArgumentError("List depths are mismatched.")
    return depths.pop() + 1


def _leaves(arrays: Any) -> list[Any]:
    if isinstance(arrays, list):
        return [leaf for each in arrays for leaf in _leaves(each)]
    return [arrays]


def _with_leaves(arrays: Any, leaves: Iterator[Any]) -> Any:
    """Return lists nested alike of other leaves."""
    return [_with_leaves(each, leaves) for each in arrays] if isinstance(arrays, list) else next(leaves)


def _joined(arrays: Any, depth: int, ndim: int) -> Any:
    if not isinstance(arrays, list):
        return arrays if arrays.ndim == ndim else reshape(arrays, (1,) * (ndim - arrays.ndim) + arrays.shape)
    parts = [_joined(each, depth - 1, ndim) for each in arrays]
    return concat(parts, ndim - depth) if len(parts) > 1 else parts[0]
