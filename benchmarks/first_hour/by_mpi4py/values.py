"""Mean, standard deviation and exact quantiles of the values in a file: ``values.py values.h5``.

The quantiles are those of all values on one rank, which has to have room for them.
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
with h5py.File(sys.argv[1]) as file:
    size = len(file["values"])
    starts = [size * rank // comm.size for rank in range(comm.size + 1)]
    x = file["values"][starts[comm.rank] : starts[comm.rank + 1]]
mean = comm.allreduce(x.sum()) / size
std = np.sqrt(comm.allreduce(((x - mean) ** 2).sum()) / size)
whole = np.empty(size) if comm.rank == 0 else None
comm.Gatherv(x, (whole, np.diff(starts)))
if comm.rank == 0:
    quantiles = np.quantile(whole, [0.01, 0.5, 0.99], overwrite_input=True)
    print(f"mean {mean:.6f}, std {std:.6f}, quantiles {quantiles.round(6)}")
