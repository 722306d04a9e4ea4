"""Starts ``python -m dtl`` in a process of its own, for the tests of the command line and of the examples."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from dtl._cli import choice, command, cores, launcher, library

#: Nothing takes this long. The job's own limit ends all its ranks, and shows where they were.
SECONDS = 60

#: Whether dtl run connects ranks without MPI here.
LOCAL = choice.choose(command.Job(2, []), os.environ).backend == choice.LOCAL

_library = library.find(os.environ)
LAUNCHER = launcher.find(_library.path, os.environ) if _library is not None else None


def environ() -> dict[str, str]:
    """Return our environment without what decides how ranks write and what root may do."""
    chosen = ("PYTHONUNBUFFERED", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    return {name: value for name, value in os.environ.items() if name not in chosen}


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start ``python -m dtl`` with these arguments."""
    return subprocess.Popen(
        [sys.executable, "-m", "dtl", *arguments],
        env=environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Return what a process printed, and its exit code."""
    with process:
        out, err = process.communicate(timeout=SECONDS + 30)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(ranks: int, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program on so many ranks with ``dtl run``."""
    return finish(start("run", "-n", str(ranks), "--timeout", str(SECONDS), *arguments, **options))


def in_matrix(parameters: Any) -> Any:
    """Return parameters whose case ``make test`` leaves out, since it has the test on another number of ranks."""
    mark = pytest.mark.matrix("runs on another number of ranks")
    return pytest.param(*parameters.values, id=parameters.id, marks=[*parameters.marks, mark])


def on(ranks: int, *others: Any) -> Any:
    """Return a number of ranks, and more beside it, as parameters of a test, skipped where they cannot be started."""
    return _on(ranks, others, "" if LOCAL else _without_mpi(ranks))


def on_mpi(ranks: int, *others: Any) -> Any:
    """Return the same for what MPI's launchers alone do."""
    reason = "ranks are connected without MPI here; runs where MPI does" if LOCAL else _without_mpi(ranks)
    return _on(ranks, others, reason)


def _without_mpi(ranks: int) -> str:
    """Return why MPI cannot start so many ranks, "" if it can."""
    if LAUNCHER is None:
        return "no MPI library with a launcher here; runs in the environments of `make setup`" if ranks > 1 else ""
    threads = len(cores.hardware_threads())
    if command.spins(LAUNCHER, command.Job(ranks, []), threads, os.environ):
        return f"{ranks} ranks of {LAUNCHER.family} starve each other here; runs with Open MPI"
    return ""


def _on(ranks: int, others: Any, reason: str) -> Any:
    return pytest.param(ranks, *others, marks=pytest.mark.skipif(bool(reason), reason=reason), id=f"{ranks} ranks")
