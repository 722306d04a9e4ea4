"""Chooses the calls that are replayed, of those that were recorded: many kinds, a few of each."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from calls import Call, read, shape_class, written
from variants import count

#: Of the calls of one package, this many of each function are replayed, and of those that are alike in their dtypes,
#: numbers of dimensions and keywords, ALIKE.
EACH, ALIKE = 150, 2

#: A call with more arrays is not replayed: each would become a container by collective calls of its own.
MOST_ARRAYS = 200

#: Functions whose results say how arrays lie in memory, print them, or are files.
_LEFT_OUT = frozenset(
    "empty_like shares_memory may_share_memory byte_bounds array_repr array_str array2string save savez "  # noqa: SIM905
    "savez_compressed savetxt loadtxt genfromtxt fromregex memmap".split()
)


def choose(recorded: list[Path], corpus: Path, seed: int) -> dict[str, int]:
    """Write the chosen calls to a file in an order of the seed; return how many there are of each package."""
    chosen: list[Call] = []
    counts = {}
    alike: Counter[object] = Counter()
    for file in recorded:
        each: Counter[str] = Counter()
        before = len(chosen)
        calls = list(read(file))
        random.Random(seed).shuffle(calls)
        for call in calls:
            kind = (call.kind, call.name, shape_class(call.args), shape_class(call.kwargs))
            unsaid = "empty" in (value for value in (*call.args, *call.kwargs.values()) if isinstance(value, str))
            many = count(call.args) + count(call.kwargs) > MOST_ARRAYS
            if unsaid or many or call.name.rpartition(":")[2] in _LEFT_OUT:
                continue
            if alike[kind] >= ALIKE or each[call.name] >= EACH:
                continue
            alike[kind] += 1
            each[call.name] += 1
            chosen.append(call)
        counts[file.stem] = len(chosen) - before
    random.Random(seed).shuffle(chosen)
    with open(corpus, "wb") as stream:
        stream.writelines(map(written, chosen))
    return counts
