"""What has been started, as those who wait for it see it: a launcher of MPI here, or ranks, in ``local``."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import IO, Any, Protocol, Sequence

from . import processes
from .epilogue import Epilogue


class Started(Protocol):
    """A job that has been started. The methods of ``subprocess.Popen`` are as there, for all of it."""

    args: Any
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    #: What ended the job, in words, and of which rank, if that is known.
    failure: str
    failed: int

    @property
    def returncode(self) -> int | Any: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int) -> None: ...

    def pass_on(self, sig: int) -> bool:
        """Send ranks a signal that is for them; say no where those on other hosts have not got it."""

    def family(self) -> list[processes.Process]:
        """Return the processes of the job on this machine, with what starts them, if that is not this process."""

    def descendants(self) -> list[processes.Process]:
        """Return the same without what starts them."""

    def end_by_force(self, sig: int) -> None:
        """Send a signal to all that was started directly, and to what shares a process group with it."""

    def tell_of_end(self, to: socket.socket) -> bool:
        """Have a socket closed when the job is over; say no where the end of a child is the end of the job."""

    def hold_output(self) -> None:
        """Stop reading what ranks write, if this process does, and leave it to another reader."""

    def end_output(self, told: bool) -> bool:
        """Return when all output is passed on. If told, leave out what the caller has said, and say whether it was."""

    def lose(self, rank: int) -> bool:
        """End the job, or say no where what starts it is expected to: a rank has left without finishing."""


class Launcher:
    """A launcher of MPI, or a program alone: a process that is given to ``subprocess.Popen``.

    Parameters
    ----------
    brief
        Whether what a launcher says of the end is left out where somebody else tells it.
    passes
        The signals that the launcher itself passes on to its ranks, on all hosts.
    """

    failure = ""
    failed = -1

    def __init__(self, words: Sequence[str], brief: bool = False, passes: Sequence[int] = (), **options: Any) -> None:
        self._passes = passes
        self._process: subprocess.Popen[bytes]
        self._epilogue = None
        if brief:
            self._process = _begin_brief(words, options)
            assert self._process.stderr is not None
            self._epilogue = Epilogue(self._process.stderr, 2)
        else:
            self._process = subprocess.Popen(list(words), **options)
        self.args = self._process.args
        self.stdout, self.stderr = self._process.stdout, self._process.stderr

    @property
    def returncode(self) -> int | Any:
        """The exit code, None before the end."""
        return self._process.returncode

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code."""
        return self._process.wait(timeout)

    def send_signal(self, sig: int) -> None:
        """Send a signal to the process."""
        self._process.send_signal(sig)

    def pass_on(self, sig: int) -> bool:
        """Let the launcher send the ranks a signal. If it does not, send it to the ranks on this machine."""
        if sig in self._passes:
            self.send_signal(sig)
            return True
        for process in processes.foremost(self.family(), sys.executable):
            processes.send(process, sig)
        return False

    def family(self) -> list[processes.Process]:
        """Return the launcher and its descendants."""
        itself = processes.look_up(self._process.pid)
        return ([itself] if itself is not None else []) + self.descendants()

    def descendants(self) -> list[processes.Process]:
        """Return the launcher's descendants."""
        return processes.descendants(self._process.pid)

    def end_by_force(self, sig: int) -> None:
        """Send a signal to the launcher's group."""
        if sig == signal.SIGKILL and self.poll() is not None:
            return
        os.killpg(self._process.pid, sig)

    def tell_of_end(self, to: socket.socket) -> bool:
        """Say no."""
        return False

    def hold_output(self) -> None:
        """Do nothing: the launcher reads it, and can be stopped."""

    def end_output(self, told: bool) -> bool:
        """Return when what the launcher and the ranks wrote is passed on."""
        if self._epilogue is None or self.stderr is None:
            return False
        self._epilogue.finish(not told)
        return told

    def lose(self, rank: int) -> bool:
        """Leave it to the launcher, for now."""
        return False


def _begin_brief(words: Sequence[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start a launcher with a pipe for its errors, of which it has both ends.

    When this process is killed, Open MPI's launcher says so while it ends its ranks. Without a reader that would end
    the launcher itself, before them.
    """
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(list(words), **{**options, "stderr": writing, "pass_fds": (reading,)})
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    process.stderr = os.fdopen(reading, "rb", buffering=0)
    return process
