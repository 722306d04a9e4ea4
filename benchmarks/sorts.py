"""Sorts of whole containers: beside NumPy on one rank, and beside mpi4py by hand and a C program on several."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
from blocks import Block, alternate
from c_program import CProgram, CSort
from mpi4py import MPI
from rows import Row, at_most, best, deliver, seconds
from slowest import slowest

import dtl

_ROUNDS = 5
_SIZE = 8_000_000
_SAMPLES = 1024
_WORLD = MPI.COMM_WORLD

_DTL, _PAR, _NUMPY, _STABLE = "dtl", "dtl, EXEC_PAR", "NumPy", "NumPy, stable"
_BY_HAND, _C = "mpi4py + NumPy by hand", "C"

#: What NumPy calls the features of AVX-512, in new and in old versions.
_WIDE = ("X86_V4", "AVX512_SKX")

#: A process that sorts a copy whenever it is told, and says how long that took.
_SERVER = """
import sys, time, numpy as np
given = np.random.default_rng(0).random(int(sys.argv[1]))
for _ in sys.stdin:
    values = given.copy()
    start = time.perf_counter()
    values.sort()
    print(time.perf_counter() - start, flush=True)
"""


def _timed(prepare: Callable[[], Any], work: Callable[[Any], Any]) -> Block:
    """Return a block of work on what is prepared afresh, which does not count."""

    def block() -> float:
        given = prepare()
        _WORLD.Barrier()
        start = time.perf_counter()
        made = work(given)
        taken = time.perf_counter() - start
        if isinstance(made, dtl.DistributedContainer):
            made.close()
        return taken

    return block


def _filled(vec: Any, given: Any) -> Callable[[], Any]:
    def fill() -> Any:
        vec.local_view()[:] = given
        return vec

    return fill


def _ours(ctx: dtl.Context, given: Any, execution: Any = dtl.EXEC_SEQ, work: Callable[[Any], Any] = dtl.sort) -> Block:
    vec = dtl.DistributedVector(ctx, _WORLD.allreduce(len(given)), execution=execution)
    return _timed(_filled(vec, given), work)


def _narrow(size: int) -> tuple[Block, Callable[[], None]] | None:
    """Return a block of NumPy's sort without AVX-512, in a process of its own, and what ends that."""
    for feature in _WIDE:
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": feature}
        command = [sys.executable, "-W", "error", "-c", "import numpy"]
        if subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            break
    else:
        return None
    command = [sys.executable, "-c", _SERVER, str(size)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def block() -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    return block, lambda: process.communicate() and None


def _one_rank(ctx: dtl.Context, given: Any) -> list[Row]:
    contenders = {
        _DTL: _ours(ctx, given),
        _PAR: _ours(ctx, given, dtl.EXEC_PAR),
        _NUMPY: _timed(given.copy, lambda a: a.sort()),
        _STABLE: _timed(given.copy, lambda a: a.sort(kind="stable")),
    }
    without = "NumPy without AVX-512"
    narrow = _narrow(len(given))
    if narrow is not None:
        contenders[without] = narrow[0]
    times = alternate(contenders, _ROUNDS)
    name = "sort of 8 M float64"
    rows = [
        at_most(f"{name}, EXEC_PAR", times, _PAR, _NUMPY, 0.3),
        at_most(f"{name}, EXEC_SEQ", times, _DTL, _NUMPY),
        at_most(f"{name}, EXEC_PAR", times, _PAR, _STABLE, 0.3),
    ]
    if narrow is None:
        rows.append(Row(f"{name}, EXEC_PAR", f"time ÷ {without} ≤ 1.2", "not measured", "NumPy has no such path", None))
    else:
        narrow[1]()
        rows.append(at_most(f"{name}, EXEC_PAR", times, _PAR, without, 1.2))
    indices = {
        _PAR: _ours(ctx, given, dtl.EXEC_PAR, dtl.argsort),
        _NUMPY: _timed(lambda: given, np.argsort),
        _STABLE: _timed(lambda: given, lambda a: np.argsort(a, kind="stable")),
    }
    times = alternate(indices, 3)
    rows += [at_most("argsort of 8 M float64, EXEC_PAR", times, _PAR, other, 0.3) for other in (_NUMPY, _STABLE)]
    return rows


def _by_hand(again: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a sample sort that sorts what it has received once more, as again says."""

    def work(values: Any) -> Any:
        values.sort()
        samples = np.empty(_WORLD.size * _SAMPLES)
        _WORLD.Allgather(np.ascontiguousarray(values[:: len(values) // _SAMPLES][:_SAMPLES]), samples)
        samples.sort()
        cuts = np.searchsorted(values, samples[_SAMPLES::_SAMPLES])
        out = np.diff(np.concatenate(([0], cuts, [len(values)])))
        back = np.empty_like(out)
        _WORLD.Alltoall(out, back)
        received = np.empty(back.sum())
        _WORLD.Alltoallv([values, out], [received, back])
        received.sort(**again)
        return received

    return work


def _several_ranks(ctx: dtl.Context, given: Any) -> list[Row]:
    merging, sorting = f"{_BY_HAND}, merging", f"{_BY_HAND}, sorting again"
    c = CSort(CProgram(_WORLD), _WORLD, len(given))
    contenders = {
        _DTL: _ours(ctx, given),
        merging: _timed(given.copy, _by_hand({"kind": "stable"})),
        sorting: _timed(given.copy, _by_hand({})),
        _C: lambda: c.sort(given)[0],
    }
    times = alternate(contenders, _ROUNDS + 2, slowest)
    faster = min((merging, sorting), key=lambda name: statistics.median(times[name]))
    name = f"sort of 8 M float64, {ctx.size} ranks"
    rows = [at_most(name, times, _DTL, faster, 0.35), at_most(name, times, _DTL, _C, 1.2)]
    got = c.sort(given)[1]
    if not (got[1:] >= got[:-1]).all() or _WORLD.allreduce(len(got)) != _WORLD.allreduce(len(given)):
        raise SystemExit("the C program did not sort")
    return rows


def _inputs(ctx: dtl.Context, given: Any) -> list[Row]:
    """Return the rows of inputs that are hard to divide, beside random ones."""
    n = len(given)
    mine = np.arange(ctx.rank * n, (ctx.rank + 1) * n, dtype=np.float64)
    kinds = {
        "uniform": given,
        "all equal": np.full(n, 3.0),
        "sorted": mine,
        "reversed": -mine,
        "two values": np.floor(2 * given),
        "skewed": given**20,
    }
    times = alternate({name: _ours(ctx, values) for name, values in kinds.items()}, _ROUNDS, slowest)
    return [at_most(f"sort of what is {name}", times, name, "uniform", 2.0) for name in kinds if name != "uniform"]


def _resident(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) << 10
    raise SystemExit(f"the system does not say {name}")


#: After how long the core has given the room of earlier sorts back, so that it counts again.
_SPARE_SECONDS = 3.0


def _memory(ctx: dtl.Context, given: Any) -> Row:
    vec = dtl.DistributedVector(ctx, _WORLD.allreduce(len(given)))
    vec.local_view()[:] = given
    dtl.sort(_filled(vec, given)())
    vec.local_view()[:] = given
    time.sleep(_SPARE_SECONDS)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is the present again
    before = _resident("VmRSS")
    dtl.sort(vec)
    most = _WORLD.allreduce(_resident("VmHWM") - before, MPI.MAX) / given.nbytes
    detail = f"pages of the rank that needed most, of {given.nbytes / 1e6:.0f} MB"
    return Row("extra memory of a sort", "peak ÷ data ≤ 2.2", f"{most:.2f}", detail, most <= 2.2)


def _relatives(ctx: dtl.Context, given: Any) -> list[Row]:
    few = np.floor(1000 * given)
    measures: list[tuple[str, Any, Callable[[Any], Any], Callable[[Any], Any]]] = [
        ("topk of 100 of 8 M float64", given, lambda v: dtl.topk(v, 100), lambda a: np.partition(a, len(a) - 100)),
        ("median of 8 M float64", given, dtl.median, np.median),
        ("unique of 8 M float64, all different", given, dtl.unique, np.unique),
        ("unique of 8 M float64, 1000 different", few, dtl.unique, np.unique),
    ]
    rows = []
    for name, values, ours, theirs in measures:
        contenders = {_DTL: _ours(ctx, values, work=ours)}
        if ctx.size == 1:
            contenders[_NUMPY] = _timed(lambda values=values: values, theirs)
        times = alternate(contenders, 3, slowest)
        alone = Row(name, "", seconds(statistics.median(times[_DTL])), best(times), None)
        rows.append(at_most(name, times, _DTL, _NUMPY) if ctx.size == 1 else alone)
    return rows


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=_WORLD) as ctx:
        given = np.random.default_rng(ctx.rank).random(_SIZE // ctx.size)
        rows = [_memory(ctx, given)]
        rows += _one_rank(ctx, given) if ctx.size == 1 else _several_ranks(ctx, given)
        rows += [*_inputs(ctx, given), *_relatives(ctx, given)]
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
