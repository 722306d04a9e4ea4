"""What the array API standard asks of an array, beside the operators: its namespace, its device, and DLPack."""

from __future__ import annotations

from typing import Any, NoReturn

from .._lazy import array_api, copy_elements
from ..exceptions import BufferError, InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement
from .layout import BLOCK, placement_of

#: DLPack's number of memory of the host.
_CPU = (1, 0)


class ArrayObject:
    """The attributes and methods of arrays by which functions that are written for the standard take containers."""

    context: Any
    placement_policy: Any
    partition_policy: Any

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the namespace of the array API standard on the container's ranks; see :func:`dtl.array_api`."""
        return array_api(self.context, api_version=api_version)

    @property
    def device(self) -> Placement:
        """Where the elements lie, by the name of the array API standard: ``placement_policy``."""
        lies: Placement = self.placement_policy
        return lies

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the container if it is of a placement already, else a copy there. Collective.

        Parameters
        ----------
        device
            One of ``dtl.PLACEMENT_*``, such as the device of another container.
        stream
            None: the order of calls is kept anyway.

        Raises
        ------
        InvalidArgumentError
            If there is no such placement, or a stream is named.
        BackendUnavailableError
            If there is no memory of that kind. On every rank.
        """
        if stream is not None:
            raise InvalidArgumentError(f"stream {stream!r}: copies to a device are in the order of the calls")
        lies = Placement.HOST if device == "cpu" else placement_of(device)
        if lies is self.placement_policy:
            return self
        of: Any = self
        kind = of._owning_class()
        made = kind._created(of.context, of.shape, of.dtype, of._division if kind is type(of) else BLOCK, lies)
        made._run_as(of._execution)
        copy_elements(of, made)
        return made

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number of the kind of memory that this rank's elements are in, and of the device."""
        if self.placement_policy in (Placement.DEVICE, Placement.UNIFIED):
            of: Any = self
            kind, number = of.device_view().__dlpack_device__()
            return kind, number
        return _CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of DLPack of all elements, which are replicated, in their own memory. Not collective.

        Parameters
        ----------
        stream, max_version, dl_device, copy
            As of NumPy's arrays, or of a :class:`DeviceArray`.

        Raises
        ------
        BufferError
            If the container is divided, on any number of ranks: a part does not pass for the whole.
        """
        if self.partition_policy is not Partition.REPLICATED:
            raise BufferError(
                "the elements are divided among the ranks, and DLPack would hand over this rank's alone, on any number "
                "of ranks: give local_view() for this rank's part, what gather_to(root) returns on one rank, or make "
                'the container with partition="replicated"'
            )
        of: Any = self
        given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return of.local_view().__dlpack__(**{name: value for name, value in given.items() if value is not None})

    def __float__(self) -> NoReturn:
        raise self._no_number("float")

    def __int__(self) -> NoReturn:
        raise self._no_number("int")

    def __complex__(self) -> NoReturn:
        raise self._no_number("complex")

    def __index__(self) -> NoReturn:
        raise self._no_number("index")

    def _no_number(self, name: str) -> InvalidTypeError:
        return InvalidTypeError(f"{name}: {self!r} has dimensions, and is no number; take an element, such as c[0]")
