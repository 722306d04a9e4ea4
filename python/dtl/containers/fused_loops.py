"""How an expression is computed: its ufuncs follow each other on one block of rows after the other.

So what lies between two ufuncs is never as large as a part, and stays in the cache. The loop itself is C, because
Python may run a signal's handler between two statements, and a block that is computed in place must not be computed
again.
"""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from .._native import library
from .._native.library import bridge

Call = Any  # one of expressions.py, which imports this module
Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The bytes of a block of one array: those of an expression's arrays fit into the caches of a processor together.
BLOCK = 1 << 20

#: The bytes of rows that an array is written out for, which NumPy would spread to each.
_TILE = 1 << 18

#: Of so many elements, pieces are computed on threads.
_MANY = 1 << 18

#: NumPy's names of errors of floats: in np.geterr, and in warnings. In the order of the bits of bridge.compute.
_ERRORS = (("divide", "divide by zero"), ("over", "overflow"), ("under", "underflow"), ("invalid", "invalid value"))

#: What the loop takes of an array: the rows of a block, the first of as many (of memory for a block, or of rows that
#: are all alike), or all of it.
_ROWS, _BUFFER, _TILED, _WHOLE = "r", "b", "t", "c"

#: For the fold of an expression that is not folded.
_NO_WORDS: Array = np.zeros(0, np.int64)

#: Memory for the blocks of what is not written to memory, which expressions use one after the other.
_buffers: list[Array] = []


class Pieces(NamedTuple):
    """An operand whose rows from first to last are in one array, and whose other rows are in another."""

    own: Array
    rest: Array
    first: int
    last: int

    def cut(self, start: int, stop: int) -> Array:
        """Return rows that are all in one of the two arrays."""
        if self.first <= start < self.last:
            return self.own[start - self.first : stop - self.first]
        return self.rest[start:stop]


class Spread(NamedTuple):
    """An array that NumPy spreads to the shape of the other operands."""

    array: Array


def compute(call: Call, target: Array, threads: int) -> list[tuple[Call, str]]:
    """Compute an expression, and return what there is to warn of, and of which of its calls.

    At most so many threads compute it; 0 is those that the rank has.
    """
    if target.size == 0:
        call.done[0] = True
        return []
    program = _Program(call, target.shape, target)
    return _told(program, program.run(call.done, threads))


def fold(call: Call, shape: tuple[int, ...], kind: int, threads: int) -> tuple[Array, list[tuple[Call, str]]]:
    """Return what the elements of an expression, not written to memory, are folded to, and what to warn of."""
    size = math.prod(shape)
    words = np.zeros(8, np.int64)
    if not size:
        return words[:4], []
    program = _Program(call, shape)
    told = _told(program, program.run([False], threads, kind, size, words))
    return words[:4], told


def apply(ufunc: np.ufunc, inputs: tuple[Array, ...], out: Array, threads: int) -> bool:
    """Write what a ufunc makes of arrays of one dimension to a new one on at most so many threads, and say so.

    It is not of few elements, nor where there is an error of floats, which NumPy then tells of.
    """
    if out.ndim != 1 or out.size < _MANY:
        return False
    steps, how = ((ufunc, *range(len(inputs) + 1)),), (_ROWS * (len(inputs) + 1)).encode()
    runs = ((out.size, (*inputs, out)),)
    with np.errstate(all="call", call=bridge.fault):
        faults = bridge.compute(out.size, runs, how, steps, [False], threads, -1, len(inputs), 0, _NO_WORDS)
    return not any(faults)


class Windows:
    """The value of an expression a window of rows after the other, each of which the next overwrites.

    Attributes
    ----------
    rows
        How many rows there are: of an expression that is computed as if it had one dimension, its elements.
    is_flat
        Whether it is one.
    """

    def __init__(self, call: Call, shape: tuple[int, ...]) -> None:
        self._program = _Program(call, shape)
        self._faults = bytearray(len(self._program.steps))
        self._threads = call.threads
        self._room: Array = None
        self.rows, self.is_flat = self._program.rows, len(shape) == 1 or self._program.rows != shape[0]

    def rows_from(self, start: int, stop: int) -> Array:
        """Compute some rows. Nothing else is to be computed meanwhile."""
        if self._room is None or len(self._room) < stop - start:
            self._room = self._program.room(stop - start)
        faults = self._program.run_window(start, stop, self._room, self._threads)
        self._faults[:] = bytes(map(operator.or_, self._faults, faults))
        return self._room[: stop - start]

    def told(self) -> list[tuple[Call, str]]:
        """Return what there is to warn of."""
        return _told(self._program, bytes(self._faults))


def _told(program: _Program, faults: bytes) -> list[tuple[Call, str]]:
    """Return the warnings that errors of floats call for, and the calls that they are about."""
    return [
        (step, f"{error} encountered in {step.ufunc.__name__}")
        for step, bits in zip(program.calls, faults)
        for n, (name, error) in enumerate(_ERRORS)
        if bits >> n & 1 and step.errors[name] == "warn"
    ]


class _Program:
    """The steps of an expression, and the arrays that they take and write.

    Attributes
    ----------
    steps, calls
        Of each step, the ufunc and the numbers of its arrays, the last of them for the result; and the call.
    how
        A letter for each array.
    block
        The number of rows that the loop takes at once.
    rows
        How many rows all blocks have.
    result
        The number of the array that gets the expression's value: the target, or a buffer where there is none.
    """

    def __init__(self, call: Call, shape: tuple[int, ...], target: Array = None) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self.calls: list[Call] = []
        self.how = ""
        self._shape = shape
        self._arrays: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._users: dict[int, int] = {}
        self._buffers: list[int] = []
        self._free: dict[np.dtype[Any], list[int]] = {}
        self._count_users(call)
        self.result = self._add(call, None if target is None else self._number(target, _ROWS))
        widest = max([part.dtype.itemsize for part in (call, *call.reads)])
        row = shape[1:]
        tiled = [number for number, letter in enumerate(self.how) if letter == _WHOLE and np.ndim(self._arrays[number])]
        is_flat = len(shape) > 1 and all(map(self._is_flat, self._arrays, self.how))
        rest: tuple[int, ...]
        if is_flat and tiled and math.prod(row) * widest <= _TILE:
            self.rows, rest = math.prod(shape), ()
            self.block = _TILE // (math.prod(row) * widest) * math.prod(row)
            for number in tiled:
                self._tile(number, row)
        else:
            is_flat = is_flat and not tiled
            self.rows, rest = (math.prod(shape), ()) if is_flat else (shape[0], row)
            few = min(self.rows, BLOCK // max(widest * math.prod(rest), 1))
            at_once = len(self.steps) == 1 and target is not None and not library.memory_limit()
            self.block = max(self.rows if at_once else few, 1)
        for number, letter in enumerate(self.how):
            if isinstance(self._arrays[number], np.dtype):
                self._arrays[number] = _buffer(self._buffers.index(number), (self.block, *rest), self._arrays[number])
            elif letter == _ROWS and not rest and len(shape) > 1:
                self._arrays[number] = self._arrays[number].reshape(-1)

    def _tile(self, number: int, row: tuple[int, ...]) -> None:
        """Write an array that is spread as often as a block has rows: NumPy is slow where rows are short."""
        rows = self.block // math.prod(row)
        self._arrays[number] = np.broadcast_to(self._arrays[number], (rows, *row)).reshape(-1)
        self.how = self.how[:number] + _TILED + self.how[number + 1 :]

    def run(self, done: list[bool], threads: int, fold: int = -1, size: int = 0, words: Array = _NO_WORDS) -> bytes:
        """Do the steps, fold what they make, and set done[0]. Returns the errors of floats in each step, as bits."""
        runs = tuple([(stop - start, self._cut(start, stop)) for start, stop in self._runs(0, self.rows)])
        return self._compute(self.how, runs, done, threads, fold, size, words)

    def room(self, rows: int) -> Array:
        """Return memory for so many rows of the value."""
        like = self._arrays[self.result]
        return np.empty((rows, *like.shape[1:]), like.dtype)

    def run_window(self, start: int, stop: int, room: Array, threads: int) -> bytes:
        """Do the steps for some rows, whose value goes to the first of as many in memory. Returns what run returns."""
        before, after = slice(self.result), slice(self.result + 1, None)
        runs = []
        for lo, hi in self._runs(start, stop):
            cut = self._cut(lo, hi)
            runs.append((hi - lo, (*cut[before], room[lo - start : hi - start], *cut[after])))
        how = self.how[before] + _ROWS + self.how[after]
        return self._compute(how, tuple(runs), [False], threads, -1, 0, _NO_WORDS)

    def _compute(
        self, how: str, runs: tuple[Any, ...], done: list[bool], threads: int, fold: int, size: int, words: Array
    ) -> bytes:
        steps = tuple(self.steps)
        with np.errstate(all="call", call=bridge.fault):
            return bridge.compute(self.block, runs, how.encode(), steps, done, threads, fold, self.result, size, words)

    def _runs(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return the ranges of some rows that each operand has in one array."""
        ends = {start, stop}
        for array in self._arrays:
            if isinstance(array, Pieces):
                ends |= {min(max(end, start), stop) for end in (array.first, array.last)}
        cuts = sorted(ends)
        return list(zip(cuts, cuts[1:]))

    def _cut(self, start: int, stop: int) -> tuple[Any, ...]:
        cut = []
        for array, letter in zip(self._arrays, self.how):
            if isinstance(array, Pieces):
                cut.append(array.cut(start, stop))
            else:
                cut.append(array[start:stop] if letter == _ROWS else array)
        return tuple(cut)

    def _is_flat(self, array: Any, letter: str) -> bool:
        """Say whether an array can be taken as if the target and it had one dimension."""
        if letter != _ROWS:
            return True
        return isinstance(array, np.ndarray) and array.size == math.prod(self._shape) and array.flags.c_contiguous

    def _count_users(self, call: Call) -> None:
        """Count how often the result of each call is an operand."""
        for below in call.inlined():
            known = self._users.get(id(below), 0)
            self._users[id(below)] = known + 1
            if not known:
                self._count_users(below)

    def _add(self, call: Call, number: int | None = None) -> int:
        """Add the steps of a call, and return the number of the array that has its result."""
        inlined = call.inlined()
        inputs = [self._operand(value, inlined) for value in call.inputs]
        for below in inlined:
            self._users[id(below)] -= 1
            if not self._users[id(below)]:
                self._free.setdefault(below.dtype, []).append(self._numbers[id(below)])
        if number is None:
            free = self._free.get(call.dtype)
            number = free.pop() if free else self._number(call.dtype, _BUFFER)
        self.steps.append((call.ufunc, *inputs, number))
        self.calls.append(call)
        self._numbers[id(call)] = number
        return number

    def _operand(self, value: Any, inlined: list[Call]) -> int:
        """Return the number of the array that has an operand."""
        if any([value is call for call in inlined]):
            return self._numbers[id(value)] if id(value) in self._numbers else self._add(value)
        value = getattr(value, "stored", value)
        if isinstance(value, Spread):
            value = value.array
            return self._number(value, _ROWS if value.ndim == len(self._shape) and len(value) > 1 else _WHOLE)
        return self._number(value, _ROWS if isinstance(value, (np.ndarray, Pieces)) else _WHOLE)

    def _number(self, array: Any, letter: str) -> int:
        """Return the number of an array, which it gets if it is new; of a buffer so far the type is known."""
        known = self._numbers.get(id(array)) if letter == _ROWS else None
        if known is None:
            known = len(self._arrays)
            self._arrays.append(array)
            self.how += letter
            if letter == _ROWS:
                self._numbers[id(array)] = known
            elif letter == _BUFFER:
                self._buffers.append(known)
        return known


def _buffer(n: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the n-th buffer for the elements of a block."""
    size = math.prod(shape) * dtype.itemsize
    while len(_buffers) <= n:
        _buffers.append(np.empty(0, np.uint8))
    if _buffers[n].size < size:
        _buffers[n] = np.empty(size, np.uint8)
    return _buffers[n][:size].view(dtype).reshape(shape)
