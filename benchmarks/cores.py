"""One rank on all cores of a machine: beside NumPy, numexpr, Dask's threads, JAX and Heat, and beside two ranks.

Run by an environment beside the others, .venv-cores, that holds what requirements-cores.txt lists; DTL comes from the
sources. Heat, whose torch has several gigabytes, is measured where it is installed there. Each contender has the
threads that it takes by itself. JAX computes in float64, compiled, and on arrays that it has copied before.

The program starts itself on two ranks, which take the same elements: three times, in turn with one rank.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np
from blocks import Block, alternate, python_block
from rows import Row, Times, at_most, deliver

import dtl

_ROUNDS = 7
_SIZES = {"8 M": 8_000_000, "80 M": 80_000_000}
_ON_RANKS = "DTL_TEST_CORES"  # is set on the two ranks

_DTL, _NUMPY, _RANKS, _ALONE = "dtl", "NumPy", "dtl on two ranks", "dtl with one thread"


class Call(NamedTuple):
    """A call: its statement, with ``np`` a library of arrays, and numexpr's words for it."""

    statement: str
    numexpr: str = ""
    chain: bool = False


CALLS = (
    Call("np.sqrt(a)", "sqrt(a)", chain=True),
    Call("np.exp(a)", "exp(a)", chain=True),
    Call("a * b + np.sin(c)", "a * b + sin(c)", chain=True),
    Call("np.sum(a)", "sum(a)"),
    Call("np.std(a)"),
    Call("np.max(a)", "max(a)"),
)

#: Those that write to an operand, which JAX's arrays do not have; and what is made again for each.
_IN_PLACE, _SORT = "a += b + 3 * c", "np.sort(a)"


def _elements(size: int) -> list[Any]:
    return [np.random.default_rng(seed).random(size) for seed in range(3)]


def _used(value: Any) -> None:
    """Have a container's elements computed, and let it go."""
    if isinstance(value, dtl.DistributedContainer):
        value.local_view()
        value.close()


def _ours(statement: str, given: list[Any]) -> Block:
    names = dict(zip("abc", given))
    if statement == _IN_PLACE:
        return python_block(f"{statement}; use(a)", 1, use=lambda a: a.local_view(), **names)
    return python_block(f"use({statement})", 1, np=np, use=_used, **names)


def _by_numpy(statement: str, arrays: list[Any]) -> Block:
    return python_block(statement, 1, np=np, **dict(zip("abc", arrays)))


def _by_numexpr(call: Call, arrays: list[Any]) -> Block:
    numexpr = importlib.import_module("numexpr")
    numexpr.set_num_threads(dtl.get_num_threads())
    names = dict(zip("abc", arrays))
    return python_block("f(words, names)", 1, f=numexpr.evaluate, words=call.numexpr, names=names)


def _by_dask(call: Call, arrays: list[Any]) -> Block:
    array = importlib.import_module("dask.array")
    names = {name: array.from_array(one, chunks=1_000_000) for name, one in zip("abc", arrays)}
    return python_block(f"({call.statement}).compute(scheduler='threads')", 1, np=array, **names)


def _by_jax(call: Call, arrays: list[Any]) -> Block:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(eval(f"lambda a, b, c: {call.statement}", {"np": jax.numpy}))  # of the table above
    names = dict(zip("abc", map(jax.numpy.asarray, arrays)))
    return python_block("f(a, b, c).block_until_ready()", 1, f=compiled, **names)


def _by_heat(call: Call, arrays: list[Any]) -> Block:
    heat = importlib.import_module("heat")
    return python_block(call.statement, 1, np=heat, **dict(zip("abc", map(heat.array, arrays))))


#: Its contenders, by the module that each needs.
_PEERS: dict[str, Callable[[Call, list[Any]], Block]] = {
    "numexpr": _by_numexpr,
    "dask": _by_dask,
    "jax": _by_jax,
    "heat": _by_heat,
}


def _contenders(call: Call, given: list[Any], arrays: list[Any]) -> dict[str, Block]:
    made = {_DTL: _ours(call.statement, given), _NUMPY: _by_numpy(call.statement, arrays)}
    for module, by in _PEERS.items():
        if importlib.util.find_spec(module) and (module != "numexpr" or call.numexpr):
            made[module] = by(call, arrays)
    return made


def _chains(ctx: dtl.Context) -> list[Row]:
    rows = []
    for words, size in _SIZES.items():
        arrays = _elements(size)
        given = [dtl.asarray(ctx, one) for one in arrays]
        for call in CALLS:
            if not call.chain:
                continue
            times = alternate(_contenders(call, given, arrays), _ROUNDS if size < 20_000_000 else 3)
            name = f"`{call.statement}` of {words} float64"
            rows.append(at_most(name, times, _DTL, _NUMPY, 0.55))
            others = [one for one in times if one not in (_DTL, _NUMPY)]
            best = min(others, key=lambda one: min(times[one]), default=None)
            if best is not None:
                rows.append(at_most(f"{name}, the best of others", times, _DTL, best, 0.9))
    return rows


def _timed(ctx: dtl.Context) -> Times:
    """Return the times of the calls that two ranks are compared by."""
    size = _SIZES["8 M"]
    times: Times = {}
    given = []
    for whole in _elements(size):
        vec = dtl.DistributedVector(ctx, size)
        vec.local_view()[:] = whole[vec.local_offset : vec.local_offset + vec.local_size]
        given.append(vec)
    for statement in (*[call.statement for call in CALLS if not call.chain], _IN_PLACE):
        block = _ours(statement, given)
        slowest = (lambda taken: float(dtl.allreduce(ctx, taken, dtl.MAX))) if ctx.size > 1 else float
        times[statement] = alternate({"": block}, _ROUNDS, slowest)[""]
    return times


def _on_ranks() -> Times:
    """Return the times of two ranks."""
    variables = {**os.environ, _ON_RANKS: "1", "DTL_BACKEND": "local"}
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", str(Path(__file__).resolve())]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    found: Times = json.loads(done.stdout)
    return found


def _beside_ranks(ctx: dtl.Context) -> list[Row]:
    turns = [(_on_ranks(), _timed(ctx)) for _ in range(3)]
    rows = []
    for statement in turns[0][1]:
        both, own = ([one for times in side for one in times[statement]] for side in zip(*turns))
        times = {_DTL: sorted(own), _RANKS: sorted(both)}
        rows.append(at_most(f"`{statement}` of 8 M float64, beside two ranks", times, _DTL, _RANKS, 1.0))
    return rows


def _sorted(ctx: dtl.Context) -> Row:
    """Return the row of sorts, beside those of one thread."""
    whole = _elements(_SIZES["8 M"])[0]
    many = dtl.get_num_threads()

    def fresh(threads: int) -> Block:
        def block() -> float:
            dtl.set_num_threads(threads)
            vecs = [dtl.asarray(ctx, whole), dtl.asarray(ctx, whole)]
            block = python_block("sort(vecs.pop())", 1, sort=dtl.sort, vecs=vecs)
            return block()

        return block

    times = alternate({_DTL: fresh(many), _ALONE: fresh(1)}, _ROUNDS)
    dtl.set_num_threads(many)
    return at_most("sort of 8 M float64", times, _DTL, _ALONE, 0.55)


def main() -> None:
    """Measure, and report; on the two ranks, print the times."""
    with dtl.Context() as ctx:
        if os.environ.get(_ON_RANKS):
            times = _timed(ctx)
            if ctx.is_root:
                print(json.dumps(times))
            return
        rows = [*_beside_ranks(ctx), _sorted(ctx), *_chains(ctx)]
        rows.append(Row("threads of the rank", "", str(dtl.get_num_threads()), "", None))
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
