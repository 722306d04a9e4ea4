"""What dtl.launch of an empty function on four ranks takes, beside a launcher; and what a call on a pool takes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings

from blocks import Block, alternate
from rows import Row, Times, at_most, deliver

import dtl
from dtl._cli import command, start

_RANKS = 4
_ROUNDS = 9
_CALLS = 500


def nothing(ctx: dtl.Context) -> None:
    """Return at once."""


def _answer(connection: multiprocessing.connection.Connection) -> None:
    """Answer what comes, until nobody is there."""
    while True:
        try:
            connection.send(connection.recv())
        except EOFError:
            return


def _launcher() -> float:
    job = command.Job(_RANKS, [sys.executable, "-c", "import dtl; dtl.Context()"])
    started = start.command_for(job, os.environ, lambda text: None)
    before = time.perf_counter()
    with start.environment(started, os.environ) as environ:
        subprocess.run(started.words, check=True, env={**environ, "PYTHONWARNINGS": "ignore"})
    return time.perf_counter() - before


def _launch() -> float:
    before = time.perf_counter()
    dtl.launch(nothing, _RANKS)
    return time.perf_counter() - before


def _calls() -> Times:
    """Return the times of calls on a pool, and of a message to as many processes of multiprocessing and back."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(_RANKS)]
    others = [context.Process(target=_answer, args=(theirs,), daemon=True) for _, theirs in pipes]
    for process in others:
        process.start()
    for _, theirs in pipes:
        theirs.close()

    def plain() -> float:
        before = time.perf_counter()
        for _ in range(_CALLS):
            for ours, _ in pipes:
                ours.send((nothing, (), {}))
            for ours, _ in pipes:
                ours.recv()
        return (time.perf_counter() - before) / _CALLS

    with dtl.Ranks(_RANKS) as pool:

        def call() -> float:
            before = time.perf_counter()
            for _ in range(_CALLS):
                pool.run(nothing)
            return (time.perf_counter() - before) / _CALLS

        blocks: dict[str, Block] = {"dtl.Ranks": call, "multiprocessing": plain}
        times = alternate(blocks, _ROUNDS)
    for ours, _ in pipes:
        ours.close()
    for process in others:
        process.join()
    return times


def main() -> None:
    """Measure from this process, which is no rank."""
    warnings.simplefilter("ignore", RuntimeWarning)
    starts = alternate({"dtl.launch": _launch, "launcher": _launcher}, _ROUNDS)
    calls = _calls()
    least = min(calls["dtl.Ranks"])
    rows = [
        at_most("dtl.launch of an empty function, 4 ranks", starts, "dtl.launch", "launcher", 1.25),
        Row(
            "call of an empty function, 4 ranks that stay",
            "≤ 1 ms",
            f"{least * 1e3:.2f} ms",
            "fastest block",
            least <= 1e-3,
        ),
        at_most("the same", calls, "dtl.Ranks", "multiprocessing"),
    ]
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
