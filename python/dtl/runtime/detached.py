"""Objects that the program dropped while other ranks still use them: they are kept until the others are done."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from .._native import library
from .._native.library import bridge
from .._native.objects import handle_of

# Destructors add to these at any time, also while another thread iterates over them.
_operations: dict[int, Callable[[], Any]] = {}  # by handle: what says whether the operation is over
_halos: list[int] = []  # those among the operations
_windows: dict[int, Any] = {}  # by handle: the memory that other ranks reach for


def keep(held: bridge.PendingCall) -> None:
    """Keep the buffers of a request until it is over."""
    _operations[handle_of(held)] = partial(bridge.call, bridge.TEST, held, None, None, 0, 0, 0, 0)


def keep_halo(halo: int) -> None:
    """Keep a halo until its exchange is over."""
    _operations[halo] = partial(library.halo_drop, halo)
    _halos.append(halo)


def settle(wait: bool = False) -> None:
    """Release the operations that are over. With wait, wait for the exchanges of halos."""
    while wait and _halos:
        halo = _halos.pop()
        if _operations.pop(halo, None):
            library.halo_close(halo)
    for handle, over in list(_operations.items()):
        if over():
            _operations.pop(handle, None)


def keep_window(window: int, memory: Any) -> None:
    """Keep the memory of a window that was dropped without a close, until its context is closed."""
    _windows[window] = memory


def settle_windows() -> None:
    """Release the windows whose contexts are closed."""
    for window in list(_windows):
        if library.window_drop(window):
            _windows.pop(window, None)
