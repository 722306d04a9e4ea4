"""Arguments made ready for the bridge, and results made ready for the caller."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from .._lazy import late
from ..exceptions import InvalidArgumentError, InvalidTypeError, MemoryError
from ..ops import IN_PLACE, Op
from . import library, slow_paths
from .kinds import COMPUTED, NUMBERS, carrier, kind_of
from .named_types import dtype_called, is_made_of, is_native, is_record, name_of, native_of, record

_array_of = late("._native.foreign_arrays", "array_of")
_text_of = late("._native.foreign_arrays", "text_of")


def dtype_number(dtype: Any) -> int:
    """Return the core's number of a NumPy dtype, or of anything that NumPy takes for one."""
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:
        hint = "; several extents are one argument, such as (2, 3)" if isinstance(dtype, int) else ""
        raise InvalidArgumentError(f"unknown dtype {dtype!r}: {error}{hint}") from None
    number = NUMBERS.get(resolved.str)
    if number is None:
        raise InvalidArgumentError(f"dtype {resolved} is not held; the dtypes are {_names()}")
    return number


#: The core's number of elements of no bytes, to which it adds their size.
_OPAQUE = 256


def sent_as(dtype: np.dtype[Any], known: bool = False) -> np.dtype[Any] | None:
    """Return the record as which elements travel that the core moves and does not know; None for all other types.

    If the receivers do not know the dtype, it needs a name that it can be made of.
    """
    if carrier(dtype) is None or not is_native(dtype) or not (known or is_made_of(name_of(dtype))):
        return None
    return record(dtype)


def sent_number(dtype: Any) -> int:
    """Return the core's number of a dtype that messages can have."""
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return dtype_number(dtype)
    if sent_as(resolved, known=True) is None:
        return dtype_number(dtype)
    return library.dtype_named(name_of(resolved), resolved.itemsize)


def dtype_numbered(number: int) -> np.dtype[Any]:
    """Return the dtype of a number that a message's elements have."""
    return dtype_called(library.dtype_name(number))


def stored_number(dtype: Any) -> int:
    """Return the core's number of a dtype that containers hold, or of the type as which it moves the elements."""
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return dtype_number(dtype)
    number = COMPUTED.get(resolved.num)
    if number is not None and resolved.isnative:
        return number
    moved = carrier(resolved)
    if moved is not None and is_native(resolved):
        return NUMBERS.get(moved.str) or _OPAQUE + resolved.itemsize
    if moved is None:
        kind_of(resolved).check_held(resolved)
    return dtype_number(resolved)


#: How arrays of other libraries say where their elements are.
_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")


def is_foreign(value: Any) -> bool:
    """Say whether a value is an array or a column of another library than NumPy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return False
    return isinstance(value, memoryview) or any(hasattr(value, name) for name in _PROTOCOLS)


#: DLPack's numbers of kinds of memory on GPUs: CUDA's, ROCm's, and CUDA's that the host shares.
ON_DEVICES = (2, 10, 13)

#: What is asked about most often, and never on a GPU.
_HOST_TYPES = (np.ndarray, np.generic, int, float, complex, str, bytes, list, tuple, dict, type(None))


def is_on_device(x: Any) -> bool:
    """Say whether x is an array on a GPU, DTL's or another library's."""
    if isinstance(x, _HOST_TYPES):
        return False
    if hasattr(type(x), "__dlpack_device__"):
        try:
            return x.__dlpack_device__()[0] in ON_DEVICES
        except (ValueError, TypeError, RuntimeError, builtins.BufferError):  # what DLPack has no device or type for
            return False
    return hasattr(x, "__cuda_array_interface__")


def stored_array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return value as ``input_array`` does, but also of a type whose elements containers hold and the core moves."""
    if isinstance(value, (list, tuple)) and value:
        try:
            listed_there = np.asarray(value)
        except (TypeError, ValueError, OverflowError):
            return input_array(name, value)  # which says what is wrong with it
        value = listed_there if kind_of(listed_there.dtype).is_listed else value
    elif is_foreign(value):
        elements = _array_of(name, value)
        value = value if elements.dtype == object else elements  # by whose type it is refused
    elif isinstance(value, np.ndarray) and value.dtype.kind == "T":
        value = _text_of(name, value)
    if isinstance(value, (np.ndarray, np.generic)) and not np.ma.is_masked(value):
        native = native_of(value.dtype)
        if carrier(native) is not None:
            return np.asarray(value, native, order="C")
    return input_array(name, value)


def moved_array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return value as ``input_array`` does, but elements that the core moves and does not know as their bytes."""
    array: np.ndarray[Any, Any] = as_bytes(stored_array(name, value))
    return array


def as_bytes(array: Any) -> Any:
    """Return the bytes of an array whose dtype the core moves without knowing it; return any other array unchanged."""
    if not isinstance(array, np.ndarray) or not is_native(array.dtype) or carrier(array.dtype) is None:
        return array
    if not array.flags.c_contiguous:
        return array.view(record(array.dtype))  # as which it is refused for the reason that it has
    return array.reshape(-1).view(np.uint8)


def element_types() -> list[np.dtype[Any]]:
    """Return the dtypes that elements have."""
    return [np.dtype(key) for key in NUMBERS]


def _names() -> str:
    return ", ".join(dtype.name for dtype in element_types())


def integer(name: str, value: Any) -> int:
    """Return value as an int that fits 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{name} must be an integer, not {value!r} of type {type(value).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"{name} {number} outside [-2**63, 2**63)")
    return number


#: How far from the main diagonal no matrix reaches: sums of this and an index fit 64 bits.
_OUTSIDE = 2**62


def diagonal_number(name: str, value: Any) -> int:
    """Return the number of a diagonal, for which any integer does: the far ones are outside of every matrix."""
    if isinstance(value, int):
        value = max(-_OUTSIDE, min(value, _OUTSIDE))
    return integer(name, value)


def listed(values: Any) -> list[Any]:
    """Return the items of what can be iterated over. Else this raises TypeError, also for a memoryview of complex.

    The items of a set are put in order, as each process has them in another: numbers by size, others by their texts.
    """
    try:
        if isinstance(values, (set, frozenset)):
            numbers = all(isinstance(each, (int, float)) for each in values)
            return sorted(values) if numbers else sorted(values, key=repr)
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
    started = slow_paths.clock() if slow_paths.listeners and slow_paths.is_long(value) else 0
    try:
        array = np.asarray(_array_of(name, value) if is_foreign(value) else value, order="C")
    except InvalidArgumentError:
        raise  # which says what is missing
    except ValueError as error:
        raise InvalidArgumentError(f"{name} is no array: {error}") from None
    except builtins.MemoryError as error:
        raise MemoryError(f"{name}: {error}") from None
    if started:
        slow_paths.tell(slow_paths.CONVERTED, name, array.nbytes, started)
    if is_record(array.dtype):
        return array
    native = native_of(array.dtype)
    if native.str in NUMBERS and not array.dtype.isnative:
        return array.astype(native, order="C")
    if native.str not in NUMBERS:
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
    """Raise an error that says why the bridge has refused an output, if it is the output's fault."""
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"out must be a NumPy array, not {type(out).__name__}")
    native = native_of(out.dtype)
    if not is_native(out.dtype) and (native.str in NUMBERS or carrier(native) is not None):
        raise InvalidTypeError(
            f"out has dtype {out.dtype}, which is not in this machine's byte order: what is received is not converted; "
            f"use {native}"
        )
    if out.dtype.str not in NUMBERS and not is_record(out.dtype):
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


def as_received(value: Any) -> Any:
    """Return what a rank passed as what the others receive: an array of another library as NumPy's."""
    if value.__class__ is np.ndarray or isinstance(value, (np.generic, bool, int, float, complex)):
        return value
    return np.asarray(value)


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
    if not kind_of(array.dtype).is_integer and array.size:
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
