"""The short way from a function into the bridge."""

from __future__ import annotations

from typing import Any, Callable, TypeVar, cast

from .._native.library import bridge
from .scheduler import ShortAlgorithm

F = TypeVar("F", bound=Callable[..., Any])


def short(code: int, places: str, answer: str, fold: int = 0) -> Callable[[F], F]:
    """Let a function be called only where its arguments need preparing; elsewhere C makes the call by itself.

    Places has a word for each parameter, and answer says what comes back: see ``_bridge.ShortCall``. The function has
    to come to the same for arguments that the short way takes.
    """

    def shortened(function: F) -> F:
        prepare = ShortAlgorithm(function) if answer == "folded" else function
        return cast("F", bridge.ShortCall(prepare, code, places, answer, fold))

    return shortened
