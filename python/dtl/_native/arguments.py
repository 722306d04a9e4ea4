"""Arguments made ready for the bridge, and results made ready for the caller."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError, MemoryError
from ..ops import IN_PLACE, Op
from . import library


def _element_types() -> dict[str, int]:
    """Return the core's number of each dtype, by NumPy's ``str`` of it, which says the byte order too."""
    numbers: dict[str, int] = {}
    while name := library.dtype_name(len(numbers) + 1):
        numbers[np.dtype(name).str] = len(numbers) + 1
    return numbers


_NUMBERS = _element_types()


def dtype_number(dtype: Any) -> int:
    """Return the core's number of a NumPy dtype, or of anything that NumPy takes for one."""
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:
        raise InvalidArgumentError(f"unknown dtype {dtype!r}: {error}") from None
    number = _NUMBERS.get(resolved.str)
    if number is None:
        raise InvalidArgumentError(f"dtype {resolved} is not held; the dtypes are {_names()}")
    return number


def _names() -> str:
    return ", ".join(np.dtype(key).name for key in _NUMBERS)


def integer(name: str, value: Any) -> int:
    """Return value as an int that fits 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{name} must be an integer, not {value!r} of type {type(value).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"{name} {number} outside [-2**63, 2**63)")
    return number


def listed(values: Any) -> list[Any]:
    """Return the items of what can be iterated over. Else this raises TypeError, also for a memoryview of complex."""
    try:
        return list(values)
    except NotImplementedError as error:
        raise TypeError(str(error)) from None


def text(name: str, value: Any) -> str:
    """Return value, which has to be a str of printable characters."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a str, not {value!r} of type {type(value).__name__}")
    if not value.isprintable():
        raise InvalidArgumentError(f"{name} {value!r} has characters that no name has")
    return value


# What NumPy and Python call the operators.
_OPERATORS = {
    "add": Op.SUM,
    "multiply": Op.PROD,
    "minimum": Op.MIN,
    "maximum": Op.MAX,
    "logical_and": Op.LAND,
    "logical_or": Op.LOR,
    "bitwise_and": Op.BAND,
    "bitwise_or": Op.BOR,
    "bitwise_xor": Op.BXOR,
}
_FUNCTIONS: dict[Any, Op] = {getattr(np, name): op for name, op in _OPERATORS.items()}
_FUNCTIONS.update(
    {sum: Op.SUM, min: Op.MIN, max: Op.MAX, np.sum: Op.SUM, np.prod: Op.PROD, np.min: Op.MIN, np.max: Op.MAX}
)


def operator_number(op: Any) -> int:
    """Return the number of an operator given as a constant, as its name in any case, or as NumPy's or Python's."""
    if isinstance(op, str):
        found = Op.__members__.get(op.upper(), _OPERATORS.get(op))
        if found is not None:
            return found
    elif isinstance(op, int):
        return integer("op", op)
    elif callable(op):
        try:
            return _FUNCTIONS[op]
        except (KeyError, TypeError):  # TypeError: it has no hash
            pass
    raise InvalidArgumentError(
        f"unknown op {op!r}; the ops are {', '.join(Op.__members__)}, and NumPy's functions such as np.add"
    )


def input_array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return value as a C-contiguous array of an element type in this machine's byte order, copied only if need be."""
    if isinstance(value, int) and not isinstance(value, bool):
        integer(name, value)
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray and np.ma.is_masked(value):
        raise InvalidArgumentError(f"{name} has masked elements, which would be sent like the others; fill it first")
    try:
        array = np.asarray(value, order="C")
    except ValueError as error:
        raise InvalidArgumentError(f"{name} is no array: {error}") from None
    except builtins.MemoryError as error:
        raise MemoryError(f"{name}: {error}") from None
    native = array.dtype.newbyteorder("=")
    if native.str in _NUMBERS and not array.dtype.isnative:
        return array.astype(native, order="C")
    if native.str not in _NUMBERS:
        if value is IN_PLACE:
            raise InvalidTypeError(f"{name} cannot be IN_PLACE here: this call does not take the elements from out")
        raise InvalidTypeError(
            f"{name} of type {type(value).__name__} gives dtype {array.dtype}, which cannot be sent; "
            f"the dtypes are {_names()}; what has none of these goes by send_object, broadcast_object and so on"
        )
    return array


def input_value(name: str, value: Any) -> Any:
    """Return value as the bridge takes it: scalars as scalars, so that the like arrives, else an array."""
    array = input_array(name, value)
    if array.ndim or isinstance(value, np.ndarray):
        return array
    if isinstance(value, np.generic):
        return array[()]
    return array.item() if isinstance(value, (bool, int, float, complex)) else array


def check_output(out: Any) -> None:
    """Raise what is wrong with an output that the bridge did not take, if anything is."""
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if not out.dtype.isnative and out.dtype.newbyteorder("=").str in _NUMBERS:
        raise InvalidTypeError(
            f"out has dtype {out.dtype}, which is not in this machine's byte order: what is received is not converted; "
            f"the dtypes are {_names()}"
        )
    if out.dtype.str not in _NUMBERS:
        raise InvalidTypeError(f"out has dtype {out.dtype}, which cannot be received; the dtypes are {_names()}")
    if not out.flags.writeable:
        raise InvalidArgumentError(f"out of shape {out.shape} is read-only")
    if not out.flags.c_contiguous:
        raise InvalidArgumentError(f"out of shape {out.shape} with strides {out.strides} is not C-contiguous")


def fitting_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return the output that the caller gave, if it can be written to, or a new array of the shape and dtype."""
    if out is None:
        try:
            return np.empty(shape, dtype)
        except ValueError as error:
            raise InvalidArgumentError(f"a result of {len(shape)} dimensions is no array: {error}") from None
    check_output(out)
    return out


def received(result: Any) -> Any:
    """Return what the bridge received as the sender passed it: an array or a scalar."""
    if type(result) is not library.bridge.Buffer:
        return result
    array = np.asarray(result)
    return array[()] if result.kind == library.bridge.NUMPY_SCALAR else array


def flag(name: str, value: Any) -> int:
    """Return 1 for True and 0 for False, and refuse what is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} must be True or False, not {value!r} of type {type(value).__name__}")
    return int(value)


def are_counts(counts: Any) -> bool:
    """Say whether counts are in the form in which the bridge takes them."""
    return counts.__class__ is np.ndarray and counts.ndim == 1 and counts.dtype == np.int64


def integers(name: str, values: Any, each: str) -> Any:
    """Return integers, of which there must be some, as an array of int64."""
    if values is None:
        raise InvalidTypeError(f"{name} must be a sequence of integers, with one entry {each}, not None")
    return count_array(name, values, each)


def count_array(name: str, counts: Any, each: str = "a rank") -> Any:
    """Return counts as an array of int64, or None."""
    if counts is None:
        return None
    try:
        array = np.asarray(counts)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} of type {type(counts).__name__} are no integers: {error}") from None
    if array.ndim != 1:
        raise InvalidArgumentError(f"{name} of shape {array.shape} must be a sequence, with one entry {each}")
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidTypeError(
            f"{name} of type {type(counts).__name__} have dtype {array.dtype}; they must be integers"
        )
    if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
        raise InvalidArgumentError(f"{name} {array.max()} outside [0, 2**63)")
    return np.ascontiguousarray(array, np.int64)


def rows(name: str, value: Any, out: Any) -> np.ndarray[Any, Any]:
    """Return value as the bridge takes it, if out is as the bridge takes it."""
    array = input_array(name, value)
    if out is not None:
        check_output(out)
    return array


def exchanged(data: Any, sent: Any, expected: Any, out: Any) -> tuple[Any, Any, Any]:
    """Return the rows of an exchange and the counts of what goes and comes as the bridge takes them."""
    array = rows("send_data", data, out)
    return array, count_array("send_counts", sent), count_array("recv_counts", expected)
