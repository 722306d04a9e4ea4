"""Number, mean and standard deviation of the prices of each city in a Parquet file: ``groups.py sales.parquet``."""

import sys

import numpy as np
from mpi4py import MPI
from pyarrow import parquet

comm = MPI.COMM_WORLD
file = parquet.ParquetFile(sys.argv[1], read_dictionary=["city"])
table = file.read_row_groups(range(comm.rank, file.num_row_groups, comm.size)).unify_dictionaries()
price = table["price"].to_numpy()
mine = table["city"].chunk(0).dictionary.to_pylist() if table.num_rows else []
cities = sorted(set().union(*comm.allgather(mine)))
place = np.array([cities.index(city) for city in mine], np.int64)
codes = np.concatenate([chunk.indices.to_numpy() for chunk in table["city"].chunks] or [np.empty(0, np.int64)])
city = place[codes]
count = comm.allreduce(np.bincount(city, minlength=len(cities)))
mean = comm.allreduce(np.bincount(city, price, len(cities))) / count
std = np.sqrt(comm.allreduce(np.bincount(city, (price - mean[city]) ** 2, len(cities))) / (count - 1))
if comm.rank == 0:
    for row in zip(cities, count, mean, std):
        print("{:10} {:8} {:10.6f} {:10.6f}".format(*row))
