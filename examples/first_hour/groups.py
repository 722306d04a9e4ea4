"""Number, mean and standard deviation of the prices of each city in a Parquet file: ``groups.py sales.parquet``."""

import sys

import dtl

with dtl.Context() as ctx:
    sales = dtl.read_parquet(ctx, sys.argv[1])
    groups = dtl.group_by(sales["city"])
    numbers = [groups.agg(sales["price"], op)[1].gather_to(root=0) for op in ("count", "mean", "std")]
    if ctx.is_root:
        for city, row in zip(sales.categories["city"], zip(*numbers)):
            print("{:10} {:8} {:10.6f} {:10.6f}".format(city, *row))
