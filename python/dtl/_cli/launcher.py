"""Which mpiexec belongs to an MPI library, and of which family it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import Iterator, Mapping, NamedTuple

OPEN_MPI = "Open MPI"
MPICH = "MPICH"
INTEL = "Intel MPI"

#: Words of ``mpiexec --version``, and the family that they show. MVAPICH's Hydra answers as MPICH's does.
_BANNERS = (
    ("Intel(R) MPI", INTEL),
    ("HYDRA", MPICH),
    ("Open MPI", OPEN_MPI),
    ("OpenRTE", OPEN_MPI),
    ("PRRTE", OPEN_MPI),
)

#: Distributions that hold several MPI side by side give each launcher a name of its own.
_NAMES = ("mpiexec", "mpiexec.openmpi", "mpiexec.hydra", "mpiexec.mpich", "mpirun")


_versions: dict[str, str] = {}  # what launchers have said: a notebook starts many jobs


class Launcher(NamedTuple):
    """An mpiexec: its path, its family, and its version as numbers."""

    path: str
    family: str
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.path} ({self.family} {'.'.join(map(str, self.version))})"


def find(library: str, environ: Mapping[str, str]) -> Launcher | None:
    """Return the launcher that belongs to the MPI library at this path, or None.

    The nearest ``bin`` folder beside or above the library, then PATH. A launcher of another family does not
    count: it would start each rank as a job of its own.
    """
    families = _families(library)
    for path in _candidates(library, environ):
        launcher = identify(path)
        if launcher is not None and launcher.family in families:
            return launcher
    return None


def failure(library: str, environ: Mapping[str, str]) -> str:
    """Return what the first launcher said that may belong to the library and cannot even say what it is, "" if none."""
    for path in _candidates(library, environ):
        if identify(path) is None:
            return f"{path} --version does not say which MPI it belongs to:\n{_version(path)}".rstrip()
    return ""


def identify(path: str) -> Launcher | None:
    """Return what the launcher at this path says it is, or None if it says nothing known."""
    text = _version(path)
    family = next((family for words, family in _BANNERS if words in text), None)
    number = re.search(r"\d+(\.\d+)+", text)
    if family is None or number is None:
        return None
    return Launcher(path, family, tuple(map(int, number.group().split("."))))


def _version(path: str) -> str:
    """Return what a launcher prints for ``--version``, or why it prints nothing. It is started once."""
    if path not in _versions:
        _versions[path] = _asked(path)
    return _versions[path]


def _asked(path: str) -> str:
    try:
        answer = subprocess.run(
            [path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return answer.stdout.decode(errors="replace")


def _families(library: str) -> tuple[str, ...]:
    """Return the families that can start ranks of the library; its file name tells which interface it has."""
    names = {os.path.basename(library), os.path.basename(os.path.realpath(library))}
    if any(name.startswith("libmpi.so.40") for name in names):
        return (OPEN_MPI,)
    if any(name.startswith(("libmpi.so.12", "libmpich.so.12")) for name in names):
        return (MPICH, INTEL)
    return (OPEN_MPI, MPICH, INTEL)


def _candidates(library: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths where the library's launcher may be, the likeliest first, each once."""
    folders: dict[str, None] = {}
    for place in (os.path.abspath(library), os.path.realpath(library)):
        above = os.path.dirname(place)
        while above != os.path.dirname(above):
            folders[os.path.join(above, "bin")] = None
            above = os.path.dirname(above)
    for folder in [*folders, *environ.get("PATH", os.defpath).split(os.pathsep)]:
        for name in _NAMES:
            path = shutil.which(name, path=folder) if folder else None
            if path is not None:
                yield path
