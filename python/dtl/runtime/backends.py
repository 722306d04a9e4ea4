"""Which backends exist, which of them can be used in this process, and why the others cannot."""

from __future__ import annotations

import functools
import os

from .._native import library
from ..exceptions import InvalidArgumentError
from ..policies import Placement, PlacementLike, placement_of


def registered() -> list[str]:
    """Return the names of all backends, usable or not."""
    return [library.backend_name(i) for i in range(library.backend_count())]


def available() -> list[str]:
    """Return the names of the backends that can be used in this process.

    The first call opens the libraries that it finds, but initialises none of them.
    """
    find_nccl()
    return [name for name in registered() if not library.backend_why_not(name)]


def count() -> int:
    """Return how many backends can be used in this process."""
    return len(available())


def name() -> str:
    """Return the name of the backend that connects the ranks of ``dtl.Context()``.

    It is the value of the environment variable DTL_BACKEND. If that is not set: ``"local"`` in a rank that ``dtl run``
    started without MPI, ``"mpi"`` in a process that another launcher started or in which MPI is initialised, otherwise
    ``"cpu"``.
    """
    if chosen():
        return chosen()
    if library.local_active():
        return "local"
    return "mpi" if library.mpi_active() else "cpu"


def chosen() -> str:
    """Return the name that the environment's DTL_BACKEND gives, or "" if it gives none."""
    return os.environ.get("DTL_BACKEND", "")


def why_not(name: str) -> str | None:
    """Return why a backend cannot be used in this process, or None if it can.

    Raises
    ------
    InvalidArgumentError
        If no backend has that name.
    """
    known = registered()
    if name not in known:
        raise InvalidArgumentError(f"no backend is called {name!r}; there are {', '.join(known)}")
    if name == "nccl":
        find_nccl()
    return library.backend_why_not(name) or None


@functools.lru_cache(maxsize=None)
def find_nccl() -> None:
    """Look for a wheel that has NCCL, once, before the first look for the library; where there is no GPU, for none."""
    if library.backend_why_not("cuda"):
        return
    import importlib.util  # which few programs need

    try:
        found = importlib.util.find_spec("nvidia.nccl")
    except ImportError:
        return
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        library.nccl_search_in(os.path.join(folder, "lib"))


def has_mpi() -> bool:
    """Return whether an MPI library can be used in this process."""
    return why_not("mpi") is None


def has_cuda() -> bool:
    """Return whether an NVIDIA GPU can be used in this process. If not, ``dtl.backends.why_not("cuda")`` says why."""
    return why_not("cuda") is None


def has_hip() -> bool:
    """Return whether an AMD GPU can be used in this process. If not, ``dtl.backends.why_not("hip")`` says why."""
    return why_not("hip") is None


def has_nccl() -> bool:
    """Return whether NCCL, or RCCL for AMD's GPUs, can be used in this process, which needs a GPU and the library.

    If the environment variable ``DTL_NCCL_LIB`` is set, it names the library. Otherwise, the library is one that is
    already in the process, such as PyTorch's, one that pip has installed, or one that the system finds.
    """
    return why_not("nccl") is None


def has_shmem() -> bool:
    """Return whether an OpenSHMEM library can be used in this process."""
    return why_not("shmem") is None


def placement_available(placement: PlacementLike) -> bool:
    """Return whether containers can have a placement in this process. If not, making such a container raises.

    To find out, the call begins to use the GPU that the process would use for containers, if there is one.

    Parameters
    ----------
    placement
        One of the ``PLACEMENT_*`` constants, or its name, such as ``"device"``.

    Raises
    ------
    InvalidArgumentError
        If placement is not one of them.
    """
    asked = placement_of(placement)
    if asked in (Placement.HOST, Placement.DISK, Placement.DEVICE_PREFERRED):
        return True
    return not library.placement_why_not(asked is Placement.UNIFIED)


def trim() -> int:
    """Release the memory of GPUs that DTL keeps for later containers. Not collective.

    The memory of a closed container is kept, because drivers take long to allocate. If an allocation fails for lack of
    memory, DTL releases it by itself; call this function if others use the same GPU.

    Returns
    -------
    int
        How many bytes were released; 0 if no GPU is used.

    Raises
    ------
    BackendError
        If the driver fails.
    """
    return library.memory_trim()
