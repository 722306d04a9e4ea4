"""Sums of products of operands on disk that are larger than memory: of pieces that fit, one after the other."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .._native import library
from .._native.callsite import by_user
from ..containers.interior import BLOCK, copy_rows, in_memory

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def write(
    out: Array,
    values: Sequence[Array],
    terms: Sequence[str],
    wanted: str,
    on_disk: Sequence[bool],
    product: Callable[[list[Array]], Array],
) -> None:
    """Write the sum of products of arrays, of which some are on disk, by what a function makes of pieces of them.

    Terms are the letters of the dimensions of each array, wanted those of the result. What is on disk of the operands,
    and the result, has a block's bytes in each turn. An operand is read once for all pieces of dimensions it has not.
    """
    sizes = {name: n for value, term in zip(values, terms) for name, n in zip(term, value.shape)}
    moved = [(term, value.itemsize) for value, term, disk in zip(values, terms, on_disk) if disk]
    widths = _widths(sizes, [*moved, (wanted, out.itemsize)])
    inner = [name for name in sizes if name not in wanted]
    for kept in _ranges(sizes, widths, wanted):
        total: Any = None
        for summed in _ranges(sizes, widths, inner):
            found = product(_pieces(values, terms, on_disk, {**kept, **summed}))
            total = np.array(found) if total is None else by_user(np.add, (total, found), {"out": total})
            library.memory_ease()
        if wanted:
            copy_rows(out[tuple(kept[name] for name in wanted)], total)
        else:
            out[...] = total


def _widths(sizes: dict[str, int], operands: list[tuple[str, int]]) -> dict[str, int]:
    """Return how many indices of each dimension a piece has: the first one of the largest operand is halved in turn."""
    widths = dict(sizes)

    def nbytes(operand: tuple[str, int]) -> int:
        return math.prod(widths[name] for name in operand[0]) * operand[1]

    while sum(map(nbytes, operands)) > BLOCK:
        name = next((name for name in max(operands, key=nbytes)[0] if widths[name] > 1), None)
        if name is None:
            break
        widths[name] = -(-widths[name] // 2)
    return widths


def _ranges(sizes: dict[str, int], widths: dict[str, int], names: Sequence[str]) -> Iterator[dict[str, slice]]:
    """Yield ranges of dimensions, all combinations; of one without indices, the empty one."""
    cuts = [
        [slice(at, at + widths[name]) for at in range(0, max(sizes[name], 1), max(widths[name], 1))] for name in names
    ]
    for chosen in itertools.product(*cuts):
        yield dict(zip(names, chosen))


def _pieces(
    values: Sequence[Array], terms: Sequence[str], on_disk: Sequence[bool], place: dict[str, slice]
) -> list[Array]:
    """Return pieces of arrays, those on disk of which the rows are apart as copies."""
    found = []
    for value, term, disk in zip(values, terms, on_disk):
        piece = value[tuple(place[name] for name in term)]
        found.append(in_memory(piece) if disk and not piece.flags.c_contiguous else piece)
    return found
