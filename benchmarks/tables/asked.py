"""Asks the questions: each twice, the second time for the clock, and prints a line of JSON for each."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any, Callable, Mapping, NamedTuple


class Library(NamedTuple):
    """How a library answers. On several ranks, all that is here is called on each of them."""

    #: Answers by the names of the questions. What they return is complete: nothing is left to be computed.
    answers: Mapping[str, Callable[[], Any]]
    #: The number of rows of an answer, and the sum of its columns of numbers.
    checked: Callable[[Any], tuple[int, float]]
    #: Waits for the other ranks.
    meet: Callable[[], None] = lambda: None
    #: The sum over the ranks.
    total: Callable[[int], int] = int
    prints: bool = True


def ask(library: Library) -> None:
    """Ask those of the questions that the command line names after the folder, or all."""
    for name in sys.argv[2:] or library.answers:
        if name in library.answers:
            _ask(library, name)


def _ask(library: Library, name: str) -> None:
    answer = library.answers[name]
    found = library.checked(answer())
    library.meet()
    start = time.perf_counter()
    kept = answer()
    library.meet()
    taken = time.perf_counter() - start
    del kept
    peak = library.total(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    if library.prints:
        print(json.dumps({"question": name, "seconds": taken, "found": found, "peak": peak}), flush=True)
