"""The array API standard's methods of arrays other than operators: namespace, device, and DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, overload

from .._lazy import late
from ..containers.interior import division_of, is_where_divided, owning_class_of, run_as
from ..containers.layout import BLOCK
from ..containers.making import created
from ..exceptions import BufferError, InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement, placement_of

if TYPE_CHECKING:
    from ..containers.types import Owned

_copy_elements = late(".algorithms.transform", "copy")
_namespace_of = late(".array_standard.namespace", "of_array")

#: DLPack's number of memory of the host.
_CPU = (1, 0)


class ArrayObject:
    """The attributes and methods of arrays by which functions that are written for the standard accept containers."""

    context: Any
    placement_policy: Any
    partition_policy: Any

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the namespace of the array API standard on the container's ranks; see :func:`dtl.array_api`.

        All containers of a context have equal namespaces. That of a replicated container makes replicated arrays.
        """
        return _namespace_of(self.context, self.partition_policy, api_version)

    @property
    def device(self) -> Placement:
        """Where the elements are, under the name of the array API standard: the same as ``placement_policy``."""
        lies: Placement = self.placement_policy
        return lies

    @overload
    def to_device(self: Owned, device: Any, /, *, stream: Any = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def to_device(self, device: Any, /, *, stream: Any = ...) -> Any: ...
    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the container if it has a placement already, otherwise a copy with that placement. Collective.

        Parameters
        ----------
        device
            One of ``dtl.PLACEMENT_*``, such as the device of another container.
        stream
            Must be None: calls are in order anyway.

        Raises
        ------
        InvalidArgumentError
            If there is no such placement, or if stream is not None.
        BackendUnavailableError
            If there is no memory of that kind. On every rank.
        """
        if stream is not None:
            raise InvalidArgumentError(f"stream {stream!r}: copies to a device are in the order of the calls")
        lies = Placement.HOST if device == "cpu" else placement_of(device)
        if lies is self.placement_policy:
            return self
        of: Any = self
        kind = owning_class_of(of)
        made = created(kind, of.context, of.shape, of.dtype, division_of(of) if is_where_divided(of) else BLOCK, lies)
        run_as(made, of.execution_policy)
        _copy_elements(of, made)
        return made

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's numbers for the kind of memory of this rank's elements, and for the device."""
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
        """Return a DLPack capsule of a replicated container, with all elements in their own memory. Not collective.

        Parameters
        ----------
        stream, max_version, dl_device, copy
            As for NumPy's arrays, or for a :class:`DeviceArray`.

        Raises
        ------
        BufferError
            If the container is divided, on any number of ranks: a capsule must have all elements.
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


def extend_zero_dimensional(cls: type[Any]) -> None:
    """Give arrays without dimensions their namespace."""

    def __array_namespace__(self: Any, /, *, api_version: str | None = None) -> Any:  # noqa: N807 - the standard's name
        """Return the namespace of the array API standard on the ranks of the context; see :func:`dtl.array_api`."""
        return _namespace_of(*self._home, api_version)

    cls.__array_namespace__ = __array_namespace__
