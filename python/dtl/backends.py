"""Which backends there are, which of them can be used in this process, and why not the others."""

from __future__ import annotations

from ._lazy import say_public
from .runtime.backends import (
    available,
    chosen,
    count,
    has_cuda,
    has_hip,
    has_mpi,
    has_nccl,
    has_shmem,
    name,
    registered,
    why_not,
)

__all__ = [
    "available",
    "chosen",
    "count",
    "has_cuda",
    "has_hip",
    "has_mpi",
    "has_nccl",
    "has_shmem",
    "name",
    "registered",
    "why_not",
]

for _name in __all__:
    say_public(globals()[_name], __name__)
