"""An agreement on a call, in which each rank also sends a few numbers to all, such as what it found in its part.

And exchanges of elements of any type that containers hold, of which messages know some only.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import handle_of
from ..comm.vector_collectives import allgatherv, alltoallv
from ..containers.base import DistributedContainer
from ..policies import Partition

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many numbers each rank sends to all.
WIDTH = 4


def share(
    of: DistributedContainer,
    op: str,
    words: str = "",
    numbers: Sequence[int] | Array = (),
    also: Sequence[DistributedContainer] = (),
    *,
    anywhere: bool = False,
) -> np.ndarray[Any, Any]:
    """Return what every rank found, a row a rank of WIDTH int64, where all ranks make the same call. Collective.

    Parameters
    ----------
    of
        The container: the same on every rank.
    op, words
        What is called and its arguments in words, for the error of ranks that do not call the same.
    numbers
        What this rank found: at most WIDTH of them.
    also
        Further containers of the call: the same on every rank.
    anywhere
        Whether the elements may be on a GPU, which is refused else.

    Raises
    ------
    CollectiveMismatchError
        If ranks call something else.
    DTLError
        If a rank refuses. Of its class, on every rank.
    """
    call = _spelled(op, words)
    given = np.empty(WIDTH + len(call), np.int64)
    given[:WIDTH] = 0
    given[: len(numbers)] = numbers
    given[WIDTH:] = call
    others = np.array([handle_of(c) for c in also], np.int64) if also else None
    return np.asarray(bridge.share(of, given, int(anywhere), others))


def total(of: DistributedContainer, op: str, words: str, number: int) -> int:
    """Return the sum of what the ranks found, each element counted once. Collective."""
    rows = share(of, op, words, (number,))
    return int(rows[0, 0] if of.partition_policy is Partition.REPLICATED else rows[:, 0].sum())


def gathered(ctx: Any, elements: Array) -> Array:
    """Return the elements of all ranks, one after the other. Collective."""
    return _of_rows(allgatherv(ctx, as_rows(elements)), elements)


def exchanged(ctx: Any, elements: Array, sent: Array, expected: Array) -> Array:
    """Return what comes where each rank sends so many elements, or rows of some, to each other one. Collective."""
    return _of_rows(alltoallv(ctx, as_rows(elements), sent, expected), elements)


def as_rows(elements: Array) -> Array:
    """Return elements as messages take them: those that the core does not know as rows of their bytes."""
    if not kind_of(elements.dtype).is_moved:
        return elements
    size = math.prod(elements.shape[1:]) * elements.itemsize
    return np.ascontiguousarray(elements).view(np.uint8).reshape(len(elements), size)


def _of_rows(rows: Array, like: Array) -> Array:
    """Return what came as elements."""
    if not kind_of(like.dtype).is_moved:
        return rows
    return np.ascontiguousarray(rows).reshape(-1).view(like.dtype).reshape(len(rows), *like.shape[1:])


def _spelled(op: str, words: str) -> np.ndarray[Any, Any]:
    """Return a call in words as numbers of eight bytes each."""
    text = f"{op}\0{words}".encode()
    return np.frombuffer(text.ljust(-8 * (-len(text) // 8), b"\0"), np.int64)
