"""What every kind of elements answers, and what those answer that the core moves without knowing them."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np

from ...exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..named_types import native_of
from ..values import array_from

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Kind:
    """A kind of elements. This one is of those that no container holds, such as Python's objects."""

    #: What they are, for those that count or compute: numbers; those without an imaginary part; bool; integers; bool or
    #: integers; floats; complex numbers; floats or complex numbers.
    is_number = is_real = is_boolean = is_integer = is_whole = is_float = is_complex = is_inexact = False
    #: Whether some are not equal to themselves: NaN and NaT.
    has_missing = False
    #: Points or spans of time, and spans; bytes or str, and str.
    is_date = is_span = is_text = is_str = False
    #: Whether the core moves them, and does not know them; and whether it finds their order by itself, without keys.
    is_moved = is_ordered_by_core = False
    #: Whether a list of some is an array of NumPy's of them, which containers hold.
    is_listed = False
    #: Whether NumPy makes other arrays of objects if it knows the dtype.
    is_made_of_objects = False
    #: By which of NumPy's rules others become these elements; and whether only those of NumPy's same letter do.
    casting: Any = "same_kind"
    is_closed = False
    #: The class of ``containers/map/keys.py`` that makes keys of maps of them; "" of those that are none.
    key_class = ""
    #: The reductions that they have though they are no numbers.
    reductions: frozenset[str] = frozenset()
    #: Returns the kind of another dtype: ``kind_of``.
    of: Callable[[Any], Kind]

    def carrier(self, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
        """Return the type as which the core moves the elements, which it does not compute with; None of others."""
        return None

    def check_held(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype of this kind for its size, if that is why no container holds it."""

    def check_computed(self, op: str, dtype: np.dtype[Any]) -> None:
        """Refuse elements that are moved, compared and sorted, and not computed with."""

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return arrays of numbers in whose order elements sort, the primary one first. NaN and NaT come last."""
        raise InvalidTypeError(f"elements of {part.dtype} have no order")

    def is_divided(self, dtype: np.dtype[Any], reverse: bool) -> bool:
        """Say whether ``search`` finds to which ranges elements belong, of those that sort in an order."""
        return self.is_number or self.is_date or self.is_text

    def search(self, part: Array, values: Array, side: Any, reverse: Any) -> Array:
        """Return where values belong in sorted elements, as ``np.searchsorted``; NaN is last in either direction."""
        if not reverse:
            return np.searchsorted(part, values, side)
        kept = len(part) - int(np.count_nonzero(self.missing(part)))
        other: Any = "left" if side == "right" else "right"
        found = kept - np.searchsorted(part[:kept][::-1], values, other)
        return np.where(self.of(values.dtype).missing(values), kept if side == "left" else len(part), found)

    def missing(self, elements: Array) -> Array:
        """Return which elements are NaN or NaT, which sort last, as one value."""
        return np.zeros(elements.shape, np.bool_)

    def unequal(self, elements: Array) -> Array:
        """Return which elements are equal to nothing, also not to themselves: NaN and NaT, and records with such."""
        other = elements
        found: Array = elements != other
        return found

    def differ(self, a: Array, b: Array) -> Array:
        """Return which elements are not equal, NaNs being equal to each other."""
        return (a != b) & ~(self.missing(a) & self.missing(b))

    def nothing(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return NaNs or NaTs."""
        return np.full(shape, np.nan, dtype)

    def conjugated(self, elements: Any) -> Any:
        """Return the complex conjugates of an array or a container; of real numbers, itself."""
        return elements

    def accumulator(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype to add up elements in, which their sum has."""
        return dtype

    def in_doubles(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of numbers of double precision."""
        return np.dtype(np.float64)

    def computed_in(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype in which elements are computed, of whose results those of this dtype are rounded."""
        return dtype

    def divided(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of quotients."""
        return np.dtype(np.float64)

    def sized(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of what NumPy makes with one."""
        return dtype

    def truths(self, part: Array) -> Array:
        """Return which elements are true, as ``np.nonzero`` has them: neither zero nor empty text."""
        true = np.zeros(part.shape, np.bool_)
        true[np.nonzero(part)] = True
        return true

    def sample(self, dtype: np.dtype[Any]) -> Array:
        """Return an element that becomes one of any other dtype."""
        return np.zeros(1, dtype)

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return the element above which no minimum is, or the one below which no maximum is."""
        return np.iinfo(dtype).max if least else np.iinfo(dtype).min

    def cleared(self, elements: Array) -> Array:
        """Return elements of which equal ones are the same bytes, since those that belong to no value are zero."""
        return elements

    def alike(self, keys: Array) -> Array:
        """Return keys of a map of which the equal ones are the same bytes."""
        return keys

    def plain(self, keys: Array) -> Array:
        """Return keys of a map in a type that the bridge knows."""
        return keys

    def checksum(self, array: Array, start: int) -> int:
        """Return a checksum of elements that goes on from another one."""
        import zlib  # seldom needed

        elements: Any = np.ascontiguousarray(self.cleared(array)).reshape(-1).view(np.uint8)
        return zlib.crc32(elements, start)

    def stays(self, of: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
        """Say whether elements of a dtype become those of one of this kind by NumPy's rule, and no text is cut off."""
        # In this machine's order of bytes: NumPy before 1.21 casts no records of arrays of another order.
        alike = not self.is_closed or of.kind == dtype.kind
        return alike and np.can_cast(native_of(of), native_of(dtype), self.casting)

    def fit(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return a scalar or array as a C-contiguous array of a dtype.

        Casting follows NumPy's rule "same_kind": no float becomes an integer, no complex number a float. Integers of
        any type become others, and True and False, if each value fits. No text is cut off.
        """
        array = self.array(name, value, dtype)
        if not self.stays(array.dtype, dtype):
            raise changed(name, array.dtype, dtype)
        with np.errstate(over="ignore"):
            return np.asarray(array.astype(dtype), order="C")

    def array(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return a value as an array, of any dtype, of what may become elements of this one."""
        return array_from(name, value)

    def fill(self, fill: Any, dtype: np.dtype[Any]) -> Array:
        """Return the value of every element of a new container. None becomes another by wrapping around."""
        made = self.fit("fill", fill, dtype)
        if made.size != 1:
            raise InvalidArgumentError(f"fill of shape {made.shape}: it must be one element")
        return made.reshape(())

    def element(self, name: str, value: Any, dtype: np.dtype[Any]) -> Any:
        """Return the element of a dtype that equals a number; None where there is none.

        A float is rounded to a type of floats first, so that 0.1 equals what 0.1 was stored as.
        """
        array = array_from(name, value)
        number = array.item() if not array.ndim and (self.of(array.dtype).is_number or array.dtype == object) else None
        if not isinstance(number, (int, float, complex)):
            raise InvalidTypeError(f"{name} {value!r} of type {type(value).__name__}: it must be one number")
        if isinstance(number, complex) and not self.is_complex:
            if number.imag:
                return None
            number = number.real
        return self._equal(number, dtype)

    def _equal(self, number: Any, dtype: np.dtype[Any]) -> Any:
        with np.errstate(over="ignore"):
            try:
                return dtype.type(number)
            except builtins.OverflowError:
                return None


#: As which type of the core elements of so many bytes are moved; of other sizes, as bytes.
_CARRIERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
#: The most bytes that an element may have.
_LARGEST = 2**24


class Moved(Kind):
    """A kind of elements that the core moves, and does not know."""

    is_moved = True
    key_class = "MovedKeys"  # whose bytes are compared: ``alike`` makes those of equal ones the same
    #: What the refusal of a computation says that makes numbers of them.
    advice = ""

    def check_computed(self, op: str, dtype: np.dtype[Any]) -> None:
        """Refuse them."""
        raise InvalidTypeError(
            f"{op} is for numbers of 4 bytes or more, integers and bool: elements of {dtype} are moved, compared and "
            f"sorted{self.advice}"
        )

    def carrier(self, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
        """Return the type of as many bytes."""
        if dtype.hasobject or dtype.subdtype is not None or not 1 <= dtype.itemsize <= _LARGEST:
            return None
        return np.dtype(_CARRIERS.get(dtype.itemsize, f"S{dtype.itemsize}"))

    def plain(self, keys: Array) -> Array:
        """Return the bytes."""
        return keys.view(np.uint8)

    def check_held(self, dtype: np.dtype[Any]) -> None:
        """Refuse a dtype for its size."""
        raise InvalidArgumentError(
            f"dtype {dtype} has {dtype.itemsize} bytes: bytes, str and records are held that have 1 to {_LARGEST} "
            "bytes and no objects in them"
        )


def changed(name: str, of: np.dtype[Any], dtype: np.dtype[Any]) -> InvalidTypeError:
    """Return the error of values that would be others as elements of a dtype."""
    return InvalidTypeError(f"{name} of {of} would not stay what they are as {dtype}; convert them first")


def too_large(name: str, dtype: np.dtype[Any]) -> OverflowError:
    """Return the error of values that are larger than floats of a dtype."""
    return OverflowError(f"{name} do not fit {dtype}, whose largest is {np.finfo(dtype).max}")
