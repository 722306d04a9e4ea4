"""Mean, standard deviation and exact quantiles of the values in a file: ``values.py values.h5``."""

import sys

import numpy as np

import dtl

with dtl.Context() as ctx:
    x = dtl.load(ctx, sys.argv[1], name="values")
    mean, std, quantiles = np.mean(x), np.std(x), np.quantile(x, [0.01, 0.5, 0.99])
    if ctx.is_root:
        print(f"mean {mean:.6f}, std {std:.6f}, quantiles {quantiles.round(6)}")
