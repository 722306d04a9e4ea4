"""The C programs transfers.c, sorts.c and accesses.c, built with the library's mpicc and loaded into this process."""

from __future__ import annotations

import ctypes
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Callable

import numpy as np
import numpy.typing as npt
from blocks import Block
from mpi4py import MPI

Array = npt.NDArray[np.float64]


def _loaded(comm: MPI.Intracomm, name: str) -> ctypes.CDLL:
    """Return the library of a source beside this file, which rank 0 builds for all. Collective."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(comm.bcast(folder)) / f"{name}.so"
        if comm.rank == 0:
            mpicc = Path(sysconfig.get_path("scripts")) / "mpicc"
            source = Path(__file__).with_name(f"{name}.c")
            subprocess.run([mpicc, "-O2", "-shared", "-fPIC", "-o", built, source], check=True)
        comm.Barrier()
        library = ctypes.CDLL(str(built))
        comm.Barrier()
    return library


class CProgram:
    """Loops in C over one MPI call, on buffers that the C program allocates on 2 MiB pages.

    Collective: rank 0 builds for all.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm
        self._handle = comm.py2f()
        self._library = _loaded(comm, "transfers")
        for name in ("allreduce", "alltoallv", "barrier", "broadcast", "overlap", "ping_pong"):
            getattr(self._library, name).restype = ctypes.c_double
        self._library.huge_alloc.restype = ctypes.c_void_p
        self._library.huge_alloc.argtypes = [ctypes.c_size_t]

    def array(self, count: int) -> Array:
        """Return count float64 zeros on 2 MiB pages, for the rest of the process."""
        address = self._library.huge_alloc(8 * count)
        if not address:
            raise MemoryError(f"{8 * count} bytes")
        return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), (count,))

    def allreduce(self, value: Array, out: Array, calls: int) -> Block:
        """Return a block of MPI_Allreduce."""
        args = self._handle, _address(value), _address(out), len(value), calls
        return lambda: float(self._library.allreduce(*args))

    def barrier(self, calls: int) -> Block:
        """Return a block of MPI_Barrier."""
        return lambda: float(self._library.barrier(self._handle, calls))

    def broadcast(self, array: Array, calls: int) -> Block:
        """Return a block of MPI_Bcast from rank 0."""
        args = self._handle, _address(array), len(array), calls
        return lambda: float(self._library.broadcast(*args))

    def alltoallv(self, out: Array, into: Array, calls: int) -> Block:
        """Return a block of MPI_Alltoallv, equal parts to each rank."""
        args = self._handle, _address(out), _address(into), len(out) // self._comm.size, calls
        return lambda: float(self._library.alltoallv(*args))

    def ping_pong(self, out: Array, into: Array, calls: int) -> Block:
        """Return a block of MPI_Send there and back."""
        args = self._handle, _address(out), _address(into), len(out), calls
        return lambda: float(self._library.ping_pong(*args))

    def overlap(self, value: Array, out: Array | None, work: Array, pieces: int, calls: int) -> Block:
        """Return a block of MPI_Iallreduce with pieces of work beside it; of the work alone, where there is no out."""
        into = None if out is None else _address(out)
        args = self._handle, _address(value), into, len(value), _address(work), len(work), pieces, calls
        return lambda: float(self._library.overlap(*args))

    def compute(self, work: Array) -> Callable[[], None]:
        """Return a call of one piece of overlap's work."""
        function, args = self._library.compute, (_address(work), len(work))
        return lambda: function(*args)


class CSort:
    """The sample sort of sorts.c of values that stay as they are. Collective."""

    def __init__(self, program: CProgram, comm: MPI.Intracomm, size: int) -> None:
        self._library = _loaded(comm, "sorts")
        self._library.sample_sort.restype = ctypes.c_double
        self._handle, self._comm = comm.py2f(), comm
        self._room = size + size // 4
        self._work = program.array(self._room), program.array(self._room)

    def sort(self, values: Array) -> tuple[float, Array]:
        """Return the seconds that a sort of all ranks' values took, and those that this rank has then. Collective."""
        got = ctypes.c_int()
        work = [_address(array) for array in self._work]
        args = self._handle, _address(values), len(values), *work, self._room, ctypes.byref(got)
        taken = float(self._library.sample_sort(*args))
        if self._comm.allreduce(taken, MPI.MIN) < 0:
            raise MemoryError(f"no room for {got.value} values")
        return taken, self._work[0][: got.value]


class CAccesses:
    """The accesses of accesses.c to a window. Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._accesses = _loaded(comm, "accesses").accesses
        self._accesses.restype = ctypes.c_double

    def time(self, win: MPI.Win, kind: str, buffer: Array, target: int, calls: int) -> float:
        """Return the seconds of a put, get or add (of int64) with a flush."""
        number = ("put", "get", "add").index(kind)
        return float(self._accesses(win.py2f(), number, _address(buffer), buffer.nbytes, target, calls))


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
