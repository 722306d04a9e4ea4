"""Ranks are killed, stopped and interrupted, and end by themselves, at random moments of a loop of everything.

Every job has ended SECONDS_TO_END after that, with an exit code other than 0 and a text that names the rank or its
process, and leaves no process and no memory. A rank that is stopped and continued is no reason for anything to fail.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import rank
from jobs import Job, family

import dtl

#: What a trial needs; it takes no longer unless something fails.
SECONDS = 15.0

SECONDS_TO_START = 60.0
SECONDS_TO_HARM = 60.0
SECONDS_TO_END = 10.0

#: The step from which on harm is done.
LOOPING = 20

#: What a call may wait for a rank that is stopped.
TIMEOUT = 3

#: What a rank does to itself, and the exit code that the job then has, None for any but 0.
WITHIN: dict[str, int | None] = {
    "os._exit(0)": None,
    "os._exit(3)": None,
    "raise ValueError('boom')": None,
    "raise KeyboardInterrupt": None,
    "sys.exit(0)": None,
    "sys.exit(3)": None,
    "os.execv('/bin/true', ['true'])": None,
    "os.abort()": None,
}

#: Those after which the code of the rank is 0 too, though it has not told MPI that it ends.
LEAVING = ("os._exit(0)", "os.execv('/bin/true', ['true'])")

#: What is done to a rank from outside.
WITHOUT = ("SIGKILL", "SIGTERM", "SIGINT", "SIGSTOP", "SIGSTOP then SIGCONT", "SIGSTOP then SIGKILL")

#: What is done to the job's starter.
STARTER = ("SIGINT to dtl run", "SIGTERM to dtl run", "SIGKILL to dtl run")


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job, harm it, and return what was done and what went wrong."""
    rng = random.Random(f"kills {seed} {family(python)}")
    ranks = 2 if family(python) == "MPICH" else rng.choice([2, 3, 4])
    harm = rng.choice([*WITHIN, *WITHOUT, *WITHOUT, *STARTER])
    plain = harm not in STARTER and rng.random() < 0.2
    shared = rng.random() < 0.8
    victim, step, delay = rng.randrange(ranks), rng.randrange(LOOPING, 300), rng.random() * 1.5
    variables = {"DTL_SHARED_MEMORY": "1" if shared else "0"}
    if harm == "SIGSTOP":
        variables["DTL_TIMEOUT"] = str(TIMEOUT)
    within = [victim, step, harm] if harm in WITHIN else [-1, 0, ""]
    what = f"{harm}, {ranks} ranks" if harm in STARTER else f"{harm}, rank {victim} of {ranks}"
    what += f"{', by mpiexec' if plain else ''}{'' if shared else ', without shared memory'}"
    with Job(python, ranks, "kills.py", rng.randrange(2**32), *within, plain=plain, **variables) as job:
        if not job.wait_for("looping", SECONDS_TO_START) and harm not in WITHIN:
            return what, [f"did not start\n{job.where()}\n{job.essence()}"]
        if harm in WITHIN:
            # The rank does it when it comes to the step: later where others use the processors.
            if not job.wait_for("harmed", SECONDS_TO_HARM, victim):
                return what, [f"did not come to step {step}\n{job.where()}\n{job.essence()}"]
            limit = SECONDS_TO_END
        else:
            time.sleep(delay)  # anywhere in its work
            _harm(job, harm, victim)
            limit = SECONDS_TO_END * (3 if harm.endswith("SIGCONT") else 1)  # which goes on with its work
        began = time.monotonic()
        ended = job.wait(limit)
        taken = time.monotonic() - began
        if not ended:
            return what, [f"no end {taken:.1f} s later\n{job.where()}\n{job.essence()}"]
        if plain and family(python) == "MPICH" and harm in LEAVING:
            return (
                what,
                job.left(),
            )  # its mpiexec ends the others, and takes 0 for the code of a job that has ended well
        # Ranks that share no memory do not know where the others are, nor does every launcher say who left.
        named = harm in STARTER or plain or (harm == "SIGSTOP" and not shared)
        return what, _judged(job, harm, None if named else victim)


def _harm(job: Any, harm: str, victim: int) -> None:
    if harm in STARTER:
        job.process.send_signal(getattr(signal, harm.partition(" ")[0]))
        return
    first, _, second = harm.partition(" then ")
    pid = job.pid(victim)
    os.kill(pid, getattr(signal, first))
    if second:
        time.sleep(2)  # so long it is stopped
        os.kill(pid, getattr(signal, second))
        (job.folder / "end").write_text("")


def _judged(job: Any, harm: str, victim: int | None) -> list[str]:
    """Return what is wrong with the end of a job, in whose output a rank is named, if one is to be."""
    wrong = []
    output = job.output()
    if harm.endswith("SIGCONT"):
        if job.code != 0:
            wrong.append(f"exit code {job.code} of a job of which a rank was stopped and continued\n{job.essence()}")
    elif job.code == 0:
        wrong.append(f"exit code 0\n{job.essence()}")
    elif victim is not None and f"rank {victim}" not in output and str(job.pid(victim)) not in output:
        wrong.append(f"nothing says rank {victim}, nor its process {job.pid(victim)}\n{output[-1500:]}")
    if "Segmentation fault" in output or "SIGSEGV" in output or "fatal error" in output or "goroutine " in output:
        wrong.append(f"a crash\n{output[-3000:]}")
    if job.text("found"):
        wrong.append(job.text("found"))
    return wrong + job.left()


def main() -> None:
    """Loop over everything until a file says that it is enough: the program of a rank."""
    warnings.simplefilter("ignore", ResourceWarning)
    seed, victim, last, harm = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        steps = Steps(ctx)
        rng = random.Random(f"kills {seed}")
        number = 0
        while dtl.broadcast(ctx, not Path(rank.FOLDER, "end").exists()):
            name = rng.choice(list(steps.all))
            log.at(f"step {number}: {name}")
            if number == LOOPING:
                log.reached("looping")
            if ctx.rank == victim and number == last:
                log.reached("harmed")
                exec(harm)  # of the table above
            steps.all[name]()
            number += 1


class Steps:
    """The steps of the loop, each of which checks its result."""

    def __init__(self, ctx: Any) -> None:
        import dtl

        self.ctx = ctx
        self.right, self.left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        self.win = dtl.Window(ctx, size=1 << 16)
        self.counter, self.lock = dtl.Counter(ctx), dtl.Lock(ctx)
        self.vec = dtl.DistributedVector(ctx, 3000)
        self.vec.local_view()[:] = np.random.default_rng(ctx.rank).random(self.vec.local_size)
        self.map = dtl.DistributedMap(ctx, np.int64, np.int64)
        self.all: dict[str, Callable[[], None]] = {
            name[1:]: getattr(self, name) for name in dir(self) if name.startswith("_") and not name.startswith("__")
        }

    def _allreduce(self) -> None:
        assert (dtl.allreduce(self.ctx, np.ones(1000)) == self.ctx.size).all()

    def _long_allreduce(self) -> None:
        assert (dtl.allreduce(self.ctx, np.ones(300_000)) == self.ctx.size).all()

    def _barrier(self) -> None:
        self.ctx.barrier()

    def _started(self) -> None:
        total, there = dtl.iallreduce(self.ctx, np.ones(5000)), dtl.ibarrier(self.ctx)
        assert (total.wait() == self.ctx.size).all()
        there.wait()

    def _alltoallv(self) -> None:
        dtl.alltoallv(self.ctx, np.ones(1000 * self.ctx.size), [1000] * self.ctx.size)

    def _objects(self) -> None:
        assert dtl.allgather_object(self.ctx, {"a": [1]}) == [{"a": [1]}] * self.ctx.size

    def _short_messages(self) -> None:
        assert dtl.sendrecv(self.ctx, self.ctx.rank, self.right, self.left) == self.left

    def _long_messages(self) -> None:
        sent = dtl.isend(self.ctx, np.full(1_000_000, self.ctx.rank, np.int32), self.right)
        assert (dtl.recv(self.ctx, self.left) == self.left).all()
        sent.wait()

    def _blocking_messages(self) -> None:
        if self.ctx.rank % 2 == 0 and self.right != 0:
            dtl.send(self.ctx, np.zeros(200_000), self.right, tag=3)
        elif self.ctx.rank % 2:
            dtl.recv(self.ctx, self.left, tag=3)

    def _window(self) -> None:
        with self.win.epoch():
            dtl.rma_put(self.win, self.right, 0, np.full(1000, self.ctx.rank))
        assert (self.win.local_view(np.int64)[:1000] == self.left).all()

    def _atomics(self) -> None:
        with self.win.locked(0):
            dtl.rma_fetch_and_add(self.win, 0, 40_000, 1, np.int64)
            dtl.rma_accumulate(self.win, 0, 41_000, np.ones(500))

    def _new_window(self) -> None:
        dtl.Window(self.ctx, size=1 << 20).close()

    def _counter(self) -> None:
        self.counter.next()

    def _lock(self) -> None:
        with self.lock:
            pass

    def _sort(self) -> None:
        dtl.shuffle(self.vec, 5)
        dtl.sort(self.vec)
        assert dtl.is_sorted(self.vec)

    def _async_sort(self) -> None:
        dtl.async_sort(self.vec, reverse=True).get()

    def _map(self) -> None:
        keys = np.arange(500) + self.ctx.rank
        self.map.update_many(keys, 1)
        assert self.map.contains_many(keys).all()

    def _redistribute(self) -> None:
        self.vec.redistribute(dtl.PARTITION_CYCLIC)
        self.vec.redistribute(dtl.PARTITION_BLOCK)

    def _context(self) -> None:
        with self.ctx.dup() as other:
            other.barrier()


if __name__ == "__main__":
    main()
