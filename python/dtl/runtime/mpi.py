"""Which MPI library would be used."""

from __future__ import annotations

from .._native import library

LEVELS = ("single", "funneled", "serialized", "multiple")


def describe() -> dict[str, str]:
    """Return path, abi, version, source and thread_level of the MPI library that would be used; empty if none.

    The library is opened, not initialised; thread_level says what it gave if it is initialised already.
    """
    if library.backend_why_not("mpi"):
        return {}
    level = library.mpi_thread_level()
    return {
        "path": library.mpi_path(),
        "abi": library.mpi_abi(),
        "version": library.mpi_version(),
        "source": library.mpi_source(),
        "thread_level": LEVELS[level] if level >= 0 else "not initialised; multiple will be asked for",
    }
