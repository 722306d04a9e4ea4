"""Starts ranks without MPI: processes of this machine, which the backend ``local`` connects by memory they share."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from typing import IO, Callable, Mapping, Sequence

from . import UsageError, processes
from .relayed_output import RelayedOutput

# What the backend reads in a rank's environment; see backends/local/job.go.
RANK = "DTL_LOCAL_RANK"
_SIZE = "DTL_LOCAL_SIZE"
_MEMORY = "DTL_LOCAL_MEMORY"
_PROGRAM = "DTL_LOCAL_PROGRAM"

#: All of these.
VARIABLES = (RANK, _SIZE, _MEMORY, _PROGRAM)

# What launchers of MPI tell a process of its rank: a job within such a rank is another one.
_FOREIGN = ("OMPI_COMM_WORLD_", "PMI_", "PMIX_", "MPI_LOCAL", "MV2_COMM_WORLD_")

# What the other ranks get to end by themselves when one has failed, and then after a signal.
_NOTICE_SECONDS = 0.2
_END_SECONDS = 3.0

# About what the interpreter, NumPy and this library take in a process of their own; what processes share is not in it.
_RANK_BYTES = 24 << 20


def without_rank(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what tells a process that it is a rank."""
    return {name: value for name, value in environ.items() if name not in VARIABLES and not name.startswith(_FOREIGN)}


def check_memory(ranks: int) -> None:
    """Refuse more ranks than there is memory for.

    Raises
    ------
    UsageError
        If the interpreters alone take more than is available.
    """
    available = _available()
    if available is not None and ranks * _RANK_BYTES > available:
        need = ranks * _RANK_BYTES
        raise UsageError(
            f"{ranks} ranks take at least {need >> 20} MiB of memory, and {available >> 20} MiB are available"
        )


def _available() -> int | None:
    """Return how many bytes of memory are available, as the kernel says; None where it does not."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return None


class Ranks:
    """The ranks of a job, each a process. Of several, a rank that fails ends the others.

    Parameters
    ----------
    programs
        How many ranks each program has, and its words.
    environ
        The ranks' environment, without what tells them their ranks.
    prefix_output
        Whether each line that a rank writes begins with its rank.
    keep_output
        Whether ``stdout`` and ``stderr`` are pipes with what the ranks write.
    in_rank
        What each new process calls before the program.
    """

    def __init__(
        self,
        programs: Sequence[tuple[int, Sequence[str]]],
        environ: Mapping[str, str],
        *,
        prefix_output: bool = False,
        keep_output: bool = False,
        in_rank: Callable[[], None] | None = None,
    ) -> None:
        self.args = [word for _, words in programs for word in words]
        self.returncode: int | None = None
        self.failure = ""  # what ended the job, if a rank has failed
        self.failed = -1  # which one
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None
        self._told: socket.socket | None = None
        self._losing = False
        self._lock = threading.Lock()
        self._gone = threading.Event()  # all processes have ended
        self._ended = threading.Event()  # and what they have written is passed on
        self._stopping = threading.Event()  # no rank may go on alone
        self._ranks: list[subprocess.Popen[bytes]] = []
        self._code = 0
        self._left = sum(ranks for ranks, _ in programs)
        self._output = RelayedOutput(prefix_output) if prefix_output or (self._left > 1 and not keep_output) else None
        self._apart = _has_terminal()
        token = os.urandom(8).hex()
        self._memory = os.memfd_create(f"dtl-local-{token}", os.MFD_CLOEXEC)
        shared = {_SIZE: str(self._left), _MEMORY: f"{os.getpid()}/{self._memory}/{token}"}
        pipes = [os.pipe(), os.pipe()] if keep_output else []
        if pipes:
            self.stdout, self.stderr = (os.fdopen(pipe[0], "rb", 0) for pipe in pipes)
        try:
            for number, (ranks, words) in enumerate(programs):
                for _ in range(ranks):
                    own = {RANK: str(len(self._ranks)), _PROGRAM: str(number)}
                    self._begin(words, {**environ, **shared, **own}, [pipe[1] for pipe in pipes], in_rank)
        except BaseException:
            self.end_by_force(signal.SIGKILL)
            for rank in self._ranks:
                rank.wait()
            os.close(self._memory)
            raise
        finally:
            for pipe in pipes:
                os.close(pipe[1])
            if self._output is not None:
                self._output.start()
        for number, rank in enumerate(self._ranks):
            name = f"dtl-rank-{number}"
            threading.Thread(target=self._watch, args=(number, rank), name=name, daemon=True).start()

    def _begin(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        pipes: Sequence[int],
        in_rank: Callable[[], None] | None,
    ) -> None:
        """Start the next rank, in a process group of its own. The first one reads what this process reads."""

        def in_group() -> None:
            os.setpgid(0, 0)
            if in_rank is not None:
                in_rank()

        out, err = self._output.outputs(len(self._ranks)) if self._output is not None else pipes or (None, None)
        try:
            rank = subprocess.Popen(
                list(words),
                env=dict(environ),
                stdin=subprocess.DEVNULL if pipes or self._ranks else None,
                stdout=out,
                stderr=err,
                start_new_session=self._apart,
                preexec_fn=in_rank if self._apart else in_group,  # noqa: PLW1509  # takes no lock
            )
        finally:
            if self._output is not None:
                for end in {each for each in (out, err) if each is not None}:
                    os.close(end)
        self._ranks.append(rank)

    def _watch(self, number: int, rank: subprocess.Popen[bytes]) -> None:
        """Wait for a rank's end, and end the others where it has failed."""
        code = rank.wait()
        with self._lock:
            self._left -= 1
            last = self._left == 0
            failed = code != 0 and not self._stopping.is_set()
            if failed:
                self.failed, self.failure = number, _reason(number, code)
                self._fail(128 - code if code < 0 else code)
            if last:
                self._gone.set()
        if failed:
            self._end_others()
        if last:
            self._finish()

    def _fail(self, code: int) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            self._code = code

    def _end_others(self) -> None:
        """End all ranks. A rank that ends by itself within a moment can print its traceback."""
        if self._gone.wait(_NOTICE_SECONDS):
            return
        self.send_signal(signal.SIGTERM)
        if not self._gone.wait(_END_SECONDS):
            self.end_by_force(signal.SIGKILL)

    def _finish(self) -> None:
        if self._output is not None:
            self._output.finish()
            if self._output.failed:
                self._fail(1)
        os.close(self._memory)
        self.returncode = self._code
        self._ended.set()
        with self._lock:
            if self._told is not None:
                self._told.close()

    def lose(self, rank: int) -> bool:
        """End the job: a rank has left without finishing, though its process may run on, or have ended well."""
        if not self._losing:
            self._losing = True
            threading.Thread(target=self._lose, args=(rank,), name="dtl-lost", daemon=True).start()
        return True

    def _lose(self, rank: int) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._ranks[rank].wait(_NOTICE_SECONDS) != 0:
                return  # whoever waits for it knows
        with self._lock:
            lost = not self._stopping.is_set()
            self._fail(1)
        if lost:
            self._end_others()

    def poll(self) -> int | None:
        """Return the exit code of the job: that of the first rank that failed; None while a rank runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the last rank's end, and return the exit code of the job."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self._code

    def send_signal(self, sig: int) -> None:
        """Send a signal to each rank."""
        with self._lock:
            if sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                self._stopping.set()
        for rank in self._ranks:
            rank.send_signal(sig)

    def pass_on(self, sig: int) -> bool:
        """Send each rank a signal. None is on another host."""
        if sig == signal.SIGWINCH and self._output is not None:
            self._output.resize()
        self.send_signal(sig)
        return True

    def tell_of_end(self, to: socket.socket) -> bool:
        """Have a socket closed when the last rank has ended, and say that this will be done."""
        with self._lock:
            self._told = to
            if self._ended.is_set():
                to.close()
        return True

    def family(self) -> list[processes.Process]:
        """Return the ranks, and what they have started."""
        found = []
        for rank in self._ranks:
            process = processes.look_up(rank.pid) if rank.returncode is None else None
            if process is not None:
                found += [process, *processes.descendants(rank.pid)]
        return found

    def descendants(self) -> list[processes.Process]:
        """Return the ranks, and what they have started."""
        return self.family()

    def end_by_force(self, sig: int) -> None:
        """Send a signal to each rank, and to what it has started in its group."""
        for rank in self._ranks:
            if rank.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(rank.pid, sig)
        if sig == signal.SIGKILL and self._output is not None:
            self._output.give_up()

    def end_output(self, told: bool) -> bool:
        """Say no: ranks write what they write, and nothing else is."""
        return False

    def hold_output(self) -> None:
        """Leave what ranks write from now on to somebody else."""
        if self._output is not None:
            self._output.hold()


def _has_terminal() -> bool:
    """Say whether this process has a terminal, which stops what uses it out of its turn: then ranks get own sessions.

    Elsewhere they share this one's. Linux may divide the processors among sessions first (``sched_autogroup_enabled``),
    and a rank that gives its processor away would not give it to the others.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _reason(rank: int, code: int) -> str:
    if code < 0:
        return f"rank {rank} was ended by {signal.Signals(-code).name}"
    return f"rank {rank} ended with exit code {code}"
