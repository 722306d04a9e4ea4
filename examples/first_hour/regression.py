"""A regression and the principal components of the points in a file: ``regression.py points.h5``."""

import sys

import numpy as np

import dtl

with dtl.Context() as ctx:
    points = dtl.load(ctx, sys.argv[1])
    coefficients = dtl.linalg.lstsq(points["X"], points["y"])[0].local_view()
    variances = dtl.linalg.eigvalsh(np.cov(points["X"], rowvar=False)).local_view()
    if ctx.is_root:
        print(f"coefficients {coefficients.round(6)}")
        print(f"variances of the components {variances[::-1].round(6)}")
