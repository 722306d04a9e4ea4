"""Ranks that have no MPI beside the same library over Open MPI and MPICH: their start, and calls on two of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np
from blocks import Block, alternate, python_block
from rows import Row, Times, at_most, deliver

import dtl

_ROOT = Path(__file__).resolve().parents[1]
_ROUNDS = 5
_JOBS = 3  # one after the other, because a job may be lucky with its memory
_STARTS = 7
_STARTED = 4

_LOCAL = "no MPI"

#: What counts as equally fast. Short blocking calls are the same code with and without MPI, and differ by up to this.
_AS_FAST = 1.05

#: Elements of a call by their bytes, and how often it is made in a block.
_SIZES = {"8 B": (1, 2000), "8 KB": (1 << 10, 500), "64 KB": (1 << 13, 150), "8 MB": (1 << 20, 4)}

_STARTS_AND_ENDS = "import dtl\nwith dtl.Context() as ctx:\n    ctx.barrier()\n"


class Library(NamedTuple):
    """What connects the ranks of a job, and the interpreter that has it."""

    python: Path
    mpi: bool

    def command(self, ranks: int, *program: str) -> tuple[list[str], dict[str, str]]:
        """Return the command of a job, and its environment."""
        words = [str(self.python), "-m", "dtl", "run", "-n", str(ranks), *(["--mpi"] if self.mpi else []), *program]
        return words, {**os.environ, "DTL_BACKEND": "mpi" if self.mpi else "local"}

    def launcher(self, ranks: int, *program: str) -> tuple[list[str], dict[str, str]]:
        """Return the same by the library's own launcher, with no more than what lets it start."""
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        more = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        words = [str(self.python.parent / "mpiexec"), "-n", str(ranks), str(self.python), *program]
        return words, {**os.environ, **allowed, **more}


def _libraries() -> dict[str, Library]:
    """Return what there is here: MPICH is that of the environment beside this one."""
    here = Path(sys.executable)
    mpich = _ROOT / ".venv-mpich" / "bin" / "python"
    found = {_LOCAL: Library(here, False), "Open MPI": Library(here, True)}
    return {**found, "MPICH": Library(mpich, True)} if mpich.exists() else found


# ---- A job, whose ranks make calls when they are told to. Those of the other jobs sleep meanwhile. ----


def _statements(ctx: dtl.Context, count: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return each call as a statement and what it needs."""
    first, peer = ctx.rank == 0, 1 - ctx.rank
    a, b, both, into = np.ones(count), np.zeros(count), np.ones((2, count)), np.zeros((2, count))
    needs = {"ctx": ctx, "a": a, "b": b, "both": both, "into": into, "o": peer, "dtl": dtl}
    sends, receives = "dtl.send(ctx, a, o)", "dtl.recv(ctx, o, out=b)"
    made = {
        "send` and `recv": f"{sends}; {receives}" if first else f"{receives}; {sends}",
        "isend` and `irecv": "r = dtl.irecv(ctx, o, out=b); s = dtl.isend(ctx, a, o); r.wait(); s.wait()",
        "allreduce": "dtl.allreduce(ctx, a, out=b)",
        "broadcast": "dtl.broadcast(ctx, a)" if first else "dtl.broadcast(ctx, out=b)",
        "reduce": f"dtl.reduce(ctx, a, out={'b' if first else 'None'})",
        "gather": f"dtl.gather(ctx, a, out={'into' if first else 'None'})",
        "allgather": "dtl.allgather(ctx, a, out=into)",
        "scatter": f"dtl.scatter(ctx, {'both' if first else 'None'}, out=b)",
        "alltoall": "dtl.alltoall(ctx, both, out=into)",
        "scan": "dtl.scan(ctx, a, out=b)",
        "iallreduce": "dtl.iallreduce(ctx, a, out=b).wait()",
        "iallgather": "dtl.iallgather(ctx, a, out=into).wait()",
    }
    if count == 1:
        made["barrier"] = "ctx.barrier()"
        made["ibarrier"] = "dtl.ibarrier(ctx).wait()"
    return {name: (statement, needs) for name, statement in made.items()}


def _serve(folder: Path) -> None:
    """Be a rank: make the calls of each line that comes, and answer with the time that one took."""
    with dtl.Context() as ctx:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[ctx.rank % len(cores)]})
        blocks: dict[tuple[str, str], Block] = {}
        for size, (count, calls) in _SIZES.items():
            for name, (statement, needs) in _statements(ctx, count).items():
                blocks[size, name] = python_block(statement, calls, **needs)
        with open(folder / f"answers{ctx.rank}", "w") as answers, open(folder / f"calls{ctx.rank}") as calls_made:
            for line in calls_made:
                size, name = line.rstrip("\n").split("|")
                answers.write(f"{blocks[size, name]()!r}\n")
                answers.flush()


@contextlib.contextmanager
def _job(library: Library) -> Iterator[Callable[[str, str], float]]:
    """Start two ranks, and give what has them make the calls of a row: it returns the time of the slower."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rank in range(2):
            os.mkfifo(folder / f"calls{rank}")
            os.mkfifo(folder / f"answers{rank}")
        words, environ = library.command(2, __file__, "--serve", str(folder))
        ranks = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL)
        with contextlib.ExitStack() as files:
            answers = [files.enter_context(open(folder / f"answers{rank}")) for rank in range(2)]
            calls = [files.enter_context(open(folder / f"calls{rank}", "w")) for rank in range(2)]

            def call(size: str, what: str) -> float:
                for file in calls:
                    file.write(f"{size}|{what}\n")
                    file.flush()
                return max(float(file.readline()) for file in answers)

            yield call
        if ranks.wait(60) != 0:
            raise SystemExit(f"ranks ended with {ranks.returncode}: {words}")


# ---- Rows ----


def _starts(libraries: dict[str, Library]) -> list[Row]:
    """Return what a whole job of a few ranks takes."""

    def start(words: list[str], environ: dict[str, str]) -> Block:
        def block() -> float:
            before = time.perf_counter()
            subprocess.run(words, env=environ, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return time.perf_counter() - before

        return block

    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "start.py"
        script.write_text(_STARTS_AND_ENDS)
        jobs = {name: start(*library.command(_STARTED, str(script))) for name, library in libraries.items()}
        for name, library in libraries.items():
            if library.mpi:
                jobs[f"{name}'s mpiexec"] = start(*library.launcher(_STARTED, str(script)))
        times = alternate(jobs, _STARTS)
    measure = f"start and end of {_STARTED} ranks"
    return [
        at_most(measure, times, _LOCAL, name, 0.5 if "mpiexec" in name else None) for name in jobs if name != _LOCAL
    ]


def _times_of_jobs(libraries: dict[str, Library]) -> Iterator[tuple[str, Times]]:
    """Yield the times of each row, measured in all jobs in turn."""
    with contextlib.ExitStack() as stack:
        jobs = {name: stack.enter_context(_job(library)) for name, library in libraries.items()}
        with dtl.Context() as alone:
            names = {size: list(_statements(alone, count)) for size, (count, _) in _SIZES.items()}
        for size in _SIZES:
            for what in names[size]:

                def block(call: Callable[[str, str], float], size: str = size, what: str = what) -> Block:
                    return lambda: call(size, what)

                times = alternate({name: block(call) for name, call in jobs.items()}, _ROUNDS)
                yield f"`{what}`" if "barrier" in what else f"`{what}` of {size}", times


def _calls(libraries: dict[str, Library]) -> list[Row]:
    """Return what calls take."""
    rows: dict[str, Times] = {}
    for _ in range(_JOBS):
        for measure, times in _times_of_jobs(libraries):
            known = rows.setdefault(measure, {name: [] for name in libraries})
            for name in libraries:
                known[name] += times[name]
    return [
        at_most(measure, times, _LOCAL, other, _AS_FAST)
        for measure, times in rows.items()
        for other in libraries
        if other != _LOCAL
    ]


def main() -> None:
    """Measure, or be a rank."""
    if sys.argv[1:2] == ["--serve"]:
        _serve(Path(sys.argv[2]))
        return
    libraries = _libraries()
    deliver(_starts(libraries) + _calls(libraries), __doc__ or "")


if __name__ == "__main__":
    main()
