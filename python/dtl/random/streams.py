"""Streams of random numbers: a seed, the number of a call and the number of a block give the numbers of that block."""

from __future__ import annotations

import ctypes
import struct
from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.library import bridge
from .._native.threads import get_num_threads
from ..runtime.threaded import each

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The numbers of a block. A rank draws the blocks that it has a part of, from the first number of the block.
BLOCK = 1 << 16


class Streams:
    """NumPy's Generator, set to the start of any block of any call, and what the core draws the same streams from.

    Philox of Salmon, Moraes, Dror and Shaw (SC11, "Parallel random numbers: as easy as 1, 2, 3") makes of a key, which
    follows from the seed, and of the numbers of call and block the state in which Doty-Humphrey's SFC64 starts. SFC64
    makes the numbers of the block: it takes less than half of Philox's time. Ctx is any context.
    """

    #: NumPy's generator, its source of words, and the memory that has the state of that: made when they are needed.
    _generator: np.random.Generator | None = None
    _bits: np.random.SFC64
    _state: Array

    def __init__(self, ctx: Any, seed: np.random.SeedSequence) -> None:
        self.context, self._seed = ctx, seed
        self.key: tuple[int, int] = tuple(seed.generate_state(2, np.uint64).view(np.int64).tolist())

    def call(self, number: int) -> tuple[int, int, int, int]:
        """Return what the core draws the numbers of a call from."""
        key = self.key
        return key[0], key[1], number, BLOCK

    def beside(self) -> Streams:
        """Return the same streams, for another thread."""
        return Streams(self.context, self._seed)

    def at(self, call: int, block: int = 0) -> np.random.Generator:
        """Return NumPy's generator at the start of a block of a call."""
        if self._generator is None:
            self._bits = np.random.SFC64(0)
            self._state = _memory_of(self._bits)
            self._generator = np.random.Generator(self._bits)
        bridge.draw_start(self.context, self._state, block, self.call(call))
        if self._state.base is None:
            self._bits.state = _state(self._state[:4], 0, 0)
        return self._generator


def _state(words: Array, has_half: int, half: int) -> Any:
    """Return a state of SFC64 as NumPy takes it."""
    return {"bit_generator": "SFC64", "state": {"state": words}, "has_uint32": has_half, "uinteger": half}


def _memory_of(bits: np.random.SFC64) -> Array:
    """Return the memory that has the state of an SFC64 of NumPy's; if that is not laid out as is known here, other one.

    It takes a tenth of the time to write there.
    """
    bits.state = _state(np.arange(1, 5, dtype=np.uint64), 1, 7)
    interface: Any = bits.ctypes
    words: Array = np.ctypeslib.as_array((ctypes.c_uint64 * 5).from_address(interface.state_address))
    known = np.array([1, 2, 3, 4, struct.unpack("=Q", struct.pack("=iI", 1, 7))[0]], np.uint64)
    return words if (words == known).all() else np.empty(5, np.uint64)


#: From so many blocks on, they are drawn on threads.
_FEW = 4

#: The numbers that are drawn at a time to be copied: they stay in the cache.
_PIECE = 1 << 14

#: A function that draws the next numbers, or rows of numbers: its generator, the index of the first, and how many.
Draw = Callable[[np.random.Generator, int, int], Array]

#: A function that draws the same numbers to an array.
DrawInto = Callable[[np.random.Generator, Array], Any]


def fill(
    streams: Streams,
    call: int,
    draw: Draw,
    out: Array,
    start: int,
    block: int,
    total: int | None = None,
    draw_into: DrawInto | None = None,
) -> None:
    """Write the numbers of a call, from that of index start on, to the rows of an array.

    Block is the number of rows of a block. With total, the number of rows of the whole, blocks are drawn to their end:
    for draws whose rounding depends on how many rows there are. A block is one thread's.
    """
    skip = start % block
    blocks = (skip + len(out) - 1) // block + 1
    if blocks < _FEW or get_num_threads() < 2:
        _fill(streams, call, draw, out, start, block, total, draw_into)
        return
    free = [streams]

    def task(number: int) -> None:
        try:
            own = free.pop()
        except IndexError:  # others have them
            own = streams.beside()
        lo, hi = max(number * block - skip, 0), min((number + 1) * block - skip, len(out))
        _fill(own, call, draw, out[lo:hi], start + lo, block, total, draw_into)
        free.append(own)

    each([partial(task, number) for number in range(blocks)])


def _fill(
    streams: Streams,
    call: int,
    draw: Draw,
    out: Array,
    start: int,
    block: int,
    total: int | None,
    draw_into: DrawInto | None,
) -> None:
    at, end = start, start + len(out)
    while at < end:
        number = at // block
        first = number * block
        stop = min(first + block, end)
        last = stop if total is None else min(first + block, total)
        generator = streams.at(call, number)
        if first == at and last == stop and draw_into is not None:
            draw_into(generator, out[at - start : stop - start])
            at = stop
            continue
        piece = _PIECE if total is None else last - first
        for lo in range(first, last, piece):
            values = draw(generator, lo, min(piece, last - lo))
            hi = min(lo + len(values), stop)
            if hi > at:
                out[at - start : hi - start] = values[at - lo : hi - lo]
                at = hi


class Range(NamedTuple):
    """Numbers that the core draws: integers from least to least + width, or floats in [least, least + width)."""

    kind: int
    least: int
    width: int


def integers(least: int, most: int) -> Range:
    """Return the range of integers that includes both."""
    return Range(bridge.RANDOM_INTEGERS, _signed(least), _signed(most - least))


def floats(least: float, width: float) -> Range:
    """Return the range of floats from least on."""
    return Range(bridge.RANDOM_FLOATS, *struct.unpack("=qq", struct.pack("=dd", least, width)))


#: That of random().
UNIT = floats(0.0, 1.0)


def _signed(number: int) -> int:
    """Return the number of 64 bits with a sign that has the same bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def fill_range(ctx: Any, streams: Streams, call: int, numbers: Range, out: Array, start: int) -> None:
    """Write the numbers of a range, from that of index start on, to an array without gaps."""
    if out.size:
        bridge.draw_into(ctx, out, *numbers, start, streams.call(call))
