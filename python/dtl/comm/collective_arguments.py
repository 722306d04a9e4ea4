"""Arguments of collectives made ready for the bridge, also where they are in out, and results made like them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._lazy import late
from .._native.arguments import check_output, fitting_out, input_array, input_value, is_on_device
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import IN_PLACE, PROD, SUM
from ..runtime.context import Context

#: Types of scalars that the bridge takes as they are. Not bool: its sums are integers, so it is converted first.
SCALARS: frozenset[Any] = frozenset((float, int, complex))

from_dlpack = late(".runtime.device_array", "from_dlpack")


def operand(value: Any, op: int) -> np.ndarray[Any, Any]:
    """Return the elements of a value that an operator combines. Sums and products of truth values are integers."""
    array = input_array("value", value)
    return array.astype(np.int64) if isinstance(value, bool) and op in (SUM, PROD) else array


def resolve_in_place(value: Any, out: Any) -> Any:
    """Return a rank's value: that in out where value is IN_PLACE."""
    if value is not IN_PLACE:
        return value
    if out is None:
        raise InvalidArgumentError("value is IN_PLACE, which takes the elements from out, but there is no out")
    check_output(out)
    return out


def resolve_in_place_entry(ctx: Context, value: Any, out: Any) -> Any:
    """Return a rank's value: its entry of out, which has one for each rank, where value is IN_PLACE."""
    if value is not IN_PLACE:
        return value
    whole = resolve_in_place(value, out)
    if whole.size % ctx.size:
        raise InvalidArgumentError(f"out of shape {whole.shape} does not have one entry for each of {ctx.size} ranks")
    return whole.reshape(ctx.size, -1)[ctx.rank]


def reduction_arguments(value: Any, out: Any, op: int, here: bool = True) -> tuple[Any, np.ndarray[Any, Any], Any]:
    """Return a rank's value, its elements for a reduction, and where the result goes; None where that is not here."""
    given = resolve_in_place(value, out)
    array = operand(given, op)
    return given, array, fitting_out(out, array.shape, array.dtype) if here else None


def gather_arguments(ctx: Context, value: Any, out: Any, here: bool = True) -> tuple[np.ndarray[Any, Any], Any]:
    """Return a rank's elements, and where those of all ranks go; None where that is not here."""
    array = input_array("value", value)
    return array, fitting_out(out, (ctx.size, *array.shape), array.dtype) if here else None


def broadcast_argument(value: Any, out: Any, here: bool) -> Any:
    """Return root's value; elsewhere an array that says what is expected, or None. An out has to be one."""
    if here:
        value = input_value("value", value)
    elif isinstance(value, np.ndarray):
        value = input_array("value", value)
    elif value is not None and is_on_device(value):
        like = from_dlpack(value)
        value = input_array("value", np.empty(like.shape, like.dtype))
    else:
        value = None
    if out is not None:
        check_output(out)
    return value


def check_in_place_root(value: Any, here: bool, root: Any) -> None:
    """Refuse IN_PLACE on a rank other than root where the result is on root alone."""
    if value is IN_PLACE and not here:
        raise InvalidArgumentError(f"value is IN_PLACE on a rank other than root, {root}: only root has an out")


def check_pair(out: Any) -> Any:
    """Refuse an out of MINLOC and MAXLOC that is no tuple of two: for values and for ranks."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise InvalidTypeError(f"out must be a tuple of two arrays, for values and for ranks, not {type(out).__name__}")
    return out


def check_ranks(ranks: Any, values: Any) -> None:
    """Refuse an out for the ranks of as many values that does not fit."""
    check_output(ranks)
    if ranks.dtype != np.int64:
        raise InvalidArgumentError(f"out for the ranks has dtype {ranks.dtype} where ranks have int64")
    if ranks.size != values.size:
        raise InvalidArgumentError(f"out for the ranks has {ranks.size} elements where there are {values.size} values")
    if np.may_share_memory(ranks, values):
        raise InvalidArgumentError("out for the ranks shares memory with out for the values")


def empty_like_or_none(value: np.ndarray[Any, Any]) -> Any:
    """Return an empty array like value; None where there is no memory, which the ranks find out together."""
    try:
        return np.empty_like(value)
    except MemoryError:
        return None


def as_passed(value: Any, result: Any) -> Any:
    """Return a result as value was passed: an array, a NumPy scalar or a Python scalar."""
    if result.ndim == 0 and not isinstance(value, np.ndarray):
        return result[()] if isinstance(value, np.generic) else result.item()
    return result


def refuse_linked(ctx: Any, value: Any) -> None:
    """Refuse an array on a GPU in a call of the host that would take it for no array, where NCCL takes it."""
    if value is not None and ctx.nccl_mode >= 0 and is_on_device(value):
        raise InvalidTypeError(f"value is on GPU {from_dlpack(value).device_id}")
