"""Whether processes may copy from each other's memory, and what MPI libraries have to be told where they may not.

In containers, seccomp may forbid ``process_vm_readv``, as Docker's default did for kernels before 4.8. MPI libraries do
not expect that, and a long message then fails, or waits for ever.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Mapping

from .launcher import OPEN_MPI, Launcher

# Each way of such copies has a variable of its own: of Open MPI 5, Open MPI 4, and MPICH.
_WITHOUT = {
    "OMPI_MCA_smsc": "^cma",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "MPIR_CVAR_CH4_CMA_ENABLE": "0",
}


def forbidden() -> bool:
    """Say whether this process may not even copy from itself."""

    class _Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    there, here = ctypes.create_string_buffer(b"x"), ctypes.create_string_buffer(1)
    copy = getattr(ctypes.CDLL(None, use_errno=True), "process_vm_readv", None)
    if copy is None:
        return False
    to, of = (_Vector(ctypes.addressof(buffer), 1) for buffer in (here, there))
    copy.restype = ctypes.c_ssize_t
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    copied = copy(os.getpid(), ctypes.byref(to), one, ctypes.byref(of), one, none)
    return bool(copied < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS, errno.EACCES))


def variables(launcher: Launcher, environ: Mapping[str, str]) -> dict[str, str]:
    """Return what makes the library of this launcher do without copies that are forbidden, unless it is set."""
    if not forbidden():
        return {}
    prefix = "MPIR_" if launcher.family != OPEN_MPI else "OMPI_MCA_smsc" if launcher.version >= (5,) else "OMPI_MCA_btl"
    return {name: value for name, value in _WITHOUT.items() if name.startswith(prefix) and name not in environ}
