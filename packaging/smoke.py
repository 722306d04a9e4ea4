"""What an installed wheel can do by itself: containers, algorithms, one-sided access, and ranks that start each other.

``python smoke.py`` runs alone and then on three ranks of this machine. With ``--empty`` it first makes sure that there
is neither a compiler, nor Go, nor MPI. It stands outside of the sources, so that the installed package is imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np

import dtl

ABSENT = ("cc", "gcc", "clang", "go", "mpirun", "mpiexec", "mpicc")


def ranks() -> None:
    """Check sums, a sort, elements of other ranks and one-sided access against NumPy, on as many ranks as there are."""
    for name in dir(dtl):
        getattr(dtl, name)  # which imports its module
    with dtl.Context() as ctx:
        x = dtl.asarray(ctx, np.random.default_rng(1).permutation(1000).astype(np.float64))
        assert x.sum() == 499_500
        assert dtl.allreduce(ctx, 1) == ctx.size
        dtl.sort(x)
        assert x[0] == 0
        assert x[999] == 999
        x.redistribute(dtl.PARTITION_CYCLIC)
        assert x.local_view().tolist() == list(range(ctx.rank, 1000, ctx.size))
        with dtl.Window(ctx, size=8) as window:
            with window.epoch():
                dtl.rma_put(window, target=(ctx.rank + 1) % ctx.size, offset=0, data=np.array([ctx.rank]))
            assert window.local_view(np.int64)[0] == (ctx.rank - 1) % ctx.size
        if ctx.is_root:
            print(f"dtl {dtl.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}: {ctx.size} ranks")


def main() -> None:
    """Look around, run here, and start three ranks."""
    if "--empty" in sys.argv:
        found = [path for path in map(shutil.which, ABSENT) if path]
        if found or dtl.backends.why_not("mpi") is None:
            sys.exit(f"this is no empty environment: {found or 'there is an MPI library'}")
    ranks()
    command = [sys.executable, "-m", "dtl", "run", "-n", "3", os.path.abspath(__file__), "--ranks"]
    subprocess.run(command, check=True, env={**os.environ, "DTL_BACKEND": "local"}, timeout=120)
    subprocess.run([sys.executable, "-m", "dtl", "info"], check=True, timeout=120, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    ranks() if "--ranks" in sys.argv else main()
