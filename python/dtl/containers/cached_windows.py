"""The windows that pointers made by ``remote`` use. A container has one, from the first pointer on.

A window is closed by all ranks together, but a container is closed, or collected, at different times on different
ranks. So windows are kept here beyond their containers. Before all ranks make a new container or window they agree
which windows belong to containers that none of them has any more, and close those.
"""

from __future__ import annotations

import weakref
from operator import attrgetter, methodcaller
from typing import Any, Callable

import numpy as np

from .._native import library
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..comm.reductions import allreduce
from ..exceptions import BufferError
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context, on_close

#: Of each context, in the order in which all ranks made them.
kept: dict[int, list[CachedWindow]] = {}

#: The window that pointers to a container's elements use; None before the first.
window_of: Callable[[Any], Any] = attrgetter("_cached_window")

_memory_of, _forget = attrgetter("_held"), methodcaller("_end")


class CachedWindow(bridge.Handle):
    """A window that is locked by lock_all until it ends. It keeps the window's memory, but not its context."""

    def __init__(self, container: Any, window: Any) -> None:
        self._handle = handle_of(window)
        self._memory = _memory_of(window)
        self._container = weakref.ref(container)
        self.window = weakref.ref(window)

    def unused(self) -> bool:
        """Say whether the container is closed or collected on this rank."""
        container = self._container()
        return container is None or not handle_of(container)

    def end(self) -> None:
        """Close the window, or raise and leave it as it was. Collective."""
        library.window_close(self._handle)
        self.forget()
        window = self.window()
        if window is not None:
            _forget(window)

    def forget(self) -> None:
        """Let the memory go."""
        self._handle, self._memory = 0, None


def add(container: Any, window: Any) -> None:
    """Keep the window of a container. Only this module closes it from now on."""
    kept.setdefault(handle_of(container.context), []).append(CachedWindow(container, window))
    _set_window(container, window)


def _set_window(container: Any, window: Any) -> None:
    container._cached_window = window


def end_unused(ctx: Context, op: str) -> None:
    """Close the windows whose containers are gone on all ranks, a part of op. Collective, where there are windows."""
    windows = kept.get(handle_of(ctx))
    if not windows:
        return
    held = bridge.take_turn(ctx, op) if ctx.size > 1 else 0
    try:
        gone = allreduce(ctx, np.array([cached.unused() for cached in windows]), "land")
        for cached, ends in zip(list(windows), gone.tolist()):
            if ends:
                _end(ctx, cached)
    finally:
        if held:
            bridge.end_turn(held)


def end(container: Any, op: str, words: str = "", *, idle: bool = True) -> None:
    """Close the window of a container whose structure is to change. Collective, where there is one.

    Words are the arguments of the call, op, that all ranks pass alike. With idle, views refuse it, as they would after.
    """
    ctx, window = container.context, window_of(container)
    if window is None or not window.is_valid:
        return
    with local_step(ctx, op):
        refuse_closed(container)
        views = container.views_out - 1  # one is the window's
        if views and idle:
            are = "1 view of the container is" if views == 1 else f"{views} views of the container are"
            raise BufferError(f"{op}: {are} out; delete {'it' if views == 1 else 'them'} first")
    agree(ctx, op, words)
    _end(ctx, next(cached for cached in kept[handle_of(ctx)] if cached.window() is window))
    _set_window(container, None)


def _end(ctx: Context, cached: CachedWindow) -> None:
    cached.end()
    windows = kept[handle_of(ctx)]
    windows.remove(cached)
    if not windows:
        del kept[handle_of(ctx)]


def close(ctx: int) -> None:
    """Let go of the windows of a context that is closed, which has ended them."""
    for cached in kept.pop(ctx, ()):
        library.window_drop(handle_of(cached))
        cached.forget()


on_close.append(close)
