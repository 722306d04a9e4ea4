"""The machines, backends and GPUs of ranks."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .._native import library
from .._native.arguments import integer
from .._native.library import bridge
from ..exceptions import BoundsError, DTLError, InvalidArgumentError, InvalidTypeError
from . import backends, nccl
from .agreement import agree, collective

if TYPE_CHECKING:
    from ..topology.affinity import ContextTopology

Own = TypeVar("Own", bound="DeviceRanks")

#: For the GPU that this process usually takes, as core/runtime has it.
_USUAL = -(2**63)


def device_number(device_id: Any) -> int:
    """Return the number of a GPU that a caller chooses. A bool is none: True does not say which."""
    if isinstance(device_id, bool):
        raise InvalidTypeError(f"device_id must be the number of a GPU, not {device_id}")
    return integer("device_id", device_id)


def usual_or(device_id: Any) -> int:
    """Return what the core takes for a caller's device: a number, -1 for none, or the usual one for None."""
    return _USUAL if device_id is None else device_number(device_id)


class DeviceRanks(bridge.Ranks):
    """The part of Context that concerns machines, backends and GPUs."""

    # What a context says of which __init__ failed, or never ran.
    _device: int = -1
    _backend: str = "no backend"
    _nccl: int = -1
    _mpi_is_aware: bool | None = None  # not asked
    _topology: ContextTopology | None = None

    @classmethod
    def _adopt_handle(cls: type[Own], handle: int) -> Own:
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
        """Where the ranks ran when the context was made; ``refresh()`` finds out where they are now. Not collective.

        Raises
        ------
        InvalidHandleError
            If the context is closed, and ``topology`` was not used before.
        """
        if self._topology is None:
            from ..topology.affinity import ContextTopology  # which few programs need

            self._topology = ContextTopology(self)
        return self._topology

    @property
    def has_shmem(self) -> bool:
        """Whether OpenSHMEM connects the ranks."""
        return self._backend == "shmem"

    @property
    def device_id(self) -> int:
        """The number of the GPU; -1 if none was chosen."""
        return self._device

    @property
    def has_device(self) -> bool:
        """Whether a GPU was chosen for the context."""
        return self._device >= 0

    @property
    def has_cuda(self) -> bool:
        """Whether an NVIDIA GPU was chosen for the context."""
        return self._device >= 0 and backends.has_cuda()

    @property
    def has_nccl(self) -> bool:
        """Whether NCCL connects the ranks' GPUs. ``with_nccl`` and ``split_nccl`` make such contexts."""
        return self._nccl >= 0

    @property
    def nccl_mode(self) -> int:
        """The mode of NCCL, one of ``dtl.DTL_NCCL_MODE_*``; -1 without NCCL."""
        return self._nccl

    def nccl_supports_native(self, op: int) -> bool:
        """Return whether the GPUs execute an operation, one of ``dtl.DTL_NCCL_OP_*``, without the host."""
        return nccl.Operation(op) in nccl.NATIVE and self._nccl >= 0

    def nccl_supports_hybrid(self, op: int) -> bool:
        """Return whether an operation, one of ``dtl.DTL_NCCL_OP_*``, works here, through the host if necessary.

        In mode HYBRID_PARITY, all operations do. In mode NATIVE_ONLY, only those that ``nccl_supports_native`` names
        do, and the barrier, which moves nothing.
        """
        always = self._nccl == nccl.Mode.HYBRID_PARITY or op == nccl.Operation.BARRIER
        return self.nccl_supports_native(op) or (self._nccl >= 0 and always)

    def _reaches_gpus(self) -> bool:
        """Whether the ranks' messages may be from and to memory of GPUs. It is asked once; not collective."""
        if self._mpi_is_aware is None:
            self._mpi_is_aware = not library.context_is_aware(self._handle)
        return self._mpi_is_aware

    @collective
    def with_cuda(self: Own, device_id: int) -> Own:
        """Return a context of the same ranks with a GPU. Collective.

        Parameters
        ----------
        device_id
            The number of the GPU.

        Raises
        ------
        BackendUnavailableError
            If there is no GPU that can be used.
        BoundsError
            If there is no GPU with this number.
        """
        return self._adopt_handle(library.context_with_device(self._handle, device_number(device_id)))

    @collective
    def with_nccl(self: Own, device_id: int, mode: int = nccl.DTL_NCCL_MODE_HYBRID_PARITY) -> Own:
        """Return a context of the same ranks whose GPUs NCCL connects, or RCCL those of AMD. Collective.

        Its collectives of arrays on these GPUs go from GPU to GPU. Everything else is as on other contexts: collectives
        of arrays on the host, messages, containers.

        Parameters
        ----------
        device_id
            This rank's GPU. No other rank may have the same one.
        mode
            What happens in a collective of arrays on GPUs that NCCL lacks: with ``DTL_NCCL_MODE_HYBRID_PARITY``, the
            elements go through the host; with ``DTL_NCCL_MODE_NATIVE_ONLY``, it raises InvalidArgumentError. The same
            on every rank.

        Raises
        ------
        BackendUnavailableError
            If NCCL cannot be used here. The message says what is missing.
        BoundsError
            If there is no GPU with this number.
        InvalidArgumentError
            If two ranks have the same GPU, or if mode is unknown.
        CollectiveMismatchError
            If the ranks pass different modes.
        BackendError
            If NCCL fails.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     if dtl.has_nccl():
        ...         with ctx.with_nccl(0) as gpus:
        ...             assert gpus.nccl_supports_native(dtl.DTL_NCCL_OP_ALLREDUCE)
        """
        device, mode = device_number(device_id), nccl.Mode(mode)
        if device < 0:
            raise BoundsError(f"with_nccl: device {device} is negative")
        backends.find_nccl()
        return self._linked("with_nccl", library.context_with_nccl(self._handle, device), mode)

    @collective
    def split_nccl(
        self: Own,
        color: int,
        key: int = 0,
        device_id: int | None = None,
        mode: int = nccl.DTL_NCCL_MODE_HYBRID_PARITY,
    ) -> Own:
        """Split the context, and let NCCL connect the GPUs of each part. Collective.

        Parameters
        ----------
        color
            A number, at least 0, for the group to join.
        key
            The ranks of the new context are ordered by key, and by their rank here if the keys are equal.
        device_id
            This rank's GPU. The default is that of the context, or else the one that ``Topology.gpu_id`` names.
        mode
            As for ``with_nccl``; the same in each part.

        Raises
        ------
        InvalidArgumentError
            If color or key is out of range, if two ranks of a part have the same GPU, or if mode is unknown.
        BackendUnavailableError, BoundsError, BackendError
            As for ``with_nccl``.
        """
        color, key = integer("color", color), integer("key", key)
        if color < 0:
            raise InvalidArgumentError(f"split_nccl: color {color} is negative")
        if device_id is None:
            device = self._device if self._device >= 0 else _USUAL
        elif (device := device_number(device_id)) < 0:
            raise BoundsError(f"split_nccl: device {device} is negative")
        mode = nccl.Mode(mode)
        backends.find_nccl()
        return self._linked("split_nccl", library.context_split_nccl(self._handle, color, key, device), mode)

    def _linked(self: Own, op: str, handle: int, mode: nccl.Mode) -> Own:
        made = self._adopt_handle(handle)
        made._nccl = mode
        try:
            agree(made, op, f"mode {mode.name}")
        except DTLError:
            made.close()  # type: ignore[attr-defined]  # a context has it
            raise
        return made


#: Whether the messages of a context's ranks may be from and to memory of GPUs. It is asked once; not collective.
reaches_gpus: Callable[[Any], bool] = methodcaller("_reaches_gpus")
