"""Pointers to elements of containers, by which any rank can read and write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import library
from .._native.arguments import integer
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..containers import cached_windows
from ..containers.base import DistributedContainer
from ..containers.interior import check_numbers
from ..exceptions import InvalidArgumentError, InvalidHandleError, InvalidTypeError
from ..ops import NO_OP, REPLACE
from ..policies import Partition
from ..runtime.agreement import agree, local_step
from .access import rma_compare_and_swap, rma_fetch_and_add, rma_fetch_and_op
from .window import Window, lock_for_good


class Remote:
    """A global pointer: one element of a container, on any rank. ``remote()`` of a container returns it.

    Its methods are not collective; the rank that holds the element makes no call. They are atomic with respect to each
    other. They raise InvalidHandleError if the container or its context is closed, or if the structure of the container
    has changed since the pointer was made.

    Attributes
    ----------
    owner : int
        The rank that holds the element.
    index : tuple of int
        Its global index.
    """

    __module__ = "dtl"

    __slots__ = ("_container", "_dtype", "_offset", "_opened", "index", "owner")

    def __init__(
        self, container: DistributedContainer, window: Window, owner: int, offset: int, index: tuple[int, ...]
    ) -> None:
        self._container = container
        self._opened = window
        self._dtype = container.dtype
        self._offset = offset
        self.owner = owner
        self.index = index

    @property
    def _window(self) -> Window:
        """The container's window, if it is the one that the pointer was made for."""
        window = self._opened
        if not handle_of(self._container):
            raise library.closed("container")
        if not handle_of(window):
            raise InvalidHandleError("the container has changed its structure since; call remote again")
        return window

    def get(self) -> Any:
        """Return the element, as a NumPy scalar."""
        return rma_fetch_and_op(self._window, self.owner, self._offset, self._dtype.type(0), NO_OP)

    def put(self, value: Any) -> None:
        """Write a number to the element. It is written when the call returns.

        Raises
        ------
        OverflowError, InvalidTypeError
            If value is outside the range of the container's dtype, or not a number.
        """
        rma_fetch_and_op(self._window, self.owner, self._offset, _number("value", value), REPLACE, self._dtype)

    def fetch_add(self, addend: Any) -> Any:
        """Add to the element, and return its old value, as a NumPy scalar.

        Raises
        ------
        OverflowError, InvalidTypeError
            If addend is outside the range of the container's dtype, or not a number.
        """
        return rma_fetch_and_add(self._window, self.owner, self._offset, _number("addend", addend), self._dtype)

    def compare_swap(self, compare: Any, swap: Any) -> Any:
        """Replace the element by swap if it equals compare, bit for bit, and return its old value, as a NumPy scalar.

        Raises
        ------
        OverflowError, InvalidTypeError
            If compare or swap is outside the range of the container's dtype, or not a number.
        """
        old, new = _number("compare", compare), _number("swap", swap)
        return rma_compare_and_swap(self._window, self.owner, self._offset, old, new, self._dtype)

    def __repr__(self) -> str:
        return f"<dtl.Remote element {self.index} of {self._dtype} on rank {self.owner}>"


def _number(name: str, value: Any) -> Any:
    """Refuse what is more than one number: it would reach further elements."""
    if np.ndim(value):
        raise InvalidTypeError(f"{name} must be one number, not of shape {np.shape(value)}")
    return value


def remote(container: DistributedContainer, index: tuple[Any, ...]) -> Remote:
    """Return the pointer to a container's element."""
    window = cached_windows.window_of(container)
    if window is None or not window.is_valid:
        with local_step(container.context, "remote"):
            refuse_closed(container)
            check_numbers(container, "remote")
            if container.partition_policy is Partition.REPLICATED:
                raise InvalidArgumentError("every rank holds each element of a container of PARTITION_REPLICATED")
        agree(container.context, "remote")  # else remote() on one rank would match Window(container) on another
        cached_windows.end_unused(container.context, "remote")
        window = Window(container)
        lock_for_good(window, "window", cached=True)
        cached_windows.add(container, window)
    place = tuple(integer("index", i) for i in index)
    numbers = bridge.place(container, np.array(place, np.int64))
    owner, at = np.asarray(numbers).tolist()
    return Remote(container, window, owner, at * container.dtype.itemsize, place)
