"""Rank 0 makes one collective call, the others another one: all of them hear of it, at once, and go on.

Each trial draws pairs of the calls of calls.py. Either every rank raises CollectiveMismatchError, with the same text,
which names both calls; or, of the same call, none does. Afterwards the context goes on, or says on all ranks that it
does not.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from typing import Any

import rank
from calls import Objects, followed, starts, table
from jobs import drawn

import dtl

PAIRS = 1000

GONE_ON = re.compile(r" in an earlier call, from which this rank had gone on( at [\w<>.]+:\d+)?")

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many pairs, and return what it was and what went wrong."""
    return drawn("pairs", "pairs", PAIRS, seed, python, seconds)


def main() -> None:
    """Make the pairs of a seed from one number on: the program of a rank."""
    warnings.simplefilter("ignore")
    home = dtl.Context()
    log = rank.Log(home)
    rng = random.Random(f"pairs {sys.argv[1]}")
    objects = Objects(home.dup())
    names = list(table(objects))
    pairs = [(rng.choice(names), rng.choice(names)) for _ in range(PAIRS)]
    for number in range(int(sys.argv[2]), PAIRS):
        one, other = pairs[number]
        what = f"pair {number}: {one} on rank 0, {other} on the others"
        log.begin(number, what)
        name = other if home.rank else one
        function, words, keywords = table(objects)[name]
        ended = rank.raised(followed(function, words, keywords, objects.ctx, {one, other}))
        ended = ended[0], GONE_ON.sub("", ended[1])
        ended += _after(objects.ctx, starts(one) or starts(other), ended[0])
        log.at(f"the exchange after {what}")
        everybody = log.exchange(ended)
        wrong = _judged(one, other, everybody)
        if wrong and home.rank == 0:
            log.found(f"{what}: {wrong}")
        if wrong or one == other or starts(one) or starts(other) or any(after for _, _, after, _ in everybody):
            objects = Objects(home.dup())
    log.begin(PAIRS, "the end")


#: Calls that are the same one, or begin with it: with one key or with many, or under two names.
SAME = (
    {"insert", "insert_many"},
    {"find key", "find_many"},
    {"contains", "contains_many"},
    {"erase", "erase_many"},
    {"lower_bound", "searchsorted"},
    {"cumsum", "inclusive_scan"},
    {"min", "minmax"},
    {"median", "quantile"},
)


def _after(ctx: Any, started: bool, error: str) -> Any:
    """Make one more call, and return what it raises: the context goes on, or says that it does not.

    Where one of the calls was started, a rank may have ended its part of it before the other call came. It hears of
    that when it starts its next. Ranks that have heard make no call, which would wait for the others.
    """
    if not started:
        return rank.raised(lambda: dtl.allreduce(ctx, 1))
    return ("", "") if error else rank.raised(lambda: dtl.iallreduce(ctx, 1).wait())


def _judged(one: str, other: str, everybody: list[Any]) -> str:
    """Return what is wrong with what a pair came to on all ranks, "" for nothing."""
    told = "; ".join(
        f"rank {rank}: {kind or 'returned'} {text[:200]}" + (f", then {after} {also[:120]}" if after else "")
        for rank, (kind, text, after, also) in enumerate(everybody)
    )
    kinds, texts, afters = ({ended[i] for ended in everybody} for i in (0, 1, 2))
    if any({one, other} <= same for same in SAME) and kinds <= {"", "CollectiveMismatchError"}:
        return ""
    if one == other:
        return "" if kinds == {""} else f"the same call fails: {told}"
    if starts(one) or starts(other):
        heard = [kind or after for kind, _, after, _ in everybody]
        fits = {"CollectiveMismatchError", "CommunicationError"}
        return (
            "" if fits.issuperset(heard) and "CollectiveMismatchError" in heard and "no end after" not in told else told
        )
    if kinds != {"CollectiveMismatchError"}:
        return told
    if len(texts) != 1 or min(text.count("called ") for text in texts) < 2:
        return f"the texts do not say the same of both: {told}"
    return "" if len(afters) == 1 and afters <= {"", "CommunicationError"} else f"the context goes on otherwise: {told}"


if __name__ == "__main__":
    main()
