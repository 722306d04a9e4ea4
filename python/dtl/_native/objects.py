"""Objects that own a native one whose end communicates nothing."""

from __future__ import annotations

import sys
from abc import abstractmethod
from operator import attrgetter, methodcaller
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import library
from .library import bridge

Self = TypeVar("Self", bound="Owner")

#: The handle by which the core knows a native object; 0 once it is closed. What is queued on it is computed first.
handle_of: Callable[[Any], int] = attrgetter("_handle")

#: The same handle, for what uses no element: what is queued stays so.
raw_handle_of: Callable[[Any], int] = attrgetter("_raw_handle")

#: Raises InvalidHandleError if an object was closed on this rank. The core cannot: it knows no handle of it any more.
refuse_closed: Callable[[Any], None] = methodcaller("_check_open")

#: How many ranks a context has.
size_of: Callable[[Any], int] = attrgetter("_size")


def owner_of(handle: int) -> bridge.Handle:
    """Return an object for calls on the native one of a handle. It does not close it."""
    owner = bridge.Handle()
    owner._handle = handle
    return owner


class Owner(bridge.Handle):
    """A native object's owner, as a context manager. A subclass says how the native object is closed."""

    def close(self) -> None:
        """Let the native object go. Not collective. A second call does nothing. What it gave, such as views, stays."""
        if self._raw_handle:
            handle, self._handle = self._raw_handle, 0
            if not library.forked():
                self._release(handle)

    def _drop(self) -> None:
        """Let the native object go without waiting for another rank, which may wait for this one elsewhere."""
        self.close()

    @abstractmethod
    def _release(self, handle: int) -> None:
        """Close the native object."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._drop()

    # The interpreter's end takes the modules away first; there is nothing to let go any more.
    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._raw_handle and not finalizing():
            self._drop()
