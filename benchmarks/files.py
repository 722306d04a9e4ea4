"""What files cost: each format beside its package by hand, on as many ranks as there are, and in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any, Callable, NamedTuple

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import zarr
from blocks import Block, alternate
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 5
_BOUND = 1.1
_MEMORY = 1.3
_WORLD = MPI.COMM_WORLD
_SHAPE = (4_000_000, 4)
_LINES = 1_000_000

_OURS = "dtl"


class Stage(NamedTuple):
    """The folder, what is written, and which rows are this rank's."""

    ctx: dtl.Context
    folder: str
    whole: Any  # the tensor
    column: Any  # a vector
    lo: int
    hi: int

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"


class Case(NamedTuple):
    """A format: what we do, what is done by hand, and by what, and the elements that a rank has."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    peer: str
    part: int


def _timed(call: Callable[[], Any]) -> Block:
    """Return a block that makes a call on every rank at once."""

    def block() -> float:
        _WORLD.Barrier()
        start = MPI.Wtime()
        made = call()
        _WORLD.Barrier()
        taken = MPI.Wtime() - start
        for c in made.values() if isinstance(made, dict) else [made]:
            if isinstance(c, dtl.DistributedContainer):
                c.close()
        return taken

    return block


def _root(make: Callable[[], Any]) -> None:
    """Have one rank do something before the others go on."""
    if _WORLD.rank == 0:
        make()
    _WORLD.Barrier()


def _gathered(part: Any) -> Any:
    """Return the parts of all ranks on the root."""
    out = np.empty((part.shape[0] * _WORLD.size, *part.shape[1:])) if _WORLD.rank == 0 else None
    _WORLD.Gather(np.ascontiguousarray(part), out)
    return out


def _sync(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _npy(s: Stage) -> list[Case]:
    path, part, shape = s.path("a.npy"), s.whole.local_view(), s.whole.shape
    column, rank, size = s.column, s.ctx.rank, s.ctx.size

    def write(index: Any, elements: Any, of: tuple[int, ...]) -> None:
        _root(lambda: np.lib.format.open_memmap(s.path("b.npy"), "w+", np.float64, of))
        file = np.lib.format.open_memmap(s.path("b.npy"), "r+")
        file[index] = elements
        file.flush()

    dtl.save(s.whole, path)
    rows = slice(s.lo, s.hi)
    cyclic = dtl.DistributedVector(s.ctx, len(column), partition="cyclic")
    grid = dtl.DistributedTensor(s.ctx, (len(column) // 1000, 1000), grid=(1, size))
    block = slice(grid.local_indices(1)[0], grid.local_indices(1)[-1] + 1)
    by = "np.memmap"
    return [
        Case(".npy, saved", lambda: dtl.save(s.whole, path), lambda: write(rows, part, shape), by, part.nbytes),
        Case(
            ".npy, loaded",
            lambda: dtl.load(s.ctx, path),
            lambda: np.array(np.load(path, mmap_mode="r")[rows]),
            by,
            part.nbytes,
        ),
        Case(
            ".npy, a cyclic vector, saved",
            lambda: dtl.save(cyclic, s.path("c.npy")),
            lambda: write(slice(rank, None, size), cyclic.local_view(), cyclic.shape),
            by,
            cyclic.local_view().nbytes,
        ),
        Case(
            ".npy, a cyclic vector, loaded",
            lambda: dtl.load(s.ctx, s.path("c.npy"), partition="cyclic"),
            lambda: np.array(np.load(s.path("c.npy"), mmap_mode="r")[rank::size]),
            by,
            cyclic.local_view().nbytes,
        ),
        Case(
            ".npy, columns of a tensor, saved",
            lambda: dtl.save(grid, s.path("g.npy")),
            lambda: write((slice(None), block), grid.local_view(), grid.shape),
            by,
            grid.local_view().nbytes,
        ),
        Case(
            ".npy, columns of a tensor, loaded",
            lambda: dtl.load(s.ctx, s.path("g.npy"), grid=(1, size)),
            lambda: np.array(np.load(s.path("g.npy"), mmap_mode="r")[:, block]),
            by,
            grid.local_view().nbytes,
        ),
    ]


def _npz(s: Stage) -> list[Case]:
    path, part = s.path("a.npz"), s.whole.local_view()

    def write() -> None:
        whole = _gathered(part)
        _root(lambda: np.savez(s.path("b.npz"), x=whole))

    dtl.save({"x": s.whole}, path)
    return [
        Case(".npz, saved", lambda: dtl.save({"x": s.whole}, path), write, "np.savez on root", part.nbytes),
        Case(
            ".npz, loaded",
            lambda: dtl.load(s.ctx, path, name="x"),
            lambda: np.array(np.load(path)["x"][s.lo : s.hi]),
            "np.load on each",
            part.nbytes,
        ),
    ]


def _hdf5(s: Stage) -> list[Case]:
    path, part = s.path("a.h5"), s.whole.local_view()

    def write() -> None:
        def create() -> None:
            with h5py.File(s.path("b.h5"), "w") as file:
                file.create_dataset("x", s.whole.shape, np.float64)

        _root(create)
        for rank in range(_WORLD.size):
            if rank == _WORLD.rank:
                with h5py.File(s.path("b.h5"), "r+") as file:
                    file["x"][s.lo : s.hi] = part
            _WORLD.Barrier()

    def read() -> Any:
        with h5py.File(path, "r") as file:
            return file["x"][s.lo : s.hi]

    dtl.save({"x": s.whole}, path)
    return [
        Case("HDF5, saved", lambda: dtl.save({"x": s.whole}, path), write, "h5py in turns", part.nbytes),
        Case("HDF5, loaded", lambda: dtl.load(s.ctx, path, name="x"), read, "h5py", part.nbytes),
    ]


def _zarr(s: Stage) -> list[Case]:
    path, part = s.path("a.zarr"), s.whole.local_view()
    chunks = (s.whole.shape[0] // 64, s.whole.shape[1])

    def write() -> None:
        _root(
            lambda: zarr.create_array(
                s.path("b.zarr"), shape=s.whole.shape, dtype=np.float64, chunks=chunks, overwrite=True
            )
        )
        zarr.open_array(s.path("b.zarr"), mode="r+")[s.lo : s.hi] = part

    dtl.save(s.whole, path, chunks=chunks)
    return [
        Case("Zarr, saved", lambda: dtl.save(s.whole, path, chunks=chunks), write, "zarr, aligned", part.nbytes),
        Case(
            "Zarr, loaded",
            lambda: dtl.load(s.ctx, path),
            lambda: zarr.open_array(path, mode="r")[s.lo : s.hi],
            "zarr",
            part.nbytes,
        ),
    ]


def _tables(s: Stage) -> list[Case]:
    columns = {name: s.column for name in "abcd"}
    part = s.column.local_view()
    lo = s.column.local_offset
    hi = lo + len(part)

    def gathered() -> Any:
        whole = [_gathered(part) for _ in columns]
        return pa.table(dict(zip(columns, whole))) if _WORLD.rank == 0 else None

    def write_parquet() -> None:
        table = gathered()
        _root(lambda: pa.parquet.write_table(table, s.path("b.parquet")))

    def write_arrow() -> None:
        table = gathered()

        def write() -> None:
            with pa.ipc.new_file(s.path("b.arrow"), table.schema) as file:
                file.write_table(table)

        _root(write)

    def read_parquet() -> Any:
        file = pa.parquet.ParquetFile(s.path("a.parquet"))
        ends = np.cumsum([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)])
        starts = ends - ends[0]
        groups = np.flatnonzero((starts < hi) & (ends > lo)).tolist()
        table = file.read_row_groups(groups, use_threads=False).slice(lo - starts[groups[0]], hi - lo)
        return {name: table[name].to_numpy().copy() for name in columns}

    def read_arrow() -> Any:
        with pa.memory_map(s.path("a.arrow")) as file:
            table = pa.ipc.open_file(file).read_all().slice(lo, hi - lo)
            return {name: table[name].to_numpy().copy() for name in columns}

    few = dtl.DistributedVector(s.ctx, _LINES)
    few.local_view()[:] = np.random.default_rng(few.local_offset).random(few.local_size)
    lines = {name: few for name in "abcd"}

    def write_csv() -> None:
        whole = [_gathered(few.local_view()) for _ in lines]
        _root(
            lambda: pa.csv.write_csv(
                pa.table(dict(zip(lines, whole))), s.path("b.csv"), pa.csv.WriteOptions(include_header=True)
            )
        )

    def read_csv() -> Any:
        table = pa.csv.read_csv(s.path("a.csv"), pa.csv.ReadOptions(use_threads=False))
        first = few.local_offset
        return {name: table[name].to_numpy()[first : first + few.local_size].copy() for name in lines}

    for suffix in ("parquet", "arrow"):
        dtl.save(columns, s.path(f"a.{suffix}"))
    dtl.save(lines, s.path("a.csv"))
    size, little = part.nbytes * len(columns), few.local_view().nbytes * len(lines)
    load = dtl.load
    return [
        Case("Parquet, saved", lambda: dtl.save(columns, s.path("a.parquet")), write_parquet, "pyarrow on root", size),
        Case("Parquet, loaded", lambda: load(s.ctx, s.path("a.parquet")), read_parquet, "pyarrow on each", size),
        Case("Arrow, saved", lambda: dtl.save(columns, s.path("a.arrow")), write_arrow, "pyarrow on root", size),
        Case("Arrow, loaded", lambda: load(s.ctx, s.path("a.arrow")), read_arrow, "pyarrow on each", size),
        Case("CSV, saved", lambda: dtl.save(lines, s.path("a.csv")), write_csv, "pyarrow on root", little),
        Case("CSV, loaded", lambda: load(s.ctx, s.path("a.csv")), read_csv, "pyarrow on each", little),
    ]


def _checkpoint(s: Stage) -> list[Case]:
    part, path = s.whole.local_view(), s.path("all")

    def write() -> None:
        name = s.path(f"own-{s.ctx.rank}.npy")
        np.save(name, part)
        zlib.crc32(part)
        _sync(name)

    def read() -> Any:
        part = np.load(s.path(f"own-{s.ctx.rank}.npy"))
        zlib.crc32(part)
        return part

    dtl.checkpoint(path, {"x": s.whole})
    return [
        Case(
            "checkpoint", lambda: dtl.checkpoint(path, {"x": s.whole}), write, "np.save and crc32 of each", part.nbytes
        ),
        Case(
            "restore",
            lambda: dtl.restore(s.ctx, path),
            read,
            "np.load and crc32 of each",
            part.nbytes,
        ),
    ]


def _resident() -> int:
    """Return the bytes of this process that are in no file: the mapped pages of files are the system's to take back."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


class _Peak(threading.Thread):
    """The most memory that the process has while a call runs, looked at all the time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.0005):
            self.most = max(self.most, _resident())

    def end(self) -> int:
        self._over.set()
        self.join()
        return max(self.most, _resident())


def _memory(case: Case) -> Row:
    """Return the row of the memory that a call takes at most, with the part itself, in parts."""
    pa.default_memory_pool().release_unused()
    before, peak = _resident(), _Peak()
    made = case.ours()
    most = peak.end() - before + (case.part if made is None or isinstance(made, str) else 0)
    for c in made.values() if isinstance(made, dict) else [made]:
        if isinstance(c, dtl.DistributedContainer):
            c.close()
    parts = _WORLD.allreduce(most / case.part, MPI.MAX)
    detail = f"part of {case.part / 1e6:.0f} MB"
    return Row(f"memory: {case.name}", f"peak ÷ part ≤ {_MEMORY}", f"{parts:.2f}", detail, parts <= _MEMORY)


def main() -> None:
    """Measure the rows of files."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # what the disk does is the same for both
    folder = _WORLD.bcast(tempfile.mkdtemp(prefix="dtl-files-", dir=shared) if _WORLD.rank == 0 else None)
    rows = []
    try:
        with dtl.Context() as ctx:
            whole = dtl.DistributedTensor(ctx, _SHAPE)
            whole.local_view()[...] = np.random.default_rng(ctx.rank).random(whole.local_shape)
            column = dtl.DistributedVector(ctx, _SHAPE[0])
            column.local_view()[:] = whole.local_view()[:, 0]
            lo = whole.local_offset
            stage = Stage(ctx, folder, whole, column, lo, lo + whole.local_shape[0])
            for cases in (_npy, _npz, _hdf5, _zarr, _tables, _checkpoint):
                for case in cases(stage):
                    case.theirs()
                    rows.append(_memory(case))
                    both = {_OURS: _timed(case.ours), case.peer: _timed(case.theirs)}
                    times = alternate(both, _ROUNDS, slowest)
                    rows.append(at_most(case.name, times, _OURS, case.peer, _BOUND))
                    if _WORLD.rank == 0:
                        print(f"{rows[-1].measure}: {rows[-1].result}, memory {rows[-2].result}", flush=True)
    finally:
        _WORLD.Barrier()
        if _WORLD.rank == 0:
            shutil.rmtree(folder)
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
