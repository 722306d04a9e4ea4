"""What NumPy's packbits and unpackbits do: elements as the bits of bytes, and bytes as elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.objects import refuse_closed
from ..containers.base import check_container
from ..containers.interior import in_blocks
from ..containers.layout import BLOCK
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.scheduler import algorithm
from .exchange import share
from .layouts import container_of, dimensions
from .manipulation import range_of_rows, ravel
from .rows import by_rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many bytes are packed at a time, of as many elements of up to eight bytes each that there are bits.
_PACKED = 1 << 16


@algorithm
def packbits(a: Any, axis: Any = None, bitorder: Any = "big") -> Any:
    """Return bytes of eight elements each: whether these are not 0. Divided by blocks of the first dimension."""
    _check(a, "biu", "an input array of integer or boolean data type", bitorder)
    line, dim = _line(a, axis)
    share(a, "packbits", f"axis {axis}, bitorder {bitorder}")
    extent = line.shape[dim]
    made: Any = container_of(line, _with_extent(line, dim, -(-extent // 8)), np.dtype(np.uint8), BLOCK)
    with by_rows(line, blocks=True) as lines:
        first, out = 8 * made.local_offset, made.local_view()
        rows = range_of_rows(lines, first, min(first + 8 * len(out), extent)) if dim == 0 else None
        for some in in_blocks(max(lines.local_view(), out, key=lambda each: each.nbytes) if dim else out, _PACKED):
            begin, end, _ = some.indices(len(out))
            part = lines.local_view()[some] if rows is None else rows(first + 8 * begin, min(first + 8 * end, extent))
            out[some] = np.packbits(part, dim, bitorder)
    return made


@algorithm
def unpackbits(a: Any, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    """Return the bits of bytes as an element each. Divided by blocks of the first dimension."""
    _check(a, "u", "an input array of unsigned byte data type", bitorder)
    if a.dtype != np.uint8:
        raise InvalidTypeError("Expected an input array of unsigned byte data type")
    line, dim = _line(a, axis)
    bits = 8 * line.shape[dim]
    number = bits if count is None else integer("count", count)
    share(a, "unpackbits", f"axis {axis}, count {number}, bitorder {bitorder}")
    if number < -bits:
        raise InvalidArgumentError(f"-count larger than number of elements: count {number} of {bits}")
    extent = number if number >= 0 else bits + number
    made: Any = container_of(line, _with_extent(line, dim, extent), np.dtype(np.uint8), BLOCK)
    with by_rows(line, blocks=True) as lines:
        out, first = made.local_view(), made.local_offset
        rows = None
        if dim == 0:
            last = min(-(-(first + len(out)) // 8), line.shape[0])
            rows = range_of_rows(lines, min(first // 8, last), last)
        for some in in_blocks(out):
            if rows is None:
                _unpack(lines.local_view()[some], dim, bitorder, 0, out[some])
            else:
                begin, end, _ = some.indices(len(out))
                stop = min(-(-(first + end) // 8), last)
                bits = rows(min((first + begin) // 8, stop), stop)
                _unpack(bits, 0, bitorder, (first + begin) % 8, out[some])
    return made


def _unpack(rows: Array, dim: int, bitorder: Any, start: int, out: Array) -> None:
    """Write the bits of bytes from one of them on, and 0 where there are no more bytes."""
    before = (slice(None),) * dim
    bits = np.unpackbits(rows, dim, bitorder=bitorder)[(*before, slice(start, start + out.shape[dim]))]
    out[(*before, slice(bits.shape[dim], None))] = 0
    out[(*before, slice(0, bits.shape[dim]))] = bits


def _check(a: Any, kinds: str, expected: str, bitorder: Any) -> None:
    check_container("a", a)
    refuse_closed(a)
    if a.dtype.kind not in kinds:
        raise InvalidTypeError(f"Expected {expected}, not {a.dtype}")
    if bitorder not in ("big", "little"):
        raise InvalidArgumentError(f"'order' must be either 'little' or 'big', not {bitorder!r}")


def _line(a: Any, axis: Any) -> tuple[Any, int]:
    """Return a container and which of its dimensions has the bits: all elements in one line where none is said."""
    return (ravel(a), 0) if axis is None else (a, dimensions(integer("axis", axis), a.ndim)[0])


def _with_extent(c: Any, dim: int, extent: int) -> tuple[int, ...]:
    return (*c.shape[:dim], extent, *c.shape[dim + 1 :])
