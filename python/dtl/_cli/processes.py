"""The processes of a job, from the system's own table, and the last words of those that hang."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Iterator, Mapping, NamedTuple

_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "DTL_LOCAL_RANK")


class Process(NamedTuple):
    """A process; a number that was given out again has another start time."""

    pid: int
    parent: int
    state: str
    started: int


def look_up(pid: int) -> Process | None:
    """Return the process of this number, or None if there is none (or no table to look it up in)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            # The name, in parentheses, may hold anything; what follows the last one is plain.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return Process(pid, int(fields[1]), fields[0], int(fields[19]))


def alive(process: Process) -> bool:
    """Say whether the process still runs."""
    now = look_up(process.pid)
    return now is not None and now.started == process.started and now.state not in "ZX"


def descendants(pid: int) -> list[Process]:
    """Return the children of a process, their children and so on, parents first."""
    try:
        everyone = [look_up(int(name)) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    children: dict[int, list[Process]] = {}
    for process in everyone:
        if process is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    wanted = [pid]
    while wanted:
        born = children.get(wanted.pop(0), [])
        found += born
        wanted += [process.pid for process in born]
    return found


def carrying(entry: str) -> list[Process]:
    """Return the processes that were started with this entry, ``NAME=value``, in their environment."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    found = [look_up(pid) for pid in pids if entry in _environ(pid)]
    return [process for process in found if process is not None]


def send(process: Process, signum: int) -> None:
    """Send a signal to the process if it still runs."""
    if alive(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signum)


def foremost(job: list[Process], interpreter: str) -> list[Process]:
    """Return those processes of a job that run this interpreter and were not started by one that does: its ranks."""
    running = [process for _, process in ranks(job, interpreter)]
    numbers = {process.pid for process in running}
    return [process for process in running if process.parent not in numbers]


def ranks(job: list[Process], interpreter: str) -> list[tuple[str, Process]]:
    """Return those processes of a job that run this interpreter, named and ordered by their ranks."""
    program = os.path.realpath(interpreter)
    found = []
    for process in job:
        if os.path.realpath(f"/proc/{process.pid}/exe") == program:
            found.append((rank(process) or 0, process))
    return [(f"rank {number}", process) for number, process in sorted(found)]


def rank(process: Process) -> int | None:
    """Return the rank that a launcher gave to a process or to one that it descends from, or None."""
    return rank_in(dict(entry.partition("=")[::2] for entry in _environ(process.pid)))


def rank_in(variables: Mapping[str, str]) -> int | None:
    """Return the rank that a launcher has written into an environment, or None."""
    return next((int(variables[name]) for name in _RANK_VARIABLES if name in variables), None)


def _environ(pid: int) -> list[str]:
    """Return the entries of the environment that a process was started with; none if it is not ours, or gone."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return os.fsdecode(file.read()).split("\0")
    except OSError:
        return []


def last_words(process: Process, seconds: float) -> Iterator[str]:
    """Abort a process, and yield what it still writes to its standard error: under faulthandler, its stack.

    The process writes to a pipe that its launcher reads; with the launcher stopped, we read it instead, so
    that what comes is this process's alone. A process that writes where we do writes there by itself.
    """
    path = f"/proc/{process.pid}/fd/2"
    try:
        ours = os.path.samestat(os.stat(path), os.fstat(2))
        pipe = None if ours else os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        pipe = None
    send(process, signal.SIGABRT)
    deadline = time.monotonic() + seconds
    while True:
        ended = not alive(process) or time.monotonic() > deadline
        text = _available(pipe) if pipe is not None else b""
        if text:
            yield text.decode(errors="replace")
        elif ended:
            break
        else:
            time.sleep(0.01)
    if pipe is not None:
        os.close(pipe)


def _available(pipe: int) -> bytes:
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""
