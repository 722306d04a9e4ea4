"""Hashes of rows, by which equal keys come to one rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.library import bridge
from ..algorithms.reorder import splitmix64
from ..exceptions import InvalidTypeError
from .rows import arrow

#: The hash of null, of a value of any type.
_NULL = np.uint64(0x6E756C6C)

#: So many rows are hashed at once, so that what is between two steps stays in the processor's cache.
_BLOCK = 1 << 15


def hashed(local: Any, keys: list[str]) -> Any:
    """Return a number of each row of a pyarrow.Table, an array of uint64, by the values of some columns.

    Equal values have the same number on every rank: integers of any width, text with categories or without, -0.0 and
    0.0, every NaN, and every null. The numbers depend on no process, and are no secret.

    Raises
    ------
    InvalidTypeError
        If a column is of lists or structs.
    """
    made = np.zeros(len(local), np.uint64)
    for name in keys:
        first = 0
        for chunk in local.column(name).chunks:
            part = made[first : first + len(chunk)]
            words = _words(name, chunk)
            for block in range(0, len(part), _BLOCK):
                rows = slice(block, block + _BLOCK)
                part[rows] = splitmix64(part[rows] ^ words[rows])
            first += len(chunk)
    return made


def ranks_of(hashes: Any, size: int) -> Any:
    """Return the rank of each hash, an array of uint16 or uint32."""
    kind = np.uint16 if size <= 1 << 16 else np.uint32
    return ((hashes >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(kind)


def _words(name: str, chunk: Any) -> Any:
    """Return a word of 64 bits for each value of an array: equal for equal values alone, or hardly for others."""
    pa = arrow()
    if len(chunk) == 0:
        return np.zeros(0, np.uint64)
    if pa.types.is_dictionary(chunk.type):
        words = np.append(_words(name, chunk.dictionary), _NULL)
        return words[chunk.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
    if pa.types.is_null(chunk.type):
        return np.full(len(chunk), _NULL)
    words = _words_of_text(chunk) if _is_text(chunk.type) else _words_of_numbers(name, chunk)
    if chunk.null_count:
        words = np.where(chunk.is_null().to_numpy(zero_copy_only=False), _NULL, words)
    return words


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_string(kind) or types.is_binary(kind) or types.is_fixed_size_binary(kind))


def _words_of_numbers(name: str, chunk: Any) -> Any:
    pa = arrow()
    types, kind, offset = pa.types, chunk.type, chunk.offset
    if types.is_boolean(kind):
        return chunk.cast(pa.uint8()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)
    if types.is_decimal(kind):
        words = np.frombuffer(chunk.buffers()[1], np.uint64).reshape(-1, kind.bit_width // 64)[offset:]
        words = words[: len(chunk)]
        made = words[:, 0]
        for column in words.T[1:]:
            made = splitmix64(made) ^ column
        return made
    if not (types.is_primitive(kind) and kind.bit_width <= 64):
        raise InvalidTypeError(f"the column {name!r} is of {kind}, which is no key")
    if types.is_floating(kind):
        values = np.frombuffer(chunk.buffers()[1], f"f{kind.bit_width // 8}")[offset : offset + len(chunk)]
        values = values.astype(np.float64) + 0.0  # of -0.0, too
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    sign = "u" if types.is_unsigned_integer(kind) else "i"
    values = np.frombuffer(chunk.buffers()[1], f"{sign}{kind.bit_width // 8}")[offset : offset + len(chunk)]
    return values.astype(np.int64 if sign == "i" else np.uint64).view(np.uint64)


def _words_of_text(chunk: Any) -> Any:
    """Return hashes of texts."""
    pa = arrow()
    if pa.types.is_fixed_size_binary(chunk.type):
        chunk = chunk.cast(pa.binary())
    _, offsets, data = chunk.buffers()
    made = np.empty(len(chunk), np.uint64)
    data = b"" if data is None else data
    bridge.hash_texts(made, offsets.slice(4 * chunk.offset), len(chunk), data, len(data))
    return made
