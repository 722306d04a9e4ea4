"""An agreement on a call, in which each rank also sends a few numbers to all, such as what it found in its part."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._native.library import bridge
from ..containers.base import DistributedContainer
from ..policies import Partition

#: How many numbers each rank sends to all.
WIDTH = 4


def share(
    of: DistributedContainer,
    op: str,
    words: str = "",
    numbers: Sequence[int] = (),
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
    others = np.array([c._handle for c in also], np.int64) if also else None
    return np.asarray(bridge.call(bridge.SHARE, of, given, None, int(anywhere), 0, 0, 0, others))


def total(of: DistributedContainer, op: str, words: str, number: int) -> int:
    """Return the sum of what the ranks found, each element counted once. Collective."""
    rows = share(of, op, words, (number,))
    return int(rows[0, 0] if of.partition_policy is Partition.REPLICATED else rows[:, 0].sum())


def _spelled(op: str, words: str) -> np.ndarray[Any, Any]:
    """Return a call in words as numbers of eight bytes each."""
    text = f"{op}\0{words}".encode()
    return np.frombuffer(text.ljust(-8 * (-len(text) // 8), b"\0"), np.int64)
