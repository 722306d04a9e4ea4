"""The distinct elements of a container, where each is, and which one each element is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..containers.base import indices_of_rows
from ..containers.indexing.by_rows import scatter_rows
from ..containers.interior import is_limited
from ..containers.making import new_like
from ..containers.sequences import DistributedVector
from ..runtime.scheduler import algorithm
from ..runtime.spill import Spill
from . import external
from .concatenate import concat
from .creation import full, ones
from .elementwise import diff, nonzero
from .manipulation import ravel, reshape
from .rows import has_rows
from .scan import cumsum
from .sort import argsort
from .taking import take


class UniqueAll(NamedTuple):
    """Distinct elements, where each is first, which of them each element is, and how often each occurs."""

    values: DistributedVector
    indices: DistributedVector
    inverse_indices: Any
    counts: DistributedVector


@algorithm
def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct elements, sorted, with where and how often each is, and which one each element is.

    They are those that are not equal to the one before in a stable order: each NaN is distinct. Collective.
    """
    return found_in_order(x)


def found_in_order(x: Any, with_inverse: bool = True) -> UniqueAll:
    """Return what :func:`unique_all` does, and None for which one each element is where nobody asks. Collective."""
    flat = ravel(x)
    n = flat.global_size
    if n == 0:
        none = reshape(flat, (0,)).astype(np.int64)
        return UniqueAll(flat, none, reshape(none, x.shape), none.copy())
    line = x if x.ndim == 1 and has_rows(x) else flat
    rows = 0 if with_inverse or not has_rows(line) else external.rows_at_a_time(line, (line.dtype, np.int64))
    if rows:
        return _found_in_ranges(line, rows)
    order = argsort(flat)
    in_order = take(flat, order)
    differs = concat([ones(x.context, 1, bool), in_order[1:] != in_order[:-1]])
    (starts,) = nonzero(differs)
    counts = diff(concat([starts, full(x.context, 1, n)]))
    shaped = reshape(_inverse(order, cumsum(differs.astype(np.int64)) - 1), x.shape) if with_inverse else None
    return UniqueAll(take(in_order, starts), take(order, starts), shaped, counts)


def _found_in_ranges(flat: Any, rows: int) -> UniqueAll:
    """Return what is found without the inverse, by ranges of elements that fit in memory. Collective."""
    ctx, part = flat.context, flat.local_view()
    cuts = external.cuts_of(ctx, "unique", [part], rows)
    spill = external.divided(ctx, "unique", [part], cuts, rows, flat.local_offset)
    places, often = Spill(ctx, [flat.dtype, np.dtype(np.int64)]), Spill(ctx, [np.dtype(np.int64)])
    steps = external.steps(ctx, cuts.ranges, rows, spill)
    for number, (first, last) in enumerate(steps):
        if cuts.is_one_key(first, last) and cuts.key(first) == cuts.key(first):  # each NaN is distinct
            (values, firsts), count = external.of_one_key(ctx, spill, first, cuts.ranges)
            times: Any = np.full(len(values), count)
        else:
            elements, indices = spill.rows(first, last)
            with external.held(ctx, elements) as some, external.held(ctx, indices) as where:
                found = found_in_order(some, False)
                values, times = found.values.local_view(), found.counts.local_view()
                firsts = take(where, found.indices).local_view()
        for to, columns in ((places, (values, firsts)), (often, (times,))):  # which are not divided alike
            to.add(columns, np.where(np.arange(len(steps)) < number, 0, len(columns[0])))
    values, indices = external.collected(flat, [(places, len(steps))])
    (counts,) = external.collected(flat, [(often, len(steps))])
    return UniqueAll(values, indices, None, counts)


def _inverse(order: Any, which: Any) -> Any:
    """Return for the elements what is known of them in an order, some at a time where memory is limited. Collective."""
    inverse = new_like(order, np.int64)
    if not is_limited(order):
        inverse.put(order.to_numpy(), which.get(order.local_indices()))
        return inverse
    own = order.local_view()
    scatter_rows(inverse, len(own), 1, own.__getitem__, lambda some: which.get(indices_of_rows(order, some)))
    return inverse
