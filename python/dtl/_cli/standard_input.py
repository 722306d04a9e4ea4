"""What rank 0 reads under launchers of MPI, which read the input, and send it.

That of Open MPI 5 does not send its end, and that of MPICH 5 ends the job if more than 64 KiB come before rank 0 reads.
So rank 0 reads from a pipe of this process. Input from a terminal is left to the launcher.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
import threading
from typing import Sequence

from .launcher import OPEN_MPI, Launcher

#: Where the shell that starts rank 0 finds what it is to read.
VARIABLE = "DTL_RUN_INPUT"

#: The words before a program, the rank 0 of which reads that.
READING = (
    *("sh", "-c"),
    f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 0 ] || {VARIABLE}=; exec "$@" <"${{{VARIABLE}:-{os.devnull}}}"',
    "sh",
)

#: What has the launcher of Open MPI give nothing to any rank.
NOTHING = ("--stdin", "none")

_CHUNK = 1 << 16


def words(starter: Launcher, given: Sequence[str], nothing: bool) -> tuple[Sequence[str], Sequence[str]]:
    """Return options for a launcher, and words before the program, by what the standard input of this process is.

    Nothing says that ranks have nothing to read in any case. There are none if one of the arguments given to the
    launcher says what ranks read.
    """
    old = starter.family == OPEN_MPI and starter.version < (5,)
    if old or {word.lstrip("-") for word in given if word.startswith("-")} & {"stdin", "s"}:
        return (), ()
    if nothing or _is_nothing():
        return (NOTHING if starter.family == OPEN_MPI else ()), ()
    return (), () if os.isatty(0) else READING


def _is_nothing() -> bool:
    """Say whether this process has nothing to read, not even later."""
    if sys.__stdin__ is None:
        return True
    try:
        found = os.fstat(0)
    except OSError:
        return True
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev


def passed_on() -> str:
    """Begin to pass the standard input of this process on, and return where it can be read."""
    reading, writing = os.pipe()
    threading.Thread(target=_pass_on, args=(writing,), name="dtl-input", daemon=True).start()
    return f"/proc/{os.getpid()}/fd/{reading}"


def _pass_on(to: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            try:
                data = os.read(0, _CHUNK)
            except BlockingIOError:  # whoever shares it has made it so
                select.select([0], [], [])
                continue
            if not data:
                break
            while data:
                data = data[os.write(to, data) :]
    os.close(to)
