"""Calls on containers of 1,000 float64, where a call takes longer than its elements: beside NumPy, and another build.

``small.py --against PYTHON`` measures the DTL that PYTHON imports, too, block by block in turn with this one.
``--ranks 2`` measures on two ranks. A measurer waits for its turn without using a processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import NamedTuple

import numpy as np
from blocks import Block, alternate, python_block
from rows import Row, Times, best, deliver, written

_ROUNDS = 30
_SIZE = 1_000
_SHAPE = (25, 40)
_SECONDS = 0.001  # of a block: few are interrupted

_DTL, _NUMPY, _BEFORE = "dtl", "NumPy", "the build before"


class Statement(NamedTuple):
    """What is measured: with containers and with arrays, and the most that it may take of either's time."""

    ours: str
    numpys: str = ""
    of_before: float | None = None
    of_numpy: float | None = None
    of_before_on_ranks: float | None = None


#: The limits against another build are those that hold between the build of November 2026 and what followed.
_STATEMENTS = (
    Statement("x + y", of_before=0.35, of_numpy=2),
    Statement("x += y", of_before=0.35, of_numpy=2),
    Statement("x * 2.0 + y"),
    Statement("-x"),
    Statement("x > 0.5"),
    Statement("np.sqrt(x)", of_before=0.35),
    Statement("np.add(x, y, out=z)", of_before=0.35),
    Statement("x[3:700]", "x[3:700].copy()", 0.25, 4, 0.5),
    Statement("x[3:700:2]", "x[3:700:2].copy()", 0.25, 4, 0.5),
    Statement("T[2:5]", "T[2:5].copy()", 0.25, 4, 0.5),
    Statement("T[:, 3]", "T[:, 3].copy()", 0.25, 4, 0.5),
    Statement("x[7]", of_before=0.25, of_numpy=6),
    Statement("x[7] = 0.5", of_before=0.25),
    Statement("x[3:700] = 0.5", of_before=0.25),
    Statement("x[m]", of_before=0.25, of_before_on_ranks=0.5),
    Statement("x[k]", "x[m]", of_before=0.25, of_before_on_ranks=0.5),
    Statement("np.where(m, x, y)", of_before=0.25, of_before_on_ranks=0.5),
    Statement("np.concatenate([x, y])", of_before=0.25),
    Statement("np.stack([x, y])", of_before=0.25),
    Statement("x.sum()", of_numpy=2),
    Statement("x.mean()", of_numpy=2),
    Statement("x.max()"),
    Statement("np.dot(x, y)", of_before=0.25),
    Statement("T.sum(axis=0)", of_before=0.25, of_numpy=8),
    Statement("T.mean(axis=1)", of_numpy=8),
    Statement("T.T", "T.T.copy()", 0.25, 10),
    Statement("np.clip(x, 0.2, 0.8)", of_before=0.25),
    Statement("T @ T.T", of_before=0.25),
    Statement("vector(ctx, 1000).close()", "np.zeros(1000)", 0.4),
)


def _arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    arrays = {name: random.random(_SIZE) for name in "xyz"}
    return {**arrays, "m": arrays["x"] > 0.5, "T": random.random(_SHAPE)}


def _block(statement: str, **names: object) -> Block:
    """Return a block of as many calls as take the time of one."""
    block = python_block(statement, 20, **names)
    taken = min(block(), block())
    return python_block(statement, max(int(_SECONDS / taken), 5), **names)


def measure(address: str) -> None:
    """Measure on each rank what the driver asks for, until it asks for no more."""
    import dtl

    with dtl.Context() as ctx, Client(address) as driver:
        names = {name: dtl.asarray(ctx, array) for name, array in _arrays().items()}
        names.update(np=np, ctx=ctx, vector=dtl.DistributedVector, k=_arrays()["m"])
        blocks: dict[str, Block] = {}
        while True:
            asked = driver.recv()
            if asked is None:
                break
            if asked not in blocks:
                blocks[asked] = python_block(asked[0], asked[1], **names)
            driver.send(blocks[asked]())


class _Measurers:
    """The ranks of a build, which measure when they are asked to."""

    def __init__(self, python: str, ranks: int, listener: Listener) -> None:
        command = [python, "-m", "dtl", "run", "-n", str(ranks)] if ranks > 1 else [python]
        self._job = subprocess.Popen([*command, __file__, "--measure", str(listener.address)])
        self._ranks: list[Connection] = [listener.accept() for _ in range(ranks)]

    def block(self, statement: str) -> Block:
        """Return what measures a statement: the time of the slowest rank."""
        calls = max(int(_SECONDS / min(self._ask(statement, 20), self._ask(statement, 20))), 5)
        return lambda: self._ask(statement, calls)

    def _ask(self, statement: str, calls: int) -> float:
        for rank in self._ranks:
            rank.send((statement, calls))
        return max([rank.recv() for rank in self._ranks])

    def end(self) -> None:
        """End the ranks."""
        for rank in self._ranks:
            rank.send(None)
        self._job.wait()


def _at_most(measure: str, times: Times, theirs: str, bound: float | None) -> Row:
    """Return the row of the fastest blocks: a block is shorter than what else the machine does."""
    ratio = min(times[_DTL]) / min(times[theirs])
    target = f"time ÷ {theirs}" if bound is None else f"time ÷ {theirs} ≤ {bound}"
    return Row(measure, target, written(ratio), best(times), None if bound is None else ratio <= bound)


def _rows(statement: Statement, ours: _Measurers, before: _Measurers | None, ranks: int) -> list[Row]:
    contenders = {_DTL: ours.block(statement.ours)}
    if ranks == 1:
        contenders[_NUMPY] = _block(statement.numpys or statement.ours, np=np, **_arrays())
    if before is not None:
        contenders[_BEFORE] = before.block(statement.ours)
    times = alternate(contenders, _ROUNDS)
    name = f"`{statement.ours}` of 1,000 float64"
    rows = []
    if ranks == 1:
        rows.append(_at_most(name, times, _NUMPY, statement.of_numpy))
    if before is not None:
        bound = statement.of_before if ranks == 1 else statement.of_before_on_ranks
        rows.append(_at_most(name, times, _BEFORE, bound))
    return rows


def main() -> None:
    """Measure, or measure what a driver asks for."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=False)
    parser.add_argument("--against", help="the Python of another build")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--only", help="the statements that contain this text")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given, rest = parser.parse_known_args()
    if given.measure:
        measure(given.measure)
        return
    sys.argv[1:] = rest
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    with tempfile.TemporaryDirectory() as folder, Listener(str(Path(folder) / "driver")) as listener:
        ours = _Measurers(sys.executable, given.ranks, listener)
        before = None if given.against is None else _Measurers(given.against, given.ranks, listener)
        rows = []
        for statement in _STATEMENTS:
            if given.only is None or given.only in statement.ours:
                rows += _rows(statement, ours, before, given.ranks)
        ours.end()
        if before is not None:
            before.end()
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
