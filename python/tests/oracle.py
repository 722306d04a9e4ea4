"""What collectives and vectors are compared with: NumPy and naive loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

import dtl

DTYPES = (
    "float64",
    "float32",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "bool",
    "complex64",
    "complex128",
)

#: No elements, one, fewer than there are ranks, uneven, and more dimensions, also with none in one of them.
SHAPES = ((), (0,), (1,), (2,), (7,), (1000,), (3, 5), (0, 3), (2, 3, 4), (1, 1, 1, 1))

OPS = {
    dtl.SUM: np.add,
    dtl.PROD: np.multiply,
    dtl.MIN: np.minimum,
    dtl.MAX: np.maximum,
    dtl.LAND: np.logical_and,
    dtl.LOR: np.logical_or,
    dtl.BAND: np.bitwise_and,
    dtl.BOR: np.bitwise_or,
    dtl.BXOR: np.bitwise_xor,
}

if TYPE_CHECKING:  # Python 3.8 cannot subscript it
    Array = np.ndarray[Any, Any]


def values(dtype: Any, shape: tuple[int, ...], rank: int, first: int = 0) -> Array:
    """Return elements that differ between ranks and positions, of which the first has the position ``first``.

    They are whole numbers from 1 to 4, so that sums and products of four ranks are exact in every dtype but int8
    and uint8, and wrap around there.
    """
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=int))
    positions = np.arange(first, first + count)
    numbers = (positions * 3 + rank * 5 + rank * rank) % 4 + 1
    if dtype.kind == "b":
        numbers = (positions + rank) % 3 == 0
    array = numbers.astype(dtype)
    if dtype.kind == "c":
        array += 1j * ((positions + rank) % 3)
    return array.reshape(shape)


def everyones(dtype: Any, shape: tuple[int, ...], size: int) -> Array:
    """Return the values of all ranks, one entry a rank."""
    return np.stack([values(dtype, shape, rank) for rank in range(size)])


LOGICAL, BITWISE = (dtl.LAND, dtl.LOR), (dtl.BAND, dtl.BOR, dtl.BXOR)


def operands(op: dtl.ops.Op, dtype: Any, shape: tuple[int, ...], size: int) -> Array:
    """Return values of all ranks, one entry a rank, of which every order of the operator makes the same.

    For operators that tell only zeros, some are zeros. Products of more than four ranks would be rounded where numbers
    are not whole, so there the ranks behind the fourth have only signs.
    """
    parts = everyones(dtype, shape, size)
    if op is dtl.PROD and parts.dtype.kind in "fc":
        parts[4:] = np.where(parts[4:].real % 2 == 1, 1, -1)
    if op in LOGICAL:
        flat = parts.reshape(size, -1)
        for rank in range(size):
            flat[rank, rank::3] = 0
    return parts


def reduced(op: dtl.ops.Op, parts: Array) -> Array:
    """Return what NumPy makes of the ranks' values, in their own dtype."""
    if op in LOGICAL:
        return np.asarray(OPS[op].reduce(parts, axis=0)).astype(parts.dtype)
    return np.asarray(OPS[op].reduce(parts, axis=0, dtype=parts.dtype))


def identity(op: dtl.ops.Op, dtype: Any) -> Any:
    """Return the element that an operator leaves every other as it is with."""
    dtype = np.dtype(dtype)
    if op in (dtl.MIN, dtl.MAX, dtl.BAND):
        if dtype.kind in "fb":
            least, greatest = (False, True) if dtype.kind == "b" else (-np.inf, np.inf)
        else:
            least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
        bits = -1 if dtype.kind == "i" else greatest
        return dtype.type({dtl.MIN: greatest, dtl.MAX: least, dtl.BAND: bits}[op])
    return dtype.type(op in (dtl.PROD, dtl.LAND))


def has(op: dtl.ops.Op, dtype: Any) -> bool:
    """Say whether an operator is defined for a dtype."""
    kind = np.dtype(dtype).kind
    if op in (dtl.SUM, dtl.PROD):
        return kind != "b"
    if op in (dtl.MIN, dtl.MAX):
        return kind != "c"
    return op in LOGICAL or (op in BITWISE and kind in "iub")


def assert_same(actual: Any, expected: Any) -> None:
    """Check type, dtype, shape and every element."""
    assert type(actual) is type(expected), f"{type(actual)} is not {type(expected)}"
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def block(size: int, ranks: int) -> list[list[int]]:
    """Return the global indices of each rank, dealt out naively: one at a time to the rank that has too few."""
    counts = [0] * ranks
    for index in range(size):
        counts[index % ranks] += 1
    starts = [sum(counts[:rank]) for rank in range(ranks)]
    return [list(range(start, start + count)) for start, count in zip(starts, counts)]


def split_mix(state: int) -> int:
    """Return what SplitMix64 of Steele, Lea and Flood (OOPSLA 2014) returns in a state, in Python's own integers."""
    z = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def ranks_of(index: int, name: str, keywords: dict[str, Any], size: int, ranks: int) -> list[int]:
    """Return the ranks that hold an index under a division of that name, made with those keywords."""
    if name == "replicated":
        return list(range(ranks))
    if name == "cyclic":
        return [index % ranks]
    if name == "block_cyclic":
        return [index // keywords["block_size"] % ranks]
    if name == "hash":
        return [split_mix(index) * ranks // 2**64]
    sizes = keywords["partition"] if name == "explicit" else [len(part) for part in block(size, ranks)]
    return [rank for rank in range(ranks) if sum(sizes[:rank]) <= index < sum(sizes[: rank + 1])]


def way(function: Any, through_core: bool) -> Callable[..., Any]:
    """Return a function, or what stands behind it, which goes through Python and Go."""
    chosen: Callable[..., Any] = function.__wrapped__ if through_core else function
    return chosen
