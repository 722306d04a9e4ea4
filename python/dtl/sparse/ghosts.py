"""What the ranks send each other for a product: the elements of a vector that rows of other ranks need.

Who needs what is found once for a matrix. The messages of a type of elements are prepared once, too, and
are of a context of their own, so that they meet no other.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

import numpy as np

from ..comm.collectives import alltoall
from ..comm.point_to_point import recv_init, send_init
from ..comm.requests import startall, waitall
from ..comm.vector_collectives import alltoallv
from ..runtime.context import Context, kept_of
from . import division

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The messages of so many types and widths of elements are kept with a matrix.
_KEPT = 4


def _place(ctx: Context, messages: Ghosts) -> tuple[Context, int]:
    """Return the context of messages, and a number that no other exchange has. Collective for the first one."""
    kept = kept_of(ctx)
    if kept.neighbours is None:
        kept.neighbours, kept.prepared = ctx.dup(), WeakSet()
    kept.prepared.add(messages)
    kept.exchanges += 1
    return kept.neighbours, int(kept.exchanges) & 0x7FFF


class Ghosts:
    """Who sends which elements to whom. Making it is collective."""

    def __init__(self, ctx: Context, begins: Array, ghosts: Array) -> None:
        self._messages_of, self._tag = _place(ctx, self)
        wanted = np.bincount(division.owners(begins, ghosts), minlength=ctx.size)
        sent = alltoall(ctx, wanted)
        indices = alltoallv(ctx, ghosts, wanted, sent)
        #: Which elements of its part this rank sends, those of the first neighbour first.
        self.sent = indices - begins[ctx.rank]
        #: The rows of ``sent`` that go to each neighbour.
        self.destinations = _slices(sent)
        self._sources = _slices(wanted)
        self.size = len(ghosts)
        self._prepared: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def _messages(self, like: Array, back: bool) -> tuple[Any, ...]:
        """Return the messages of elements, or rows, as an array has, and the memory that they leave and arrive in."""
        key = (like.dtype, like.shape[1:], back)
        if key not in self._prepared:
            if len(self._prepared) == _KEPT:
                self._end(next(iter(self._prepared)))
            near = np.zeros((len(self.sent), *like.shape[1:]), like.dtype)
            ghosts = np.zeros((self.size, *like.shape[1:]), like.dtype)
            ends = [(near, self.destinations), (ghosts, self._sources)]
            (sent, to), (received, of) = reversed(ends) if back else ends
            ctx, tag = self._messages_of, self._tag
            requests: list[Any] = [recv_init(ctx, rank, tag, out=received[part]) for rank, part in of.items()]
            requests += [send_init(ctx, sent[part], rank, tag) for rank, part in to.items()]
            self._prepared[key] = (requests, near, ghosts)
        return self._prepared[key]

    def _end(self, key: tuple[Any, ...]) -> None:
        for request in self._prepared.pop(key)[0]:
            request.close()

    def close(self) -> None:
        """End the requests of all messages: the context closes."""
        for key in tuple(self._prepared):
            self._end(key)

    def start(self, part: Array) -> Array:
        """Begin to send elements of this rank's part of a vector, or rows of a matrix. Return where ghosts arrive.

        They are there after ``end``.
        """
        self._under_way, near, ghosts = self._messages(part, False)
        np.take(part, self.sent, axis=0, out=near, mode="clip")
        startall(self._under_way)
        return ghosts

    def start_back(self, ghosts: Array) -> Array:
        """Begin to send what ghosts came to back to the ranks that have the elements. Return where theirs arrive.

        After ``end``, row n there belongs to the element ``sent[n]`` of the part.
        """
        self._under_way, near, there = self._messages(ghosts, True)
        there[...] = ghosts
        startall(self._under_way)
        return near

    def end(self) -> None:
        """Wait until the elements that have been begun with are there."""
        waitall(self._under_way)

    def brought(self, part: Array) -> Array:
        """Return what ``start`` does, once it is there. The next exchange overwrites it. Collective."""
        ghosts = self.start(part)
        self.end()
        return ghosts

    def sent_back(self, ghosts: Array) -> Array:
        """Return what ``start_back`` does, once it is there. The next exchange overwrites it. Collective."""
        near = self.start_back(ghosts)
        self.end()
        return near

    def combine(self, out: Array, near: Array, operation: Any) -> None:
        """Combine elements of this rank's part with what has come back to them, by a ufunc of two operands."""
        for part in self.destinations.values():  # an element is there once for each
            where = self.sent[part]
            out[where] = operation(out[where], near[part])


def _slices(counts: Array) -> dict[int, slice]:
    """Return the rows of each rank that has some, where those of all ranks lie one after the other."""
    begins = division.starts(counts)
    return {rank: slice(int(begins[rank]), int(begins[rank + 1])) for rank in np.flatnonzero(counts).tolist()}
