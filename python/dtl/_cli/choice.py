"""What connects the ranks of a job: MPI, or the backend ``local``, which needs none."""

from __future__ import annotations

import importlib.util
from typing import Mapping, NamedTuple

from . import UsageError, allocation, command, hosts, launcher, library

LOCAL = "local"
MPI = "MPI"

#: The environment's word on it.
VARIABLE = "DTL_BACKEND"


class Choice(NamedTuple):
    """What connects the ranks, and why, in words."""

    backend: str
    why: str


def choose(job: command.Job, environ: Mapping[str, str]) -> Choice:
    """Return what connects the ranks of a job here.

    Raises
    ------
    UsageError
        If the environment asks for ``local``, and the job for what only MPI can do.
    """
    asked = _asked(job, environ)
    said = environ.get(VARIABLE, "")
    if said == LOCAL:
        if asked:
            raise UsageError(f"{VARIABLE}=local connects ranks of this machine without MPI, but {asked}")
        return Choice(LOCAL, f"{VARIABLE} says so")
    if asked:
        return Choice(MPI, asked)
    if said in ("mpi", "shmem"):
        return Choice(MPI, f"{VARIABLE} is {said}")
    if environ.get("DTL_MPI_LIB"):
        return Choice(MPI, "DTL_MPI_LIB names a library")
    return unasked(environ)


def unasked(environ: Mapping[str, str]) -> Choice:
    """Return how ranks on this machine are connected if the user has not chosen.

    A program that uses mpi4py beside DTL needs the launcher of MPI, and whether a program does cannot be known before
    it runs. So what is installed says it.
    """
    if importlib.util.find_spec("mpi4py") is None:
        return Choice(LOCAL, "all ranks are on this machine, and mpi4py is not installed")
    found = library.find(environ)
    if found is None or launcher.find(found.path, environ) is None:
        return Choice(LOCAL, "all ranks are on this machine, and there is no MPI with a launcher")
    return Choice(MPI, "mpi4py is installed, and a program that uses it needs MPI; DTL_BACKEND=local goes without")


def _asked(job: command.Job, environ: Mapping[str, str]) -> str:
    """Return what asks for MPI, in words, "" if nothing does."""
    if job.mpi:
        return "--mpi asks for it"
    if job.launcher_arguments:
        return "there are arguments for its launcher"
    if job.hostfile or (job.hosts and not job.local):
        return "hosts are named"
    if command.named(job, environ):
        return "parameters of Open MPI name hosts"
    if not job.hosts and any(name in environ for name in allocation.VARIABLES):
        given = allocation.find(environ)
        if given is None or not all(map(hosts.local, given.hosts)):
            return "a resource manager has given hosts"
    return ""
