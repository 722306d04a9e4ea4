"""NumPy's functions that write elements of a container, chosen by indices or by a mask."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Iterator

import numpy as np

from .._native import library
from .._native.keywords import index_mode
from .._native.kinds import fingerprint, fitting
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.values import array_from, spread
from ..comm.reductions import allreduce
from ..containers.base import (
    DistributedContainer,
    check_container,
    indices_of_rows,
    linear_indices,
    own_elements,
)
from ..containers.broadcasting import spread_over
from ..containers.indexing import masks
from ..containers.indexing.by_rows import scatter_rows, share_memory
from ..containers.indices import check_inside, check_integers, from_start, last_occurrences
from ..containers.interior import as_carried, elements_at, end_write, is_limited, mapped_at_once
from ..containers.making import new_like
from ..containers.places import device
from ..containers.places.copies import check_placements, computed, to_host
from ..containers.places.place import place_of, set_part
from ..exceptions import InvalidArgumentError
from ..ops import MAX
from ..policies import Partition
from ..runtime.agreement import agree
from ..runtime.scheduler import algorithm, computed_on_devices
from . import device_indexing
from .array_operands import together
from .exchange import share
from .fill import fill
from .layouts import laid_out_as
from .manipulation import dimension, ravel, reshape
from .scan import cumsum

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def _inside_extent(indices: Array, extent: int, mode: Any) -> Array:
    """Return indices inside an extent, by NumPy's mode for those that are not."""
    mode = index_mode(mode)
    if mode == "wrap":
        return indices % max(extent, 1)
    if mode == "clip":
        return np.clip(indices, 0, max(extent - 1, 0))
    check_inside(indices, extent)
    return from_start(indices, extent)


@algorithm
@computed_on_devices
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write values to elements of indices in C order; values that are fewer are written again and again."""
    check_container("a", a)
    refuse_closed(a)
    check_placements("put", (a, ind, v))
    if _are_none(a, "put", v):
        return
    extent = a.global_size
    if isinstance(ind, DistributedContainer):
        check_integers(ind.dtype)
        share(a, "put", f"mode {mode}", also=(ind,), anywhere=True)
        own, again = to_host("put", ind), _repeating(a, v)
        scatter_rows(
            a,
            _own_rows(ind),
            math.prod(ind.local_shape[1:]),
            lambda rows: _inside_extent(own[rows].astype(np.int64), extent, mode),
            lambda rows: again(linear_indices(ind, rows=rows).reshape(-1)),
            read=(ind, v),
            fit=_fit(a, v),
        )
        return
    given = array_from("ind", ind)
    if given.size:
        check_integers(given.dtype)
    places = _inside_extent(given.astype(np.int64).reshape(-1), extent, mode)
    share(a, "put", f"mode {mode}, indices with fingerprint {fingerprint(places)}", anywhere=True)
    chosen = np.flatnonzero(last_occurrences(places))
    mine = chosen[a.context.rank :: a.context.size]
    values = _repeating(a, v)(mine)
    bridge.put(a, np.ascontiguousarray(places[mine]), as_carried(a, values))


def _are_none(a: Any, op: str, values: Any) -> bool:
    """Say whether there are no values to write, which is no error of most calls. Collective if there are none."""
    none = not (values.global_size if isinstance(values, DistributedContainer) else array_from("values", values).size)
    if none:
        share(a, op, "no values", anywhere=True)
    return none


def _own_rows(c: Any) -> int:
    """Return how many rows of a container are this rank's to write: of what all have, they are the first rank's."""
    return 0 if c.partition_policy is Partition.REPLICATED and c.context.rank else int(c.local_shape[0])


def _fit(a: Any, v: Any) -> bool:
    """Say whether values are sure to fit: others may be refused when they are there."""
    return not isinstance(v, DistributedContainer) or v.dtype == a.dtype


def _repeating(a: Any, v: Any) -> Callable[[Array], Array]:
    """Return what returns values for some places among those that are written to, which repeat.

    Both are collective where the values are in a container, and else this alone.
    """
    if not isinstance(v, DistributedContainer):
        values = fitting("values", v, a.dtype).reshape(-1)
        share(a, "put", f"values with fingerprint {fingerprint(values)}", anywhere=True)
        return lambda places: np.ascontiguousarray(values[places % values.size])

    def again(places: Array) -> Array:
        wanted = places % v.global_size if places.size and int(places.max()) >= v.global_size else places
        given: Array = fitting("values", elements_at(v, np.ascontiguousarray(wanted, np.int64)), a.dtype)
        if v.dtype != a.dtype:
            agree(a.context, "put")  # a value that does not fit is an error on every rank
        return given

    return again


@algorithm
@computed_on_devices
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write values where a mask is true: of values that are fewer, that of its own index, counted again and again."""
    check_container("a", a)
    refuse_closed(a)
    check_placements("putmask", (a, mask, values))
    _check_size(a, mask)
    if _are_none(a, "putmask", values):
        return
    computed("putmask", _put_where, (a, mask, values), _put_where_there, written=())


def _put_where_there(a: Any, mask: Any, values: Any) -> None:
    _write_on_device("putmask", a, mask, values, in_turn=False)


def _put_where(a: Any, mask: Any, values: Any) -> None:
    chosen = _mask_of(a, mask)
    if isinstance(values, DistributedContainer) and values.global_size == a.global_size and values.dtype == a.dtype:
        given = laid_out_as(_shaped_as(a, values), a).local_view()
        part = a.local_view()
        for rows in _blocks(a):
            np.copyto(part[rows], given[rows], where=chosen(rows))
        return
    blocks = _blocks(a, _fit(a, values))
    _write_blocks(a, blocks, chosen, _repeating(a, values), lambda rows, true: linear_indices(a, rows=rows)[true])


def _write_blocks(
    a: Any,
    blocks: Iterable[slice],
    chosen: Callable[[slice], Array],
    again: Callable[[Array], Array],
    number: Callable[[slice, Array], Array],
) -> None:
    """Write values where a mask is true to this rank's part, a block after the other. Collective if the values are.

    The last arguments are functions: of rows, which of their elements are true; of numbers, the values; and of rows and
    what is true there, the number of each value.
    """
    part = a.local_view()
    for rows in blocks:
        true = chosen(rows)
        given = again(np.ascontiguousarray(number(rows, true)))
        part[rows][true] = given


def _blocks(a: Any, fit: bool = True) -> Iterator[slice]:
    """Yield ranges of rows of this rank's part, a few MiB each where memory is limited; as many on each rank.

    Where values are not sure to fit, or are elements of the container, all are read before one is written. Collective.
    """
    if not (fit and is_limited(a)):
        yield slice(0, a.local_shape[0])
        return
    step = max(1, (mapped_at_once() >> 4) // max(1, math.prod(a.local_shape[1:])))
    mine = -(-a.local_shape[0] // step)
    for block in range(int(share(a, "write", numbers=(mine,))[:, 0].max())):
        yield slice(min(block, mine) * step, (block + 1) * step)
        library.memory_ease()


@algorithm
@computed_on_devices
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values one after the other where a mask is true, in C order, and then again from the first."""
    check_container("arr", arr)
    refuse_closed(arr)
    check_placements("place", (arr, mask, vals))
    _check_size(arr, mask)
    if _are_none(arr, "place", vals):
        if np.any(mask):
            raise InvalidArgumentError("there are no values for the elements where the mask is true")
        return
    computed("place", _put_in_turn, (arr, mask, vals), _put_in_turn_there, written=())


def _put_in_turn_there(arr: Any, mask: Any, vals: Any) -> None:
    _write_on_device("place", arr, mask, vals, in_turn=True)


def _put_in_turn(arr: Any, mask: Any, vals: Any) -> None:
    chosen, again = _mask_of(arr, mask), _repeating(arr, vals)
    fit = _fit(arr, vals) and not (is_limited(arr) and allreduce(arr.context, int(share_memory(arr, (vals,))), MAX))
    if masks.is_in_global_order(arr):
        mine = sum(int(np.count_nonzero(chosen(rows))) for rows in _blocks(arr))
        written = int(share(arr, "place", numbers=(mine,))[: arr.context.rank, 0].sum())

        def number(rows: slice, true: Array) -> Array:
            nonlocal written
            count = int(np.count_nonzero(true))
            written += count
            return np.arange(written - count, written)

        _write_blocks(arr, _blocks(arr, fit), chosen, again, number)
        return
    true = new_like(arr, np.bool_)
    for rows in _blocks(arr):
        true.local_view()[rows] = chosen(rows)
    numbers = laid_out_as(cumsum(ravel(true)).reshape(arr.shape), arr).local_view()
    blocks = _blocks(arr, fit)
    _write_blocks(arr, blocks, chosen, again, lambda rows, true: numbers[rows][true] - 1)


def _write_on_device(op: str, a: Any, mask: Any, values: Any, in_turn: bool) -> None:
    """Write to elements on a GPU where a mask is true: the values in turn, or to each that of its index. Collective."""
    if isinstance(mask, DistributedContainer):
        _write_where_true(a, laid_out_as(truth_of(_shaped_as(a, mask)), a), values, in_turn)
    else:
        chosen = _mask_of(a, mask)(slice(None)).reshape(-1)
        indices = linear_indices(a).reshape(-1)[chosen]
        numbers = np.cumsum(np.asarray(mask, np.bool_))[indices] - 1 if in_turn else indices
        device.put_places(a, np.flatnonzero(chosen), _repeating(a, values)(numbers))
    end_write(a, op)


def _write_where_true(a: Any, mask: Any, values: Any, in_turn: bool) -> None:
    """Write where a mask is true that is on the GPU, too, laid out alike. Collective."""
    if not isinstance(values, DistributedContainer) and np.size(values) == 1:
        device.put_where(a, mask, _repeating(a, values)(np.zeros(1, np.int64)))
        return
    indices, counts = masks.selected(mask)
    numbers = indices
    if in_turn:
        numbers = sum(counts[: a.context.rank]) + np.arange(len(indices))
    given = _repeating(a, values)(numbers)
    if masks.by_kernel(a, mask):
        device.put_where(a, mask, given)
    else:
        bridge.put(a, indices, as_carried(a, given))


def truth_of(mask: Any) -> Any:
    """Return a container of bool: which elements are not zero."""
    return mask if mask.dtype == np.bool_ else mask != 0


def _shaped_as(a: Any, mask: DistributedContainer) -> Any:
    """Return a mask of as many elements in the shape of a container. Collective where it has another one."""
    if mask.shape == a.shape:
        return mask
    return reshape(mask, a.shape)


def _check_size(a: Any, mask: Any) -> None:
    size = mask.global_size if isinstance(mask, DistributedContainer) else array_from("mask", mask).size
    if size != a.global_size:
        raise InvalidArgumentError(
            f"the mask and the container must be the same size: they have {size} and {a.global_size} elements"
        )


def _mask_of(a: Any, mask: Any) -> Callable[[slice], Array]:
    """Return what says which elements of this rank's rows a mask of as many elements chooses.

    This is collective, and what it returns is not.
    """
    if isinstance(mask, DistributedContainer):
        own = laid_out_as(_shaped_as(a, mask), a).local_view()
        return lambda rows: own[rows] if own.dtype == np.bool_ else own[rows] != 0
    given = array_from("mask", mask)
    share(a, "putmask", f"a mask with fingerprint {fingerprint(given)}", anywhere=True)
    return lambda rows: np.asarray(given.reshape(-1)[linear_indices(a, rows=rows)], np.bool_)


@algorithm
@computed_on_devices
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write for each entry of indices a value to the element of that index along a dimension."""
    check_container("arr", arr)
    indices = together(arr, indices)[1]
    check_container("indices", indices)
    refuse_closed(arr)
    check_integers(indices.dtype)
    check_placements("put_along_axis", (arr, indices, values))
    dim = None if axis is None else dimension(axis, arr.ndim)
    if dim is None and indices.ndim != 1:
        raise InvalidArgumentError("when axis=None, `indices` must have a single dimension.")
    if dim is not None:
        same = indices.ndim == arr.ndim
        lines = tuple(indices.shape[dim] if same and d == dim else n for d, n in enumerate(arr.shape))
        if not same or any(n not in (1, extent) for n, extent in zip(indices.shape, lines)):
            raise InvalidArgumentError(f"indices of shape {indices.shape} for shape {arr.shape} along axis {dim}")
        indices = spread_over(indices, lines)
    also = (indices, values) if isinstance(values, DistributedContainer) else (indices,)
    share(arr, "put_along_axis", f"axis {axis}", also=also, anywhere=True)
    if device_indexing.lines(arr, indices) and _put_there(arr, indices, values, dim):
        return
    entries = to_host("put_along_axis", indices)

    def places(rows: slice) -> Array:
        some = entries[rows].astype(np.int64, copy=False)
        if dim is None:
            return _inside_extent(some, arr.global_size, "raise")
        total: Array = np.zeros((), np.int64)
        for d, extent in enumerate(arr.shape):
            if d == dim:
                total = total * extent + _inside_extent(some, extent, "raise")
            else:
                others = indices.local_indices(d) if d else indices_of_rows(indices, rows)
                total = total * extent + others.reshape([-1 if k == d else 1 for k in range(arr.ndim)])
        return np.broadcast_to(total, some.shape)

    inner = math.prod(indices.local_shape[1:])
    given = _beside_indices(arr, indices, values)
    read, fit = (indices, values), _fit(arr, values)
    scatter_rows(arr, _own_rows(indices), inner, places, given, "put_along_axis", read=read, fit=fit)


def _beside_indices(a: Any, indices: Any, values: Any) -> Callable[[slice], Array]:
    """Return what returns the values that go with rows of this rank's part of a container of indices.

    This is collective, and what it returns is not.
    """
    if not isinstance(values, DistributedContainer):
        whole = fitting("values", values, a.dtype)
        spread("values", whole, indices.shape)
        own = own_elements(indices, np.broadcast_to(whole, indices.shape))
        return lambda rows: np.ascontiguousarray(own[rows]).reshape(-1)
    values = spread_over(values, indices.shape)
    laid = laid_out_as(values, indices)
    part = place_of(laid).elements(laid)
    return lambda rows: fitting("values", part[rows], a.dtype).reshape(-1)


@algorithm
@computed_on_devices
def assign_at(a: Any, indices: Any, value: Any, rows: bool = False) -> None:
    """Write to the elements whose indices in C order a container holds, or to the rows of these indices. Collective.

    The value is a number, an array that spreads to the shape of what is written to, or a container of that shape. Of an
    index that occurs twice, one of the values stays.
    """
    check_placements("setitem", (a, indices, value))
    also = (indices, value) if isinstance(value, DistributedContainer) else (indices,)
    shape = (*indices.shape, *(a.shape[1:] if rows else ()))
    if isinstance(value, DistributedContainer) and value.shape != shape:
        raise InvalidArgumentError(f"a container of shape {value.shape} for what has shape {shape}")
    share(a, "setitem", "rows" if rows else "", also=also, anywhere=True)
    if _rows_assigned_there(a, indices, value, shape) if rows else _assigned_there(a, indices, value):
        return
    own, inner = to_host("setitem", indices), np.arange(math.prod(a.shape[1:]) if rows else 1)
    given = _given_values(a, value, shape)

    def places(some: slice) -> Array:
        wanted = own[some].astype(np.int64, copy=False).reshape(-1)
        return (from_start(wanted, a.shape[0])[:, np.newaxis] * len(inner) + inner) if rows else wanted

    def values(some: slice) -> Array:
        mine = linear_indices(indices, rows=some).reshape(-1, 1)
        return given((mine * len(inner) + inner).reshape(-1))

    width = math.prod(indices.local_shape[1:]) * len(inner)
    read, fit = (indices, value), _fit(a, value)
    scatter_rows(a, _own_rows(indices), width, places, values, "setitem", read=read, fit=fit)


def _given_values(a: Any, value: Any, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """Return what returns the values of some indices in C order of a shape to which they spread.

    Both are collective where the values are in a container, and else this alone.
    """
    if isinstance(value, DistributedContainer):
        return lambda mine: fitting("values", elements_at(value, np.ascontiguousarray(mine)), a.dtype)
    whole = fitting("values", value, a.dtype)
    share(a, "setitem", f"values with fingerprint {fingerprint(whole)}", anywhere=True)
    spreads = spread("values", whole, shape)
    return lambda mine: np.full(mine.size, spreads[0], a.dtype) if len(spreads) == 1 else spreads[mine]


def _assigned_there(a: Any, indices: Any, value: Any) -> bool:
    """Write to elements on GPUs whose indices are in a container there, and say whether kernels do. Collective."""
    given = _beside_there("setitem", a, indices, value)
    if given is None:
        return False
    device_indexing.IndexedElements(a, device_indexing.from_start(indices, a.global_size)).put(given)
    return True


def _rows_assigned_there(a: Any, indices: Any, value: Any, shape: tuple[int, ...]) -> bool:
    """Write to rows on GPUs whose indices are in a container there, and say whether kernels do. Collective."""
    if not place_of(a).puts(a) or (isinstance(value, DistributedContainer) and value.dtype != a.dtype):
        return False
    if not isinstance(value, DistributedContainer):
        value = fitting("values", value, a.dtype)
        share(a, "setitem", f"values with fingerprint {fingerprint(value)}", anywhere=True)
        spread("values", value, shape)
    return device_indexing.put_rows(a, indices, value)


def _put_there(a: Any, indices: Any, values: Any, dim: int | None) -> bool:
    """Do put_along_axis for elements and indices on GPUs, and say whether kernels do. Collective."""
    if isinstance(values, DistributedContainer) and values.shape != indices.shape:
        return False
    given = _beside_there("put_along_axis", a, indices, values)
    if given is None:
        return False
    at = device_indexing.from_start(indices, a.global_size) if dim is None else device_indexing.along(a, indices, dim)
    device_indexing.IndexedElements(a, at).put(given, "put_along_axis")
    return True


def _beside_there(op: str, a: Any, indices: Any, value: Any) -> Any:
    """Return values for elements on GPUs beside their indices there; None if no kernel puts them. Collective."""
    if isinstance(value, DistributedContainer):
        if value.dtype != a.dtype or not place_of(a).puts(a):
            return None
        return laid_out_as(value, indices)
    whole = fitting("values", value, a.dtype)
    if not place_of(a).puts(a):
        return None
    share(a, op, f"values with fingerprint {fingerprint(whole)}", anywhere=True)
    spreads = spread("values", whole, indices.shape)
    given = new_like(indices, a.dtype)
    if len(spreads) == 1:
        fill(given, spreads[0])
    else:
        set_part(given, spreads[linear_indices(indices)])
    return given
