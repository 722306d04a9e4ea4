"""Operations under way whose requests nobody holds any more: their buffers stay until they are over."""

from __future__ import annotations

from typing import Any

from . import _native
from ._native import bridge

_kept: list[bridge.Held] = []


def keep(held: bridge.Held) -> None:
    """Keep what an operation uses until it is over."""
    _kept.append(held)


def settle() -> None:
    """Let go of those that are over."""
    if _kept:
        _kept[:] = [held for held in _kept if not bridge.call(bridge.TEST, held, None, None, 0, 0, 0, 0)]


_windows: dict[int, list[tuple[int, Any]]] = {}


def keep_window(ctx: int, window: int, memory: Any) -> None:
    """Keep the memory of a window that nobody has closed until its context is."""
    _windows.setdefault(ctx, []).append((window, memory))


def settle_windows(ctx: int) -> None:
    """Let go of the windows of a context that is closed."""
    for window, _ in _windows.pop(ctx, ()):
        _native.window_close(window)
