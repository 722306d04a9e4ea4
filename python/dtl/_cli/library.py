"""Which MPI library a program run from here would open, found without opening it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Mapping, NamedTuple

from . import UsageError

#: The names that MPI libraries have, in the order in which the native loader tries them.
NAMES = ("libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12")


class Library(NamedTuple):
    """An MPI library: its path, and how it was found."""

    path: str
    source: str


def find(environ: Mapping[str, str], prefix: str = sys.prefix) -> Library | None:
    """Return the MPI library that would be used, or None if there is none.

    Searched in the order of the native loader: the library that ``DTL_MPI_LIB`` names; the ``lib`` folder of
    the Python environment, where the MPI wheels put theirs; the dynamic loader's own search path.

    Raises
    ------
    UsageError
        If ``DTL_MPI_LIB`` names a library that does not exist.
    """
    named = environ.get("DTL_MPI_LIB")
    if named:
        path = named if os.path.exists(named) else _searched((named,), environ)
        if path is None:
            raise UsageError(f"DTL_MPI_LIB is {named!r}, and there is no such library")
        return Library(path, "DTL_MPI_LIB")
    path = _first_in([os.path.join(prefix, "lib")], NAMES)
    if path is not None:
        return Library(path, "the Python environment")
    path = _searched(NAMES, environ)
    return Library(path, "the default search path") if path is not None else None


def _first_in(folders: list[str], names: tuple[str, ...]) -> str | None:
    """Return the first file of one of these names, names before folders."""
    paths = (os.path.join(folder, name) for name in names for folder in folders)
    return next(filter(os.path.exists, paths), None)


def _searched(names: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
    """Return where the dynamic loader would find the first of these names that it finds at all."""
    folders = [folder for folder in environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    cache = _loader_cache()
    for name in names:
        path = _first_in(folders, (name,)) or cache.get(name)
        if path is not None:
            return path
    return None


def _loader_cache() -> dict[str, str]:
    """Return the libraries in the dynamic loader's cache, by file name; none where there is no cache."""
    try:
        listing = subprocess.run(
            ["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in listing.stdout.decode(errors="replace").splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow:
            found.setdefault(name.split(" ")[0], path)
    return found
