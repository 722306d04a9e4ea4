"""The LogGP parameters of what connects two ranks, by mpi4py: run it with any launcher on two ranks.

They are the numbers of a link in docs/scale.json, in nanoseconds. Each is the least of many trials, for whatever else
the machine does only adds to them.
"""

from __future__ import annotations

import json
import time
from typing import Callable

import numpy as np
from mpi4py import MPI

_WORLD = MPI.COMM_WORLD
_OTHER = 1 - _WORLD.rank
_TRIALS = 300
_FLOOD = 200
_LONG = 1 << 20


def _least(trial: Callable[[], float], trials: int = _TRIALS) -> float:
    return min(trial() for _ in range(trials)) * 1e9


def _one_way(size: int) -> float:
    """Return the time of a message, as half of that of one there and back."""
    sent, got = np.zeros(size, np.uint8), np.zeros(size, np.uint8)

    def trial() -> float:
        begin = time.perf_counter()
        if _WORLD.rank == 0:
            _WORLD.Send(sent, _OTHER)
            _WORLD.Recv(got, _OTHER)
        else:
            _WORLD.Recv(got, _OTHER)
            _WORLD.Send(sent, _OTHER)
        return (time.perf_counter() - begin) / 2

    return _least(trial)


def _flood() -> tuple[float, float]:
    """Return the time of starting a message, and the time between two of many."""
    sent, got = np.zeros(8, np.uint8), np.zeros((_FLOOD, 8), np.uint8)
    starts = []

    def trial() -> float:
        _WORLD.Barrier()
        begin = time.perf_counter()
        if _WORLD.rank == 0:
            requests = [_WORLD.Isend(sent, _OTHER) for _ in range(_FLOOD)]
            starts.append((time.perf_counter() - begin) / _FLOOD)
        else:
            requests = [_WORLD.Irecv(got[i], _OTHER) for i in range(_FLOOD)]
        MPI.Request.Waitall(requests)
        return (time.perf_counter() - begin) / _FLOOD

    gap = _least(trial, 50)
    return (min(starts) * 1e9 if starts else 0.0), gap


def main() -> None:
    if _WORLD.size != 2:
        raise SystemExit(f"{_WORLD.size} ranks: there must be 2")
    short, long = _one_way(8), _one_way(_LONG)
    overhead, gap = _flood()
    if _WORLD.rank == 0:
        latency = max(short - 2 * overhead, 0)
        per_byte = (long - short) / _LONG
        link = {"Latency": latency, "Overhead": overhead, "Gap": gap, "PerByte": per_byte}
        print(json.dumps({name: round(value, 3) for name, value in link.items()}))


if __name__ == "__main__":
    main()
