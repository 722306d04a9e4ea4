"""What happens to the other ranks when an exception leaves the program on one."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import TextIO

from .._native import library
from . import hang_monitor

_rank: int | None = None
_earlier_hook = sys.excepthook


def install(rank: int) -> None:
    """Let an uncaught exception end the whole job, so that no rank waits for one that has gone."""
    global _rank, _earlier_hook
    if _rank is None:
        _rank = rank
        _earlier_hook = sys.excepthook
        sys.excepthook = _abort_job


def _abort_job(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print the traceback with the rank in front, call the hook that the program had set, and abort the job."""
    if library.forked():  # no rank: it ends alone, as it would without DTL
        _earlier_hook(kind, error, where)
        return
    import traceback  # imported here: few programs need it

    lines = "".join(traceback.format_exception(kind, error, where)).splitlines()
    try:
        hang_monitor.wait_for_exit_code(error)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # none, broken or closed: not what matters now
            sys.stdout.flush()
        sys.stderr.write("".join(f"[rank {_rank}] {line}\n" for line in lines))
        if _earlier_hook is not sys.__excepthook__:
            _earlier_hook(kind, error, where)
        sys.stderr.flush()
        if issubclass(kind, KeyboardInterrupt):
            hang_monitor.interrupted(where)
        _drain(sys.stderr)
    finally:
        library.mpi_abort(130 if issubclass(kind, KeyboardInterrupt) else 1)


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
