"""Every rank starts the same drawn requests, and tests and waits for them in an order of its own.

Most of them take several messages, so that a message of one could be taken for that of another.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import rank
from jobs import TIMEOUT, family, series

import dtl

sys.path.append(str(Path(__file__).parents[1]))

from drawn_requests import differences

ROUNDS = 100_000

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many rounds, and return what it was and what went wrong."""
    rng = random.Random(f"orders {seed} {family(python)}")
    ranks = rng.choice([1, 2, 3, 4, 5])
    means = rng.choice([{}, {"DTL_BACKEND": "local"}, {"DTL_NODES_OF": "2"}, {"DTL_SHARED_MEMORY": "0"}])
    variables = {"DTL_TIMEOUT": str(2 * TIMEOUT), **means}  # other tests use the processors, too
    done, wrong = series(python, ranks, "orders.py", rng.randrange(2**32), ROUNDS, seconds, variables)
    said = "".join(f", {name}={value}" for name, value in means.items())
    return f"{done} rounds of requests on {ranks} ranks{said}", wrong


def main() -> None:
    """Make the rounds of a seed from one number on: the program of a rank."""
    seed, number, last = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        for drawn in range(number, last):
            log.begin(drawn, f"round {drawn}")
            rng = random.Random(f"{seed} {drawn}")
            calls = rng.choice([2, 5, 10, 20, 60])
            wrong = differences(ctx, rng, random.Random(f"{seed} {drawn} {ctx.rank}"), calls)
            if wrong:
                log.found("; ".join(wrong[:3]))
                sys.exit(1)
        log.begin(last, "the end")


if __name__ == "__main__":
    main()
