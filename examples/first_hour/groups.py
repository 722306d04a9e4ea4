"""Number, mean and standard deviation of the prices of each city in a Parquet file: ``groups.py sales.parquet``."""

import sys

import dtl

with dtl.Context() as ctx:
    sales = dtl.read_parquet(ctx, sys.argv[1])
    groups = sales.group_by("city").agg({"price": ["count", "mean", "std"]}).to_arrow(root=0)
    if ctx.is_root:
        for row in groups.to_pylist():
            print("{city:10} {price_count:8} {price_mean:10.6f} {price_std:10.6f}".format(**row))
