"""Communicators of mpi4py: those that it made, and those that it gets."""

from __future__ import annotations

import sys
from typing import Any

from ..exceptions import BackendUnavailableError, InvalidTypeError


def native_communicator(comm: Any) -> int:
    """Return the native handle of a communicator: its ``handle``, or what its module's ``_handleof`` says of it."""
    handle, module = getattr(comm, "handle", None), _module_of(comm)
    if module is not None and not isinstance(comm, module.Comm):
        raise InvalidTypeError(f"comm must be a communicator, not mpi4py's {type(comm).__name__}")
    if handle is None and module is not None:
        handle = module._handleof(comm)
    if not isinstance(handle, int):
        text = f"comm must be a communicator such as mpi4py's, with an integer handle, not {comm!r} of type"
        text += f" {type(comm).__name__}"
        if isinstance(comm, int):
            text += f"; how many ranks there are is said where they are started: python -m dtl run -n {comm} ..."
        elif isinstance(comm, str):
            text += f"; a backend is chosen with backend={comm!r}"
        raise InvalidTypeError(text)
    return handle % 2**64


def _module_of(thing: Any) -> Any:
    """Return the module of mpi4py's that a thing's class, or one that it derives from, is of; None if there is none.

    Groups, datatypes, windows and so on have handles, too, which no MPI library can tell from a communicator's.
    """
    for base in type(thing).__mro__:
        module = sys.modules.get(base.__module__)
        if hasattr(module, "_handleof") and hasattr(module, "Comm"):
            return module
    return None


def refuse_world(comm: Any, why: str) -> None:
    """Raise BackendUnavailableError for mpi4py's world: in a process that no launcher of MPI started, it has one rank.

    Other communicators of one rank may be meant.
    """
    world = getattr(sys.modules.get(type(comm).__module__), "COMM_WORLD", None)
    if world is not None and comm == world:
        raise BackendUnavailableError(f"mpi4py's COMM_WORLD is this process alone, for {why}")


def mpi4py_module() -> Any:
    """Return mpi4py's module MPI, which initialises MPI where nobody has."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # the latter where it finds no MPI library
        raise BackendUnavailableError(f"mpi4py cannot be imported: {error}") from error
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise BackendUnavailableError("mpi4py is there, but MPI is not initialised or has been finalised")
    return MPI


def communicator(module: Any, handle: int) -> Any:
    """Return mpi4py's object of a native handle, which it then owns."""
    import ctypes  # slow to import, and not needed before

    # As mpi4py's documentation has it for ctypes: Comm.fromhandle came with version 4 only.
    made = module.Intracomm()
    kind = ctypes.c_int if module._sizeof(module.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
    kind.from_address(module._addressof(made)).value = kind(handle).value
    return made
