"""How the programs of sparse_peers.py measure, and say what they found."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

#: Products after these do not find memory for the first time.
_WARM = 3
_PRODUCTS = 30


def part(folder: Path, name: str, rank: int) -> dict[str, Any]:
    """Return the arrays that by_dtl.py has written for a rank."""
    return {each.stem: np.load(each) for each in sorted((folder / f"{name}-{rank}").glob("*.npy"))}


def median(call: Callable[[], Any], meet: Callable[[], Any], count: int = _PRODUCTS) -> float:
    """Return the median time of some calls, which begin together on all ranks and last until the last one ends."""
    taken = []
    for i in range(_WARM + count):
        meet()
        started = time.perf_counter()
        call()
        meet()
        if i >= _WARM:
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def tell(question: str, seconds: float, found: float, detail: str = "") -> None:
    """Print an answer: the time, a number that all libraries have to agree on, and what else is to be said."""
    print(json.dumps({"question": question, "seconds": seconds, "found": found, "detail": detail}), flush=True)
