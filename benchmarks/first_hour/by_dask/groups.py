"""Number, mean and standard deviation of the prices of each city in a Parquet file: ``groups.py sales.parquet``."""

import sys

import dask
import dask.dataframe as dd
from dask.distributed import Client

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1):
        price = dd.read_parquet(sys.argv[1], split_row_groups=True).groupby("city").price
        results = dask.compute(price.count(), price.mean(), price.std())
        for city in sorted(results[0].index):
            count, mean, std = (result[city] for result in results)
            print(f"{city:10} {count:8} {mean:10.6f} {std:10.6f}")
