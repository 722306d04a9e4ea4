"""Waiting with patience: how long a call may take, and what a rank that is in no call answers to those that wait."""

from __future__ import annotations

import atexit
import math
import os
import sys
import time
from types import TracebackType

from .._native import library
from .._native.callsite import outside, raised
from ..exceptions import InvalidArgumentError
from . import scheduler

_REPORT_SECONDS = 30.0
_LOOK_SECONDS = 0.5

# What a rank gets that was interrupted in a call, to find out where this one was.
_LAST_WORDS_SECONDS = 1.2

# What other ranks are told when this one's program ends, and how long the end may take: Python's, and that of MPI.
FAREWELL = "has ended its program"

#: What the others are told of a rank that an exception takes out of a context, before the exception.
LEFT = "has left the context by"
_LAST_EXIT_SECONDS = 2.0

#: What collective calls compare: all ranks, or those that share memory with each other.
_CHECKS = ("full", "node")

#: Who goes on with what is under way while a program computes, by core/comm's numbers.
_PROGRESS = ("none", "poll", "thread")

_started = False
_last_place = ""


def configure(check: str | None, progress: str | None = None) -> None:
    """Take over what the environment says now, what a new context compares, and who goes on with what it starts."""
    source = "progress"
    if progress is None:
        source, progress = "DTL_PROGRESS", os.environ.get("DTL_PROGRESS") or _PROGRESS[0]
    if progress not in _PROGRESS:
        raise InvalidArgumentError(f"{source} is {progress!r}; it must be one of {', '.join(map(repr, _PROGRESS))}")
    library.set_progress(_PROGRESS.index(progress))
    source = "check"
    if check is None:
        source, check = "DTL_CHECK", os.environ.get("DTL_CHECK") or None
    if check is not None and check not in _CHECKS:
        raise InvalidArgumentError(f"{source} is {check!r}; it must be one of {', '.join(map(repr, _CHECKS))}")
    library.set_checking(check != "node")
    if check is not None:
        library.keep_places(check == "full")
    library.set_wait_limits(_seconds("DTL_HANG_REPORT", _REPORT_SECONDS), _seconds("DTL_TIMEOUT", 0.0))
    library.set_sharing(os.environ.get("DTL_SHARED_MEMORY", "1") != "0")


def start() -> None:
    """Begin to watch, once."""
    global _started
    if not _started:
        _started = True
        atexit.register(_leave)
        import threading  # not needed before

        main = threading.main_thread().ident or 0
        threading.Thread(target=_watch, args=(main,), name="dtl-watch", daemon=True).start()


def _seconds(variable: str, default: float) -> float:
    """Return a number of seconds from the environment, 0 for never."""
    text = os.environ.get(variable)
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise InvalidArgumentError(f"{variable} is {text!r}; it must be a number of seconds of at least 0, 0 for never")
    return seconds


def _watch(main: int) -> None:
    """Tell where the main thread is whenever another rank asks."""
    while True:
        time.sleep(_LOOK_SECONDS)
        if not library.forked() and library.asked():
            here = outside(sys._current_frames().get(main))
            library.answer(_last_place or f"at {here}, {_awaited(main)}")


def _awaited(thread: int) -> str:
    """Return which asynchronous call a thread waits for, whose own thread is at work and not waiting itself."""
    future = scheduler.waiting.get(thread)
    return "in no call that waits" if future is None else f"waiting for{future._origin()[3:]}"


def interrupted(where: TracebackType | None) -> None:
    """Stay a little after an interrupt, before the job is aborted, for ranks that want to know where this one was."""
    global _last_place
    _last_place = f"was at {raised(where)}"
    if _started:
        time.sleep(_LAST_WORDS_SECONDS)


def left_behind(error: BaseException) -> None:
    """Stay a little before a rank that has left is told of: its exit code, if any, ends the job and says enough."""
    if FAREWELL in str(error) or LEFT in str(error):
        time.sleep(_LAST_EXIT_SECONDS)


def _leave() -> None:
    """Tell the other ranks that this one makes no more calls."""
    if not library.forked():
        library.leave(FAREWELL)
