"""What happens to the other ranks when an exception leaves the program on one."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from types import CodeType, TracebackType
from typing import Any, TextIO

from .._native import library
from .._native.callsite import frame_at, raised
from .._native.process import INTERRUPTED
from ..exceptions import PRINTED, is_marked, mark
from . import hang_monitor

_rank: int | None = None
_earlier_hook = sys.excepthook

# How long dtl run may take to print a traceback, for which it waits for those of other ranks.
_PRINTED_SECONDS = 5.0


def install(rank: int) -> None:
    """Let an uncaught exception end the whole job, so that no rank waits for one that has gone."""
    global _rank, _earlier_hook
    if _rank is None:
        _rank = rank
        if sys.excepthook is not _tell:
            _earlier_hook = sys.excepthook
        sys.excepthook = _abort_job


def install_for_dtl_run() -> None:
    """Let dtl run print the traceback of what leaves the program before its first context."""
    if "DTL_RUN" in os.environ and sys.excepthook is sys.__excepthook__:
        sys.excepthook = _tell


def _tell(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print the traceback of what leaves the program before its first context, unless it is printed already."""
    import traceback

    if is_marked(error, PRINTED):
        return
    text = "".join(traceback.format_exception(kind, error, where))
    if not _program_ends() or not _printed_by_dtl_run(kind, where, text):
        sys.__excepthook__(kind, error, where)


def _program_ends() -> bool:
    """Say whether the interpreter has called the hook because an exception has left the program.

    Others call the hook for exceptions that they have handled, such as consoles that are written in Python, and C code
    that cannot raise, as Cython's. Then there are frames below the hook, or the thread is another. If the interpreter
    asks for the next line at a terminal, or if it is part of another program, the process goes on, too.
    """
    import threading

    frame = frame_at()
    while frame.f_back is not None:
        frame = frame.f_back
    if frame.f_code not in (_tell.__code__, _abort_job.__code__, _code_of(sys.excepthook)):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    asks = sys.flags.inspect or os.environ.get("PYTHONINSPECT") or sys.argv[:1] in ([], [""])
    if asks and (sys.flags.interactive or os.isatty(0)):
        return False
    with contextlib.suppress(OSError):
        return os.path.samefile("/proc/self/exe", sys.executable or "")
    return False


def _code_of(hook: Any) -> CodeType | None:
    """Return the code of a function, method, partial or callable object, if it has any."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    if not hasattr(hook, "__code__"):
        hook = type(hook).__call__
    code: CodeType | None = getattr(hook, "__code__", None)
    return code


def _printed_by_dtl_run(kind: type[BaseException], where: TracebackType | None, text: str) -> bool:
    """Have dtl run print a traceback, once for all ranks that raise it, and say whether it has.

    It does not where there is none, where it is on another host, and where the program has put something else in the
    place of standard error. Of ranks that it interrupts itself it prints where they were.
    """
    name = os.environ.get("DTL_RUN")
    if not name or sys.stderr is not sys.__stderr__:
        return False
    import socket

    from .._native import peers

    if issubclass(kind, KeyboardInterrupt):
        text = f"{INTERRUPTED}{raised(where)}\n{text}"

    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_PRINTED_SECONDS)
        connection.connect(f"\0{name}-tracebacks")
        if not peers.same_user(connection):
            return False
        connection.sendall(text.encode(errors="replace"))
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1) == b"!"
    return False


def _abort_job(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print the traceback with the rank in front, call the hook that the program had set, and abort the job."""
    if library.forked():  # no rank: it ends alone, as it would without DTL
        _earlier_hook(kind, error, where)
        return
    if not _program_ends():
        hang_monitor.handled(error)
        _earlier_hook(kind, error, where)
        return
    import traceback  # imported here: few programs need it

    text = "".join(traceback.format_exception(kind, error, where))
    try:
        hang_monitor.wait_for_exit_code(error)
        _flush_output()
        if not _printed_by_dtl_run(kind, where, text):
            sys.stderr.write("".join(f"[rank {_rank}] {line}\n" for line in text.splitlines()))
        mark(error, PRINTED)
        if _earlier_hook is not sys.__excepthook__:
            _earlier_hook(kind, error, where)
            _flush_output()  # of what the hook has printed
        sys.stderr.flush()
        if issubclass(kind, KeyboardInterrupt):
            hang_monitor.interrupted(where)
        _drain(sys.stderr)
    finally:
        library.mpi_abort(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _flush_output() -> None:
    """Write what the program has printed. An output that is missing, broken or closed is not what matters now."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()


def _drain(stream: TextIO) -> None:
    """Wait until the launcher has read the stream's pipe, a second at most: the abort ends the launcher, too."""
    import array
    import fcntl
    import termios
    import time

    deadline = time.monotonic() + 1
    left = array.array("i", [0])
    with contextlib.suppress(OSError):  # no pipe
        while time.monotonic() < deadline:
            fcntl.ioctl(stream.fileno(), termios.FIONREAD, left)
            if left[0] == 0:
                break
            time.sleep(0.01)


install_for_dtl_run()
