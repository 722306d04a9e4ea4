"""What happens to the other ranks when an exception leaves the program on one."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

from . import _native

_rank: int | None = None


def install(rank: int) -> None:
    """Let an uncaught exception end the whole job, so that no rank waits for one that has gone."""
    global _rank
    if _rank is None:
        _rank = rank
        sys.excepthook = _abort_job


def _abort_job(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print the traceback with the rank in front, and abort the job."""
    lines = "".join(traceback.format_exception(kind, error, where)).splitlines()
    sys.stdout.flush()
    sys.stderr.write("".join(f"[rank {_rank}] {line}\n" for line in lines))
    sys.stderr.flush()
    _native.mpi_abort(130 if issubclass(kind, KeyboardInterrupt) else 1)
