"""One rank passes a hostile argument to a collective call, the others make the call as it should be.

Whatever the argument is, no rank waits: all return, or all raise an error of a class that fits.
"""

from __future__ import annotations

import random
import resource
import sys
import warnings
from typing import Any

import numpy as np
import rank
from calls import Objects, followed, starts, table
from jobs import drawn

import dtl

#: Each makes contexts, which are not closed; MPICH has room for two thousand.
CASES = 800

#: The most that a trial takes.
SECONDS = 25.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many cases, and return what it was and what went wrong."""
    return drawn("hostile", "calls", CASES, seed, python, seconds)


class Malicious:
    """An object all of whose conversions fail, with an error of the program's own."""

    def _fail(self, *words: Any, **keywords: Any) -> Any:
        raise ZeroDivisionError("the program's own error")

    __array__ = __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = __getitem__ = __call__ = _fail
    __eq__ = __lt__ = __reduce__ = __contains__ = __hash__ = __str__ = __repr__ = __getstate__ = _fail  # type: ignore[assignment]


def hostile(home: Any, closed: Any, foreign: Any) -> dict[str, Any]:
    """Return the arguments, by what errors and reports are to call them."""
    read_only = np.ones(3)
    read_only.flags.writeable = False
    return {
        "None": None,
        "object": object(),
        "text": "text",
        "bytes": b"x",
        "-1": -1,
        "-2**63": -(2**63),
        "2**31": 2**31,
        "2**40": 2**40,
        "2**63": 2**63,
        "2**64": 2**64,
        "10**30": 10**30,
        "1.5": 1.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "True": True,
        "1j": 1j,
        "[]": [],
        "[1, 2]": [1, 2],
        "[[1], [1, 2]]": [[1], [1, 2]],
        "()": (),
        "{}": {},
        "set": {1},
        "slice": slice(None),
        "Ellipsis": Ellipsis,
        "no elements": np.array([]),
        "zeros(3)": np.zeros(3),
        "zeros((2, 2))": np.zeros((2, 2)),
        "array of str": np.array(["a"]),
        "a class": np.float64,
        "big-endian": np.ones(3, ">f8"),
        "strided": np.zeros(8)[::2],
        "read-only": read_only,
        "0-d": np.array(1.0),
        "object array": np.array([object()]),
        "datetime": np.array(["2020-01-01"], "M8[D]"),
        "structured": np.zeros(2, [("a", "i4")]),
        "float16": np.ones(3, "f2"),
        "longdouble": np.ones(3, np.longdouble),
        "terabytes": np.broadcast_to(1.0, (2**40,)),
        "a module": np,
        "a function": lambda *a: 1 / 0,
        "a function of nothing": lambda: None,
        "a generator": (i for i in range(3)),
        "a context": home,
        "a closed context": closed[0],
        "a closed container": closed[1],
        "a foreign container": foreign,
        "masked": np.ma.masked_array([1.0, 2.0], [True, False]),
        "memoryview": memoryview(np.ones(2, complex)),  # type: ignore[dict-item]
        "malicious": Malicious(),
        "a range": range(3),
        "surrogate": "\ud800",
        "NUL": "\0",
        "an error": ValueError("x"),
    }


def limit(room: int) -> None:
    """Leave the process so many bytes of address space: a huge size fails at once, and does not take a minute."""
    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + room, mapped + room))


def main() -> None:
    """Make the calls of a seed from one number on: the program of a rank."""
    warnings.simplefilter("ignore")
    home = dtl.Context()
    limit(2**30)
    log = rank.Log(home)
    rng = random.Random(f"hostile {sys.argv[1]}")
    closed = (home.dup(), dtl.DistributedVector(home, 24))
    closed[0].close()
    closed[1].close()
    arguments = hostile(home, closed, dtl.DistributedVector(home, 24))
    objects = Objects(home.dup())
    places = [(name, place) for name, (_, words, kw) in table(objects).items() for place in _places(objects, words, kw)]
    cases = [(rng.choice(places), rng.choice(list(arguments)), rng.randrange(home.size)) for _ in range(CASES)]
    for number in range(int(sys.argv[2]), CASES):
        (name, place), what, odd = cases[number]
        log.begin(number, f"call {number}: {name} with argument {place} as {what} on rank {odd}")
        function, words, keywords = table(objects)[name]
        if home.rank == odd:
            words = tuple(arguments[what] if place == i else word for i, word in enumerate(words))
            keywords = {key: arguments[what] if place == key else word for key, word in keywords.items()}
        ended = rank.raised(followed(function, words, keywords, objects.ctx, {name}))
        everybody = log.exchange(ended)
        wrong = _judged(everybody, starts(name) or name == "remote")
        if wrong and home.rank == 0:
            log.found(f"call {number}: {name} with argument {place} as {what} on rank {odd}: {wrong}")
        # What was made, changed or closed is made anew, and a context that starts no more is left.
        if wrong or not everybody[0][0] or starts(name):
            objects = Objects(home.dup())
    log.begin(CASES, "the end")


def _places(objects: Any, words: Any, keywords: Any) -> list[Any]:
    """Return the positions and names of a call's arguments, but for the one that brings the context."""
    first = words[0] if words else None
    keys = isinstance(first, tuple) and hasattr(first[0], "context")  # lexsort's
    brings = first is objects.ctx or hasattr(first, "context") or keys
    return [*range(int(brings), len(words)), *keywords]


def _judged(everybody: list[Any], local: bool) -> str:
    """Return what is wrong with the ends of a call on all ranks, "" for nothing. Of a local call, some may return."""
    told = "; ".join(f"rank {i}: {kind or 'returned'} {text[:200]}" for i, (kind, text) in enumerate(everybody))
    kinds = {kind for kind, _ in everybody}
    if kinds == {""}:
        return ""
    # What the program's own function or object raises, it gets.
    unfit = {kind for kind in kinds if kind.startswith("(") and kind != "(ZeroDivisionError)"}
    return told if ("" in kinds and not local) or unfit or "no end after" in told else ""


if __name__ == "__main__":
    main()
