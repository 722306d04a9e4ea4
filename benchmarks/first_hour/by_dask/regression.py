"""A regression and the principal components of the points in a file: ``regression.py points.h5``."""

import sys

import dask
import dask.array as da
import h5py
import numpy as np
from dask.distributed import Client

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1), h5py.File(sys.argv[1]) as file:
        X = da.from_array(file["X"], chunks=(len(file["X"]) // 10, -1))
        y = da.from_array(file["y"], chunks=len(file["X"]) // 10)
        coefficients, covariance = dask.compute(da.linalg.lstsq(X, y)[0], da.cov(X, rowvar=False))
        variances = np.linalg.eigvalsh(covariance)
        print(f"coefficients {coefficients.round(6)}")
        print(f"variances of the components {variances[::-1].round(6)}")
