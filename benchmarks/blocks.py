"""Contenders timed in alternating blocks of one process: what else the machine does meets all alike."""

from __future__ import annotations

import timeit
from typing import Any, Callable

from rows import Times

#: Runs one block and returns the seconds a call took.
Block = Callable[[], float]


def python_block(statement: str, calls: int, **names: Any) -> Block:
    """Return a block that runs a statement in a plain loop, with the names as local variables.

    One run before does not count: contenders that share a buffer would find it in the cache, or not, by their order.
    """
    setup = "; ".join(f"{name} = values[{name!r}]" for name in names) or "pass"
    timer = timeit.Timer(statement, setup, globals={"values": names})

    def block() -> float:
        timer.timeit(1)
        return timer.timeit(calls) / calls

    return block


def alternate(contenders: dict[str, Block], rounds: int, slowest: Callable[[float], float] = float) -> Times:
    """Run every contender once a round, each round starting with the next one, and return their times.

    slowest turns this rank's time into the job's: it has to be collective where there are several ranks, and
    thereby also lets all ranks start the next block together. The first round warms up and does not count.
    """
    names = list(contenders)
    times: Times = {name: [] for name in names}
    for i in range(rounds + 1):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            taken = slowest(contenders[name]())
            if i > 0:
                times[name].append(taken)
    return times
