"""Numbers that the core computes with: bool, integers, floats and complex numbers."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..values import array_from
from .kind import Array, Kind, changed


class Number(Kind):
    """A kind of numbers."""

    is_number = True
    is_ordered_by_core = True

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return the numbers, which the core sorts."""
        return [part]

    def truths(self, part: Array) -> Array:
        """Return which are not zero."""
        return part != 0

    def fit(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return numbers as those of a dtype. A finite number does not become infinite."""
        array = array_from(name, value)
        if array.dtype == dtype:
            return np.ascontiguousarray(array)
        array = self._exact(name, value, array, dtype)
        of = self.of(array.dtype)
        if of.is_integer and self.is_whole:
            _check_range(name, array, dtype)
        elif not of.is_number or not np.can_cast(array.dtype, dtype, "same_kind"):
            raise changed(name, array.dtype, dtype)
        with np.errstate(over="ignore"):
            result = array.astype(dtype, order="C")
        if of.is_inexact and (np.isinf(result) & ~np.isinf(array)).any():
            worst = array[np.isinf(result) & ~np.isinf(array)].flat[0]
            raise OverflowError(f"{name}: {worst!r} does not fit {dtype}, whose largest is {np.finfo(dtype).max}")
        return result

    def _exact(self, name: str, value: Any, array: Array, dtype: np.dtype[Any]) -> Array:
        """Return integers beyond 64 bits, which NumPy takes for objects, as floats where they fit."""
        if array.dtype != object:
            return array
        _check_integers(name, array, dtype)
        try:
            return array.astype(np.float64)
        except builtins.OverflowError as error:
            raise OverflowError(f"{name} do not fit {dtype}: {error}") from None

    def fill(self, fill: Any, dtype: np.dtype[Any]) -> Array:
        """Return a number. np.full casts whatever it gets: 2**63 would become negative, and 1j lose its second part."""
        if isinstance(fill, memoryview):
            fill = np.asarray(fill)
        given = fill.item() if isinstance(fill, (np.ndarray, np.generic)) and fill.size == 1 else fill
        refusal = f"fill {fill!r} does not fit {dtype}"
        known = np.dtype(object) if isinstance(fill, type) else getattr(fill, "dtype", dtype)
        if np.ma.is_masked(fill) or isinstance(given, (str, bytes)) or known.kind not in "biufc":
            raise InvalidArgumentError(f"{refusal}: it is no number")
        if isinstance(given, (int, float, complex)):
            self._check_bounds(refusal, given, dtype)
        value = np.empty((), dtype)
        try:
            with np.errstate(over="raise"):
                value[()] = given
        except (builtins.OverflowError, FloatingPointError) as error:
            raise OverflowError(f"{refusal}: {error}") from None
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"{refusal}: {error}") from None
        finite = isinstance(given, (int, float, complex)) and np.isfinite(complex(given))
        if finite and np.isinf(value):  # of which NumPy before 1.24 says nothing
            raise OverflowError(f"{refusal}: its largest is {np.finfo(dtype).max}")
        if self.is_integer and value != given:
            raise InvalidArgumentError(f"{refusal}: it would be {value}")
        return value

    def _check_bounds(self, refusal: str, given: Any, dtype: np.dtype[Any]) -> None:
        """Refuse a number that is outside of what a dtype holds."""


class _Whole(Number):
    """Integers, and bool."""

    is_whole = is_real = True

    def _exact(self, name: str, value: Any, array: Array, dtype: np.dtype[Any]) -> Array:
        if array.dtype != object:
            return array
        _check_integers(name, array, dtype)
        _check_range(name, array, dtype)
        return array.astype(dtype)

    def _equal(self, number: Any, dtype: np.dtype[Any]) -> Any:
        low, high = _bounds(dtype)
        return dtype.type(int(number)) if low <= number <= high and int(number) == number else None


class Boolean(_Whole):
    """Truth values."""

    is_boolean = True

    def _check_bounds(self, refusal: str, given: Any, dtype: np.dtype[Any]) -> None:
        if given not in (0, 1):
            raise OverflowError(f"{refusal}: outside [0, 1]")

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return a truth value."""
        return least

    def alike(self, keys: Array) -> Array:
        """Return truth values, any byte but 0 being True."""
        return keys != 0


class Integer(_Whole):
    """Integers of one size, with a sign or without."""

    is_integer = True
    key_class = "IntegerKeys"

    def _exact(self, name: str, value: Any, array: Array, dtype: np.dtype[Any]) -> Array:
        if isinstance(value, (list, tuple)) and self.of(array.dtype).is_inexact and not self.of(array.dtype).is_complex:
            array = np.asarray(value, object)  # NumPy takes 2**63 beside -1 for floats, and uint64 beside int64
        return super()._exact(name, value, array, dtype)

    def _check_bounds(self, refusal: str, given: Any, dtype: np.dtype[Any]) -> None:
        low, high = _bounds(dtype)
        if not isinstance(given, complex) and (given < low or given > high):  # false for NaN, which is refused later
            raise OverflowError(f"{refusal}: outside [{low}, {high}]")


class _Inexact(Number):
    """Floats and complex numbers."""

    is_inexact = has_missing = True

    def accumulator(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return that of double precision."""
        return self.in_doubles(dtype)

    def divided(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the same."""
        return dtype

    def missing(self, elements: Array) -> Array:
        """Return which are NaN, or have one."""
        return np.isnan(elements)


class Real(_Inexact):
    """Floats of 32 bits, and what those of others have alike."""

    is_real = is_float = True

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return an infinity."""
        return math.inf if least else -math.inf

    def alike(self, keys: Array) -> Array:
        """Return floats of which -0.0 is 0.0, and all NaNs are one."""
        return np.where(np.isnan(keys), keys.dtype.type(np.nan), keys + keys.dtype.type(0))


class Double(Real):
    """Floats of 64 bits."""

    key_class = "FloatKeys"


class Complex(_Inexact):
    """Complex numbers."""

    is_complex = True
    is_ordered_by_core = False

    def conjugated(self, elements: Any) -> Any:
        """Return the conjugates."""
        return np.conjugate(elements)

    def in_doubles(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return complex128."""
        return np.dtype(np.complex128)

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return the parts of numbers as NumPy sorts them: those with a NaN last, by what is none."""
        real, imaginary, broken = part.real.copy(), part.imag.copy(), np.zeros(part.shape, np.uint8)
        broken[np.isnan(imaginary)] = 1
        broken[np.isnan(real)] = 2
        real[broken == 2] = 0
        imaginary[broken == 1] = 0
        return [2 - broken if reverse else broken, real, imaginary]

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return a number of two infinities."""
        far = math.inf if least else -math.inf
        return complex(far, far)

    def alike(self, keys: Array) -> Array:
        """Return numbers whose parts are alike."""
        made = np.empty(keys.shape, keys.dtype)
        of = self.of(keys.real.dtype)
        made.real, made.imag = of.alike(keys.real), of.alike(keys.imag)
        return made


#: How many bytes of a long float are of its value: those of x86 have 80 bits, in 12 or 16 bytes.
_OF_LONG = 10 if np.finfo(np.longdouble).nmant == 63 else np.dtype(np.longdouble).itemsize


class Long(Real):
    """Floats of more than 64 bits, which no container holds, but as fields of records."""

    is_ordered_by_core = False

    def cleared(self, elements: Array) -> Array:
        """Return floats whose further bytes are zero."""
        given: Array = np.ascontiguousarray(elements)
        made = np.zeros((*elements.shape, elements.dtype.itemsize), np.uint8)
        value = slice(_OF_LONG) if elements.dtype.isnative else slice(-_OF_LONG, None)
        made[..., value] = given.view(np.uint8).reshape(made.shape)[..., value]
        return made.view(elements.dtype)[..., 0]

    order_keys = Kind.order_keys  # which refuses them


class LongComplex(Complex):
    """Complex numbers of more than 128 bits, which no container holds, but as fields of records."""

    def cleared(self, elements: Array) -> Array:
        """Return numbers of whose parts the further bytes are zero."""
        parts = np.ascontiguousarray(elements).view(elements.real.dtype).reshape(*elements.shape, 2)
        cleared: Array = self.of(parts.dtype).cleared(parts)
        return cleared.view(elements.dtype)[..., 0]

    order_keys = Kind.order_keys  # which refuses them


def _bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    if dtype == np.bool_:
        return 0, 1
    known = np.iinfo(dtype)
    return int(known.min), int(known.max)


def _check_integers(name: str, array: Array, dtype: np.dtype[Any]) -> None:
    """Refuse objects that are no integers."""
    if not all(isinstance(number, (int, np.integer)) for number in array.flat):
        raise InvalidTypeError(f"{name} of type {type(array.flat[0]).__name__} are no elements of {dtype}")


def _check_range(name: str, array: Array, dtype: np.dtype[Any]) -> None:
    if array.size == 0:
        return
    low, high = _bounds(dtype)
    for number in (int(array.min()), int(array.max())):
        if not low <= number <= high:
            raise OverflowError(f"{name}: {number} does not fit {dtype}: outside [{low}, {high}]")
