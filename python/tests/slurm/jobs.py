"""Jobs of Slurm: what srun and sbatch start, cancel and end. ``make test-slurm`` runs them in a Slurm of their own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from programs import until

PYTHONS = os.environ["DTL_SLURM_PYTHONS"].split(os.pathsep)

#: What a job may take.
SECONDS = 60.0

PROGRAM = """\
import dtl, numpy as np
with dtl.Context() as ctx:
    total = int(dtl.allreduce(ctx, np.array([ctx.rank + 1]))[0])
    vec = dtl.DistributedVector(ctx, 100)
    dtl.iota(vec)
    lines = dtl.gather_object(ctx, f"rank {ctx.rank} of {ctx.size}: {total} {dtl.sum(vec):g} {ctx!r}")
    if ctx.is_root:
        print("\\n".join(lines))
"""

#: Rank 1 leaves while the others wait for it.
LEAVES = """\
import os, signal, sys, dtl
with dtl.Context() as ctx:
    ctx.barrier()
    if ctx.rank == 1:
        {how}
    ctx.barrier()
"""

WAITS = """\
import sys, time, dtl
with dtl.Context() as ctx:
    ctx.barrier()
    if ctx.is_root:
        open(sys.argv[1], "w").close()
    while True:
        time.sleep(0.05)
        ctx.barrier()
"""


def family(python: str) -> str:
    """Return the MPI library of an environment, named by its launcher."""
    return "Open MPI" if (Path(python).parent / "prterun").exists() else "MPICH"


#: What srun's --mpi= is for each library.
FITS = {"Open MPI": "pmix", "MPICH": "pmi2"}

EACH = pytest.mark.parametrize("python", [pytest.param(python, id=family(python)) for python in PYTHONS])
COUNTS = pytest.mark.parametrize("ranks", [1, 2, 3, 4])
LEAVING = pytest.mark.parametrize(
    "how", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)", "sys.exit(3)", "1 / 0"]
)


def run(command: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Slurm to its end."""
    began = time.monotonic()
    done = subprocess.run(
        command, env={**os.environ, **environ}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    done.args = [*command, f"({time.monotonic() - began:.1f} s)"]
    return done


def srun(python: str, ranks: int, kind: str, program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(["srun", "-n", str(ranks), f"--mpi={kind}", "--kill-on-bad-exit=1", python, str(program), *words])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(autouse=True)
def _nothing_is_left() -> object:
    before = set(os.listdir("/dev/shm"))
    yield
    until(lambda: not run(["squeue", "-h"]).stdout.strip(), SECONDS)
    assert run(["squeue", "-h"]).stdout == ""
    left = {name for name in set(os.listdir("/dev/shm")) - before if name.startswith("dtl")}
    assert not left


def ranks_of(output: str, ranks: int, backend: str) -> None:
    """Check what the ranks of PROGRAM say."""
    expected = [
        rf"rank {rank} of {ranks}: {ranks * (ranks + 1) // 2} 4950 <dtl\.Context rank {rank} of {ranks}, {backend}>"
        for rank in range(ranks)
    ]
    assert re.search("\n".join(expected), output), output


@EACH
@COUNTS
def test_srun(python: str, ranks: int, program: Path) -> None:
    done = srun(python, ranks, FITS[family(python)], program)
    ranks_of(done.stdout, ranks, "(mpi|cpu)" if ranks == 1 else "mpi")
    assert done.returncode == 0, done


@EACH
def test_srun_that_does_not_fit(python: str, program: Path) -> None:
    wrong = {"Open MPI": "pmi2", "MPICH": "pmix"}[family(python)]
    done = srun(python, 2, wrong, program)
    assert done.returncode != 0
    assert f"srun --mpi={wrong} started" in done.stderr, done.stderr
    assert f"needs srun --mpi={FITS[family(python)]}" in done.stderr, done.stderr


@EACH
@COUNTS
def test_dtl_run_takes_the_tasks_of_a_job(python: str, ranks: int, program: Path, tmp_path: Path) -> None:
    script, output = tmp_path / "job.sh", tmp_path / "output"
    script.write_text(f"#!/bin/sh\nDTL_BACKEND=mpi exec {python} -m dtl run {program}\n")
    done = run(["sbatch", "--wait", "-n", str(ranks), f"--output={output}", str(script)])
    ranks_of(output.read_text(), ranks, "(mpi|cpu)" if ranks == 1 else "mpi")
    assert done.returncode == 0, done
    assert re.search(rf"dtl run: .*{ranks} rank.* in Slurm's job \d+", output.read_text()) or ranks == 1


@EACH
@LEAVING
def test_a_rank_that_leaves_ends_the_step(python: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text(LEAVES.format(how=how))
    began = time.monotonic()
    done = srun(python, 3, FITS[family(python)], path)
    assert done.returncode != 0, done
    assert time.monotonic() - began < 30
    assert re.search(r"rank 1\b|task 1:", done.stderr), done.stderr


@COUNTS
def test_srun_without_mpi(ranks: int, program: Path) -> None:
    done = srun(PYTHONS[0], ranks, "none", program)
    ranks_of(done.stdout, ranks, "cpu" if ranks == 1 else "local")
    assert done.returncode == 0, done


@LEAVING
def test_a_rank_that_leaves_a_step_without_mpi(how: str, tmp_path: Path) -> None:
    """The others end, also where srun would let them wait."""
    path = tmp_path / "leaves.py"
    path.write_text(LEAVES.format(how=how))
    began = time.monotonic()
    done = run(["srun", "-n", "3", "--mpi=none", PYTHONS[0], str(path)])
    assert done.returncode != 0, done
    assert time.monotonic() - began < 30
    assert re.search(r"rank 1\b|task 1:", done.stderr), done.stderr


@EACH
def test_scancel(python: str, tmp_path: Path) -> None:
    path, there = tmp_path / "waits.py", tmp_path / "there"
    path.write_text(WAITS)
    script, output = tmp_path / "job.sh", tmp_path / "output"
    script.write_text(f"#!/bin/sh\nexec {python} -m dtl run {path} {there}\n")
    number = run(["sbatch", "--parsable", "-n", "2", f"--output={output}", str(script)]).stdout.strip()
    assert until(there.exists, SECONDS), output.read_text()
    assert run(["scancel", number]).returncode == 0
    _until_nobody_runs(str(path))


@EACH
def test_an_interrupt_of_srun(python: str, tmp_path: Path) -> None:
    path, there = tmp_path / "waits.py", tmp_path / "there"
    path.write_text(WAITS)
    with subprocess.Popen(
        ["srun", "-n", "2", f"--mpi={FITS[family(python)]}", python, str(path), str(there)], stderr=subprocess.DEVNULL
    ) as job:
        assert until(lambda: there.exists() or job.poll() is not None, SECONDS)
        assert job.poll() is None
        job.send_signal(signal.SIGINT)
        time.sleep(0.2)  # two at once would be one
        job.send_signal(signal.SIGINT)  # the second within a second ends it
        assert job.wait(SECONDS) != 0
    _until_nobody_runs(str(path))


def _running(program: str) -> list[str]:
    """Return the processes that have the program among their words."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            if program.encode() in Path("/proc", entry, "cmdline").read_bytes():
                found.append(entry)
    return found


def _until_nobody_runs(program: str) -> None:
    """Wait until no process has the program among its words."""
    assert until(lambda: not _running(program), SECONDS / 2), f"processes {_running(program)} are left"
