"""Heat that spreads through a plate with cold edges: ``heat.py 2000 200 plate.png``, for the size and the steps."""

import sys

import dask.array as da
import numpy as np
from dask.distributed import Client

size, steps, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def spread(u):
    """Return the next temperatures inside of a block with a ghost of width 1."""
    local = u[1:-1, 1:-1]
    return local + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * local)


if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1):
        first = np.zeros((size, size))
        first[size // 4 : size // 2, size // 4 : size // 2] = 100
        plate = da.from_array(first, chunks=(-(-size // 2), size))
        for step in range(steps):
            plate = da.map_overlap(spread, plate, depth=1, boundary=0, trim=False)
            if step % 20 == 19:
                plate = plate.persist()
        whole = plate.compute()
        from matplotlib import pyplot

        pyplot.imsave(path, whole, cmap="inferno")
        print(f"mean {whole.mean():.6f}, largest {whole.max():.6f}")
