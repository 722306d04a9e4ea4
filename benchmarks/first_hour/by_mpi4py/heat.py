"""Heat that spreads through a plate with cold edges: ``heat.py 2000 200 plate.png``, for the size and the steps."""

import sys

import numpy as np
from mpi4py import MPI

size, steps, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

comm = MPI.COMM_WORLD
starts = [size * rank // comm.size for rank in range(comm.size + 1)]
start, stop = starts[comm.rank : comm.rank + 2]
u = np.zeros((stop - start + 2, size + 2))
local = u[1:-1, 1:-1]
local[max(size // 4 - start, 0) : max(size // 2 - start, 0), size // 4 : size // 2] = 100
above = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
below = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
for _ in range(steps):
    comm.Sendrecv(u[1], above, recvbuf=u[-1], source=below)
    comm.Sendrecv(u[-2], below, recvbuf=u[0], source=above)
    local += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * local)
whole = np.empty((size, size)) if comm.rank == 0 else None
comm.Gatherv(np.ascontiguousarray(local), (whole, np.diff(starts) * size))
if comm.rank == 0:
    from matplotlib import pyplot

    pyplot.imsave(path, whole, cmap="inferno")
    print(f"mean {whole.mean():.6f}, largest {whole.max():.6f}")
