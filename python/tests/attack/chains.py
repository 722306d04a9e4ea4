"""Chains of calls of tables, drawn at random: on several ranks as on one, and as pandas and Polars have them."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import rank
from jobs import drawn

import dtl

sys.path.append(str(Path(__file__).parent.parent))
from table_calls import chain

CASES = 100_000

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many chains, and return what it was and what went wrong."""
    return drawn("chains", "chains of calls of tables", CASES, seed, python, seconds)


def main() -> None:
    """Make the chains of a seed from one number on: the program of a rank."""
    seed, number = int(sys.argv[1]), int(sys.argv[2])
    with dtl.Context() as ctx, ctx.split(ctx.rank) as alone:
        log = rank.Log(ctx)
        folders = str(rank.FOLDER / "of-all"), str(rank.FOLDER / f"of-{ctx.rank}")
        for case in range(number, CASES):
            name = f"chain {case} of seed {seed}"
            log.begin(case, name)
            wrong = chain(ctx, alone, random.Random(f"{seed} {case}"), name, folders, log.at)
            if wrong:
                log.found(f"{name}: {wrong}")
        log.begin(CASES, "the end")


if __name__ == "__main__":
    main()
