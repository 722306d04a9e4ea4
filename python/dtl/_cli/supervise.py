"""Starts a job, waits for it, and sees to it that none of it is left."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from types import FrameType
from typing import Callable, Iterator, Mapping, Sequence

from .._native.process import VERSIONS, versions
from . import command, processes, start
from .reports import VARIABLE, Reports
from .started import Started

#: The exit code of a job that ran out of time, as that of timeout(1).
TIMED_OUT = 124

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# What is for the ranks: batch systems announce the end of a job by one of these, and mpirun passes them on, too.
_FOR_RANKS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGURG, signal.SIGWINCH)

# What a launcher gets to end its ranks after a first and a second request, and a rank to say where it is.
_FIRST_SECONDS = 3.0
_SECOND_SECONDS = 2.0
_STACK_SECONDS = 2.0
# What ranks get after Ctrl-C to tell each other, and the user, where they were.
_LAST_WORDS_SECONDS = 2.5
# Before, what they get to say it to dtl run, which looks that often.
_PLACES_SECONDS = 4.0
_POLL_SECONDS = 0.05
# What ranks get to end that a launcher has left behind.
_LEFT_SECONDS = 2.0
# What a launcher gets to end a job by itself that a rank has left. It does not where the rank's process goes on as
# another program, nor, in time, where the rank was on another host.
_LOST_SECONDS = 3.0
# How many ranks of several hosts that leave one after the other are named: the next ones are ended by the launcher.
_NAMED = 4
# After this without a new rank it is looked whether all that others wait for at their start are there.
_STARTING_SECONDS = 1.0

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


class _SignalError(Exception):
    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


class _NeverStartedError(Exception):
    def __init__(self, waiting: list[int], gone: list[int]) -> None:
        super().__init__(f"{_names(gone)} ended without opening a context, for which {_names(waiting)} waited")


class _LostError(Exception):
    pass


class _Signals:
    """The first signal that ends the job, and the signals for its ranks.

    Handlers only take note of them: an exception could come between any two lines, such as in ``Popen.poll``, whose
    lock would stay taken.
    """

    def __init__(self) -> None:
        self._first = 0
        self._for_ranks: list[int] = []

    def note(self, signum: int, frame: FrameType | None) -> None:
        """Record a signal that ends the job. This is the handler."""
        self._first = self._first or signum

    def keep(self, signum: int, frame: FrameType | None) -> None:
        """Take note of a signal that is for the ranks, or that stops the job: a handler."""
        self._for_ranks.append(signum)

    def heed(self, child: Started, reports: Reports) -> None:
        """Raise _SignalError if a signal has come that ends the job, and pass on signals for its ranks."""
        if self._first:
            raise _SignalError(self._first)
        while self._for_ranks:
            signum = self._for_ranks.pop(0)
            if signum == signal.SIGTSTP:
                _stop(child)
            elif not child.pass_on(signum):
                reports.pass_on(signum)


def run(
    job: command.Command,
    environ: Mapping[str, str],
    timeout: float | None,
    ranks: int = 0,
    others: Sequence[str] | None = None,
) -> int:
    """Run a command and return its exit code; 128 + the signal if one ended it, ``TIMED_OUT`` if time did.

    The command gets a session of its own, so that Ctrl-C reaches it once and from here. Whatever ends the
    wait, no process that the command started on this machine is left when this returns; and where this process is
    killed, the command gets its last signal.

    Parameters
    ----------
    ranks
        How many ranks the command starts on this machine, where it starts none on others; 0 where that is not known.
    others
        The other hosts on which it may start some, as far as known; None if there are none. Ranks report from there.
    """
    reports = Reports(others, tracebacks=None if ranks == 1 else ranks)
    with contextlib.closing(reports), _noted() as signals:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of Python 3.12: a fork beside Go's threads, before exec
            in_child = _end_after(os.getpid(), job.last_signal)
            variables = {**environ, **reports.variables}
            if others is not None:
                variables[VERSIONS] = versions()
            child = start.begin(job, variables, in_child=in_child)
        return _supervise(child, timeout, ranks, reports, signals)


@contextlib.contextmanager
def _noted() -> Iterator[_Signals]:
    """Record signals to this program, except those that it was started to ignore, as by nohup."""
    signals = _Signals()
    handlers = {
        **dict.fromkeys(_ENDING, signals.note),
        **dict.fromkeys((*_FOR_RANKS, signal.SIGTSTP), signals.keep),
    }
    before = {
        signum: signal.signal(signum, handler)
        for signum, handler in handlers.items()
        if signal.getsignal(signum) != signal.SIG_IGN
    }
    try:
        yield signals
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _supervise(child: Started, timeout: float | None, ranks: int, reports: Reports, signals: _Signals) -> int:
    try:
        with _woken(child, reports):
            code = _wait(child, reports, timeout, ranks, signals)
        return _verdict(code, child, reports, ranks)
    except _LostError:
        _ignore_signals()
        _say(f"{_loss(reports, ranks)}; ending the job")
        end(child, signal.SIGTERM)
        return 1
    except _NeverStartedError as error:
        _ignore_signals()
        _say(f"{error}; ending the job")
        end(child, signal.SIGTERM)
        return 1
    except subprocess.TimeoutExpired:
        _ignore_signals()
        _say(f"still running after {timeout:g} s; ending the job")
        _show_stacks(child)
        end(child, signal.SIGTERM)
        return TIMED_OUT
    except _SignalError as interrupted:
        _ignore_signals()
        if interrupted.signum == signal.SIGINT:
            _interrupt_ranks(child, reports)
        end(child, interrupted.signum)
        return 128 + interrupted.signum
    finally:
        child.end_output(True)


def _end_after(parent: int, signum: int) -> Callable[[], None]:
    """Return what a new process calls for a signal when its parent has ended, whatever ends that."""
    prctl = ctypes.CDLL(None).prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signum)

    return ask


@contextlib.contextmanager
def _woken(child: Started, reports: Reports) -> Iterator[None]:
    """Let the end of the job, and each signal, end a wait for reports."""
    with contextlib.ExitStack() as left:

        def waker() -> socket.socket:
            ours, other = (left.enter_context(each) for each in socket.socketpair())
            ours.setblocking(False)
            other.setblocking(False)
            reports.wake(ours)
            left.callback(reports.sleep, ours)
            return other

        if not child.tell_of_end(waker()):
            left.callback(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, lambda signum, frame: None))
        left.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(waker().fileno(), warn_on_full_buffer=False))
        yield


def _wait(child: Started, reports: Reports, timeout: float | None, ranks: int, signals: _Signals) -> int:
    """Return the exit code of the child when it has ended.

    Raises
    ------
    subprocess.TimeoutExpired
        If it has not within the time.
    _NeverStartedError
        If ranks wait at their start for one that has ended.
    _LostError
        If a rank has left without finishing, and the launcher does not end the job.
    _SignalError
        If a signal is to end the job.
    """
    end = None if timeout is None else time.monotonic() + timeout
    lost = None
    gone: set[int] = set()
    while child.poll() is None:
        signals.heed(child, reports)
        left = None if end is None else max(0.0, end - time.monotonic())
        if left == 0.0:
            raise subprocess.TimeoutExpired(child.args, timeout or 0.0)
        if lost is None and reports.lost and not child.lose(reports.lost[0]):
            lost = time.monotonic() + _LOST_SECONDS
        if lost is not None:
            if time.monotonic() >= lost:
                raise _LostError
            left = min(left or _LOST_SECONDS, lost - time.monotonic())
        waiting = ranks > 0 and "starting" in reports.states.values()
        reports.take(min(_STARTING_SECONDS, left or _STARTING_SECONDS) if waiting else left)
        if waiting:
            gone = _check_start(child, reports, ranks, gone)
    signals.heed(child, reports)
    while reports.take(0.0):
        pass
    if reports.tracebacks is not None:
        reports.tracebacks.tell(0, now=True)
    over = time.monotonic() + _LEFT_SECONDS
    while child.returncode == 0 and reports.unfinished() and time.monotonic() < over:  # what launchers do not wait for
        reports.take(over - time.monotonic())
    return int(child.returncode)


def _check_start(child: Started, reports: Reports, ranks: int, before: set[int]) -> set[int]:
    """Raise _NeverStartedError if a rank that others wait for at their start has ended before its own.

    Return those that seem to have. Of one that seemed so at the last look, too, it is clear that it has not failed: who
    waits for its end knows by then.
    """
    gone: set[int] = set()
    waiting = reports.starting(_STARTING_SECONDS)
    missing = set(range(ranks)).difference(reports.states)
    if waiting and missing:
        gone = missing.difference(map(processes.rank, child.descendants()))
        while gone and reports.take(0.0):  # what they have said before they ended
            gone = gone.difference(reports.states)
        if gone & before and not child.failure:
            raise _NeverStartedError(sorted(waiting), sorted(gone))
    return gone


def _verdict(code: int, child: Started, reports: Reports, ranks: int) -> int:
    """Return the exit code of a job that has ended by itself, after a word about what its launcher does not say."""
    if code < 0:
        end_left(processes.carrying(f"{VARIABLE}={reports.name}"))
        _say(f"the command was ended by {signal.Signals(-code).name}")
    printed = set() if reports.tracebacks is None else reports.tracebacks.printed
    held = child.end_output(bool(printed or reports.failure or reports.lost))
    if (held or (child.failure and ranks > 1)) and reports.failure and not printed:
        _say(f"rank {reports.failed} ended with exit code {reports.failure}")
    if printed and not reports.states:
        return code if code > 0 else 1
    if child.failure and ranks > 1 and child.failed not in reports.states:  # it has not said so itself
        _say(child.failure)
        return code
    if reports.failure:
        return reports.failure  # launchers return others, too, and Open MPI's may crash
    if code < 0:
        return 128 - code
    if reports.lost:
        _say(_loss(reports, ranks))
        return code or 1
    return code


def _loss(reports: Reports, ranks: int) -> str:
    """Say which rank left first, or where that was only starting, which others had not begun to: one waits for all."""
    first = reports.lost[0]
    missing = set(range(ranks)).difference(reports.states)
    if missing and reports.states[first] == "starting":
        others = _names(sorted(reports.lost))
        return f"{_names(sorted(missing))} ended without opening a context, and {others} while starting"
    how = "it was killed, or called os._exit, or ran another program in its place"
    if first in reports.silent:
        return f"{_at(first, reports)} is not heard of any more: its host, or the network to it, is down"
    if reports.hosts:  # whose news take different times
        later = [_at(rank, reports) for rank in reports.lost[1:_NAMED]]
        return f"{_at(first, reports)} left the job without finishing: {how}" + "".join(
            f"; then {name}" for name in later
        )
    if ranks == 0:  # those of other hosts have not reported
        return f"rank {first} was the first on this host to leave the job without finishing: {how}"
    return f"rank {first} left the job without finishing: {how}"


def _at(rank: int, reports: Reports) -> str:
    host = reports.hosts.get(rank)
    return f"rank {rank}" + (f" on {host}" if host else "")


def _say(text: str) -> None:
    print(f"dtl run: {text}", file=sys.stderr, flush=True)


def _names(ranks: list[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def end_left(left: list[processes.Process]) -> None:
    """End the processes of a job that has no launcher any more."""
    for process in left:
        processes.send(process, signal.SIGTERM)
    deadline = time.monotonic() + _LEFT_SECONDS
    while any(map(processes.alive, left)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in left:
        processes.send(process, signal.SIGKILL)


def _stop(child: Started) -> None:
    """Stop the job's processes on this machine, and this one, as Ctrl-Z does with a program of one process.

    Ranks have their own sessions or groups, whose members a terminal does not stop.
    """
    job = child.family()
    for process in job:
        processes.send(process, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    for process in job:  # from here on when this one goes on
        processes.send(process, signal.SIGCONT)


def _ignore_signals() -> None:
    """Let nothing interrupt the end of a job, which takes seconds at most."""
    for signum in _ENDING:
        signal.signal(signum, signal.SIG_IGN)


def _interrupt_ranks(child: Started, reports: Reports) -> None:
    """Interrupt each rank on this machine, which launchers do not, and say where they were in place of tracebacks."""
    ranks = processes.ranks(child.descendants(), sys.executable)
    for _, process in ranks:
        processes.send(process, signal.SIGINT)
    told = reports.tracebacks
    if told is not None:
        begun = time.monotonic()
        while told.count < len(ranks) and time.monotonic() - begun < _PLACES_SECONDS and child.poll() is None:
            reports.take(_POLL_SECONDS, tell=False)
        for _ in ranks:
            reports.take(0.0, tell=False)  # what they have said before the launcher ended
        if told.count:
            _say(f"KeyboardInterrupt: {told.tell_places()}")
    _ended(child, _LAST_WORDS_SECONDS)


def stacks(child: Started) -> Iterator[tuple[str, processes.Process, Iterator[str]]]:
    """Abort each rank on this machine, and yield it with the traceback that it prints.

    The launcher must not see the first rank go before the last one has spoken: it would end the others.
    """
    child.hold_output()
    job = child.family()
    ranks = processes.ranks(job, sys.executable)
    waiting = set(job).difference(process for _, process in ranks)
    for process in waiting:
        processes.send(process, signal.SIGSTOP)
    for name, process in ranks:
        yield name, process, processes.last_words(process, _STACK_SECONDS)
    for process in waiting:
        processes.send(process, signal.SIGCONT)


def _show_stacks(child: Started) -> None:
    """Print where each rank on this machine is, and end it."""
    for name, process, words in stacks(child):
        _say(f"{name} (process {process.pid}) was here:")
        for text in words:
            sys.stderr.write(text)
        sys.stderr.flush()


def end(child: Started, signum: int) -> None:
    """Ask the launcher to end its ranks, then tell it, then end by force what is left."""
    job = child.descendants()
    child.send_signal(signum)
    if not _ended(child, _FIRST_SECONDS):
        child.end_by_force(signal.SIGTERM)
        _ended(child, _SECOND_SECONDS)
    job += child.descendants()
    child.end_by_force(signal.SIGKILL)
    for process in job:
        processes.send(process, signal.SIGKILL)
    child.wait()


def _ended(child: Started, seconds: float) -> bool:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
