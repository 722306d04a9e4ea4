"""Where a driven pendulum is after many swings, for each of many forces, with a bar: ``sweep.py 200 2000``."""

import sys

import numpy as np
from dask.distributed import Client, as_completed
from tqdm import tqdm

forces, swings = np.linspace(0.9, 1.1, int(sys.argv[1])), int(sys.argv[2])


def pendulum(force: float) -> float:
    """Return the angle after so many swings, by steps of the method of Euler and Cromer."""
    angle = speed = 0.0
    for step in range(swings * 10):
        speed += 0.05 * (force * np.cos(step / 30) - np.sin(angle) - speed / 2)
        angle += 0.05 * speed
    return angle


if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1) as client:
        futures = client.map(pendulum, forces)
        angles = [future.result() for future in tqdm(as_completed(futures), total=len(forces))]
        print(f"mean angle {np.mean(angles):.6f}, largest {np.max(angles):.6f}")
