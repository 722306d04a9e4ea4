"""How the ranks merge what each has made of its part of what is reduced: in a container, of which each has a range."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer
from .reductions import Reduction

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]


def merge_few(made: DistributedContainer, plan: Any, part: Any) -> None:
    """Write results of each of which every rank has a part, and that are few, so that all ranks are told all parts.

    The plan says what is made. Collective.
    """
    ctx, view = made.context, made.local_view()
    told = _told(ctx, part.parts())
    if part.by.adds_floats and not _are_finite(told):  # on all ranks
        part = part.without_overflow()
        told = _told(ctx, part.parts())
    if plan.mine is None:
        low = made.local_indices(plan.dim)[:1].sum()  # zero of none
        plan.mine = (*[slice(None)] * plan.dim, slice(low, low + view.shape[plan.dim]))
    merged: Any = None
    for arrays in told:
        own = tuple([each.reshape(plan.shape)[plan.mine] for each in arrays])
        merged = own if merged is None else part.by.merge(merged, own)
    view[...] = part.by.finish(merged, plan.count)


def _are_finite(told: list[list[Array]]) -> bool:
    """Say whether all first arrays of ranks are of finite numbers. Where their sum is, none of them is infinite."""
    return all([cmath.isfinite(np.add.reduce(arrays[0], axis=None)) or np.isfinite(arrays[0]).all() for arrays in told])


def _told(ctx: Any, arrays: Arrays) -> list[list[Array]]:
    """Return every rank's arrays, which are of the same shapes and dtypes on all. Collective."""
    if len(arrays) == 1:
        return [[row] for row in collectives.allgather(ctx, arrays[0])]
    form = [(each.shape, each.dtype) for each in arrays]
    return [_unpacked(row, form) for row in collectives.allgather(ctx, _packed(list(arrays)))]


def combine(made: DistributedContainer, dim: int, parts: Any, kept: list[Array], by: Reduction, count: int) -> None:
    """Merge every rank's partial results in a container that is divided along one dimension. Collective.

    Parameters
    ----------
    made
        The container that the results are written to.
    dim
        The dimension that it is divided along.
    parts
        This rank's partial results: arrays of one shape.
    kept
        The global indices along each dimension of made that this rank's partial results are of; they are ranges, but
        along dim.
    by, count
        The reduction, and the number of elements that go into each result.
    """
    ctx = made.context
    view = made.local_view()
    mine = made.local_indices(dim)
    low, along = (int(mine[0]) if len(mine) else 0), kept[dim]
    spans = [(int(i[0]) if len(i) else 0, len(i)) for i in kept]
    is_range = len(along) == 0 or int(along[-1]) - int(along[0]) + 1 == len(along)
    numbers = [low, len(mine), int(is_range), *(number for span in spans for number in span)]
    table = collectives.allgather(ctx, np.array(numbers, np.int64)).tolist()
    before = (slice(None),) * dim
    if all(row[2] for row in table):  # then every rank knows who sends what
        begin, extent = spans[dim]
        chosen: list[Any] = [_common(begin, extent, row[0], row[1], begin) for row in table]
        places = [_common(low, len(mine), row[3 + 2 * dim], row[4 + 2 * dim], low) for row in table]
        sent = [_packed([part[(*before, entries)] for part in parts]) for entries in chosen]
        lengths = [place.stop - place.start for place in places]
        has_indices = False
    else:
        chosen = [np.flatnonzero((along >= row[0]) & (along < row[0] + row[1])) for row in table]
        sent = [_packed([along[entries], *(part.take(entries, axis=dim) for part in parts)]) for entries in chosen]
        told = collectives.alltoall(ctx, np.array([len(entries) for entries in chosen], np.int64))
        lengths = np.asarray(told).tolist()
        has_indices = True
    forms = []
    for row, length in zip(table, lengths):
        shape = row[4::2]
        shape[dim] = length
        indices: list[Any] = [((length,), np.dtype(np.int64))] if has_indices else []
        forms.append([*indices, *((tuple(shape), part.dtype) for part in parts)])
    sizes = [_size(form) for form in forms]
    got = vector_collectives.alltoallv(ctx, np.concatenate(sent), [len(each) for each in sent], sizes)
    merged: dict[Any, Any] = {}
    at = 0
    for number, (row, form, size) in enumerate(zip(table, forms, sizes)):
        arrays = _unpacked(got[at : at + size], form)
        at += size
        where: Any = arrays.pop(0) - low if has_indices else places[number]
        key = (where.tobytes() if has_indices else (where.start, where.stop), *row[3:])
        merged[key] = (where, row[3:], by.merge(merged[key][2], arrays) if key in merged else arrays)
    for where, extents, found in merged.values():
        place = [slice(start, start + extent) for start, extent in zip(extents[::2], extents[1::2])]
        place[dim] = where
        view[tuple(place)] = by.finish(found, count)


def _common(begin: int, extent: int, other: int, others_extent: int, origin: int) -> slice:
    """Return what two ranges have in common, counted from an origin."""
    first = max(begin, other)
    return slice(first - origin, max(min(begin + extent, other + others_extent), first) - origin)


def _size(form: Any) -> int:
    """Return how many bytes arrays of shapes and dtypes take in a message: a multiple of eight each."""
    return sum(-(-math.prod(shape) * dtype.itemsize // 8) * 8 for shape, dtype in form)


def _packed(arrays: list[Array]) -> Array:
    """Return arrays as the bytes of one message."""
    made = np.empty(_size([(each.shape, each.dtype) for each in arrays]), np.uint8)
    at = 0
    for each in arrays:
        made[at : at + each.nbytes].view(each.dtype)[...] = each.reshape(-1)
        at += -(-each.nbytes // 8) * 8
    return made


def _unpacked(message: Array, form: Any) -> list[Array]:
    """Return the arrays of a message, of shapes and dtypes."""
    found, at = [], 0
    for shape, dtype in form:
        nbytes = math.prod(shape) * dtype.itemsize
        found.append(message[at : at + nbytes].view(dtype).reshape(shape))
        at += -(-nbytes // 8) * 8
    return found
