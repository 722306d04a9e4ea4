"""1D stencil with neighbor communication.

Each rank needs one element of each neighbour's part: its halo. The result is the same, bit for bit, on any
number of ranks, also where a rank holds one element or none.
"""

from __future__ import annotations

import numpy as np

import dtl


def smooth(ctx: dtl.Context, vec: dtl.DistributedVector) -> None:
    """Replace each inner element by 0.25 left + 0.5 itself + 0.25 right; the two ends stay. Collective."""
    local = vec.local_view()
    first, last = vec.local_offset, vec.local_offset + vec.local_size
    # A rank without elements has no neighbours. In a block partition it comes after all that have some.
    left = ctx.rank - 1 if vec.local_size > 0 and first > 0 else dtl.PROC_NULL
    right = ctx.rank + 1 if vec.local_size > 0 and last < vec.global_size else dtl.PROC_NULL

    old = np.zeros(vec.local_size + 2)  # our part between its two halo elements
    old[1:-1] = local
    dtl.sendrecv(ctx, local[:1], dest=left, source=right, out=old[-1:])
    dtl.sendrecv(ctx, local[-1:], dest=right, source=left, out=old[:1])

    lower = 0 if left != dtl.PROC_NULL else 1
    upper = vec.local_size if right != dtl.PROC_NULL else vec.local_size - 1
    if lower < upper:
        new = 0.25 * old[:-2] + 0.5 * old[1:-1] + 0.25 * old[2:]
        local[lower:upper] = new[lower:upper]


def main() -> None:
    """Smooth a sine wave, and print the largest element of the result."""
    with dtl.Context() as ctx:
        vec = dtl.DistributedVector(ctx, size=1000, dtype=np.float64)
        local = vec.local_view()
        wave = np.sin(np.linspace(0, 2 * np.pi, vec.global_size))
        local[:] = wave[vec.local_offset : vec.local_offset + vec.local_size]

        smooth(ctx, vec)

        largest = dtl.allreduce(ctx, float(local.max()), op=dtl.MAX)
        if ctx.is_root:
            print(f"Stencil computation complete: largest element {largest:.9f}")


if __name__ == "__main__":
    main()
