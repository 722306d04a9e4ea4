"""The environment: what the library finds in this process, and who uses the library."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Callable

from .._native import library
from .._native.objects import Owner
from . import backends, hang_monitor
from .context import Context, of_handle

#: Thread levels, as MPI orders them. (MPI standard, chapter "External Interfaces", section "MPI and Threads".)
THREAD_SINGLE = 0
THREAD_FUNNELED = 1
THREAD_SERIALIZED = 2
THREAD_MULTIPLE = 3


class Environment(Owner):
    """A user of the library, as a context manager. It says what is available, and makes contexts.

    You do not need one: backends start when they are first needed, and stop when the process ends. Environments are
    only counted.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Environment() as env:
    ...     ctx = env.make_cpu_context()
    ...     ctx.size
    1
    """

    __module__ = "dtl"

    def __init__(self) -> None:
        hang_monitor.configure(None)
        self._handle = library.environment_open()

    def close(self) -> None:
        """Close the environment. Not collective. Closing twice does nothing.

        When the last environment is closed, a ResourceWarning names the objects that were made since the first one was
        opened, are still open, and are released only by their ``close``: contexts over MPI, requests, windows. It does
        so once. With ``DTL_CHECK=full``, it says where they were made.
        """
        if self._handle and not library.forked():
            since = library.environment_since()
            super().close()
            if not library.environment_count():
                from . import live  # which few programs need

                live.report(self, since)
        self._handle = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # on its way out a program closes nothing
            super().close()

    # Who is collected says nothing: what it would report may be about to go with it.
    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            super().close()

    def _release(self, handle: int) -> None:
        library.environment_close(handle)

    def __repr__(self) -> str:
        return f"<dtl.Environment {'open' if self._handle else 'closed'}>"

    @staticmethod
    def is_initialized() -> bool:
        """Return whether any environment is open."""
        return Environment.ref_count() > 0

    @staticmethod
    def ref_count() -> int:
        """Return how many environments are open."""
        return library.environment_count()

    @property
    def has_mpi(self) -> bool:
        """Whether an MPI library can be used in this process."""
        return backends.has_mpi()

    @property
    def has_cuda(self) -> bool:
        """Whether an NVIDIA GPU can be used in this process."""
        return backends.has_cuda()

    @property
    def has_hip(self) -> bool:
        """Whether an AMD GPU can be used in this process."""
        return backends.has_hip()

    @property
    def has_nccl(self) -> bool:
        """Whether NCCL can be used in this process."""
        return backends.has_nccl()

    @property
    def has_shmem(self) -> bool:
        """Whether an OpenSHMEM library can be used in this process."""
        return backends.has_shmem()

    @property
    def mpi_thread_level(self) -> int:
        """The thread level that MPI has provided, one of ``dtl.THREAD_*``; -1 if MPI is not initialised."""
        return library.mpi_thread_level()

    def make_world_context(self, device_id: int | None = None) -> Context:
        """Return a context of all processes that were started together. Collective: every rank calls it.

        Parameters
        ----------
        device_id
            As for ``Context``: the number of this rank's GPU, -1 for the CPU alone, or None.

        Raises
        ------
        InvalidHandleError
            If the environment is closed.
        BackendUnavailableError
            If no GPU can be used, or MPI is needed and cannot be opened.
        BoundsError
            If there is no GPU with this number.
        """
        self._check_open()
        return Context(device_id=device_id)

    def make_cpu_context(self) -> Context:
        """Return a context of this process and of the CPU alone, without MPI and GPU. Not collective."""
        self._check_open()
        return of_handle(library.context_self())

    def _check_open(self) -> None:
        if not self._handle:
            raise library.closed("environment")
