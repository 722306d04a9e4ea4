"""Access to windows: elements written to other ranks, and read from there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import check_output, dtype_number, input_array, integer
from .._native.library import bridge
from .._native.short_calls import short
from ..comm.requests import Request, begun
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
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
    check_window(win)
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
    check_window(win)
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
    check_window(win)
    number, at, array = integer("target", target), integer("offset", offset), input_array("data", data)
    held = bridge.start(bridge.WIN_RPUT, win, array, None, number, at, 0, 0)
    return _noted(win, begun(win.context, "rma_rput", held))


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
    check_window(win)
    number, at = integer("target", target), integer("offset", offset)
    array = _room(win, number, at, size, dtype, out)
    held = bridge.start(bridge.WIN_RGET, win, None, array, number, at, 0, 0)
    return _noted(win, begun(win.context, "rma_rget", held, lambda _: array))


def _noted(win: Window, request: Request) -> Request:
    """Return a request, which the window can wait for when it is closed."""
    if not win._near:
        win._requests.add(request)
    return request


def check_window(win: Any) -> None:
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
    if 0 <= target < len(win.sizes) and count > win.sizes[target]:  # before there is room for it
        text = f"{count} bytes at offset {offset} outside [0, {win.sizes[target]}), which is rank {target}'s part"
        raise BoundsError(f"rma_get: {text}")
    made: np.ndarray[Any, Any] = np.empty(count // element.itemsize if 0 <= target < len(win.sizes) else 0, element)
    return made
