"""A regression and the principal components of the points in a file: ``regression.py points.h5``.

The coefficients solve the triangle that a QR decomposition of each rank's triangle leaves.
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
with h5py.File(sys.argv[1]) as file:
    size = len(file["X"])
    mine = slice(size * comm.rank // comm.size, size * (comm.rank + 1) // comm.size)
    X, y = file["X"][mine], file["y"][mine]
Q, R = np.linalg.qr(X)
Q2, R = np.linalg.qr(np.concatenate(comm.allgather(R)))
columns = X.shape[1]
coefficients = np.linalg.solve(R, comm.allreduce(Q2[comm.rank * columns :][:columns].T @ (Q.T @ y)))
X -= comm.allreduce(X.sum(axis=0)) / size
variances = np.linalg.eigvalsh(comm.allreduce(X.T @ X) / (size - 1))
if comm.rank == 0:
    print(f"coefficients {coefficients.round(6)}")
    print(f"variances of the components {variances[::-1].round(6)}")
