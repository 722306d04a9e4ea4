"""The time of a job of several ranks."""

from __future__ import annotations

from mpi4py import MPI


def slowest(taken: float) -> float:
    """Return the longest time that a rank took. Collective, so all ranks begin what comes next at once."""
    return float(MPI.COMM_WORLD.allreduce(taken, MPI.MAX))
