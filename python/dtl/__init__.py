"""DTL: distributed containers, collectives and messages for NumPy programs.

The same script runs alone with no MPI, and under ``mpirun`` with whatever MPI is there::

    import dtl
    import numpy as np

    with dtl.Context() as ctx:
        vec = dtl.DistributedVector(ctx, size=1000, dtype=np.float64, fill=1.0)
        total = dtl.allreduce(ctx, vec.local_view().sum())
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

from . import protocol as protocol  # which gives containers their methods
from ._lazy import attach, late

version_info = (0, 1, 0)

# What is imported at once is what most programs use: their first calls are not to wait for it. A command, such as
# ``python -m dtl run``, is not to wait for what it may not use: Python says "-m" there while it imports this.
_MOST = (
    ".comm.collectives",
    ".comm.point_to_point",
    ".comm.reductions",
    ".exceptions",
    ".ops",
    ".policies",
    ".runtime.context",
)
_load, _public = attach(__name__, () if sys.argv[:1] == ["-m"] else _MOST)
_public += ["__version__", "version_info"]

# What ``from dtl import *`` brings along: nothing that Python has by that name, such as sum and MemoryError.
__all__ = [name for name in _public if not hasattr(builtins, name)]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._native.library import version

        globals()[name] = version()
        return globals()[name]
    if name not in _public and name.endswith(("_vector", "_array")):
        from .algorithms.compat import FUNCTIONS  # names of existing programs

        if name in FUNCTIONS:
            return FUNCTIONS[name]
    return _load(name)


def load_ipython_extension(ipython: Any) -> None:
    """Give a notebook the magics ``%%ranks`` and ``%ranks``: what ``%load_ext dtl`` calls."""
    late(".launching.notebook", "load")(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Take the magics away, and end their ranks: what ``%unload_ext dtl`` calls."""
    late(".launching.notebook", "unload")(ipython)


def __dir__() -> list[str]:
    return sorted(_public)
