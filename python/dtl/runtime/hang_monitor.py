"""The hang monitor: how long a call may wait before it is reported, and what a rank answers that is in no call.

Where a call waits too long, the core asks the other ranks where they are. A rank that is in a call of DTL answers from
there; for one that is not, the thread that start() starts answers with the line that the main thread is at.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import time
from _thread import get_ident
from operator import methodcaller
from types import TracebackType
from typing import Iterator

from .._native import library, variables
from .._native.callsite import frames_of_threads, outside, raised
from ..exceptions import HANDLED, InvalidArgumentError, InvalidHandleError, is_marked, mark
from . import scheduler

_POLL_SECONDS = 0.5

# How long an interrupted program goes on, so that other ranks can ask where it was.
_AFTER_INTERRUPT_SECONDS = 1.2

#: What other ranks are told when this one's program ends.
PROGRAM_ENDED = "has ended its program"

#: What other ranks are told of a rank that an exception takes out of a context; the exception follows.
LEFT_CONTEXT = "has left the context by"

# How long the exit of another rank may take, of Python's and MPI's part together.
_EXIT_SECONDS = 2.0

# How long a program that ends waits for the other ranks to come to the last call that it made, in milliseconds.
_LAST_MOMENT = 1000

#: Which ranks' collective calls are compared: all, or only where all ranks share memory.
_CHECKS = ("full", "node")

#: Who makes progress with requests while the program computes; core/comm numbers them in this order.
_PROGRESS = ("none", "poll", "thread")

_started = False

# The threads that are ranks, by the handles of their contexts.
_threads: dict[int, int] = {}

_interrupted_at = ""

# After how many seconds a call that waits is reported, and fails; 0 is never.
_limits = (0.0, 0.0)


#: Whether ranks compare the arrays that they all pass to ufuncs: where a program has said check="full".
state = {"compares_arrays": False}


def configure(check: str | None, progress: str | None = None, backend: str | None = None) -> None:
    """Check and apply the environment's settings, and a new context's check and progress."""
    given = {"DTL_CHECK": check, "DTL_PROGRESS": progress, "DTL_BACKEND": backend}
    variables.check([name for name, argument in given.items() if argument is not None])
    if progress is None:
        progress = variables.value("DTL_PROGRESS")
    elif progress not in _PROGRESS:
        raise InvalidArgumentError(f"progress is {progress!r}; it must be one of {', '.join(map(repr, _PROGRESS))}")
    library.set_progress(_PROGRESS.index(progress))
    if check is None:
        check = variables.value("DTL_CHECK")
    elif check not in _CHECKS:
        raise InvalidArgumentError(f"check is {check!r}; it must be one of {', '.join(map(repr, _CHECKS))}")
    library.set_checking(check != "node")
    state["compares_arrays"] = check == "full"
    if check is not None:
        library.keep_places(check == "full")
    global _limits
    _limits = variables.value("DTL_HANG_REPORT"), variables.value("DTL_TIMEOUT")
    library.set_wait_limits(*_limits)
    library.set_sharing(variables.value("DTL_SHARED_MEMORY") != "0")
    library.pretend_nodes(variables.value("DTL_NODES_OF"))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Have calls of this process that wait meanwhile not reported by it."""
    library.set_wait_limits(0.0, _limits[1])
    try:
        yield
    finally:
        library.set_wait_limits(*_limits)


def start() -> None:
    """Start the monitor's thread, unless it runs."""
    global _started
    if not _started:
        _started = True
        atexit.register(_leave)
        import threading  # not needed before

        main = threading.main_thread().ident or 0
        threading.Thread(target=_watch, args=(main,), name="dtl-watch", daemon=True).start()


def watch_thread(context: int) -> None:
    """Have the calling thread watched as the rank that a context is of, until forget_thread."""
    _threads[context] = get_ident()


def forget_thread(context: int) -> None:
    """Watch the thread no more that is the rank of a context."""
    _threads.pop(context, None)


def _watch(main: int) -> None:
    """Answer other ranks that ask where the main thread is."""
    while True:
        time.sleep(_POLL_SECONDS)
        if not library.forked() and library.asked():
            here = outside(frames_of_threads().get(main))
            library.answer(_interrupted_at or f"at {here}, {_waits_for(main)}")
        for context, thread in list(_threads.items()):
            with contextlib.suppress(InvalidHandleError):
                if library.context_asked(context):
                    library.context_answer(context, f"at {outside(frames_of_threads().get(thread))}")


_origin_of = methodcaller("_origin")


def _waits_for(thread: int) -> str:
    """Return which asynchronous call a thread waits for, in words."""
    future = scheduler.waiting.get(thread)
    return "in no call that waits" if future is None else f"waiting for{_origin_of(future)[3:]}"


def interrupted(where: TracebackType | None) -> None:
    """Wait a little after an interrupt, before the job is aborted, so that other ranks can ask where this one was."""
    global _interrupted_at
    _interrupted_at = f"was at {raised(where)}"
    if _started:
        time.sleep(_AFTER_INTERRUPT_SECONDS)


def wait_for_exit_code(error: BaseException) -> None:
    """Wait a little if the error is that another rank has left: that rank's exit code may end the job first."""
    if PROGRAM_ENDED in str(error) or LEFT_CONTEXT in str(error):
        time.sleep(_EXIT_SECONDS)


def handled(error: BaseException) -> None:
    """Note that an exception does not end the program, although sys.last_value names it."""
    mark(error, HANDLED)


def _leave() -> None:
    """Tell the other ranks that this one makes no more calls."""
    if library.forked():
        return
    try:
        last = getattr(sys, "last_value", None)
        if last is None or is_marked(last, HANDLED):  # else the program ends by an error of its own
            library.confirm(_LAST_MOMENT)
    finally:
        library.leave(PROGRAM_ENDED)
