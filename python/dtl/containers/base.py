"""What all distributed containers have in common: their extents, their policies, and their local parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, cast

import numpy as np

from .._native import library
from .._native.arguments import integer
from .._native.callsite import frame_at
from .._native.kinds import carrier
from .._native.library import bridge
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Execution, Partition, Placement
from ..runtime import hints, scheduler
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray
from ..runtime.scheduler import Deferrable
from .array_conversion import check_caller
from .expressions import Fusable, leave
from .interior import as_elements, forget_part, is_laid_out_as, is_where_divided
from .layout import Division

if TYPE_CHECKING:
    from .protocol_methods import ProtocolMethods
else:
    ProtocolMethods = object

Self = TypeVar("Self", bound="DistributedContainer")

#: Looked up once: members of enumerations are slow to get at.
_DEVICE = Placement.DEVICE

#: Where NumPy reaches the elements as it does all others.
_MAPPED = (Placement.HOST, Placement.DISK)


class DistributedContainer(Fusable, Deferrable, ProtocolMethods):
    """An array whose elements are divided among the ranks of a context: the base class of all containers but maps.

    Make one of those classes, not this one. Operators and NumPy's ufuncs work on the local parts. They communicate only
    if an operand has to be moved between ranks.
    """

    __module__ = "dtl"

    _context: Context
    _dtype: np.dtype[Any]
    _ndim: int
    _division: Division
    _placement: Placement

    #: Whether the elements are where _division puts those of this shape. Those of a span, and of what is laid out as
    #: one, are where another container has them, and a resize does not change the sizes of an explicit partition.
    _is_where_divided = True

    #: The window that pointers made by remote use; None before the first.
    _cached_window: Any = None

    #: Whether the elements are numbers in the memory of this process.
    _is_plain = False

    #: The same object in containers of one context that are known to be laid out alike.
    _layout: Any = None

    #: DistributedTensor, for results of several dimensions. Its module sets it, which imports this one.
    _tensor_class: ClassVar[type[Any]]

    def _adopt(
        self,
        handle: int,
        ctx: Context,
        dtype: np.dtype[Any],
        ndim: int,
        division: Division,
        placement: Placement = Placement.HOST,
        execution: Execution = Execution.PAR,
    ) -> None:
        self._handle = handle
        self._context = ctx
        self._dtype = dtype
        self._ndim = ndim
        self._division = division
        self._placement = placement
        self._carrier = carrier(dtype)
        self._is_plain = placement in _MAPPED and self._carrier is None
        self._layout = bridge.Layout()
        self._run_as(execution)

    def _release(self, handle: int) -> None:
        try:
            if self._pending:
                leave(self)
        finally:
            library.container_close(handle)

    def _root(self) -> DistributedContainer:
        """Return the container that owns the elements."""
        return self

    def _redistribute_on(self, ctx: Context, division_of: tuple[Any, Any, Any], max_extra_bytes: Any) -> None:
        """Divide the container anew, by way of a duplicate of its context. Collective."""
        with local_step(ctx, "redistribute"):
            raise InvalidArgumentError(f"{self!r} cannot be divided anew: its structure is another container's")

    def _owning_class(self) -> type[Any]:
        """Return the class of new containers made of this one's elements: its own, unless that owns none."""
        return type(self)

    def __repr__(self) -> str:
        from . import display  # which few programs need

        return display.describe(self)

    def __str__(self) -> str:
        from . import display

        return display.printed(self)

    def _repr_html_(self) -> str:
        from . import display

        return display.html(self)

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            f"a {type(self).__name__} is not pickled, because its elements are divided among the ranks: write it with "
            "dtl.save(c, path), or several by their names with dtl.checkpoint(path, {...}), which dtl.load and "
            "dtl.restore read on any number of ranks; or send what gather_to(root), or local_view(), returns"
        )

    def __len__(self) -> int:
        return library.container_shape(self._raw_handle, 0)

    @property
    def context(self) -> Context:
        """The context that the container was made on."""
        return self._context

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._dtype

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements on all ranks, each counted once."""
        return self.global_size * self._dtype.itemsize

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of the whole along each dimension."""
        return tuple(library.container_shape(self._raw_handle, d) for d in range(self._ndim))

    @property
    def local_shape(self) -> tuple[int, ...]:
        """The extent of this rank's part along each dimension."""
        return tuple(library.container_local_shape(self._raw_handle, d) for d in range(self._ndim))

    @property
    def global_size(self) -> int:
        """The number of elements on all ranks together."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """The number of elements on all ranks together, as ``global_size``."""
        return self.global_size

    @property
    def local_size(self) -> int:
        """The number of elements on this rank."""
        return math.prod(self.local_shape)

    @property
    def local_offset(self) -> int:
        """The global index along dimension 0 of this rank's first element, or of the next one if it has none."""
        return library.container_offset(self._raw_handle, 0)

    @property
    def grid(self) -> tuple[int, ...]:
        """The number of parts along each dimension. Ranks are numbered in C order."""
        return tuple(library.container_grid(self._raw_handle, d) for d in range(self._ndim))

    @property
    def partition_policy(self) -> Partition:
        """Which rank holds which element: one of ``dtl.PARTITION_*``."""
        return self._division.partition

    @property
    def block_size(self) -> int | None:
        """The number of elements in a block of PARTITION_BLOCK_CYCLIC; None for other partitions."""
        return self._division.block_size or None

    @property
    def placement_policy(self) -> Placement:
        """Where the elements are: one of ``dtl.PLACEMENT_*``."""
        return self._placement

    @property
    def execution_policy(self) -> Execution:
        """How algorithms run on the local part: one of ``dtl.EXEC_*``."""
        return self._execution

    @property
    def views_out(self) -> int:
        """How many views of this rank's memory exist. While there are any, the structure cannot change."""
        forget_part(self._root())
        return library.container_views(self._handle)

    def owner(self, *index: int) -> int:
        """Return the rank that holds an element, given one global index for each dimension. Not collective.

        If every rank holds it (PARTITION_REPLICATED), the result is this rank.

        Raises
        ------
        BoundsError
            If an index is outside the extent of its dimension.
        InvalidArgumentError
            If there is not exactly one index for each dimension.
        """
        numbers = np.array([integer("index", i) for i in index], np.int64)
        rank: int = bridge.owner(self, numbers)
        return rank

    def is_local(self, *index: int) -> bool:
        """Return whether this rank holds an element, given one global index for each dimension. Not collective.

        Raises
        ------
        BoundsError
            If an index is outside the extent of its dimension.
        InvalidArgumentError
            If there is not exactly one index for each dimension.
        """
        return self.owner(*index) == self._context.rank

    # Of a container on a device this is a DeviceArray. The type says what it is of nearly all containers: else every
    # use of a view would have to tell the two apart.
    def local_view(self) -> np.ndarray[Any, Any]:
        """Return this rank's elements as an array of shape local_shape that shares their memory. Not collective.

        Nothing is copied. The view keeps the memory alive, even if the container is closed or deleted. While the view
        exists, ``resize`` and ``redistribute`` raise BufferError.

        The call does not wait for asynchronous calls on the container. Do not use the elements while such calls are
        under way.

        If the placement is DEVICE, the result is a :class:`DeviceArray`. If it is UNIFIED, the call waits for all work
        of the GPU, and the result is a NumPy array.
        """
        if self._placement is _DEVICE:
            there: Any = self.device_view()
            return cast("np.ndarray[Any, Any]", there)
        view: np.ndarray[Any, Any] = np.asarray(bridge.view(self))
        return view if self._carrier is None else as_elements(self, view)

    def device_view(self) -> DeviceArray:
        """Return this rank's elements as an array on their GPU that shares their memory. Not collective.

        As with ``local_view``, nothing is copied, the view keeps the memory alive, and ``resize`` and ``redistribute``
        raise BufferError while it exists.

        Raises
        ------
        InvalidArgumentError
            If the elements are on the host: the container's placement is neither DEVICE nor UNIFIED.
        """
        return DeviceArray(bridge.view(self, 1), self._dtype)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy of this rank's elements, of shape local_shape. Not collective.

        Raises
        ------
        TypeError
            If a plotting or table library calls it of a divided container, as ``plt.plot(vec)`` does. It would take
            this part for the whole array.
        """
        if self.partition_policy is not Partition.REPLICATED:
            check_caller(self, frame_at(1))
        if library.state.under_way:
            scheduler.wait_for(self)
        if self._placement is _DEVICE:
            return self.device_view().to_numpy()
        return self.local_view().copy()

    def local_indices(self, axis: int = 0) -> np.ndarray[Any, Any]:
        """Return the global index along one dimension of each of this rank's elements. Not collective.

        Returns
        -------
        ndarray
            int64, of shape ``(local_shape[axis],)``, in ascending order, as the elements are in ``local_view()``.

        Raises
        ------
        BoundsError
            If there is no such dimension.
        """
        d = integer("axis", axis)
        result = bridge.indices(self, d + self._ndim if d < 0 else d)
        return np.asarray(result)


def check_container(name: str, value: Any) -> None:
    """Refuse what is no container."""
    if not isinstance(value, DistributedContainer):
        raise InvalidTypeError(hints.no_container(name, value))


def check_alike(name: str, c: DistributedContainer, other: DistributedContainer) -> None:
    """Refuse a container whose elements do not lie where those of another do."""
    if c.shape != other.shape:
        raise InvalidArgumentError(f"{name} of shape {c.shape} for shape {other.shape}; they must be the same")
    if c.context is not other.context:
        raise InvalidArgumentError(f"{name} belongs to another context; dtl.copy moves elements between contexts")
    if not is_laid_out_as(c, other):
        text = "redistribute one of them, or copy it first"
        raise InvalidArgumentError(f"{name}, {c!r}, is divided otherwise than {other!r}; {text}")


#: The partitions by which a rank has a range of rows.
_RANGES = (Partition.BLOCK, Partition.EXPLICIT, Partition.REPLICATED)


def linear_indices(
    of: DistributedContainer, dims: range | None = None, rows: slice | None = None
) -> np.ndarray[Any, Any]:
    """Return the index in C order of each of this rank's elements, in the shape of its local view.

    With dims, it is the index among these dimensions, of each of this rank's indices along them; with rows, of some of
    those along dimension 0.
    """
    total = np.zeros((), np.int64)
    for d in range(of.ndim) if dims is None else dims:
        mine = of.local_indices(d) if d or rows is None else indices_of_rows(of, rows)
        total = total[..., np.newaxis] * of.shape[d] + mine
    return total


def indices_of_rows(of: DistributedContainer, rows: slice) -> np.ndarray[Any, Any]:
    """Return the global index along dimension 0 of some of this rank's rows; of a range, without a list of all."""
    begin, end, _ = rows.indices(of.local_shape[0])
    if is_where_divided(of) and of.partition_policy in _RANGES:
        return np.arange(of.local_offset + begin, of.local_offset + end)
    return of.local_indices(0)[begin:end]


def indices_at(of: DistributedContainer, dim: int, places: Any) -> np.ndarray[Any, Any]:
    """Return the global indices of places in this rank's part along a dimension; of a range, without a list of all."""
    whole = dim or not is_where_divided(of) or of.partition_policy not in _RANGES
    found: np.ndarray[Any, Any] = of.local_indices(dim)[places] if whole else np.add(places, of.local_offset)
    return found


def own_elements(of: DistributedContainer, whole: Any, dims: range | None = None) -> Any:
    """Return this rank's elements of an array that is as a container, or as some dimensions of it, in shape.

    It is a view where they are side by side. ``np.ix_`` copies, and takes fewer dimensions than an array has.
    """
    for place, d in enumerate(range(of.ndim) if dims is None else dims):
        mine = of.local_indices(d)
        start = int(mine[0]) if len(mine) else 0
        if np.array_equal(mine, np.arange(start, start + len(mine))):
            whole = whole[(*[slice(None)] * place, slice(start, start + len(mine)))]
        else:
            whole = whole.take(mine, axis=place)
    return whole
