"""Operations under way whose requests nobody holds any more: their buffers stay until they are over."""

from __future__ import annotations

from ._native import bridge

_kept: list[bridge.Held] = []


def keep(held: bridge.Held) -> None:
    """Keep what an operation uses until it is over."""
    _kept.append(held)


def settle() -> None:
    """Let go of those that are over."""
    if _kept:
        _kept[:] = [held for held in _kept if not bridge.call(bridge.TEST, held, None, None, 0, 0, 0, 0)]
