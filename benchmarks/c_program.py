"""The C program: transfers.c built with the MPI library's mpicc and loaded into this process."""

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

_SOURCE = Path(__file__).with_name("transfers.c")


class CProgram:
    """Loops in C over one MPI call, on buffers that the C program allocates on 2 MiB pages.

    Collective: rank 0 builds for all.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm
        self._handle = comm.py2f()
        with tempfile.TemporaryDirectory() as folder:
            built = Path(comm.bcast(folder)) / "transfers.so"
            if comm.rank == 0:
                mpicc = Path(sysconfig.get_path("scripts")) / "mpicc"
                subprocess.run([mpicc, "-O2", "-shared", "-fPIC", "-o", built, _SOURCE], check=True)
            comm.Barrier()
            self._library = ctypes.CDLL(str(built))
            comm.Barrier()
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


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
