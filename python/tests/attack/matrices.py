"""Chains of calls of sparse matrices, drawn at random: on several ranks as SciPy has them on one."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import rank
from jobs import drawn

import dtl

sys.path.append(str(Path(__file__).parent.parent))
from matrix_calls import chain

CASES = 100_000

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many chains, and return what it was and what went wrong."""
    return drawn("matrices", "chains of calls of sparse matrices", CASES, seed, python, seconds)


def main() -> None:
    """Make the chains of a seed from one number on: the program of a rank."""
    seed, number = int(sys.argv[1]), int(sys.argv[2])
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        for case in range(number, CASES):
            name = f"chain {case} of seed {seed}"
            log.begin(case, name)
            wrong = chain(ctx, random.Random(f"{seed} {case}"), name, str(rank.FOLDER), log.at)
            if wrong:
                log.found(f"{name}: {wrong}")
        log.begin(CASES, "the end")


if __name__ == "__main__":
    main()
