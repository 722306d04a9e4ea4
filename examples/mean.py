"""Compute mean of distributed data."""

import numpy as np

import dtl

with dtl.Context() as ctx:
    # Create vector with 1M elements
    vec = dtl.DistributedVector(ctx, size=1_000_000, dtype=np.float64)

    # Fill with random data
    local = vec.local_view()
    np.random.seed(42 + ctx.rank)
    local[:] = np.random.randn(len(local))

    # Local sum and count
    local_sum = np.sum(local)
    local_count = len(local)

    # Global reduction
    global_sum = dtl.allreduce(ctx, local_sum, op=dtl.SUM)
    global_count = dtl.allreduce(ctx, float(local_count), op=dtl.SUM)

    global_mean = global_sum / global_count

    if ctx.is_root:
        print(f"Global mean: {global_mean:.6f}")
