"""Starts a job, waits for it, and sees to it that none of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import FrameType
from typing import Mapping, NoReturn, Sequence

from . import processes

#: The exit code of a job that ran out of time, as that of timeout(1).
TIMED_OUT = 124

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# What a launcher gets to end its ranks after a first and a second request, and a rank to say where it is.
_FIRST_SECONDS = 3.0
_SECOND_SECONDS = 2.0
_STACK_SECONDS = 2.0
# What ranks get after Ctrl-C to tell each other, and the user, where they were.
_LAST_WORDS_SECONDS = 2.5


class _SignalError(Exception):
    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    raise _SignalError(signum)


def run(words: Sequence[str], environ: Mapping[str, str], timeout: float | None) -> int:
    """Run a command and return its exit code; 128 + the signal if one ended it, ``TIMED_OUT`` if time did.

    The command gets a session of its own, so that Ctrl-C reaches it once and from here. Whatever ends the
    wait, no process that the command started on this machine is left when this returns.
    """
    child = subprocess.Popen(list(words), env=dict(environ), start_new_session=True)
    # What we were started to ignore, as nohup does with SIGHUP, stays ignored.
    heeded = [signum for signum in _ENDING if signal.getsignal(signum) != signal.SIG_IGN]
    before = {signum: signal.signal(signum, _interrupt) for signum in heeded}
    try:
        code = child.wait(timeout)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        _be_deaf()
        print(f"dtl run: still running after {timeout:g} s; ending the job", file=sys.stderr, flush=True)
        _show_stacks(child)
        _end(child, signal.SIGTERM)
        return TIMED_OUT
    except _SignalError as interrupted:
        _be_deaf()
        if interrupted.signum == signal.SIGINT:
            _interrupt_ranks(child)
        _end(child, interrupted.signum)
        return 128 + interrupted.signum
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _be_deaf() -> None:
    """Let nothing interrupt the end of a job, which takes seconds at most."""
    for signum in _ENDING:
        signal.signal(signum, signal.SIG_IGN)


def _interrupt_ranks(child: subprocess.Popen[bytes]) -> None:
    """Interrupt each rank on this machine, which launchers do not, and let them say where they were."""
    for _, process in processes.ranks(processes.descendants(child.pid), sys.executable):
        processes.send(process, signal.SIGINT)
    _ended(child, _LAST_WORDS_SECONDS)


def _show_stacks(child: subprocess.Popen[bytes]) -> None:
    """Print where each rank on this machine is, and end it.

    The launcher must not see the first rank go before the last one has spoken: it would end the others.
    """
    itself = processes.look_up(child.pid)
    job = ([itself] if itself is not None else []) + processes.descendants(child.pid)
    ranks = processes.ranks(job, sys.executable)
    waiting = set(job).difference(process for _, process in ranks)
    for process in waiting:
        processes.send(process, signal.SIGSTOP)
    for name, process in ranks:
        print(f"dtl run: {name} (process {process.pid}) was here:", file=sys.stderr, flush=True)
        for text in processes.last_words(process, _STACK_SECONDS):
            sys.stderr.write(text)
    sys.stderr.flush()
    for process in waiting:
        processes.send(process, signal.SIGCONT)


def _end(child: subprocess.Popen[bytes], signum: int) -> None:
    """Ask the launcher to end its ranks, then tell it, then end by force what is left."""
    job = processes.descendants(child.pid)
    child.send_signal(signum)
    if not _ended(child, _FIRST_SECONDS):
        os.killpg(child.pid, signal.SIGTERM)
        _ended(child, _SECOND_SECONDS)
    job += processes.descendants(child.pid)
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    for process in job:
        processes.send(process, signal.SIGKILL)
    child.wait()


def _ended(child: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
