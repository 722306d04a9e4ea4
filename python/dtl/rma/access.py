"""Access to windows: elements of other ranks read, written, and combined atomically."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import check_output, dtype_number, input_array, integer, operator_number
from .._native.library import bridge
from .._native.values import fitting
from ..comm.requests import Request, new_request
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..ops import SUM, OpLike
from ..runtime.short_calls import short
from .window import Window

_call = bridge.call
_PUT, _GET = bridge.WIN_PUT, bridge.WIN_GET


@short(bridge.WIN_PUT, "owner 0 1 in", "written")
def rma_put(win: Window, target: int, offset: int, data: Any) -> None:
    """Write elements to a rank's part of a window (MPI_Put).

    Parameters
    ----------
    win
        The window, with an epoch open for the target's part.
    target
        Whose part.
    offset
        Where it starts there, in bytes.
    data
        An array or scalar, of any shape. It stays as it is until the epoch ends or a flush returns: on one machine,
        that is when this call returns.

    Raises
    ------
    BoundsError
        If there is no such rank, or the elements do not fit in its part from there on.
    InvalidArgumentError
        If no epoch is open for the part.
    InvalidTypeError
        If win is no window, or data has no dtype that can be sent.
    InvalidHandleError
        If the window is closed.

    Notes
    -----
    Not collective: the target does nothing. Others see the elements after the epoch, or a flush.
    """
    _check_window(win)
    number, at, array = integer("target", target), integer("offset", offset), input_array("data", data)
    _call(_PUT, win, array, None, number, at, 0, 0)
    win._keep(number, array)


@short(bridge.WIN_GET, "owner 0 1 size2 dtype3 out", "read")
def rma_get(
    win: Window, target: int, offset: int, size: int | None = None, dtype: Any = np.uint8, *, out: Any = None
) -> np.ndarray[Any, Any]:
    """Read elements of a rank's part of a window (MPI_Get).

    Parameters
    ----------
    win, target, offset
        As for rma_put.
    size
        How many bytes; None for as many as out has.
    dtype
        Of the elements; None for bytes.
    out
        A C-contiguous array for the elements, of any dtype.

    Returns
    -------
    ndarray
        Of one dimension and dtype, or out. On one machine, the elements are there; else they are when the epoch has
        ended or a flush has returned.

    Raises
    ------
    BoundsError
        If there is no such rank, or its part has no such bytes.
    InvalidArgumentError
        If no epoch is open for the part, or size is no whole number of elements.
    InvalidTypeError
        If win is no window.
    InvalidHandleError
        If the window is closed.

    Notes
    -----
    Not collective: the target does nothing.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    array = _room(win, number, at, size, dtype, out)
    _call(_GET, win, None, array, number, at, 0, 0)
    win._keep(number, array)
    return array


def rma_rput(win: Window, target: int, offset: int, data: Any) -> Request:
    """Start rma_put (MPI_Rput).

    Parameters
    ----------
    win, target, offset, data
        As for rma_put.

    Returns
    -------
    Request
        Over when data may change again. Its result is None. The elements are at the target when the epoch has ended or
        a flush has returned.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_put.

    Notes
    -----
    Not collective.
    """
    _check_window(win)
    number, at, array = integer("target", target), integer("offset", offset), input_array("data", data)
    held = bridge.start(bridge.WIN_RPUT, win, array, None, number, at, 0, 0)
    return _noted(win, new_request(win.context, "rma_rput", held))


def rma_rget(
    win: Window, target: int, offset: int, size: int | None = None, dtype: Any = np.uint8, *, out: Any = None
) -> Request:
    """Start rma_get (MPI_Rget).

    Parameters
    ----------
    win, target, offset, size, dtype, out
        As for rma_get.

    Returns
    -------
    Request
        Its result is rma_get's, whose elements are there when it is over.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_get.

    Notes
    -----
    Not collective.
    """
    _check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    array = _room(win, number, at, size, dtype, out)
    held = bridge.start(bridge.WIN_RGET, win, None, array, number, at, 0, 0)
    return _noted(win, new_request(win.context, "rma_rget", held, lambda _: array))


def _noted(win: Window, request: Request) -> Request:
    """Return a request, which the window can wait for when it is closed."""
    if not win._near:
        win._requests.add(request)
    return request


def _check_window(win: Any) -> None:
    """Refuse what is no window, or a closed one."""
    if not isinstance(win, Window):
        raise InvalidTypeError(f"win must be a dtl.Window, not {type(win).__name__}")
    win._check_open()


def _room(win: Window, target: int, offset: int, size: Any, dtype: Any, out: Any) -> np.ndarray[Any, Any]:
    """Return the array for what is read."""
    if out is not None:
        check_output(out)
        array: np.ndarray[Any, Any] = out
        if size is not None and integer("size", size) != array.nbytes:
            raise InvalidArgumentError(f"size {size} is not that of out, which has {array.nbytes} bytes")
        return array
    if size is None:
        raise InvalidArgumentError("size, the number of bytes, is missing, and there is no out")
    dtype = np.uint8 if dtype is None else dtype
    dtype_number(dtype)
    element, count = np.dtype(dtype), integer("size", size)
    if count < 0 or count % element.itemsize:
        raise InvalidArgumentError(f"size {count} is no whole number of {element} elements of {element.itemsize} bytes")
    if 0 <= target < len(win.sizes) and count > win.sizes[target]:  # before memory is allocated for it
        text = f"{count} bytes at offset {offset} outside [0, {win.sizes[target]}), which is rank {target}'s part"
        raise BoundsError(f"rma_get: {text}")
    made: np.ndarray[Any, Any] = np.empty(count // element.itemsize if 0 <= target < len(win.sizes) else 0, element)
    return made


def rma_accumulate(win: Window, target: int, offset: int, data: Any, op: OpLike = SUM) -> None:
    """Combine elements with those of a rank's part of a window (MPI_Accumulate).

    Calls that combine or swap elements are atomic among themselves, element by element.

    Parameters
    ----------
    win, target, data
        As for rma_put.
    offset
        As for rma_put; a multiple of the elements' size, or of 8 if that is less.
    op
        SUM, PROD, MIN, MAX, LAND, LOR, BAND, BOR, BXOR; REPLACE, which writes data; or NO_OP.

    Raises
    ------
    BoundsError, InvalidTypeError, InvalidHandleError
        As for rma_put.
    InvalidArgumentError
        If no epoch is open for the part, offset is no such multiple, or op is unknown or not defined for the dtype.

    Notes
    -----
    Not collective: the target does nothing.
    """
    _check_window(win)
    number, at, array = integer("target", target), integer("offset", offset), input_array("data", data)
    _call(bridge.WIN_COMBINE, win, array, None, number, at, operator_number(op), 0)
    win._keep(number, array)


@short(bridge.WIN_FETCH, "owner 0 1 in dtype2", "added")
def rma_fetch_and_add(win: Window, target: int, offset: int, addend: Any, dtype: Any = None) -> Any:
    """Add to elements of a rank's part of a window, and return what they were (MPI_Fetch_and_op).

    Parameters
    ----------
    win, target, offset
        As for rma_accumulate.
    addend
        A scalar or an array.
    dtype
        Of the elements; None for addend's.

    Returns
    -------
    scalar or ndarray
        What was there: a NumPy scalar, or an array of addend's shape. It is there when the call returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If addend does not fit dtype.

    Notes
    -----
    Not collective: the target does nothing.
    """
    return rma_fetch_and_op(win, target, offset, addend, SUM, dtype)


def rma_fetch_and_op(win: Window, target: int, offset: int, value: Any, op: OpLike, dtype: Any = None) -> Any:
    """Combine elements with those of a rank's part of a window, and return what they were (MPI_Get_accumulate).

    Parameters
    ----------
    win, target, offset, op
        As for rma_accumulate. NO_OP reads the elements atomically, and REPLACE swaps them.
    value
        A scalar or an array.
    dtype
        Of the elements; None for value's.

    Returns
    -------
    scalar or ndarray
        What was there: a NumPy scalar, or an array of value's shape. It is there when the call returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If value does not fit dtype.

    Notes
    -----
    Not collective: the target does nothing.
    """
    _check_window(win)
    array = _elements("value", value, dtype)
    old = np.empty(array.shape, array.dtype)
    _call(
        bridge.WIN_FETCH, win, array, old, integer("target", target), integer("offset", offset), operator_number(op), 0
    )
    return old[()]


def rma_compare_and_swap(win: Window, target: int, offset: int, compare: Any, swap: Any, dtype: Any = None) -> Any:
    """Write an element to a rank's part of a window if another one is there (MPI_Compare_and_swap).

    Parameters
    ----------
    win, target, offset
        As for rma_accumulate.
    compare
        The number that has to be there, bit for bit: 0.0 is not -0.0.
    swap
        The number that is written then.
    dtype
        Of the elements; None for the one of both.

    Returns
    -------
    scalar
        What was there, a NumPy scalar: it was swapped if that equals compare. It is there when the call returns.

    Raises
    ------
    BoundsError, InvalidArgumentError, InvalidTypeError, InvalidHandleError
        As for rma_accumulate.
    OverflowError
        If compare or swap does not fit dtype.

    Notes
    -----
    Not collective: the target does nothing.
    """
    _check_window(win)
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
