"""Containers that own their elements: how they are made, and how they are divided anew."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np

from .._native import library
from .._native.arguments import dtype_number, input_array, integer
from .._native.library import bridge
from .._native.objects import Owner
from .._native.values import filling
from ..comm import collectives
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..policies import Execution, Partition, Placement
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from . import cached_windows
from .indexing.access import Indexed
from .layout import Division, division, execution_policy, placement_of

Owning = TypeVar("Owning", bound="OwningContainer")

#: The most dimensions of a NumPy array.
_MAX_DIMS = 64


class OwningContainer(Indexed):
    """A container that is no span. A subclass says of which family it is, and how it is called."""

    _family: ClassVar[int]
    _op: ClassVar[str]
    _dims: ClassVar[int | None] = 1

    def __new__(cls: type[Owning], *args: Any, **kwargs: Any) -> Owning:
        """Make an object for __init__, unless the context is forgotten, which no other library's calls have."""
        if "ctx" not in kwargs and (
            (len(args) == 1 and not isinstance(args[0], bridge.Ranks)) or (kwargs and not args)
        ):
            given = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
            raise InvalidTypeError(f"{cls.__name__}: ctx, the context, is missing, which comes first: (ctx, {given})")
        return super().__new__(cls)

    def _create(
        self,
        ctx: Context,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        divided: Division,
        execution: Execution = Execution.SEQ,
    ) -> None:
        """Make the native container, of zeros. Collective: the ranks agree on the shape, dtype and division."""
        cached_windows.end_unused(ctx)
        spec = np.array([self._family, dtype_number(dtype), len(shape), *shape, *divided.numbers()], np.int64)
        self._adopt(bridge.call(bridge.CREATE, ctx, spec, None, 0, 0, 0, 0), ctx, dtype, len(shape), divided)
        self._run_as(execution)

    @classmethod
    def _created(cls: type[Owning], ctx: Context, shape: tuple[int, ...], dtype: Any, divided: Division) -> Owning:
        made = cls.__new__(cls)
        made._create(ctx, shape, dtype, divided)
        return made

    def _construct(
        self,
        ctx: Context,
        extents: Any,
        dtype: Any,
        fill: Any,
        division_of: tuple[Any, Any, Any],
        placement: Placement,
        execution: Execution,
    ) -> None:
        """Do what the constructors do. Extents is called for the shape, since the check of one may fail, too."""
        check_context(ctx)
        dtype_number(dtype)
        resolved = np.dtype(dtype)
        divided = division(*division_of)
        placement_of(placement)
        execution = execution_policy(execution)
        value = None if fill is None else filling(fill, resolved)
        shape = extents()
        if value is not None and divided.partition is Partition.REPLICATED:
            agree(ctx, self._op, f"fill {fill!r}")  # each rank fills its own copy, so all must fill alike
        self._create(ctx, shape, resolved, divided, execution)
        if value is not None:
            self.local_view()[...] = value

    @classmethod
    def _from_numpy(
        cls: type[Owning],
        ctx: Context,
        array: Any,
        root: int,
        division_of: tuple[Any, Any, Any],
        placement: Placement,
        execution: Execution,
    ) -> Owning:
        op = "from_numpy"
        check_context(ctx)
        header = np.zeros(2 + _MAX_DIMS, np.int64)
        given = None
        number = integer("root", root)
        if not 0 <= number < ctx.size:
            raise BoundsError(f"root {number} outside [0, {ctx.size})")
        divided = division(*division_of)
        placement_of(placement)
        execution = execution_policy(execution)
        if ctx.rank == number:
            given = cls._given("array", array)
            header[: 2 + given.ndim] = (dtype_number(given.dtype), given.ndim, *given.shape)
        agree(ctx, op, f"root {number}, {divided}")
        header = collectives.broadcast(ctx, header, number)
        made = cls.__new__(cls)
        shape = tuple(header[2 : 2 + header[1]].tolist())
        made._create(ctx, shape, np.dtype(library.dtype_name(int(header[0]))), divided, execution)
        bridge.call(bridge.DISTRIBUTE, made, given, None, number, 0, 0, 0)
        return made

    @classmethod
    @collective
    def from_local(cls: type[Owning], ctx: Context, local_array: Any) -> Owning:
        """Return a container of the ranks' arrays, one after the other in rank order. Collective.

        Parameters
        ----------
        ctx
            The ranks.
        local_array
            This rank's elements. The first extent may differ between ranks, and may be 0; dtype and the other
            extents may not.

        Returns
        -------
        container
            Of partition policy PARTITION_EXPLICIT, with a copy of the array as this rank's part.

        Raises
        ------
        InvalidTypeError
            If a rank's array has a dtype that is not held. On every rank.
        InvalidArgumentError
            If a rank's array has not the dimensions that the container has. On every rank.
        CollectiveMismatchError
            If the ranks' arrays are of different dtypes, or differ beyond the first extent. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     vec = dtl.DistributedVector.from_local(ctx, np.arange(ctx.rank + 1))
        ...     vec.local_size - ctx.rank
        1
        """
        check_context(ctx)
        given = cls._given("local_array", local_array)
        agree(ctx, "from_local", f"dtype {given.dtype}, shape {('*', *given.shape[1:])}".replace("'", ""))
        return cls._from_parts(ctx, given)

    @classmethod
    def _from_parts(cls: type[Owning], ctx: Context, part: np.ndarray[Any, Any]) -> Owning:
        """Return a container of the ranks' arrays, which are known to fit together. Collective."""
        sizes = tuple(collectives.allgather(ctx, len(part)).tolist())
        divided = Division(Partition.EXPLICIT, sizes=sizes)
        made = cls._created(ctx, (sum(sizes), *part.shape[1:]), part.dtype, divided)
        made.local_view()[...] = part
        return made

    @classmethod
    def _given(cls, name: str, array: Any) -> np.ndarray[Any, Any]:
        """Return an array whose elements the container can hold."""
        given = input_array(name, array)
        if (cls._dims is not None and given.ndim != cls._dims) or given.ndim == 0:
            wanted = "1 dimension" if cls._dims == 1 else "1 dimension or more"
            raise InvalidArgumentError(
                f"{name} of shape {given.shape} has {given.ndim} dimensions; it must have {wanted}"
            )
        return given

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
        alias = _StreamAlias(library.container_on(self._handle, ctx._handle))
        self._divide(divided, limit, alias)

    def _divide(self, divided: Division, limit: int = 0, alias: Any = None) -> None:
        """Divide the container anew. Collective."""
        spec = np.array(divided.numbers(), np.int64)
        from .._native.phases import phases  # not needed before

        with phases():
            bridge.call(bridge.REDISTRIBUTE, self if alias is None else alias, spec, None, limit, 0, 0, 0)
        self._division = divided


class _StreamAlias(Owner):
    """The same container on another context, such as a stream's, for one call."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def _let_go(self, handle: int) -> None:
        library.container_close(handle)
