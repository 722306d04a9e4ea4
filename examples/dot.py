"""Compute dot product of two distributed vectors."""

import numpy as np

import dtl

with dtl.Context() as ctx:
    N = 100_000

    # Create two vectors
    a = dtl.DistributedVector(ctx, size=N, dtype=np.float64)
    b = dtl.DistributedVector(ctx, size=N, dtype=np.float64)

    # Initialize
    local_a = a.local_view()
    local_b = b.local_view()
    local_a[:] = np.arange(len(local_a)) + a.local_offset
    local_b[:] = 2.0

    # Local dot product
    local_dot = np.dot(local_a, local_b)

    # Global sum
    global_dot = dtl.allreduce(ctx, local_dot, op=dtl.SUM)

    if ctx.is_root:
        # Expected: 2 * sum(0..N-1) = 2 * N*(N-1)/2 = N*(N-1)
        expected = N * (N - 1)
        print(f"Dot product: {global_dot:.0f}")
        print(f"Expected: {expected}")
