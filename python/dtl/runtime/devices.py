"""What ranks are on: machines, backends and GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import topology_of
from .._native import library
from .._native.arguments import integer
from .._native.library import bridge
from ..exceptions import BackendUnavailableError
from . import nccl

if TYPE_CHECKING:
    from ..topology.affinity import ContextTopology
    from .context import Context


class DeviceRanks(bridge.Ranks):
    """The part of Context that concerns machines, backends and GPUs."""

    # What a context says of which __init__ failed, or never ran.
    _device: int = -1
    _backend: str = "no backend"
    _topology: ContextTopology | None = None

    @classmethod
    def _adopt_handle(cls, handle: int) -> Context:
        raise NotImplementedError

    @property
    def backend(self) -> str:
        """The name of the backend that connects the ranks: ``"local"``, ``"mpi"``, ``"shmem"`` or ``"cpu"``."""
        return self._backend

    @property
    def has_mpi(self) -> bool:
        """Whether MPI connects the ranks."""
        return self._backend == "mpi"

    @property
    def topology(self) -> ContextTopology:
        """Where the ranks run. Collective when it is first asked for, and then what was found out is kept.

        Raises
        ------
        InvalidHandleError
            If the context is closed, and it was not asked for before.
        CollectiveMismatchError
            If another rank calls something else.
        """
        if self._topology is None:
            self._topology = topology_of(self)
        return self._topology

    @property
    def has_shmem(self) -> bool:
        """Whether OpenSHMEM connects the ranks."""
        return self._backend == "shmem"

    @property
    def device_id(self) -> int:
        """The number of the GPU, or -1."""
        return self._device

    @property
    def has_device(self) -> bool:
        """Whether the context has a GPU."""
        return self._device >= 0

    @property
    def has_cuda(self) -> bool:
        """Whether the context has an NVIDIA GPU."""
        return self._device >= 0

    @property
    def has_nccl(self) -> bool:
        """Whether NCCL connects the ranks' GPUs."""
        return self._backend == "nccl"

    @property
    def nccl_mode(self) -> int:
        """One of ``dtl.DTL_NCCL_MODE_*``, or -1 without NCCL."""
        return -1

    def nccl_supports_native(self, op: int) -> bool:
        """Say whether NCCL itself runs an operation, one of ``dtl.DTL_NCCL_OP_*``, on this context."""
        nccl.Operation(op)
        return False

    def nccl_supports_hybrid(self, op: int) -> bool:
        """Say whether an operation, one of ``dtl.DTL_NCCL_OP_*``, runs on this context with NCCL's help."""
        nccl.Operation(op)
        return False

    def with_cuda(self, device_id: int) -> Context:
        """Return a context of the same ranks with a GPU. Collective.

        Raises
        ------
        BackendUnavailableError
            If there is no NVIDIA GPU.
        BoundsError
            If there is no GPU of that number.
        """
        return self._adopt_handle(library.context_with_device(self._handle, integer("device_id", device_id)))

    def with_nccl(self, device_id: int, mode: int = nccl.DTL_NCCL_MODE_HYBRID_PARITY) -> Context:
        """Return a context whose GPUs NCCL connects. Collective.

        Raises
        ------
        BackendUnavailableError
            If NCCL cannot be used here; the text says what is missing.
        """
        integer("device_id", device_id)
        raise self._no_nccl(mode)

    def split_nccl(
        self,
        color: int,
        key: int = 0,
        device_id: int | None = None,
        mode: int = nccl.DTL_NCCL_MODE_HYBRID_PARITY,
    ) -> Context:
        """Split the context, and let NCCL connect each part's GPUs. Collective.

        Raises
        ------
        BackendUnavailableError
            If NCCL cannot be used here; the text says what is missing.
        """
        integer("color", color)
        integer("key", key)
        raise self._no_nccl(mode)

    def _no_nccl(self, mode: int) -> BackendUnavailableError:
        nccl.Mode(mode)
        reason = library.backend_why_not("nccl") or "this version of DTL finds NCCL but does not communicate through it"
        return BackendUnavailableError(reason)
