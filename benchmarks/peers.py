"""The same on two ranks by DTL and by Heat, in one process: sorts, numbers, redistribution, and matrices, also by Dask.

Run by an environment beside the others, .venv-heat, that holds Heat, Dask, mpi4py and Open MPI; DTL comes from the
sources. Dask has two threads of rank 0, while the other rank sleeps.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # a rank has one core; read when torch is imported
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from typing import Any, Callable

import dask
import dask.array
import heat
import numpy as np
import torch
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl
from dtl import fft, linalg

_ROUNDS = 7
_SIZE = 8_000_000
_TINY = 1000
_SORTED = 100_000, 1_000_000, _SIZE
_TALL, _IMAGE = (2_000_000, 10), (2048, 2048)
_WORLD = MPI.COMM_WORLD

_DTL, _HEAT, _DASK = "dtl", f"Heat {heat.__version__}", f"Dask {dask.__version__}"

#: Of the time that Heat's sort takes, of values and their indices.
_BOUND = 0.005


def _pair(ctx: dtl.Context, size: int) -> tuple[Any, Any]:
    """Return the same elements in a container of each."""
    vec = dtl.DistributedVector(ctx, size)
    vec.local_view()[:] = np.random.default_rng(ctx.rank).random(vec.local_size)
    return vec, heat.array(vec.local_view().copy(), is_split=0)


def _numbers(ctx: dtl.Context) -> list[Row]:
    def beside(name: str, vec: Any, array: Any, calls: int) -> Row:
        ours, theirs = getattr(dtl, name), getattr(heat, name)
        given: dict[str, Any] = {} if name != "cumsum" else {"axis": 0}
        contenders: dict[str, Block] = {
            _DTL: python_block("f(v)", calls, f=ours, v=vec),
            _HEAT: python_block("f(v, **k)", calls, f=theirs, v=array, k=given),
        }
        count = "8 M" if vec.global_size == _SIZE else str(vec.global_size)
        return at_most(f"{name} of {count} float64", alternate(contenders, _ROUNDS, slowest), _DTL, _HEAT)

    large, tiny = _pair(ctx, _SIZE), _pair(ctx, _TINY)
    rows = [beside(name, *large, 2) for name in ("sum", "mean", "std", "cumsum")]
    return [*rows, beside("sum", *tiny, 500), beside("cumsum", *tiny, 200)]


def _quarters(ctx: dtl.Context) -> Row:
    """From halves to a quarter and three quarters: Heat's changes the array, so each starts with a new one."""
    sizes = [_SIZE // 4, 3 * _SIZE // 4]
    vec, array = _pair(ctx, _SIZE)
    target = torch.tensor([[size] for size in sizes])

    def timed(prepare: Callable[[], Any], move: Callable[[Any], Any]) -> Block:
        def block() -> float:
            given = prepare()
            _WORLD.Barrier()
            start = time.perf_counter()
            move(given)
            taken = time.perf_counter() - start
            if isinstance(given, dtl.DistributedContainer):
                given.close()
            return taken

        return block

    contenders = {
        _DTL: timed(vec.copy, lambda v: v.redistribute(sizes)),
        _HEAT: timed(lambda: heat.copy(array), lambda a: a.redistribute_(target_map=target)),
    }
    times = alternate(contenders, _ROUNDS, slowest)
    return at_most("halves → quarters of 8 M float64, `redistribute`", times, _DTL, _HEAT)


def _sorts(ctx: dtl.Context) -> list[Row]:
    def blocks(size: int) -> dict[str, Block]:
        vec, array = _pair(ctx, size)
        given = vec.local_view().copy()

        def ours() -> float:
            vec.local_view()[:] = given
            _WORLD.Barrier()
            start = time.perf_counter()
            dtl.sort(vec)
            return time.perf_counter() - start

        def theirs() -> float:
            _WORLD.Barrier()
            start = time.perf_counter()
            # Heat 1.8.0 sorts only each rank's part where the axis is -1, its default.
            heat.sort(array, axis=0)
            return time.perf_counter() - start

        dtl.sort(vec)
        same = np.array_equal(vec.local_view(), heat.sort(array, axis=0)[0].larray.numpy())
        if not _WORLD.allreduce(same, MPI.LAND):
            raise AssertionError(f"the sorts of {size} elements differ")
        return {_DTL: ours, _HEAT: theirs}

    def name(size: int) -> str:
        return f"sort of {size:_} float64".replace("_", " ")

    times = {size: alternate(blocks(size), 3, slowest) for size in _SORTED}
    return [at_most(name(size), times[size], _DTL, _HEAT, _BOUND if size == _SIZE else None) for size in _SORTED]


def _on_root(f: Callable[[], Any]) -> Block:
    """Return a block of what rank 0 does while the other ranks sleep."""

    def block() -> float:
        start = time.perf_counter()
        if _WORLD.rank == 0:
            f()
        taken = time.perf_counter() - start
        over = _WORLD.Ibarrier()
        while not over.Test():
            time.sleep(0.001)
        return taken

    return block


def _matrices(ctx: dtl.Context) -> list[Row]:
    """Factors and solutions of a tall matrix, and a transform of an image along both dimensions."""
    part = np.random.default_rng(ctx.rank).random((_TALL[0] // ctx.size, _TALL[1]))
    pixels = np.random.default_rng(ctx.rank).random((_IMAGE[0] // ctx.size, _IMAGE[1]))
    tall, image = (dtl.DistributedTensor.from_local(ctx, each) for each in (part, pixels))
    right = dtl.DistributedVector.from_local(ctx, part[:, 0] + part[:, 1])
    tall_heat, image_heat = (heat.array(each, is_split=0) for each in (part, pixels))
    whole, picture, side = (c.gather_to(0) for c in (tall, image, right))
    if ctx.rank == 0:
        rows = (_TALL[0] // 2, _TALL[1])
        whole, side = dask.array.from_array(whole, rows), dask.array.from_array(side, rows[:1])
        picture = dask.array.from_array(picture, (_IMAGE[0] // 2, _IMAGE[1]))

    def by_dask(f: Callable[[], Any]) -> Block:
        return _on_root(lambda: dask.compute(*f(), scheduler="threads", num_workers=2))

    def transformed() -> Any:
        lines = dask.array.fft.fft(picture, axis=1).rechunk((_IMAGE[0], _IMAGE[1] // 2))
        return (dask.array.fft.fft(lines, axis=0),)

    size = " x ".join(map(str, _TALL))
    contenders: dict[str, dict[str, Block]] = {
        f"svd of {size} float64": {
            _DTL: python_block("f(a, False)", 1, f=linalg.svd, a=tall),
            _HEAT: python_block("f(a, full_matrices=False)", 1, f=heat.linalg.svd, a=tall_heat),
            _DASK: by_dask(lambda: dask.array.linalg.svd(whole)),
        },
        f"lstsq with {size} float64": {
            _DTL: python_block("f(a, b)", 1, f=linalg.lstsq, a=tall, b=right),
            _DASK: by_dask(lambda: dask.array.linalg.lstsq(whole, side)[:1]),
        },
        "fft2 of {} x {} float64".format(*_IMAGE): {
            _DTL: python_block("f(a)", 1, f=fft.fft2, a=image),
            _HEAT: python_block("f(a)", 1, f=heat.fft.fft2, a=image_heat),
            _DASK: by_dask(transformed),
        },
    }
    rows_: list[Row] = []
    for name, blocks in contenders.items():
        times = alternate(blocks, _ROUNDS, slowest)
        rows_ += [at_most(name, times, _DTL, peer, 1.0) for peer in blocks if peer != _DTL]
    return rows_


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=_WORLD) as ctx:
        rows = [*_numbers(ctx), _quarters(ctx), *_sorts(ctx), *_matrices(ctx)]
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
