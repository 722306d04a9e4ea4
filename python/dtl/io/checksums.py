"""CRC-32 of what several ranks read or write, put together from those of their parts."""

from __future__ import annotations

import zlib
from typing import Any, Iterable

from ..exceptions import FileError

_POLYNOMIAL = 0xEDB88320  # of CRC-32, with the bits in reverse


class Checksum:
    """The checksums of the ranges of bytes that one rank reads or writes."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def add(self, start: int, data: Any) -> None:
        """Take the bytes from a place on."""
        size = memoryview(data).nbytes
        if self.parts and self.parts[-1][0] + self.parts[-1][1] == start:
            first, before, crc = self.parts.pop()
            self.parts.append((first, before + size, zlib.crc32(data, crc)))
        elif size:
            self.parts.append((start, size, zlib.crc32(data)))


def whole(parts: Iterable[Any], size: int) -> int:
    """Return the checksum of all bytes, each of which is in one part."""
    crc = end = 0
    for start, length, part in sorted(parts):
        if start != end:
            raise FileError(f"the bytes from {min(start, end)} to {max(start, end)} are in no part, or in two")
        crc = combined(crc, part, length)
        end = start + length
    if end != size:
        raise FileError(f"{end} bytes in place of {size}")
    return crc


def combined(first: int, second: int, length: int) -> int:
    """Return the CRC-32 of two runs of bytes one after the other, of which the second has this length.

    As crc32_combine of zlib, which Python does not offer: the first is multiplied by x to the power of 8 length, modulo
    the polynomial.
    """
    return _times(_power(length), first) ^ second


def _times(a: int, b: int) -> int:
    """Return a product modulo the polynomial, of which the first factor is not 0."""
    bit, product = 1 << 31, 0
    while True:
        if a & bit:
            product ^= b
            if not a & (bit - 1):
                return product
        bit >>= 1
        b = b >> 1 ^ _POLYNOMIAL if b & 1 else b >> 1


#: Powers that were asked for: ranks read and write parts of few different lengths.
_powers: dict[int, int] = {}


def _power(length: int) -> int:
    """Return x to the power of 8 length, modulo the polynomial."""
    if length not in _powers:
        if len(_powers) > 1000:
            _powers.clear()
        _powers[length] = _new_power(length)
    return _powers[length]


def _new_power(length: int) -> int:
    square = 1 << 30  # x
    for _ in range(3):
        square = _times(square, square)
    result = 1 << 31  # 1
    while length:
        if length & 1:
            result = _times(square, result)
        square = _times(square, square)
        length >>= 1
    return result
