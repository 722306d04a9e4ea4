"""Containers that own their elements: how they are made, and how they are redistributed."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Sequence, TypeVar

import numpy as np

from .._lazy import extend, late
from .._native import library
from .._native.arguments import integer, is_on_device, stored_array, stored_number
from .._native.kinds import computed_number, filling
from .._native.library import bridge
from .._native.objects import Owner, handle_of
from ..comm import collectives, objects
from ..exceptions import BoundsError, InvalidArgumentError
from ..policies import Execution, ExecutionLike, Partition, Placement, PlacementLike, placement_of
from ..runtime import scheduler
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray, from_dlpack, on_host
from .base import DistributedContainer

# isort: split
# After base, whose last line has packages above give the class its methods: these import what is here.
from . import cached_windows, interior, shared_devices
from .expressions import handle_to_read
from .interior import as_carried, context_of, end_write, is_plain
from .layout import BLOCK, Division, division, execution_policy
from .making import NEAR_DISK, adopt, adopt_native, created, family_of, note_disks, result_placement
from .places import copies
from .places.place import fill_part, from_parts

_note_scratch = late(".runtime.scratch", "note_use")

Owning = TypeVar("Owning", bound="OwningContainer")

#: Looked up once: members of enumerations are slow to get at.
_HOST, _PAR = Placement.HOST, Execution.PAR

_OF_BLOCK = BLOCK.numbers()

#: The most dimensions of a NumPy array.
_MAX_DIMS = 64


def spec_of(
    family: int, number: int, shape: tuple[int, ...], divided: Division, placement: Placement = _HOST
) -> tuple[int, ...]:
    """Return what container to make as the core takes it: a family, the number of a dtype, and so on."""
    if divided is BLOCK and len(shape) == 1:
        return (family, number, 1, shape[0], *_OF_BLOCK, placement)  # most are
    return (family, number, len(shape), *shape, *divided.numbers(), placement)


class Likeness(NamedTuple):
    """What container of numbers on the host to make, which is made again and again."""

    kind: Any
    spec: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int
    divided: Division

    def joined(self, ctx: Context, said: bytes, pieces: Sequence[int]) -> Any:
        """Return a container of anything; what is said and pieces are those of ``_create``. Collective."""
        if cached_windows.kept:
            cached_windows.end_unused(ctx, said.decode().partition(" ")[0])
        handle = bridge.join(ctx, said, self.spec, pieces)
        made = self.kind.__new__(self.kind)
        adopt_native(made, handle, ctx, self.dtype, self.ndim, self.divided)
        return made


def likeness(kind: Any, dtype: np.dtype[Any], shape: tuple[int, ...], divided: Division) -> Likeness | None:
    """Return what container to make of a class; None where the core does not compute with the elements."""
    number = computed_number(dtype)
    spec = spec_of(family_of(kind), number, shape, divided)
    return Likeness(kind, spec, dtype, len(shape), divided) if number else None


def is_as_made(c: Any) -> bool:
    """Say whether a container is where a likeness is made, and computed on as many threads."""
    return c.placement_policy is _HOST and scheduler.execution_of(c) is _PAR


class OwningContainer(DistributedContainer):
    """A container that is no span. A subclass says of which family it is, and how it is called."""

    _family: ClassVar[int]
    _op: ClassVar[str]
    _dims: ClassVar[int | None] = 1
    _reached = False

    # Of most: _adopt has the others. The layout is the bridge's field, which is set in less time than an attribute.
    _placement = _HOST
    _is_plain = True
    _layout = bridge.Container._layout

    def _create(
        self,
        ctx: Context,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        divided: Division,
        execution: Execution = Execution.PAR,
        placement: Placement = Placement.HOST,
        blank: bool = False,
        words: str = "",
        pieces: Sequence[int] = (),
    ) -> None:
        """Make the native container, of zeros. Collective: the ranks agree on shape, dtype, division and placement.

        Blank elements are anything: for a caller that writes all of them before anyone else sees them. Words are what
        else the ranks agree on: the name of the call that makes the container, a space, and its arguments. Pieces are
        of containers from which elements move to it: their number, their handles, and the rows of a move for each.
        """
        if cached_windows.kept:
            cached_windows.end_unused(ctx, words.partition(" ")[0] or self._op)
        number = computed = computed_number(dtype)
        if not computed:
            number = stored_number(dtype)
            agree(ctx, self._op, f"dtype {dtype}")  # the core sees what carries them
        elif divided is BLOCK and placement is _HOST and execution is _PAR:  # noqa: SIM102 - nothing is called in vain
            if not pieces and self._adopt_whole(ctx, dtype, divided, shape, blank):
                return
        spec = spec_of(self._family, number, shape, divided, placement)
        said = words.encode() if words else None
        handle = bridge.join(ctx, said, spec, pieces) if pieces else bridge.create(ctx, said, blank, spec)
        if placement is _HOST and execution is _PAR and computed:
            self._adopt_native(handle, ctx, dtype, len(shape), divided)
            return
        if placement is not _HOST:
            placement = self._placed(ctx, handle, placement)
        self._adopt(handle, ctx, dtype, len(shape), divided, placement, execution)

    @staticmethod
    def _placed(ctx: Context, handle: int, placement: Placement) -> Placement:
        """Return where the elements of a container are that may not be on the host, and note what follows from it."""
        if placement is Placement.DEVICE_PREFERRED:
            placement = Placement(library.container_placement(handle))
        if placement == NEAR_DISK:
            return _HOST
        if placement is Placement.DISK:
            note_disks()
            _note_scratch(ctx)
        elif placement is not _HOST:
            if placement is Placement.DEVICE:
                scheduler.with_device_copies = copies.called
            shared_devices.look_for(ctx)
        return placement

    @classmethod
    def _selected(
        cls: type[Owning], of: DistributedContainer, shape: tuple[int, ...], divided: Division, rows: Sequence[int]
    ) -> Owning:
        """Return a container of some elements of another one, as the rows of a move say. Collective."""
        ctx, dtype = context_of(of), of.dtype
        placement = result_placement(of, shape, dtype)
        if cached_windows.kept:
            cached_windows.end_unused(ctx, "getitem")
        spec = spec_of(cls._family, stored_number(dtype), shape, divided, placement)
        handle = bridge.slice(ctx, handle_to_read(of), spec, tuple(rows))
        if placement is not _HOST:
            placement = cls._placed(ctx, handle, placement)
        return cls._of_handle(handle, of, len(shape), divided, placement)

    @classmethod
    def _of_handle(
        cls: type[Owning],
        handle: int,
        of: DistributedContainer,
        ndim: int,
        divided: Division,
        placement: Placement = Placement.HOST,
    ) -> Owning:
        """Return the container of a handle that the core made, of another one's context and dtype."""
        made = cls.__new__(cls)
        if placement is not Placement.DISK and is_plain(of):
            adopt_native(made, handle, context_of(of), of.dtype, ndim, divided)
        else:
            adopt(made, handle, context_of(of), of.dtype, ndim, divided, placement)
        return made

    @classmethod
    def _of_rows(cls: type[Owning], of: DistributedContainer, rows: np.ndarray[Any, Any], words: bytes) -> Owning:
        """Return a container of each rank's rows, in rank order, on the host, divided as another one. Collective.

        Words are the name of the call, a space, and what all ranks pass alike.
        """
        ctx, dtype, divided = context_of(of), of.dtype, interior.division_of(of)
        if divided is not BLOCK:
            divided = divided.for_other_size()
        if cached_windows.kept:
            cached_windows.end_unused(ctx, words.decode().partition(" ")[0])
        spec = spec_of(cls._family, stored_number(dtype), rows.shape, divided)
        elements = as_carried(of, np.ascontiguousarray(rows))
        handle = bridge.from_parts(ctx, elements, words, spec)
        return cls._of_handle(handle, of, rows.ndim, divided)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of the whole along each dimension."""
        known = self._layout.shape if self._is_open else None  # of what is closed, the core says so
        if known is None:
            known = self._layout.shape = super().shape
        return known

    @property
    def local_size(self) -> int:
        """The number of elements on this rank."""
        known = self._layout.local_size if self._is_open else None
        if known is None:
            known = self._layout.local_size = super().local_size
        return known

    def _construct(
        self,
        ctx: Context,
        extents: Any,
        dtype: Any,
        fill: Any,
        division_of: tuple[Any, Any, Any],
        placement: PlacementLike,
        execution: ExecutionLike,
    ) -> None:
        """Do what the constructors do. Extents is called for the shape, since the check of one may fail, too."""
        check_context(ctx)
        stored_number(dtype)
        resolved = np.dtype(dtype)
        divided = division(*division_of)
        placement = _HOST if placement is _HOST else placement_of(placement)
        execution = _PAR if execution is _PAR else execution_policy(execution)
        value = None if fill is None else filling(fill, resolved)
        shape = extents()
        if value is not None and divided.partition is Partition.REPLICATED:
            agree(ctx, self._op, f"fill {fill!r}")  # each rank fills its own copy, so all must fill alike
        self._create(ctx, shape, resolved, divided, execution, placement)
        if value is not None:
            fill_part(self, value)
            end_write(self, self._op)

    @classmethod
    def _from_numpy(
        cls: type[Owning],
        ctx: Context,
        array: Any,
        root: int,
        division_of: tuple[Any, Any, Any],
        placement: PlacementLike,
        execution: ExecutionLike,
    ) -> Owning:
        op = "from_numpy"
        check_context(ctx)
        header = np.zeros(2 + _MAX_DIMS, np.int64)
        given = None
        number = integer("root", root)
        if not 0 <= number < ctx.size:
            raise BoundsError(f"root {number} outside [0, {ctx.size})")
        divided = division(*division_of)
        placement = placement_of(placement)
        execution = execution_policy(execution)
        if ctx.rank == number:
            given = cls._given("array", array)
            number_of = computed_number(given.dtype) or -stored_number(given.dtype)
            header[: 2 + given.ndim] = (number_of, given.ndim, *given.shape)
        agree(ctx, op, f"root {number}, {divided}")
        header = collectives.broadcast(ctx, header, number)
        shape = tuple(header[2 : 2 + header[1]].tolist())
        if header[0] > 0:
            dtype = np.dtype(library.dtype_name(int(header[0])))
        else:  # the core has no number of it
            dtype = objects.broadcast_object(ctx, None if given is None else given.dtype, number)
        made = created(cls, ctx, shape, dtype, divided, placement, execution=execution)
        elements = None if given is None else as_carried(made, given)
        bridge.distribute(made, elements, number)
        return made

    @classmethod
    @collective
    def from_local(cls: type[Owning], ctx: Context, local_array: Any) -> Owning:
        """Concatenate an array from each rank, in rank order, as one container. Collective.

        Parameters
        ----------
        ctx
            The context.
        local_array
            This rank's elements, which are copied. The first extent may differ between the ranks, and may be 0. The
            dtype and the other extents must be the same.

        Returns
        -------
        container
            A container of partition PARTITION_EXPLICIT, whose part on this rank is a copy of the array. It is on the
            GPU if the arrays are, whether they are of DTL or of another library.

        Raises
        ------
        InvalidTypeError
            If containers cannot hold the dtype of a rank's array. On every rank.
        InvalidArgumentError
            If a rank's array has the wrong number of dimensions. On every rank.
        CollectiveMismatchError
            If the arrays of the ranks differ in dtype, or in an extent other than the first. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     vec = dtl.DistributedVector.from_local(ctx, np.arange(ctx.rank + 1))
        ...     vec.local_size - ctx.rank
        1
        """
        check_context(ctx)
        if is_on_device(local_array):
            given: Any = from_dlpack(local_array)
            cls._check_dims("local_array", given)
        else:
            given = cls._given("local_array", local_array)
        where = ", on a GPU" if isinstance(given, DeviceArray) else ""
        agree(ctx, "from_local", f"dtype {given.dtype}, shape {('*', *given.shape[1:])}{where}".replace("'", ""))
        return from_parts(cls, ctx, given)

    @classmethod
    def _given(cls, name: str, array: Any) -> np.ndarray[Any, Any]:
        """Return an array whose elements the container can hold."""
        given = stored_array(name, on_host(array))
        cls._check_dims(name, given)
        return given

    @classmethod
    def _check_dims(cls, name: str, given: Any) -> None:
        """Refuse an array of dimensions that the container does not have."""
        if (cls._dims is not None and given.ndim != cls._dims) or given.ndim == 0:
            wanted = "1 dimension" if cls._dims == 1 else "1 dimension or more"
            raise InvalidArgumentError(
                f"{name} of shape {given.shape} has {given.ndim} dimensions; it must have {wanted}"
            )

    def _redistribute(self, division_of: tuple[Any, Any, Any], max_extra_bytes: int) -> None:
        self._check_idle("redistribute")
        divided = division(*division_of)
        limit = integer("max_extra_bytes", max_extra_bytes)
        cached_windows.end(self, "redistribute", f"{divided}, max_extra_bytes {limit}")
        self._divide(divided, limit)

    def _redistribute_on(self, ctx: Context, division_of: tuple[Any, Any, Any], max_extra_bytes: Any) -> None:
        self._check_open()
        divided = division(*division_of)
        limit = integer("max_extra_bytes", max_extra_bytes)
        alias = _StreamAlias(library.container_on(self._handle, handle_of(ctx)))
        self._divide(divided, limit, alias)

    def _divide(self, divided: Division, limit: int = 0, alias: Any = None) -> None:
        """Divide the container anew. Collective."""
        spec = np.array(divided.numbers(), np.int64)
        from .._native.phases import phases  # not needed before

        try:
            self._forget_part()
            with phases():
                bridge.redistribute(self if alias is None else alias, spec, limit)
        finally:  # a signal's handler may raise behind the call
            self._layout = bridge.Layout()
        self._division, self._is_where_divided = divided, True


class _StreamAlias(Owner):
    """The same container on another context, such as a stream's, for one call."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def _release(self, handle: int) -> None:
        library.container_close(handle)


extend(DistributedContainer)  # of which there are none without this module
