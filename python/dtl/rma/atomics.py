"""Atomic access to windows: elements combined with those of other ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import dtype_number, input_array, integer, operator_number
from .._native.library import bridge
from .._native.short_calls import short
from .._native.values import fitting
from ..exceptions import InvalidArgumentError
from ..ops import SUM, Op
from .access import check_window
from .window import Window

_call = bridge.call


def rma_accumulate(win: Window, target: int, offset: int, data: Any, op: Op | str = SUM) -> None:
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
    check_window(win)
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


def rma_fetch_and_op(win: Window, target: int, offset: int, value: Any, op: Op | str, dtype: Any = None) -> Any:
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
    check_window(win)
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
    check_window(win)
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
