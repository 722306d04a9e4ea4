"""Elements on a GPU that go through the host, of which traces and the log tell."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .._native import log
from .._native.arguments import is_on_device
from .._native.library import bridge
from .device_array import from_dlpack


class Staging:
    """A block in which elements on a GPU go through the host: ``bytes``, which the block counts.

    A trace has it with the name of the call, and so has the log, now and then, if it is to.
    """

    def __init__(self, name: str, *, logs: bool) -> None:
        self._name = name
        self._logs = logs
        self.bytes = 0

    def __enter__(self) -> Staging:
        self._start = bridge.clock()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        failed = kind is not None
        bridge.note(f"{self._name} (staged)", self._start, failed, 0, 0 if failed else self.bytes)
        if self._logs and not failed:
            text = "%s: %s of a GPU go through the host"
            log.say_rarely("devices", log.INFO, self._name, text, self._name, log.size(self.bytes))


def to_host(name: str, data: Any, *, logs: bool = True) -> Any:
    """Return a copy of an array on a GPU on the host, and say so; anything else as it is."""
    if not is_on_device(data):
        return data
    with Staging(name, logs=logs) as staging:
        copied = from_dlpack(data).to_numpy()
        staging.bytes = copied.nbytes
    return copied
