"""Access to windows: read, write, and atomically combine elements of other ranks."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._native.arguments import (
    as_bytes,
    check_output,
    dtype_number,
    input_array,
    integer,
    moved_array,
    operator_number,
    stored_number,
)
from .._native.kinds import fitting
from .._native.library import bridge
from .._native.objects import refuse_closed
from ..comm.requests import Request, new_request
from ..comm.tensors import is_tensor, memory_of
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..ops import SUM, OpLike
from ..runtime.scheduler import short
from . import device_buffers
from .window import Window, is_near, keep, note_request

_call = bridge.call
_PUT, _GET = bridge.WIN_PUT, bridge.WIN_GET


@short(bridge.WIN_PUT, "owner 0 1 in", "written")
def rma_put(win: Window, target: int, offset: int, data: Any) -> None:
    """Write elements to a rank's part of a window (MPI_Put). Not collective: the target makes no call.

    Parameters
    ----------
    win
        The window. An epoch has to be open for the target's part.
    target
        The rank whose part it is.
    offset
        Where to write in the part, in bytes.
    data
        An array or scalar of any shape, also on a GPU. Do not change it until the epoch ends or a flush returns. On one
        machine, and on a GPU, you may change it when this call returns.

    Raises
    ------
    BoundsError
        If there is no such rank, or if the elements reach beyond the end of its part.
    InvalidArgumentError
        If no epoch is open for the part.
    InvalidTypeError
        If win is not a window, or data has no dtype that can be sent.
    InvalidHandleError
        If the window is closed.

    Notes
    -----
    Other ranks see the elements after the epoch or after a flush.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    if device_buffers.put(_PUT, _call, win, number, at, data) is not NotImplemented:
        return
    array = moved_array("data", device_buffers.to_host("rma_put", data))
    _call(_PUT, win, array, None, number, at, 0, 0)
    keep(win, number, array)


@short(bridge.WIN_GET, "owner 0 1 size2 dtype3 out", "read")
def rma_get(
    win: Window, target: int, offset: int, size: int | None = None, dtype: Any = np.uint8, *, out: Any = None
) -> np.ndarray[Any, Any]:
    """Read elements of a rank's part of a window (MPI_Get). Not collective: the target makes no call.

    Parameters
    ----------
    win, target, offset
        As for rma_put.
    size
        How many bytes to read; None for the size of out.
    dtype
        The dtype of the result; None for bytes.
    out
        A C-contiguous array of any dtype that receives the elements; or an array on a GPU.

    Returns
    -------
    ndarray
        A one-dimensional array of dtype; or out. On one machine, and on a GPU, it has the elements when this call
        returns. Otherwise it has them when the epoch has ended or a flush has returned.

    Raises
    ------
    BoundsError
        If there is no such rank, or if its part does not have these bytes.
    InvalidArgumentError
        If no epoch is open for the part, or if size is not a multiple of the size of an element.
    InvalidTypeError
        If win is not a window.
    InvalidHandleError
        If the window is closed.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    if device_buffers.is_on_device(out):
        return cast("np.ndarray[Any, Any]", _get_to_device(win, number, at, size, out))
    array = _room(win, number, at, size, dtype, out)
    _call(_GET, win, None, as_bytes(array), number, at, 0, 0)
    keep(win, number, array)
    return array if out is None else cast("np.ndarray[Any, Any]", out)


def _get_to_device(win: Window, target: int, offset: int, size: Any, out: Any) -> Any:
    """Read elements to an array on a GPU, which has them when this returns."""
    device_buffers.check_size(None if size is None else integer("size", size), device_buffers.from_dlpack(out).nbytes)
    if device_buffers.read_into(_GET, _call, win, target, offset, out) is NotImplemented:
        array = np.empty(device_buffers.from_dlpack(out).nbytes, np.uint8)
        _call(_GET, win, None, array, target, offset, 0, 0)
        if not is_near(win):
            _call(bridge.WIN_FLUSH, win, None, None, target, 1, 0, 0)
        device_buffers.give("rma_get", out, array)
    return out


def rma_rput(win: Window, target: int, offset: int, data: Any) -> Request:
    """Start an rma_put, and return a request for it (MPI_Rput). Not collective.

    Parameters
    ----------
    win, target, offset, data
        As for rma_put.

    Returns
    -------
    Request
        Complete when data may be changed again. Its result is None. The target has the elements when the epoch has
        ended or a flush has returned.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_put.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    held: Any = device_buffers.put(bridge.WIN_RPUT, bridge.start, win, number, at, data)
    if held is NotImplemented:
        array = moved_array("data", device_buffers.to_host("rma_rput", data))
        held = bridge.start(bridge.WIN_RPUT, win, array, None, number, at, 0, 0)
    return _noted(win, new_request(win.context, "rma_rput", held))


def rma_rget(
    win: Window, target: int, offset: int, size: int | None = None, dtype: Any = np.uint8, *, out: Any = None
) -> Request:
    """Start an rma_get, and return a request for it (MPI_Rget). Not collective.

    Parameters
    ----------
    win, target, offset, size, dtype, out
        As for rma_get.

    Returns
    -------
    Request
        Its result is that of rma_get, with the elements in it.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_get.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    there = device_buffers.is_on_device(out)
    if there:
        count = device_buffers.from_dlpack(out).nbytes
        device_buffers.check_size(None if size is None else integer("size", size), count)
        held = device_buffers.read_into(bridge.WIN_RGET, bridge.start, win, number, at, out)
        if held is not NotImplemented:
            return new_request(win.context, "rma_rget", held, lambda _: out)
    array = np.empty(count, np.uint8) if there else _room(win, number, at, size, dtype, out)
    held = bridge.start(bridge.WIN_RGET, win, None, as_bytes(array), number, at, 0, 0)

    def received(_: Any) -> Any:
        if there:
            device_buffers.give("rma_rget", out, array)
        return array if out is None else out

    return _noted(win, new_request(win.context, "rma_rget", held, received))


def _noted(win: Window, request: Request) -> Request:
    """Return a request, which the window can wait for when it is closed."""
    if not is_near(win):
        note_request(win, request)
    return request


def _check_window(win: Any) -> None:
    """Refuse what is no window, or a closed one."""
    if not isinstance(win, Window):
        raise InvalidTypeError(f"win must be a dtl.Window, not {type(win).__name__}")
    refuse_closed(win)


def _room(win: Window, target: int, offset: int, size: Any, dtype: Any, out: Any) -> np.ndarray[Any, Any]:
    """Return the array that receives the elements that are read."""
    if out is not None:
        array: np.ndarray[Any, Any] = memory_of(out) if is_tensor(out) else out
        check_output(as_bytes(array))
        if size is not None and integer("size", size) != array.nbytes:
            raise InvalidArgumentError(f"size {size} is not that of out, which has {array.nbytes} bytes")
        return array
    if size is None:
        raise InvalidArgumentError("size, the number of bytes, is missing, and there is no out")
    dtype = np.uint8 if dtype is None else dtype
    stored_number(dtype)
    element, count = np.dtype(dtype), integer("size", size)
    if count < 0 or count % element.itemsize:
        raise InvalidArgumentError(f"size {count} is no whole number of {element} elements of {element.itemsize} bytes")
    if 0 <= target < len(win.sizes) and count > win.sizes[target]:  # before memory is allocated for it
        text = f"{count} bytes at offset {offset} outside [0, {win.sizes[target]}), which is rank {target}'s part"
        raise BoundsError(f"rma_get: {text}")
    made: np.ndarray[Any, Any] = np.empty(count // element.itemsize if 0 <= target < len(win.sizes) else 0, element)
    return made


def rma_accumulate(win: Window, target: int, offset: int, data: Any, op: OpLike = SUM) -> None:
    """Combine elements with those in a rank's part of a window (MPI_Accumulate). Not collective.

    All calls that combine or swap elements are atomic with respect to each other, for each element.

    Parameters
    ----------
    win, target, data
        As for rma_put.
    offset
        As for rma_put. It is a multiple of the size of an element, or of 8 if that is less.
    op
        SUM, PROD, MIN, MAX, LAND, LOR, BAND, BOR or BXOR; REPLACE, which writes data; or NO_OP, which changes nothing.

    Raises
    ------
    BoundsError, InvalidTypeError, InvalidHandleError
        As for rma_put.
    InvalidArgumentError
        If no epoch is open for the part, if offset is not such a multiple, or if op is unknown or not defined for the
        dtype.
    """
    _check_window(win)
    number, at, how = integer("target", target), integer("offset", offset), operator_number(op)
    if device_buffers.put(bridge.WIN_COMBINE, _call, win, number, at, data, how) is not NotImplemented:
        return
    array = input_array("data", device_buffers.to_host("rma_accumulate", data))
    _call(bridge.WIN_COMBINE, win, array, None, number, at, how, 0)
    keep(win, number, array)


@short(bridge.WIN_FETCH, "owner 0 1 in dtype2", "added")
def rma_fetch_and_add(win: Window, target: int, offset: int, addend: Any, dtype: Any = None) -> Any:
    """Add to elements in a rank's part of a window, and return their old values (MPI_Fetch_and_op). Not collective.

    Parameters
    ----------
    win, target, offset
        As for rma_accumulate.
    addend
        A scalar or an array.
    dtype
        The dtype of the elements; None for that of addend.

    Returns
    -------
    scalar or ndarray
        The old values: a NumPy scalar, or an array of addend's shape. They are valid when the call returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If addend is outside the range of dtype.
    """
    return rma_fetch_and_op(win, target, offset, addend, SUM, dtype)


def rma_fetch_and_op(win: Window, target: int, offset: int, value: Any, op: OpLike, dtype: Any = None) -> Any:
    """Combine elements with those in a rank's part of a window, and return the old values (MPI_Get_accumulate).

    Not collective: the target makes no call.

    Parameters
    ----------
    win, target, offset, op
        As for rma_accumulate. With NO_OP, the call only reads the elements; with REPLACE, it swaps them.
    value
        A scalar or an array.
    dtype
        The dtype of the elements; None for that of value.

    Returns
    -------
    scalar or ndarray
        The old values: a NumPy scalar, or an array of value's shape. They are valid when the call returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If value is outside the range of dtype.
    """
    _check_window(win)
    array = _elements("value", device_buffers.to_host("rma_fetch_and_op", value), dtype)
    old = np.empty(array.shape, array.dtype)
    _call(
        bridge.WIN_FETCH, win, array, old, integer("target", target), integer("offset", offset), operator_number(op), 0
    )
    return old[()]


def rma_compare_and_swap(win: Window, target: int, offset: int, compare: Any, swap: Any, dtype: Any = None) -> Any:
    """Replace an element in a rank's part of a window if it has a given value (MPI_Compare_and_swap). Not collective.

    Parameters
    ----------
    win, target, offset
        As for rma_accumulate.
    compare
        The value that the element has to have, bit for bit: 0.0 is not -0.0.
    swap
        The new value.
    dtype
        The dtype of the element; None for that of compare and swap.

    Returns
    -------
    scalar
        The old value, as a NumPy scalar. The element was replaced if this equals compare. It is valid when the call
        returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If compare or swap is outside the range of dtype.
    """
    _check_window(win)
    compare, swap = (device_buffers.to_host("rma_compare_and_swap", one) for one in (compare, swap))
    if dtype is None:
        dtype = np.result_type(input_array("compare", compare), input_array("swap", swap))
    pair = np.array([_one("compare", compare, dtype), _one("swap", swap, dtype)])
    old = np.empty(1, pair.dtype)
    _call(bridge.WIN_SWAP, win, pair, old, integer("target", target), integer("offset", offset), 0, 0)
    return old[0]


def _elements(name: str, value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    if dtype is None:
        return input_array(name, value)
    dtype_number(dtype)
    array: np.ndarray[Any, Any] = fitting(name, value, np.dtype(dtype))
    return array.reshape(np.shape(value))


def _one(name: str, value: Any, dtype: Any) -> Any:
    array = _elements(name, value, dtype)
    if array.size != 1:
        raise InvalidArgumentError(f"{name} must be one number, not {array.size}")
    return array.reshape(-1)[0]
