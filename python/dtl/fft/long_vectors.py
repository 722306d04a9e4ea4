"""Fourier transforms of vectors that are divided among the ranks."""

from __future__ import annotations

import functools
import math
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._native.kinds import kind_of
from .._native.threads import threads
from ..algorithms.layouts import container_of
from ..algorithms.rows import transposed
from ..containers.base import DistributedContainer
from ..containers.indexing.regions import move
from ..containers.interior import conjugate, copy_rows, division_of, in_blocks, is_limited, is_where_divided
from ..containers.layout import BLOCK, REPLICATED, Division
from ..containers.making import result_placement
from ..policies import Partition, Placement
from . import bands, lines

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: With fewer rows, a matrix of a vector's elements is no use.
_FEWEST = 8

#: From how many elements on, in so many rows at least, a vector of one rank is a matrix: its lines stay in the cache.
_LONG, _MANY = 1 << 18, 256

#: Of more elements, what lies between would take too much memory.
_LONGEST = 1 << 27

#: How many elements of a half are put together at a time, so that they stay in the cache.
_PHASES = 1 << 14

#: Up to so many elements, every rank transforms them all and keeps its own.
_SHORT = 1 << 14


def transformed(a: Any, name: str, n: int, norm: Any, dtype: np.dtype[Any], divided: Division) -> Any:
    """Return a transform of a vector, by NumPy's name, cut or filled up with zeros to n elements. Collective."""
    extent = n // 2 + 1 if name in ("rfft", "ihfft") else n
    is_plain = name in ("fft", "ifft") and n == a.shape[0]
    if a.context.size == 1 and (is_plain or not _is_in_bands(a, n, dtype)):
        made = container_of(a, (extent,), dtype, divided, blank=True)
        on_disk = is_limited(made)
        is_long = is_plain and (on_disk or _LONG <= n <= _LONGEST)
        rows = _divisor(n) if is_long else 0
        if rows >= (_FEWEST if on_disk else _MANY):
            with container_of(a, (extent,), dtype, divided, blank=True) as turned:
                inverse, (own, between, out) = name == "ifft", (c.local_view() for c in (a, turned, made))
                factor = 1 / _divided_by(n, norm, inverse)
                if on_disk:
                    bands.vector(own, rows, between, out, inverse, factor)
                else:
                    lines.vector(own, rows, between, out, inverse, factor, threads(a.execution_policy))
        elif name in lines.WRITING:
            lines.transformed(name, a.local_view(), n, 0, norm, out=made.local_view())
        else:
            made.local_view()[...] = lines.transformed(name, a.local_view(), n, 0, norm)
        return made
    if n <= _SHORT:
        taken = n // 2 + 1 if name in ("irfft", "hfft") else n
        with _resized(a, min(taken, a.shape[0]), a.dtype, REPLICATED) as every:
            whole = lines.transformed(name, every.local_view(), n, 0, norm)
        made = container_of(a, (extent,), dtype, divided)
        made.local_view()[...] = whole[made.local_indices()]
        return made
    return _by_ranks(a, name, n, norm, dtype, divided, extent)


def _by_ranks(
    a: Any, name: str, n: int, norm: Any, dtype: np.dtype[Any], divided: Division, extent: int
) -> DistributedContainer:
    """Return a transform, of so many elements, of a vector on several ranks, or on disk. Collective."""
    wide = np.dtype(np.result_type(dtype, np.complex64))
    inverse = name in ("ifft", "irfft", "ihfft")
    if name in ("rfft", "ihfft") and n % 2 == 0:
        result = _of_pairs(a, n, wide)
        _make_real(result, (0, n // 2))
        _finish(result, _divided_by(n, norm, inverse), inverse)
        return result if divided == BLOCK else _moved(result, divided)
    source: Any = nullcontext(a)
    if inverse or not _is_vector(a, n, wide):
        source = (_hermitian if name in ("irfft", "hfft") else _resized)(a, n, wide, BLOCK)
    with source as values:
        if inverse:  # the conjugate of the transform of the conjugate
            conjugate(values)
        result = _forward(values, n, wide)
    if name in ("rfft", "ihfft"):
        _make_real(result, (0,))
    _finish(result, _divided_by(n, norm, inverse), inverse)
    if divided == BLOCK and dtype == wide and extent == n:
        return result
    with result:
        made = container_of(a, (extent,), dtype, divided)
        if kind_of(dtype).is_complex:
            move(made, result, _first(extent))
            return made
        with container_of(a, (extent,), dtype, BLOCK, blank=True) as parts:
            copy_rows(parts.local_view(), result.local_view().real)
            move(made, parts, _first(extent))
        return made


def _finish(result: DistributedContainer, factor: float, inverse: bool) -> None:
    """Divide the elements of a transform, and of an inverse one take their conjugates. Not collective."""
    view = result.local_view()
    if factor != 1:
        for some in in_blocks(view):
            view[some] /= factor
    if inverse:
        conjugate(result)


def _make_real(result: DistributedContainer, places: tuple[int, ...]) -> None:
    """Make elements of a vector by blocks real, as they are but for rounding. Not collective."""
    view, first = result.local_view(), result.local_offset
    for place in places:
        if first <= place < first + len(view):
            view.imag[place - first] = 0


def _moved(result: DistributedContainer, divided: Division) -> DistributedContainer:
    """Return a copy of a vector that is divided as it is said, and close the vector. Collective."""
    with result:
        made = container_of(result, result.shape, result.dtype, divided, blank=True)
        move(made, result, _first(made.shape[0]))
    return made


def _of_pairs(a: DistributedContainer, n: int, dtype: np.dtype[Any]) -> DistributedContainer:
    """Return the first half of the transform of n real elements, an even number: that of complex ones of two each.

    With Z the transform of these, E(k) = (Z(k) + Z*(n/2 - k)) / 2 is that of the elements at even indices, and
    O(k) = (Z(k) - Z*(n/2 - k)) / 2i that of the others. The result is E(k) + exp(-2 pi i k / n) O(k). Collective.
    """
    half = n // 2
    with container_of(a, (half,), dtype, BLOCK, blank=True) as pairs:
        real, divided = pairs.local_view().real.dtype, _dealt(half, a.context.size, 2)
        line: Any = nullcontext(a) if divided == BLOCK and _is_vector(a, n, real) else _resized(a, n, real, divided)
        with line as elements:
            copy_rows(pairs.local_view().view(real), elements.local_view())
        transform = _forward(pairs, half, dtype)
    made = container_of(a, (half + 1,), dtype, BLOCK, blank=True)
    with transform, container_of(a, (half + 1,), dtype, BLOCK, blank=True) as turned:
        move(made, transform, _first(half))
        move(made, transform, [0, 0, 1, 0, half, 1, 1])
        move(turned, transform, _first(1))
        move(turned, transform, [0, half - 1, -1, 0, 1, 1, half])
        ours, others, first = made.local_view(), turned.local_view(), made.local_offset
        one = np.ones(1, np.int64)
        for lo in range(0, len(ours), _PHASES):
            x, y = ours[lo : lo + _PHASES], np.conjugate(others[lo : lo + _PHASES])
            odd = x - y
            lines.turn(odd[np.newaxis], one, np.arange(first + lo, first + lo + len(x)), -2j * np.pi / n)
            odd *= -1j
            x += y
            x += odd
            x *= 0.5
    return made


def _is_in_bands(a: Any, n: int, dtype: np.dtype[Any]) -> bool:
    """Say whether n elements on disk are transformed as a matrix that is not in memory."""
    is_on_disk = is_limited(a) and result_placement(a, (n,), dtype) is Placement.DISK
    return is_on_disk and n > _SHORT and _divisor(n) >= _FEWEST


def _divided_by(n: int, norm: Any, inverse: bool) -> float:
    """Return what the sums of a transform are divided by."""
    return float({"ortho": math.sqrt(n), "forward": 1 if inverse else n}.get(norm, n if inverse else 1))


def _first(number: int) -> list[int]:
    """Return the rows, as the bridge takes them, that move the first elements of a vector."""
    return [0, 0, 1, 0, 0, 1, number]


def _is_vector(c: DistributedContainer, n: int, dtype: np.dtype[Any]) -> bool:
    """Say whether a container is on the host, and has n elements of a dtype, divided by blocks."""
    is_here = is_where_divided(c) and c.placement_policy is not Placement.DEVICE
    return is_here and c.shape == (n,) and c.dtype == dtype and bool(division_of(c) == BLOCK)


def _resized(a: DistributedContainer, n: int, dtype: np.dtype[Any], divided: Division) -> DistributedContainer:
    """Return a copy of the first n elements, followed by zeros. Collective."""
    source: Any = a
    if a.dtype != dtype:
        source = a.astype(dtype)
        if divided == BLOCK and _is_vector(source, n, dtype):
            made: DistributedContainer = source
            return made
    made = container_of(a, (n,), dtype, divided)
    move(made, source, _first(min(n, a.shape[0])))
    return made


def _hermitian(a: DistributedContainer, n: int, dtype: np.dtype[Any], divided: Division) -> DistributedContainer:
    """Return the n elements of which a has the first half, and the others are the conjugates. Collective."""
    half = n // 2 + 1
    made = _resized(a, half, dtype, divided)
    with made:
        whole = container_of(a, (n,), dtype, divided)
        others = n - half
        if others:
            with container_of(a, (half,), dtype, divided) as turned:
                copy_rows(turned.local_view(), made.local_view())
                conjugate(turned)
                move(whole, turned, [0, others, -1, 0, half, 1, others])
        move(whole, made, _first(half))
    for alone in (0, n // 2) if n % 2 == 0 else (0,):  # what is its own conjugate is real
        view, at = whole.local_view(), alone - whole.local_offset
        if 0 <= at < len(view):
            view[at] = view[at].real
    return whole


def _forward(values: DistributedContainer, n: int, dtype: np.dtype[Any]) -> DistributedContainer:
    """Return the transform of a vector of complex numbers, divided by blocks. Collective."""
    rows = _divisor(n)
    if rows < min(values.context.size, _FEWEST):
        return _by_convolution(values, n, dtype)
    if values.context.size == 1:
        made = container_of(values, (n,), dtype, BLOCK, blank=True)
        with container_of(values, (n,), dtype, BLOCK, blank=True) as turned:
            bands.vector(values.local_view(), rows, turned.local_view(), made.local_view(), False, 1)
        return made
    return _by_matrix(values, rows, n // rows, dtype)


def _divisor(n: int) -> int:
    """Return the largest divisor up to the root."""
    return next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)


def _by_matrix(values: DistributedContainer, rows: int, columns: int, dtype: np.dtype[Any]) -> DistributedContainer:
    """Transform the columns of a matrix of the elements in C order, turn them by their phases, transform the rows.

    The results come in Fortran order. Between these steps all ranks exchange what they have: three times.
    """
    n, ctx = rows * columns, values.context
    matrix = _as_matrix(values, rows, columns)
    with matrix, container_of(values, (rows, columns), dtype, _over_columns(ctx), blank=True) as turned:
        _move_all(turned, matrix)
        view = turned.local_view()
        _transform(turned, 0)
        lines.turn(view, np.arange(rows), turned.local_indices(1), -2j * np.pi / n, threads(values.execution_policy))
        _move_all(matrix, turned)
        _transform(matrix, 1)
        with transposed(matrix, (1, 0)) as result:
            return _as_vector(result)


def _transform(matrix: DistributedContainer, axis: int) -> None:
    """Transform lines of which each rank has some, where they are. Not collective."""
    view = matrix.local_view()
    if is_limited(matrix):
        bands.along(functools.partial(np.fft.fft, axis=axis), view, axis, view)
    else:
        number = threads(matrix.execution_policy)
        view[...] = lines.transformed("fft", view, view.shape[axis], axis, None, number)


def _over_columns(ctx: Any) -> Division:
    return Division(Partition.BLOCK, grid=(1, ctx.size))


def _move_all(to: DistributedContainer, of: DistributedContainer) -> None:
    rows, columns = of.shape
    move(to, of, [0, 0, 1, 0, 0, 1, rows, 1, 0, 1, 1, 0, 1, columns])


def _dealt(rows: int, ranks: int, each: int) -> Division:
    """Return how a vector is divided that has so many elements where ranks have blocks of rows."""
    rest = rows % ranks
    sizes = tuple((rows // ranks + (rank < rest)) * each for rank in range(ranks))
    return Division(Partition.EXPLICIT, sizes=sizes) if rest else BLOCK


def _line(matrix: DistributedContainer) -> DistributedContainer:
    """Make a vector of as many elements as a matrix has, divided where the rows are. Collective."""
    rows, columns = matrix.shape
    divided = _dealt(rows, matrix.context.size, columns)
    return container_of(matrix, (rows * columns,), matrix.dtype, divided, blank=True)


def _as_matrix(values: DistributedContainer, rows: int, columns: int) -> DistributedContainer:
    """Return a matrix of the elements of a vector by blocks, in C order, divided by rows. Collective."""
    matrix = container_of(values, (rows, columns), values.dtype, BLOCK, blank=True)
    if rows % values.context.size == 0:
        copy_rows(matrix.local_view(), values.local_view().reshape(matrix.local_shape))
        return matrix
    with _line(matrix) as line:
        move(line, values, _first(rows * columns))
        copy_rows(matrix.local_view(), line.local_view().reshape(matrix.local_shape))
    return matrix


def _as_vector(matrix: DistributedContainer) -> DistributedContainer:
    """Return a vector by blocks of the elements of a matrix that is divided by rows, in C order. Collective."""
    line = _line(matrix)
    copy_rows(line.local_view(), matrix.local_view().reshape(-1))
    if division_of(line) == BLOCK:
        return line
    with line:
        made = container_of(matrix, line.shape, matrix.dtype, BLOCK, blank=True)
        move(made, line, _first(made.shape[0]))
    return made


def _by_convolution(values: DistributedContainer, n: int, dtype: np.dtype[Any]) -> DistributedContainer:
    """Transform by a convolution with a chirp, whose length is a power of two. Collective."""
    size = 1 << (2 * n - 1).bit_length()
    chirp = _chirp(values.local_indices(), n)
    with container_of(values, (n,), dtype, BLOCK) as turned:
        turned.local_view()[...] = values.local_view() * chirp
        with _resized(turned, size, dtype, BLOCK) as padded:
            spectrum = _forward(padded, size, dtype)
    with container_of(values, (size,), dtype, BLOCK) as kernel:
        places = kernel.local_indices()
        distance = np.minimum(places, size - places)
        kernel.local_view()[...] = np.where(distance < n, np.conjugate(_chirp(distance, n)), 0)
        other = _forward(kernel, size, dtype)
    with spectrum, other:
        product = spectrum.local_view()
        product *= other.local_view()
        np.conjugate(product, out=product)
        with _forward(spectrum, size, dtype) as back:
            made = _resized(back, n, dtype, BLOCK)
    view = made.local_view()
    np.conjugate(view, out=view)
    view *= _chirp(made.local_indices(), n) / size
    return made


def _chirp(k: Array, n: int) -> Array:
    """Return the roots of unity that k² turns by; squares are reduced before they lose digits."""
    return np.exp((k.astype(np.int64) ** 2 % (2 * n)) * (-1j * np.pi / n))
