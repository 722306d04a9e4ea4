"""Jobs of several ranks that are watched from outside: how they end, in what time, and what they leave behind."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

#: The environment variables by which a job's processes are found, and by which its ranks find the job's folder.
MARK, FOLDER = "DTL_ATTACK_JOB", "DTL_ATTACK_FOLDER"

#: How the lines begin that a failure is told with.
PRINTED = ("[rank", "dtl:", "found:", "Fatal", "Current thread", "fatal error", "SIG", "panic", "python: ")

#: What Open MPI's launcher says on a busy machine where it does not start: nothing has run then.
NOT_STARTED = "The PMIx server's listener thread failed to start"

#: What DTL's own threads do while they have nothing to do.
IDLE = ("hang_monitor.py", "streams.py", "request_futures.py")

#: What a rank gets to print its stacks.
STACK_SECONDS = 1.0

#: What a call of a drawn series may wait before DTL gives up for it, which is a failure.
TIMEOUT = 5

#: What one case of a series may take beyond the limit of waiting that it sets.
CASE_SECONDS = 10.0

#: Where jobs have their folders: in memory, since a rank that waits for a disk has all others wait for it.
IN_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None

#: What the last processes of a job get after its launcher has ended.
LEFT_SECONDS = 3.0


def family(python: str) -> str:
    """Return the MPI library of an environment, named by its launcher."""
    return "Open MPI" if (Path(python).parent / "prterun").exists() else "MPICH"


class Job:
    """A program on several ranks, started by ``python -m dtl run``, or by plain mpiexec.

    Every process of the job has a mark in its environment, so that it is found and ended whatever became of its parent.
    """

    def __init__(self, python: str, ranks: int, program: str, *words: Any, plain: bool = False, **variables: str):
        self.ranks = ranks
        self.folder = Path(tempfile.mkdtemp(prefix="attack-", dir=IN_MEMORY))
        self.mark = uuid.uuid4().hex
        self.shm = _segments()
        environ = {**os.environ, **variables, MARK: self.mark, FOLDER: str(self.folder)}
        environ["PYTHONFAULTHANDLER"] = "1"
        if plain:
            command = [str(Path(python).parent / "mpiexec"), "-n", str(ranks), python]
            if family(python) == "Open MPI":
                environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
                command[1:1] = ["--oversubscribe", "--bind-to", "none"]
        else:
            command = [python, "-m", "dtl", "run", "-n", str(ranks)]
        command += [str(HERE / program), *map(str, words)]
        self._output = open(self.folder / "output", "wb")  # noqa: SIM115 - __exit__ closes it
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()
        self._output.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def code(self) -> int | None:
        """The exit code of the launcher; None while it runs."""
        return self.process.poll()

    def output(self) -> str:
        """Return what the job has printed so far."""
        return (self.folder / "output").read_text(errors="replace")

    def essence(self) -> str:
        """Return the lines that DTL and Python have printed, each once, without the launcher's advice."""
        kept: dict[str, None] = {}
        for line in self.output().splitlines():
            words = re.sub(r"^\[rank \d+\] ", "", line)
            if line.startswith(PRINTED) and not words.startswith(("    ", "Traceback", "  File")):
                kept[re.sub(r"^\[rank \d+\]", "[rank]", line)[:400]] = None
        return "\n".join(list(kept)[-25:]) or self.output()[-1500:]

    def text(self, name: str) -> str:
        """Return what the ranks have written to a file of the job's folder; nothing where there is none."""
        file = self.folder / name
        return file.read_text(errors="replace") if file.exists() else ""

    def pid(self, rank: int) -> int:
        """Return a rank's process id, 0 before the rank has said it."""
        text = self.text(f"rank{rank}").split()
        return int(text[0]) if text else 0

    def wait(self, seconds: float) -> bool:
        """Wait for the launcher's end; say whether it came."""
        try:
            self.process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait_for(self, name: str, seconds: float, rank: int | None = None) -> bool:
        """Wait until a rank, or every rank, has written a file of this name and its number; say whether that is so."""
        deadline = time.monotonic() + seconds
        ranks = range(self.ranks) if rank is None else [rank]
        while not all((self.folder / f"{name}{rank}").exists() for rank in ranks):
            if time.monotonic() > deadline or self.code is not None:
                return False
            time.sleep(0.02)
        return True

    def processes(self) -> list[int]:
        """Return the processes that have the job's mark."""
        mark = f"{MARK}={self.mark}".encode()
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and mark in Path(f"/proc/{entry}/environ").read_bytes():
                    found.append(int(entry))
            except OSError:  # it has ended, or is not ours
                continue
        return found

    def where(self) -> str:
        """Return what each rank says it was doing, and the stacks of its threads, as the ranks print them now."""
        lines = [
            f"rank {rank} (process {self.pid(rank)}) at: {self.text(f'at{rank}').strip()}" for rank in range(self.ranks)
        ]
        ranks = set(self.processes()).intersection(self.pid(rank) for rank in range(self.ranks))
        for signum in (
            signal.SIGUSR1,
            signal.SIGCONT,
        ):  # a rank that is stopped comes last, as the others go on with it
            for pid in ranks:
                _send(pid, signum)
            time.sleep(STACK_SECONDS)
        return "\n".join([*lines, self.stacks()])

    def stacks(self) -> str:
        """Return the stacks that the ranks have printed, of threads that do more than wait for work."""
        lines = []
        for rank in range(self.ranks):
            for thread in self.text(f"stacks{rank}").split("\n\n"):
                frames = [line.strip() for line in thread.splitlines() if line.startswith("  File")]
                frames = [frame for frame in frames if "threading.py" not in frame]
                if len(frames) > 1 or not any(idle in thread for idle in IDLE):
                    lines += [f"rank {rank}, a thread:" if frames else "", *frames]
        return "\n".join(filter(None, lines))

    def left(self) -> list[str]:
        """Return what outlives the launcher: processes, and names in /dev/shm that nobody has open. Ends the former."""
        deadline = time.monotonic() + LEFT_SECONDS
        while True:
            processes, segments = self.processes(), _unowned(_segments() - self.shm)
            if not processes and not segments:
                return []
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        told = [f"process {pid} ({_command(pid)}) is left" for pid in processes]
        told += [f"/dev/shm/{name} is left" for name in segments]
        self.end()
        for name in segments:
            Path("/dev/shm", name).unlink(missing_ok=True)
        return told

    def end(self) -> None:
        """End every process of the job."""
        for _ in range(3):
            for pid in self.processes():
                _send(pid, signal.SIGKILL)
            if self.wait(1.0) and not self.processes():
                return

    def watch(self, deadline: float, limit: float = TIMEOUT + CASE_SECONDS) -> list[str]:
        """Wait for the end of a job whose ranks count their cases, and return what is wrong with it.

        A job that is still at work when its time is over is ended, and nothing is wrong; one that has made no progress
        for so many seconds is.
        """
        number, since = "", time.monotonic()
        while not self.wait(0.1):
            now = time.monotonic()
            if self.text("number") != number:
                number, since = self.text("number"), now
            if now - since > limit:
                return [f"no end after {limit:g} s\n{self.where()}\n{self.essence()}"]
            if now > deadline and now - since < 1:
                return []
        return self.ends_well(0.1)

    def ends_well(self, seconds: float) -> list[str]:
        """Wait for a job that nothing was done to, and return what is wrong with its end."""
        if not self.wait(seconds):
            return [f"no end after {seconds:g} s\n{self.where()}\n{self.essence()}"]
        failed = self.code != 0 and NOT_STARTED not in self.output()
        wrong = [f"exit code {self.code}\n{self.essence()}\n{self.stacks()}".strip()] if failed else []
        return wrong + self.left()


def _segments() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if name.startswith("dtl-")}


def _unowned(names: set[str]) -> list[str]:
    """Return the names that no process of the machine has mapped or open: other jobs may run beside this one."""
    if not names:
        return []
    owned = set()
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit():
                maps = Path(f"/proc/{entry}/maps").read_text(errors="replace")
                owned |= {name for name in names if name in maps}
        except OSError:
            continue
    return sorted(names - owned)


def _send(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signum)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:120]
    except OSError:
        return "ended since"


def drawn(name: str, things: str, cases: int, seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run a series of cases of an attack on drawn ranks, and return what it was and what went wrong."""
    rng = random.Random(f"{name} {seed} {family(python)}")
    ranks = 2 if family(python) == "MPICH" else rng.choice([2, 3, 4])
    shared = rng.random() < 0.7
    variables = {"DTL_TIMEOUT": str(TIMEOUT), **({} if shared else {"DTL_SHARED_MEMORY": "0"})}
    done, wrong = series(python, ranks, f"{name}.py", rng.randrange(2**32), cases, seconds, variables)
    return f"{done} {things} on {ranks} ranks{'' if shared else ' that share no memory'}", wrong


def series(
    python: str, ranks: int, program: str, seed: int, cases: int, seconds: float, variables: dict[str, str]
) -> tuple[int, list[str]]:
    """Run the cases of a seed; after one that ends its job, go on with the next in a new job while there is time.

    Return how many there were, and what the ranks found wrong, with where they were when a job did not end.
    """
    deadline, done, wrong = time.monotonic() + seconds, 0, []
    while done < cases:
        with Job(python, ranks, program, seed, done, **variables) as job:
            ended = job.watch(deadline, float(variables.get("DTL_TIMEOUT", 0)) + CASE_SECONDS)
            wrong += job.text("found").splitlines()
            begun = int(job.text("number") or -1)
            if begun == cases:
                return cases, wrong + ended
            last = begun if begun >= 0 else done
            out_of_time = not ended
            if ended:
                wrong.append(f"{job.text('at0').strip()}: {ended[0]}")
            done = last if out_of_time else last + 1
        if out_of_time or begun < 0 or time.monotonic() > deadline - 3:
            break
    return done, wrong
