"""Which process is a rank: a child that a rank starts inherits the launcher's variables, but is none."""

from __future__ import annotations

import os

from ..exceptions import BackendError

#: Where a process that has joined a job says so, for its children to read.
VARIABLE = "DTL_RANK_PROCESS"

#: What tells one rank of one job from all others, as each family of launchers says it.
_IDENTITY = (
    *("PMIX_NAMESPACE", "PMIX_RANK", "PMI_PORT", "PMI_FD", "PMI_RANK"),
    *("SLURM_STEP_ID", "SLURM_PROCID", "DTL_LOCAL_MEMORY", "DTL_LOCAL_RANK"),
)


def _identity() -> str:
    return "/".join(os.environ.get(name, "") for name in _IDENTITY)


def claim() -> None:
    """Say in the environment that this process is the rank that the launcher's variables name."""
    os.environ[VARIABLE] = f"{os.getpid()} {_identity()}"


def refuse_child() -> None:
    """Raise BackendError in a child of a rank: two processes that join a job as one rank crash inside MPI."""
    process, _, identity = os.environ.get(VARIABLE, "").partition(" ")
    if process not in ("", str(os.getpid())) and identity == _identity():
        raise BackendError(
            f"this process was started by process {process}, a rank of a job, and is no rank of that job itself; "
            "dtl.Environment().make_cpu_context() gives it a context of its own"
        )
