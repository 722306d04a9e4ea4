"""Which process is a rank: a child that a rank starts inherits the launcher's variables, but is none."""

from __future__ import annotations

import contextlib
import os
import sys

from ..exceptions import BackendError

#: Where a process that has joined a job says so, for its children to read.
VARIABLE = "DTL_RANK_PROCESS"

#: Where ranks on other hosts find the addresses of ``dtl run``, and what they say there first, which no other user of a
#: host can read.
ADDRESSES = "DTL_RUN_ADDRESSES"
SECRET = "DTL_RUN_SECRET"

#: Where ``dtl run`` says of which versions it is, for ranks on other hosts to compare.
VERSIONS = "DTL_RUN_VERSIONS"

#: What a rank's report to ``dtl run`` begins with if it was interrupted: the place and a line end follow, and then the
#: traceback.
INTERRUPTED = "\0"

_RECORD = 128  # the bytes of a report from another host, as in backends/internal/supervisor

#: What tells one rank of one job from all others, as each family of launchers says it.
_IDENTITY = (
    *("PMIX_NAMESPACE", "PMIX_RANK", "PMI_PORT", "PMI_FD", "PMI_RANK"),
    *("SLURM_STEP_ID", "SLURM_PROCID", "DTL_LOCAL_MEMORY", "DTL_LOCAL_RANK"),
)


def _identity() -> str:
    return "/".join(os.environ.get(name, "") for name in _IDENTITY)


def claim() -> None:
    """Say in the environment that this process is the rank that the launcher's variables name, if there are any."""
    if any(name in os.environ for name in _IDENTITY):  # else a child is alone, too
        os.environ[VARIABLE] = f"{os.getpid()} {_identity()}"


def refuse_child() -> None:
    """Raise BackendError in a child of a rank: two processes that join a job as one rank crash inside MPI."""
    process, _, identity = os.environ.get(VARIABLE, "").partition(" ")
    if process not in ("", str(os.getpid())) and identity == _identity():
        raise BackendError(
            f"this process was started by process {process}, a rank of a job, and is no rank of that job itself; "
            "dtl.Environment().make_cpu_context() gives it a context of its own"
        )


def versions() -> str:
    """Return the versions that all ranks of a job have to have."""
    from .library import version

    return f"dtl {version()} with Python {sys.version_info[0]}.{sys.version_info[1]}"


def refuse_other_versions() -> None:
    """Raise BackendError where this host has other versions than the one where ``dtl run`` has started the job."""
    there, here = os.environ.get(VERSIONS, ""), versions()
    if there not in ("", here):
        import socket  # which few programs need

        _leave()
        raise BackendError(
            f"host {socket.gethostname()} has {here}, but dtl run, which has started this job, is of {there}; "
            "all hosts need the same"
        )


def _leave() -> None:
    """Tell ``dtl run`` on another host that this rank leaves: the others may wait for it inside MPI."""
    import socket

    rank = next((os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ), "0")
    for address in filter(None, os.environ.get(ADDRESSES, "").split(",")):
        host, _, port = address.rpartition(":")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1.0) as connection:
            hello = f"{os.environ.get(SECRET)} {socket.gethostname()}".encode()[:_RECORD]
            connection.sendall(hello.ljust(_RECORD, b"\0"))
            if connection.recv(1):
                connection.sendall(f"{rank} starting 0".encode().ljust(_RECORD, b"\0"))
                return
