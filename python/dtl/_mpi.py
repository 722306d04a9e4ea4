"""Which MPI library would be used."""

from __future__ import annotations

from . import _native

LEVELS = ("single", "funneled", "serialized", "multiple")


def describe() -> dict[str, str]:
    """Return path, abi, version, source and thread_level of the MPI library that would be used; empty if none.

    The library is opened, not initialised; thread_level says what it gave if it is initialised already.
    """
    if _native.backend_why_not("mpi"):
        return {}
    level = _native.mpi_thread_level()
    return {
        "path": _native.mpi_path(),
        "abi": _native.mpi_abi(),
        "version": _native.mpi_version(),
        "source": _native.mpi_source(),
        "thread_level": LEVELS[level] if level >= 0 else "not initialised; multiple will be asked for",
    }
