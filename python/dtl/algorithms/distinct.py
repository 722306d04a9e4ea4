"""The distinct elements of a container, where each is, and which one each element is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..containers.making import new_like
from ..containers.sequences import DistributedVector
from ..runtime.scheduler import algorithm
from .concatenate import concat
from .creation import full, ones
from .elementwise import diff, nonzero
from .manipulation import ravel, reshape
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
    flat = ravel(x)
    n = flat.global_size
    if n == 0:
        none = reshape(flat, (0,)).astype(np.int64)
        return UniqueAll(flat, none, reshape(none, x.shape), none.copy())
    order = argsort(flat)
    in_order = take(flat, order)
    differs = concat([ones(x.context, 1, bool), in_order[1:] != in_order[:-1]])
    (starts,) = nonzero(differs)
    counts = diff(concat([starts, full(x.context, 1, n)]))
    which = cumsum(differs.astype(np.int64)) - 1
    inverse = new_like(order, np.int64)
    inverse.put(order.to_numpy(), which.get(order.local_indices()))
    shaped = reshape(inverse, x.shape)
    return UniqueAll(take(in_order, starts), take(order, starts), shaped, counts)
