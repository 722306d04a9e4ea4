"""What traces and ledgers of slow paths share: they record while their block runs, and their block may run again."""

from __future__ import annotations

from typing import TypeVar

from .._native.library import bridge

Self = TypeVar("Self", bound="Recording")


class Recording:
    """Records calls while its block runs; of blocks inside each other, until the outermost ends."""

    def __init__(self, max_events: int) -> None:
        self._recorder = bridge.Recorder(max_events, True, ())
        self._running = 0

    def __enter__(self: Self) -> Self:
        self._running += 1
        if self._running == 1:
            self._begin()
        return self

    def __exit__(self, *raised: object) -> None:
        self._running -= 1
        if not self._running:
            self._end()

    def _begin(self) -> None:
        self._recorder.start()

    def _end(self) -> None:
        self._recorder.stop()

    @property
    def _state(self) -> str:
        return "running" if self._running else "stopped"
