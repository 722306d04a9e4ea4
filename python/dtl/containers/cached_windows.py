"""Windows behind what remote returns: each ends when all ranks have let its container go.

Containers close at different times on different ranks, and windows end on all ranks at once. So a window is noted here
when it is made, and calls that all ranks make, and that need memory, ask which windows may end.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .._native import library
from .._native.library import bridge
from ..comm.reductions import allreduce
from ..exceptions import BufferError
from ..runtime.agreement import agree, together
from ..runtime.context import Context, on_close

_noted: dict[int, list[Standing]] = {}  # of each context, in the order in which all ranks made them


class Standing(bridge.Handle):
    """A window that is locked by lock_all until it ends. It keeps the window's memory, but not its context."""

    def __init__(self, container: Any, window: Any) -> None:
        self._handle = window._handle
        self._memory = window._held
        self._container = weakref.ref(container)
        self._window = weakref.ref(window)

    def let_go(self) -> bool:
        """Say whether this rank has let the container go."""
        container = self._container()
        return container is None or not container._handle

    def end(self) -> None:
        """End the window, or raise and leave it as it was. Collective."""
        library.window_close(self._handle)
        self.forget()
        window = self._window()
        if window is not None:
            window._end()

    def forget(self) -> None:
        """Let the memory go."""
        self._handle, self._memory = 0, None


def note(container: Any, window: Any) -> None:
    """Note the window of a container. Only this module ends it from now on."""
    _noted.setdefault(container.context._handle, []).append(Standing(container, window))


def settle(ctx: Context) -> None:
    """End the windows whose containers all ranks have let go. Collective, where there are windows."""
    noted = _noted.get(ctx._handle)
    if not noted:
        return
    gone = allreduce(ctx, np.array([standing.let_go() for standing in noted]), "land")
    for standing, ends in zip(list(noted), gone.tolist()):
        if ends:
            _end(ctx, standing)


def end(container: Any, op: str, words: str = "", *, idle: bool = True) -> None:
    """End the window of a container whose structure is to change. Collective, where there is one.

    Words are the arguments of the call, op, that all ranks pass alike. With idle, views refuse it, as they would after.
    """
    ctx, window = container.context, container._remotes
    if window is None or not window.is_valid:
        return
    with together(ctx, op):
        container._check_open()
        views = container.views_out - 1  # one is the window's
        if views and idle:
            are = "1 view of the container is" if views == 1 else f"{views} views of the container are"
            raise BufferError(f"{op}: {are} out; delete {'it' if views == 1 else 'them'} first")
    agree(ctx, op, words)
    _end(ctx, next(standing for standing in _noted[ctx._handle] if standing._window() is window))
    container._remotes = None


def _end(ctx: Context, standing: Standing) -> None:
    standing.end()
    noted = _noted[ctx._handle]
    noted.remove(standing)
    if not noted:
        del _noted[ctx._handle]


def close(ctx: int) -> None:
    """Let go of the windows of a context that is closed, which has ended them."""
    for standing in _noted.pop(ctx, ()):
        library.window_drop(standing._handle)
        standing.forget()


on_close.append(close)
