"""Random orders that do not depend on the number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.deferring import algorithm
from ..containers.base import DistributedContainer, check_container
from ..exceptions import InvalidArgumentError
from .exchange import share
from .sort import sort_by_key

_STEP = 0x9E3779B97F4A7C15


@algorithm
def shuffle(c: DistributedContainer, seed: int) -> None:
    """Put the elements in a random order, in place. Collective.

    The order follows from the seed and the number of elements alone: it is the same on any number of ranks, and however
    the container is divided. Each of the orders is as likely as the others.

    Parameters
    ----------
    c
        A container of one dimension, the same on every rank.
    seed
        An integer in [0, 2**63), the same on every rank.

    Raises
    ------
    InvalidTypeError
        If seed is no integer. On every rank.
    InvalidArgumentError
        If seed is negative, or there is not one dimension. On every rank.
    CollectiveMismatchError
        If ranks pass different containers or seeds.
    MemoryError
        If a rank has no room for what is in between: 40 bytes an element. On every rank, and nothing is changed.

    Notes
    -----
    The elements are sorted by a random number of 64 bits each, which SplitMix64 of Steele, Lea and Flood (OOPSLA 2014)
    makes of the seed and the global index. Two that have the same number keep their order; among a thousand million
    elements, that is to be expected of one pair in forty such orders.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6, dtype=int) as vec:
    ...     dtl.iota(vec)
    ...     dtl.shuffle(vec, seed=3)
    ...     print(sorted(vec[...].gather_to().tolist()))
    [0, 1, 2, 3, 4, 5]
    """
    check_container("c", c)
    c._check_open()
    number = integer("seed", seed)
    if number < 0:
        raise InvalidArgumentError(f"seed {number} is negative")
    if c.ndim != 1:
        raise InvalidArgumentError(f"c of shape {c.shape} has {c.ndim} dimensions; it must have 1")
    keys = c._like(np.uint64)
    keys.local_view()[...] = _random(c.local_indices(), number)
    with keys:
        share(c, "shuffle", f"seed {number}")
        sort_by_key(keys, c)


def _random(indices: Any, seed: int) -> Any:
    """Return SplitMix64's number of each index, in a sequence that the seed chooses."""
    return _mixed(_mixed(indices.astype(np.uint64)) ^ _mixed(np.array([seed], np.uint64)))


def _mixed(state: Any) -> Any:
    """Return what SplitMix64 returns in each of some states."""
    z = state + np.uint64(_STEP)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
