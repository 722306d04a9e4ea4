"""Streams of random numbers: a seed, the number of a call and the number of a block give the numbers of that block."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.library import bridge

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The numbers of a block. A rank draws the blocks that it has a part of, from the first number of the block.
BLOCK = 1 << 16


class Streams:
    """NumPy's Generator, set to the start of any block of any call.

    Philox of Salmon, Moraes, Dror and Shaw (SC11, "Parallel random numbers: as easy as 1, 2, 3") makes of a key, which
    follows from the seed, and of the numbers of call and block the state in which Doty-Humphrey's SFC64 starts. SFC64
    makes the numbers of the block: it takes less than half of Philox's time.
    """

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._philox = np.random.Philox(key=seed.generate_state(2, np.uint64))
        self._bits = np.random.SFC64(0)
        self._counter: Any = self._philox.state
        self._start: Any = self._bits.state
        self.generator = np.random.Generator(self._bits)

    def at(self, call: int, block: int = 0) -> np.random.Generator:
        """Return NumPy's generator at the start of a block of a call."""
        self._start["state"]["state"][:3] = self.starts(call, block)[0]
        self._start["state"]["state"][3] = 1
        self._bits.state = self._start
        return self.generator

    def starts(self, call: int, block: int, number: int = 1) -> Array:
        """Return the words that SFC64 starts from in blocks that follow each other, three a block."""
        self._counter["state"]["counter"][:] = (block, 0, call, 0)
        self._philox.state = self._counter
        return self._philox.random_raw(4 * number).reshape(number, 4)[:, :3]


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
    for draws whose rounding depends on how many rows there are.
    """
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
    return Range(0, _signed(least), _signed(most - least))


def floats(least: float, width: float) -> Range:
    """Return the range of floats from least on."""
    return Range(1, *np.array([least, width], np.float64).view(np.int64).tolist())


#: That of random().
UNIT = floats(0.0, 1.0)


def _signed(number: int) -> int:
    """Return the number of 64 bits with a sign that has the same bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def fill_range(ctx: Any, streams: Streams, call: int, numbers: Range, out: Array, start: int) -> None:
    """Write the numbers of a range, from that of index start on, to an array without gaps."""
    first = start // BLOCK
    blocks = -(-(start + out.size) // BLOCK) - first
    given = np.empty(1 + 3 * blocks, np.uint64)
    given[0] = BLOCK
    given[1:].reshape(blocks, 3)[:] = streams.starts(call, first, blocks)
    given = given.view(np.int64)
    if out.size:
        bridge.call(bridge.DRAW, ctx, given, out, *numbers, start - first * BLOCK)
