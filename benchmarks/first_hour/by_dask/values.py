"""Mean, standard deviation and exact quantiles of the values in a file: ``values.py values.h5``."""

import sys

import dask
import dask.array as da
import h5py
from dask.distributed import Client

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1), h5py.File(sys.argv[1]) as file:
        x = da.from_array(file["values"], chunks=len(file["values"]) // 10)
        mean, std, quantiles = dask.compute(x.mean(), x.std(), da.quantile(x.rechunk(-1), [0.01, 0.5, 0.99], axis=0))
        print(f"mean {mean:.6f}, std {std:.6f}, quantiles {quantiles.round(6)}")
