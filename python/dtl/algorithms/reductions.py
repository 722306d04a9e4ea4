"""Reductions as objects: what is made of each part of some elements, of two parts' results, and of the last.

Whatever reduces asks these: along dimensions or of all elements, on the host or on GPUs, of groups. A new reduction is
a row of ``REDUCTIONS``, and a class if none of those here does.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .._native.kinds import kind_of
from .._native.library import bridge
from ..containers import folded_lines
from ..containers.one_rank import are_narrow
from ..exceptions import OverflowError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]
DType = Any  # np.dtype[Any]

#: How many bytes of temporaries a reduction has at a time, which stay in the cache.
_CACHED = 1 << 18

#: The square of a mean beside the variance from which on what rounding takes away from the mean matters.
_FAR = 16.0

#: What else a GPU is told that folds lines: to take the root, and whether all are true in the place of any.
ROOT, _ALL = 1, 2

#: How many numbers between a half and 1 are multiplied before exponents are taken out: no such product underflows.
_ROWS = 512

#: Beyond any exponent.
_FAR_EXPONENT = 5000

_INT64 = np.iinfo(np.int64)
_NAT = np.int64(_INT64.min)
#: Whether NumPy refuses a date or span of time that does not fit, as from 2.5 on; before, it wraps around.
_RAISES = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
#: A sum of spans of time is two integers, the upper of which is as many of these.
_UPPER = 32
_LOWER = np.int64((1 << _UPPER) - 1)

#: The elements of a group that are looked at together: what this takes beside them is small.
_TOGETHER = 1 << 17

#: Rows of so many elements stay in the nearest cache while others are added to them.
_WIDE = 1 << 10


class Reduction:
    """A reduction of elements of one dtype.

    It is made in three steps, as by dask's ``reduction(chunk, combine, aggregate)``: ``map`` of each part, ``merge`` of
    two parts' results, the first of which is of a lower rank, and ``finish``. What lies between is a tuple of arrays of
    one shape.
    """

    #: Whether what lies between takes several times the memory of results: those of many groups are made few at a time.
    is_wide = False
    #: Whether it asks for the indices of elements.
    is_indexed = False
    #: Whether it adds up floats, so that a part may overflow where the whole does not.
    adds_floats = False

    def __init__(self, name: str, of: DType, dtype: DType) -> None:
        self.name = name
        #: The dtype of the elements.
        self.of = of
        #: The dtype of the result.
        self.dtype = dtype
        #: On how many threads parts are mapped.
        self.threads = 1

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        """Return what is made of an array along dimensions, given the indices along the first of those."""
        raise NotImplementedError

    def is_sliced(self, view: Array, dims: tuple[int, ...]) -> bool:
        """Say whether slices of an array are mapped on threads; else ``map`` has its own."""
        return True

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        """Return what is made of each of some runs of elements, one behind the other."""
        raise NotImplementedError

    def lines(self, part: Any) -> Arrays:
        """Return what is made of the lines of a part on a GPU, which folds them: ``part.folded(number, dtype)``."""
        raise NotImplementedError

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        """Return what is made of two parts."""
        raise NotImplementedError

    def finish(self, a: Arrays, count: Any) -> Array:
        """Return the result, given how many elements went into each: a number, or an array of them."""
        raise NotImplementedError

    def of_whole(self, view: Array, dims: tuple[int, ...], indices: Array, count: int) -> Array:
        """Return the result of an array that has all that goes into it."""
        return self.finish(self.map(view, dims, indices), count)

    def is_written(self, view: Array, dims: tuple[int, ...], out: Array) -> bool:
        """Write the result of an array that has all that goes into it, if nothing is left to do then; say whether."""
        return False

    def divisor(self, count: int) -> float:
        """Return what a GPU that folds whole lines divides by."""
        return count

    def smaller(self) -> Reduction | None:
        """Return the reduction that keeps parts from overflowing where only the whole may; None if there is no need."""
        return None

    def are_finite(self, view: Array) -> Array:
        """Return which elements do not make a sum infinite, or NaN."""
        return np.isfinite(view)


class _OfUfunc(Reduction):
    """What a ufunc that has an identity reduces to."""

    #: Whether what the ufunc folds whole lines to is the result.
    _is_result = True

    def __init__(self, name: str, of: DType, dtype: DType, inner: DType | None = None) -> None:
        super().__init__(name, of, dtype)
        self.ufunc: Any = REDUCTIONS[name].ufunc or np.add
        self.adds_floats = self.ufunc is np.add and kind_of(dtype).is_inexact
        self.inner = dtype if inner is None else inner

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        if dims == (0,) and self.ufunc is np.add and self._are_narrow(view):
            return (_sums_of_narrow(view.reshape(len(view), -1)).reshape(view.shape[1:]),)
        found = folded_lines.reduced(self.ufunc, view, dims, self.inner, self.threads)
        if found is not None:
            return (found,)
        return (np.asarray(self.ufunc.reduce(view, axis=dims, dtype=self.inner)),)

    def _are_narrow(self, view: Array) -> bool:
        floats = view.dtype == self.inner == np.float64 and view.flags.c_contiguous
        return floats and are_narrow(view.size, len(view))

    def is_sliced(self, view: Array, dims: tuple[int, ...]) -> bool:
        return dims != (view.ndim - 1,)

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        return (self.ufunc.reduceat(part, begins, dtype=self.inner),)

    def lines(self, part: Any) -> Arrays:
        return (part.folded(REDUCTIONS[self.name].fold, self.inner),)

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        return (self.ufunc(a[0], b[0]),)

    def finish(self, a: Arrays, count: Any) -> Array:
        return a[0].astype(self.dtype, copy=False)

    def is_written(self, view: Array, dims: tuple[int, ...], out: Array) -> bool:
        if not self._is_result or 0 in dims or self.inner != self.dtype or not out.flags.c_contiguous:
            return False
        return folded_lines.reduced(self.ufunc, view, dims, self.dtype, self.threads, out) is not None

    def smaller(self) -> Reduction | None:
        return _Smaller(self) if self.adds_floats else None


class _Mean(_OfUfunc):
    """The sum, divided by the number of elements."""

    _is_result = False

    def finish(self, a: Arrays, count: Any) -> Array:
        return np.true_divide(a[0], count).astype(self.dtype, copy=False)


class _Extreme(_OfUfunc):
    """The least or greatest element."""

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        found = folded_lines.reduced(self.ufunc, view, dims, self.of, self.threads)
        if found is None:
            found = np.asarray(self.ufunc.reduce(view, axis=dims, initial=neutral(self.name, self.of)))
        return (found,)

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        return (self.ufunc.reduceat(part, begins),)


class _OfNumbers(_OfUfunc):
    """The sum or mean of the elements that are not NaN: sums, and how many those are."""

    _is_result = False

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        made = tuple(
            folded_lines.summed(of, view, dims, self.threads) for of in (folded_lines.NUMBERS, folded_lines.COUNTS)
        )
        if any(each is None for each in made):
            numbers = ~np.isnan(view)
            made = (
                np.add.reduce(np.where(numbers, view, 0), axis=dims, dtype=self.inner),
                np.add.reduce(numbers, axis=dims),
            )
        return tuple(map(np.asarray, made))

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        return a[0] + b[0], a[1] + b[1]

    def finish(self, a: Arrays, count: Any) -> Array:
        return (np.true_divide(a[0], a[1]) if self.name == "nanmean" else a[0]).astype(self.dtype, copy=False)

    def are_finite(self, view: Array) -> Array:
        return ~np.isinf(view)


class _ExtremeNumber(_Extreme):
    """The least or greatest element that is not NaN."""

    def __init__(self, name: str, of: DType, dtype: DType) -> None:
        super().__init__(name, of, dtype)
        self.ufunc = np.fmin if name == "nanmin" else np.fmax


class _Smaller(Reduction):
    """A sum or mean of elements that are divided by a power of two meanwhile, so that no part's overflows."""

    _FAR = 2.0**64

    def __init__(self, by: Reduction) -> None:
        super().__init__(by.name, by.of, by.dtype)
        self._by = by

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        return self._by.map(np.asarray(view / self._FAR), dims, indices)

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        return self._by.merge(a, b)

    def finish(self, a: Arrays, count: Any) -> Array:
        return self._by.finish((a[0] * self._FAR, *a[1:]), count)


class _Product(_OfUfunc):
    """The product of floats, as numbers of about 1 and exponents of two: only the whole may overflow."""

    _is_result = False

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        try:
            with np.errstate(over="raise", under="raise", invalid="ignore"):
                return _apart(super().map(view, dims, indices)[0])
        except FloatingPointError:
            pass
        rest = tuple(extent for d, extent in enumerate(view.shape) if d not in dims)
        lines = np.moveaxis(view, dims, range(len(dims))).reshape(-1, *rest)
        total = np.ones(rest, self.inner), np.zeros(rest, np.int64)
        with np.errstate(invalid="ignore"):
            for first in range(0, len(lines), _ROWS):
                fractions, exponents = _apart(lines[first : first + _ROWS].astype(self.inner, copy=False))
                total = self.merge(total, (fractions.prod(axis=0), exponents.sum(axis=0)))
        return total

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        fractions, exponents = _apart(part.astype(self.inner))
        while len(fractions) > len(begins):
            pieces = np.union1d(begins, np.arange(0, len(fractions), _ROWS))
            products, more = _apart(np.multiply.reduceat(fractions, pieces))
            exponents = np.add.reduceat(exponents, pieces) + more
            fractions, begins = products, np.searchsorted(pieces, begins)
        return fractions, exponents

    def lines(self, part: Any) -> Arrays:
        return _apart(*super().lines(part))

    def merge(self, a: Arrays, b: Arrays) -> tuple[Array, Array]:
        fractions, exponents = _apart(np.asarray(a[0] * b[0]))
        return fractions, a[1] + b[1] + exponents

    def finish(self, a: Arrays, count: Any) -> Array:
        return _scaled(a[0], a[1].clip(-_FAR_EXPONENT, _FAR_EXPONENT).astype(np.intc)).astype(self.dtype, copy=False)


class _ArgExtreme(Reduction):
    """The first index of the least or greatest elements, or of the first NaN or NaT."""

    is_indexed = True

    def __init__(self, name: str, of: DType) -> None:
        super().__init__(name, of, np.dtype(np.int64))
        self._least = name == "argmin"

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        rest = tuple(extent for d, extent in enumerate(view.shape) if d != dims[0])
        if len(indices) == 0:
            return np.full(rest, neutral(self.name, self.of), self.of), np.full(rest, _INT64.max)
        at = self._places(view, dims[0])
        if dims[0] or not view.flags.c_contiguous:
            values = np.take_along_axis(view, np.expand_dims(at, dims[0]), dims[0])
        else:
            values = view.reshape(len(view), -1)[at.reshape(-1), np.arange(at.size)]
        return values.reshape(rest), np.asarray(indices[at]).reshape(rest)

    def of_whole(self, view: Array, dims: tuple[int, ...], indices: Array, count: int) -> Array:
        if not len(indices):
            return super().of_whole(view, dims, indices, count)
        return np.asarray(indices[self._places(view, dims[0])])

    def is_sliced(self, view: Array, dims: tuple[int, ...]) -> bool:
        return dims != (view.ndim - 1,)

    def _places(self, view: Array, dim: int) -> Array:
        found = folded_lines.places(not self._least, view, dim, self.threads)
        return (np.argmin if self._least else np.argmax)(view, axis=dim) if found is None else found

    def lines(self, part: Any) -> Arrays:
        extreme = REDUCTIONS[self.name[3:]].fold
        return part.folded(extreme, self.of), part.indices[part.folded(REDUCTIONS[self.name].fold, self.dtype)]

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        better = (b[0] < a[0]) if self._least else (b[0] > a[0])
        none, other = np.asarray(a[0] != a[0]), np.asarray(b[0] != b[0])  # of text, Python's bool
        tie = (a[0] == b[0]) | (none & other)
        take = (better & ~none) | (other & ~none) | (tie & (b[1] < a[1]))
        return np.where(take, b[0], a[0]), np.where(take, b[1], a[1])

    def finish(self, a: Arrays, count: Any) -> Array:
        return np.asarray(a[1])


class _Moment(Reduction):
    """A variance, or its root: of counts, means in two words, and sums of the squared distances from them.

    Two words lose nothing of a mean that is large beside the distances.
    """

    is_wide = True

    def __init__(self, name: str, of: DType, dtype: DType, ddof: float) -> None:
        super().__init__(name, of, dtype)
        self._ddof = ddof
        self._inner = kind_of(of).in_doubles(of)

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        n = math.prod(view.shape[d] for d in dims)
        if n == 0:
            zero = np.asarray(view.sum(axis=dims, dtype=self._inner))
            return np.zeros(zero.shape), zero, zero, np.zeros(zero.shape)
        sums = folded_lines.reduced(np.add, view, dims, self._inner, self.threads)
        if sums is None:
            mean = view.mean(axis=dims, dtype=self._inner, keepdims=True)
        else:
            mean = np.expand_dims(np.true_divide(sums, n, out=sums), dims)
        squares = self._distances(mean, view, dims, True)
        count, middle = np.full(squares.shape, float(n)), mean.reshape(squares.shape)
        low = np.zeros(squares.shape, self._inner)
        if np.any(np.square(np.abs(middle)) * n > _FAR * squares):
            low = self._distances(mean, view, dims, False) / n
            squares = np.maximum(squares - np.square(np.abs(low)) * n, 0)
        return count, middle, low, squares

    def _distances(self, mean: Array, view: Array, dims: tuple[int, ...], squared: bool) -> Array:
        """Return the sums of distances from a mean, or of their squares."""
        of = folded_lines.SQUARES if squared else folded_lines.DISTANCES
        sums = folded_lines.summed(of, view, dims, self.threads, mean)
        return _distances(mean, view, dims, squared) if sums is None else sums

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        if not len(begins):
            return np.zeros(0), np.zeros(0, self._inner), np.zeros(0, self._inner), np.zeros(0)
        some = part[begins[0] : begins[-1] + lengths[-1]].astype(self._inner, copy=False)
        begins = begins - begins[0]
        means = np.add.reduceat(some, begins) / lengths
        away = some - np.repeat(means, lengths)
        low = np.add.reduceat(away, begins) / lengths
        squares = np.add.reduceat(np.abs(away) ** 2, begins) - np.abs(low) ** 2 * lengths
        return lengths.astype(np.float64), means, low, squares

    def lines(self, part: Any) -> Arrays:
        mean = part.folded(bridge.FOLD_MEAN, np.float64, part.each)
        squares = part.folded(bridge.FOLD_MOMENT, np.float64)
        return np.full(mean.shape, float(part.each)), mean, np.zeros(mean.shape), squares

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        """Return what two parts come to.

        See Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample variances".
        """
        count = a[0] + b[0]
        share = b[0] / np.maximum(count, 1)
        high, low = _two_sum(b[1], -a[1])
        between = high + (low + (b[2] - a[2]))
        weight = a[0] * share
        further = np.where(weight == 0, 0.0, np.square(np.abs(between)) * weight)
        mean, rest = _two_sum(a[1], between * share)
        return count, mean, a[2] + rest, a[3] + b[3] + further

    def finish(self, a: Arrays, count: Any) -> Array:
        value = np.true_divide(np.maximum(a[3], 0), np.maximum(count - self._ddof, 0))
        return (np.sqrt(value) if self.name == "std" else value).astype(self.dtype, copy=False)

    def divisor(self, count: int) -> float:
        return max(count - self._ddof, 0)


class _MomentOfNumbers(_Moment):
    """The variance of the elements that are not NaN, or its root."""

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        of = folded_lines
        made = [of.summed(each, view, dims, self.threads) for each in (of.NUMBERS, of.COUNTS)]
        if made[0] is None or made[1] is None:
            return self._by_numpy(view, dims)
        count = made[1].astype(np.float64)
        mean = made[0] / np.maximum(count, 1)
        kinds = of.SQUARES_OF_NUMBERS, of.DISTANCES_OF_NUMBERS
        squares, apart = (of.summed(each, view, dims, self.threads, mean) for each in kinds)
        if squares is None or apart is None:
            return self._by_numpy(view, dims)
        return self._merged(count, mean, apart, squares)

    def _by_numpy(self, view: Array, dims: tuple[int, ...]) -> Arrays:
        numbers = ~np.isnan(view)
        count = np.add.reduce(numbers, axis=dims, dtype=np.float64, keepdims=True)
        mean = np.add.reduce(np.where(numbers, view, 0), axis=dims, dtype=np.float64, keepdims=True) / np.maximum(
            count, 1
        )
        apart = np.where(numbers, view - mean, 0)
        squares = np.asarray(np.square(apart).sum(axis=dims))
        return self._merged(count.reshape(squares.shape), mean.reshape(squares.shape), apart.sum(axis=dims), squares)

    @staticmethod
    def _merged(count: Array, mean: Array, apart: Any, squares: Array) -> Arrays:
        """Return what map does, given the sums of distances from a mean, and of their squares."""
        low = np.asarray(apart) / np.maximum(count, 1)
        return count, mean, low, np.maximum(squares - np.square(low) * count, 0)

    def finish(self, a: Arrays, count: Any) -> Array:
        return super().finish(a, a[0])


class _SumOfSpans(Reduction):
    """The sum or mean of spans of time, which is exact until its end, so that whether it fits depends on no order.

    One that does not fit does what NumPy's does: from 2.5 on it raises, and before it wraps around.
    """

    def map(self, view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        numbers = view.view(np.int64)
        count = math.prod(view.shape[d] for d in dims)
        if max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))) * count <= _INT64.max:  # so none is NaT
            total = np.add.reduce(numbers, axis=dims)
            return _carried(np.zeros_like(total), total, np.False_)
        upper = np.add.reduce(numbers >> _UPPER, axis=dims)
        return _carried(upper, np.add.reduce(numbers & _LOWER, axis=dims), np.isnat(view).any(axis=dims))

    def runs(self, part: Array, begins: Array, lengths: Array) -> Arrays:
        numbers = part.view(np.int64)
        upper, lower = (np.add.reduceat(each, begins) for each in (numbers >> _UPPER, numbers & _LOWER))
        return _carried(upper, lower, np.logical_or.reduceat(np.isnat(part), begins))

    def merge(self, a: Arrays, b: Arrays) -> Arrays:
        return _carried(np.add(a[0], b[0]), np.add(a[1], b[1]), (a[0] == _NAT) | (b[0] == _NAT))

    def finish(self, a: Arrays, count: Any) -> Array:
        upper, lower = map(np.asarray, a)
        least = -(1 << _INT64.bits - _UPPER - 1)
        fits = (upper == _NAT) | ((least <= upper) & (upper < -least) & ((upper > least) | (lower > 0)))
        check_fits(self.name, fits, self.of)
        found = np.asarray(np.where(upper == _NAT, _NAT, (upper << _UPPER) | lower)).view(self.of)
        with np.errstate(all="ignore"):
            return np.asarray(found / np.asarray(count, np.int64)) if self.name == "mean" else found


class Named(NamedTuple):
    """What is known of a reduction by its name."""

    #: What makes it for the dtype of elements, the dtype that is asked for, and what is taken from the count.
    make: Callable[[str, DType, DType | None, float], Reduction]
    #: Its number among the folds of the core and of GPUs, and what else they are told.
    fold: int = -1
    besides: int = 0
    #: What combines its result with another one.
    ufunc: Any = None
    #: The element that changes no result, where it does not depend on the dtype.
    neutral: Any = None
    #: NumPy's error for no elements; empty if there is a result.
    empty: str = ""


def _sum(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    if kind_of(of).is_span:
        return _SumOfSpans(name, of, of)
    result = result_dtype(name, dtype, of)
    return (_Mean if name == "mean" else _OfUfunc)(name, of, result, accumulator_dtype(result))


def _product(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    result = result_dtype(name, dtype, of)
    return (_Product if kind_of(result).is_inexact else _OfUfunc)(name, of, result, accumulator_dtype(result))


def _numbers(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    if name in ("nanmin", "nanmax"):
        return _ExtremeNumber(name, of, of)
    if name in ("nanvar", "nanstd"):
        return _MomentOfNumbers(name[3:], of, of, ddof)
    return _OfNumbers(name, of, of, accumulator_dtype(of))


def _truth(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    return _OfUfunc(name, of, np.dtype(np.bool_))


def _bits(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    return _OfUfunc(name, of, of if dtype is None else dtype)


def _extreme(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    return _Extreme(name, of, of)


def _arg(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    return _ArgExtreme(name, of)


def _moment(name: str, of: DType, dtype: DType | None, ddof: float) -> Reduction:
    return _Moment(name, of, result_dtype(name, dtype, of), ddof)


_NO_EXTREME = "zero-size array to reduction operation {} which has no identity"
_NO_INDEX = "attempt to get {} of an empty sequence"

REDUCTIONS: dict[str, Named] = {
    "sum": Named(_sum, bridge.FOLD_SUM, ufunc=np.add, neutral=0),
    "prod": Named(_product, bridge.FOLD_PROD, ufunc=np.multiply, neutral=1),
    "min": Named(_extreme, bridge.FOLD_MIN, ufunc=np.minimum, empty=_NO_EXTREME.format("minimum")),
    "max": Named(_extreme, bridge.FOLD_MAX, ufunc=np.maximum, empty=_NO_EXTREME.format("maximum")),
    "argmin": Named(_arg, bridge.FOLD_ARGMIN, empty=_NO_INDEX.format("argmin")),
    "argmax": Named(_arg, bridge.FOLD_ARGMAX, empty=_NO_INDEX.format("argmax")),
    "any": Named(_truth, bridge.FOLD_TRUTHS, ufunc=np.logical_or, neutral=False),
    "all": Named(_truth, bridge.FOLD_TRUTHS, _ALL, np.logical_and, True),
    "mean": Named(_sum, bridge.FOLD_MEAN),
    "var": Named(_moment, bridge.FOLD_MOMENT),
    "std": Named(_moment, bridge.FOLD_MOMENT, ROOT),
    "nansum": Named(_numbers, neutral=0),
    "nanmean": Named(_numbers, neutral=0),
    "nanmin": Named(_numbers, neutral=np.nan, empty=_NO_EXTREME.format("fmin")),
    "nanmax": Named(_numbers, neutral=np.nan, empty=_NO_EXTREME.format("fmax")),
    "nanvar": Named(_numbers),
    "nanstd": Named(_numbers),
    "bitwise_and": Named(_bits, ufunc=np.bitwise_and, neutral=-1),
    "bitwise_or": Named(_bits, ufunc=np.bitwise_or, neutral=0),
    "bitwise_xor": Named(_bits, ufunc=np.bitwise_xor, neutral=0),
}


def reduction(name: str, dtype: DType | None, of: DType, ddof: float = 0) -> Reduction:
    """Return the reduction of a name for elements of a dtype; the other dtype is what the caller asks for."""
    return REDUCTIONS[name].make(name, of, dtype, ddof)


def has(name: str, dtype: DType) -> bool:
    """Say whether a reduction has a meaning for elements that are no numbers: dates are not added up."""
    return name in kind_of(dtype).reductions


def result_dtype(name: str, dtype: DType | None, of: DType) -> DType:
    """Return the dtype of a result."""
    if name in ("sum", "prod"):
        ones = np.ones(1, of)
        return np.asarray(ones.sum(dtype=dtype) if name == "sum" else ones.prod(dtype=dtype)).dtype
    wanted = of if dtype is None else dtype
    if kind_of(wanted).is_whole and (dtype is None or name != "mean"):
        wanted = np.dtype(np.float64)
    if name == "mean" or not kind_of(wanted).is_complex:
        return wanted
    return np.dtype(f"f{wanted.itemsize // 2}")


def accumulator_dtype(dtype: DType) -> DType:
    """Return the dtype to add up in."""
    return kind_of(dtype).accumulator(dtype)


def neutral(name: str, dtype: DType) -> Any:
    """Return the element that changes no result of a reduction."""
    if REDUCTIONS[name].neutral is not None:
        return REDUCTIONS[name].neutral
    return kind_of(dtype).extreme(dtype, name[-3:] == "min")


def check_fits(name: str, fits: Array, of: DType) -> None:
    """Refuse sums of spans of time that do not fit, if NumPy does."""
    if _RAISES and not fits.all():
        raise OverflowError(f"{name}: a sum of spans of time does not fit {of}")


def _sums_of_narrow(rows: Array) -> Array:
    """Add up rows of few elements: as NumPy adds up rows one by one, wide ones of several together take less time."""
    columns = rows.shape[1]
    together = _WIDE // columns
    whole = len(rows) // together * together
    wide = np.add.reduce(rows[:whole].reshape(-1, together * columns), axis=0)
    sums = np.add.reduce(wide.reshape(together, columns), axis=0)
    return np.asarray(sums + np.add.reduce(rows[whole:], axis=0) if whole < len(rows) else sums)


def spans_of_runs(begins: Array, lengths: Array) -> Iterator[slice]:
    """Give slices of runs that hold few elements, and at least one run."""
    at = 0
    while at < len(begins):
        some = slice(at, at + _TOGETHER)  # no more runs hold so few elements: each has one at least
        fit = int(np.searchsorted(begins[some] + lengths[some], begins[at] + _TOGETHER, "right"))
        yield slice(at, at + max(1, fit))
        at += max(1, fit)


def _carried(upper: Any, lower: Any, missing: Any) -> Arrays:
    """Return a sum with its lower part in bounds, and of NaT its upper part NaT."""
    return np.where(missing, _NAT, np.add(upper, lower >> _UPPER)), np.asarray(lower & _LOWER)


def _squared(apart: Array) -> Array:
    """Return the squared magnitudes of numbers; of real ones where these are."""
    return (
        np.square(apart.real) + np.square(apart.imag)
        if kind_of(apart.dtype).is_complex
        else np.square(apart, out=apart)
    )


def _distances(mean: Array, view: Array, dims: tuple[int, ...], squared: bool) -> Array:
    """Return the sums of distances from a mean, or of their squares, of as many rows at a time as the cache holds."""
    count = max(min(_CACHED // max(view[:1].size * mean.itemsize, 1), len(view)), 1)
    room = np.empty((count, *view.shape[1:]), mean.dtype)
    sums = np.zeros(mean.shape, mean.real.dtype if squared else mean.dtype)
    for first in range(0, len(view), count):
        rows = slice(first, first + count)
        along = slice(None) if 0 in dims else rows
        apart = np.subtract(view[rows], mean[along], out=room[: len(view) - first])
        sums[along] += (_squared(apart) if squared else apart).sum(axis=dims, keepdims=True)
    return sums.squeeze(dims)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a sum and what rounding has taken away from it (Knuth, volume 2, section 4.2.2)."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)


def _apart(x: Array) -> tuple[Array, Array]:
    """Return numbers of about 1 and the exponents of two that they are to be multiplied by."""
    if not kind_of(x.dtype).is_complex:
        fractions, exponents = np.frexp(x)
        return fractions, exponents.astype(np.int64)
    exponents = np.frexp(np.maximum(np.abs(x.real), np.abs(x.imag)))[1]
    return _scaled(x, -exponents), exponents.astype(np.int64)


def _scaled(x: Array, exponents: Array) -> Array:
    """Return numbers multiplied by powers of two, with the infinities and zeros of what is out of range."""
    if not kind_of(x.dtype).is_complex:
        return np.asarray(np.ldexp(x, exponents))
    made = np.empty(x.shape, x.dtype)
    made.real, made.imag = np.ldexp(x.real, exponents), np.ldexp(x.imag, exponents)
    return made
