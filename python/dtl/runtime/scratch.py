"""Files without a name, for containers of PLACEMENT_DISK, and how much of these is in memory."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable

from .._native import library, variables
from .._native.arguments import integer
from .._native.callsite import warn
from .._native.objects import handle_of
from ..exceptions import InvalidArgumentError

#: How much more than what a process has when it sets its limit there must be for the blocks of its loops.
_LEAST = 32 << 20

#: How glibc's mallopt is called where memory has a limit: M_ARENA_MAX, so many heaps; M_MMAP_THRESHOLD, arrays of so
#: many bytes are in no heap; M_TRIM_THRESHOLD, so many bytes at the end of a heap are kept.
_OPTIONS = {-8: 1, -3: 4 << 20, -1: 4 << 20}

#: How much of files is resident beside those of containers: the program and its libraries.
_code = 0

_warned: set[str] = set()

#: What returns how many bytes there are in files: those of containers, and of whoever else has some.
in_files: list[Callable[[], int]] = [library.memory_in_files]


def note_use(ctx: Any) -> None:
    """Warn where the scratch folder is in memory. Each folder once."""
    named = ctx.scratch
    if named in _warned or not library.context_scratch_in_memory(handle_of(ctx)):
        return
    _warned.add(named)
    if not ctx.rank:
        better = "name another by Context(scratch=...) or DTL_SCRATCH"
        warn(f"the scratch folder {named} is on a tmpfs, which is memory; {better}", RuntimeWarning)


def scratch_file(ctx: Any) -> int:
    """Return the descriptor of a file without a name in the scratch folder, which is the caller's. Not collective.

    Raises
    ------
    FileError
        If no file can be made there; FileNotFoundError if the folder does not exist.
    """
    note_use(ctx)
    return library.context_scratch_file(handle_of(ctx))


def set_memory_limit(bytes: int | None) -> None:
    """Set how many bytes of this process are to be resident at most. Not collective, but the same on all ranks.

    Where nobody sets it, it is three quarters of the limit of memory of the control group (cgroup) that the process is
    in, divided by the number of its ranks on this machine, as soon as something is on disk; without such a limit, none.

    Elements of containers of PLACEMENT_DISK are given back to their files before the process has as much memory, as the
    kernel counts it (VmRSS). Containers of other placements, and arrays of the program, are not: keep these small.

    Parameters
    ----------
    bytes
        The number of bytes; None for as many as the system grants, which may be those of a control group.

    Raises
    ------
    InvalidArgumentError
        If it is less than what this process has now and 32 MiB more, for the blocks of loops.
    InvalidTypeError
        If it is not an integer.

    Notes
    -----
    The environment variable DTL_MEMORY_LIMIT sets it for a whole program, such as ``DTL_MEMORY_LIMIT=1GiB``. What is
    computed of containers on disk is on disk, too, if a rank's part of it is more than a sixteenth of the limit that
    there was when these were made; without a limit, if it is 1 MiB or more. Other results are on the host, and what is
    computed of these is on disk again if it has so many bytes. Limits that differ between ranks are an
    error when a container on disk is made; of control groups whose limits differ, the smallest counts.

    Examples
    --------
    >>> import dtl
    >>> dtl.set_memory_limit(4 << 30)
    >>> dtl.get_memory_limit()
    4294967296
    >>> dtl.set_memory_limit(None)
    """
    if bytes is None:
        library.memory_set_limit(0)
        return
    global _code
    number = integer("bytes", bytes)
    now = resident()
    _code = _status("RssFile")
    if number < now + _LEAST:
        raise InvalidArgumentError(
            f"a memory limit of {number} bytes: this process has {now} already, and needs {_LEAST} more for blocks"
        )
    library.memory_set_limit(number)
    keep_less()


def get_memory_limit() -> int | None:
    """Return how many bytes of this process are to be resident at most; None if nobody says. Not collective.

    It is what ``set_memory_limit`` has set, or else what a control group leaves to this process.
    """
    return library.memory_limit() or library.memory_share() or None


def free_memory() -> int | None:
    """Return how many bytes more a call may have in memory under the limit; None without one. Not collective."""
    limit = get_memory_limit()
    return None if limit is None else max(0, limit - _status("RssAnon") - _code)


def trim() -> None:
    """Give memory back to the system that NumPy and the core have done with, and that is kept. Not collective."""
    if library.memory_limit():
        keep_less()
    library.memory_return()
    of_glibc = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if of_glibc is not None:
        of_glibc(0)


def keep_less() -> None:
    """Have glibc's allocator keep less of what is freed, where there is one. Not collective.

    By itself, it has several heaps for the threads, and large arrays in them, which are given back to the system only
    if nothing behind them is in use.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option, value in _OPTIONS.items():
            set_option(option, value)


def configure() -> None:
    """Set the limit that DTL_MEMORY_LIMIT says, unless there is one."""
    said = variables.value("DTL_MEMORY_LIMIT")
    if said is not None and not library.memory_limit():
        try:
            set_memory_limit(said)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"DTL_MEMORY_LIMIT: {error}") from None


def _status(name: str) -> int:
    """Return what the kernel counts of this process, in bytes; 0 if it does not say."""
    try:
        with open("/proc/self/status") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith(name + ":")), 0)
    except OSError:
        return 0


def resident() -> int:
    """Return how many bytes of this process are resident, as the kernel counts them; 0 if it does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
