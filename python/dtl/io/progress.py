"""A bar of what is read or written, where that takes long."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import Any, Iterator

from .._native.arguments import flag
from ..exceptions import BackendUnavailableError

#: After how many seconds a bar comes, and the bytes after which it moves at most.
_AFTER, STEP = 2.0, 32 << 20

_of_thread = threading.local()


class _Bar:
    """What a call on this rank has done of its part."""

    def __init__(self, title: str, make: Any) -> None:
        self._title, self._make = title, make
        self._since = time.monotonic()
        self._shown: Any = None
        self.total = self.done = 0

    def move(self) -> None:
        if self._shown is None and time.monotonic() - self._since >= _AFTER:
            self._shown = self._make(
                desc=self._title, total=self.total, unit="B", unit_scale=True, leave=False, file=sys.stderr
            )
        if self._shown is not None:
            self._shown.total = self.total
            self._shown.update(min(self.done, self.total) - self._shown.n)

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()


def bars(on: bool | None) -> Any:
    """Return what makes a bar; None where there is to be none."""
    if on is None and not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        if on is None:
            return None
        raise BackendUnavailableError(f"progress needs tqdm: pip install tqdm ({error})") from None
    return tqdm


def check_shown(on: Any) -> None:
    """Refuse what does not say whether to show a bar."""
    if on is not None:
        flag("progress", on)


@contextmanager
def shown(ctx: Any, title: str, on: Any) -> Iterator[None]:
    """Show on rank 0 how far a call is, from 2 seconds on: None for where standard error is a terminal. Not collective.

    It shows the bytes of rank 0's part.
    """
    wanted = None if on is None else bool(flag("progress", on))
    make = None if wanted is False else bars(wanted)
    if make is None or ctx.rank:
        yield
        return
    _of_thread.bar = bar = _Bar(title, make)
    try:
        yield
        advance(max(bar.total - bar.done, 0))  # what others did in place of this rank
    finally:
        _of_thread.bar = None
        bar.close()


def is_shown() -> bool:
    """Say whether this thread's call may have a bar here."""
    return getattr(_of_thread, "bar", None) is not None


def expect(size: int) -> None:
    """Say how many further bytes there are to be read or written."""
    bar = getattr(_of_thread, "bar", None)
    if bar is not None:
        bar.total += size


def advance(size: int) -> None:
    """Say how many further bytes have been."""
    bar = getattr(_of_thread, "bar", None)
    if bar is not None:
        bar.done += size
        bar.move()
