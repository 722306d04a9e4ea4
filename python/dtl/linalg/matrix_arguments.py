"""What functions of matrices share: checks of their arguments, results of one rank's work, and containers for them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Tuple

import numpy as np

from .._native import slow_paths
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.values import array_from
from ..algorithms.layouts import container_of
from ..comm import collectives, objects
from ..containers.base import DistributedContainer, check_container
from ..containers.expressions import handle_to_read
from ..containers.indexing.regions import whole_region
from ..containers.interior import check_numbers, is_plain
from ..containers.layout import REPLICATED, Division
from ..exceptions import InvalidTypeError, MemoryError
from ..policies import Partition, Placement
from ..runtime.agreement import confirm, local_step
from .errors import LinAlgError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A container to make: its shape, dtype and division.
Wanted = Tuple[Tuple[int, ...], Any, Division]

#: Of so many bytes, a message to all takes less than telling each rank which ones are its own, and an array of NumPy's
#: less than memory that is kept.
FEW = 1 << 17

#: Bytes of a matrix, of which more are better not collected on one rank.
_LARGE = 1 << 20

#: Bytes for which it is worth asking what the machine has left, which takes as long as solving 50 equations.
_MUCH = 1 << 26


def check_matrix(name: str, a: Any, square: bool = False, *, moved: bool = False) -> None:
    """Refuse what is no open container of two dimensions, or of different extents where they must be the same.

    Nor may it be of elements that are only moved, such as dates, unless moved says that it may.
    """
    check_container(name, a)
    refuse_closed(a)
    if not moved:
        check_numbers(a, "linear algebra")
    if a.ndim != 2:
        raise LinAlgError(f"{name} is a {a.ndim}-dimensional container. It must be two-dimensional")
    if square and a.shape[0] != a.shape[1]:
        raise LinAlgError(f"{name} of shape {a.shape} must be square")


def inexact(*dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that NumPy's linear algebra works in: that of the elements, float64 for integers."""
    common = np.result_type(*dtypes)
    return kind_of(common).divided(common)


def real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the magnitudes of elements."""
    return np.empty(0, dtype).real.dtype


def number(name: str, value: Any) -> float | None:
    """Return a limit as a float; None for none."""
    if value is None:
        return None
    array = array_from(name, value)
    if array.size != 1 or not kind_of(array.dtype).is_real:
        raise InvalidTypeError(f"{name} must be a real number, not {value!r}")
    return float(array.reshape(()))


@contextmanager
def as_lapack_error() -> Iterator[None]:
    """Raise NumPy's LinAlgError as DTL's."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        if isinstance(error, LinAlgError):
            raise
        raise LinAlgError(str(error)) from None


def on_root(ctx: Any, op: str, compute: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return what rank 0 computes: small arrays, the same bits on every rank. Collective.

    A LinAlgError of rank 0 is raised on every rank.
    """
    found = _kept_on_root(ctx, op, compute)
    return found if ctx.size == 1 else tuple(objects.broadcast_object(ctx, found, 0))


def of_root(
    source: DistributedContainer, op: str, compute: Callable[[], tuple[Any, ...]], *wanted: Wanted
) -> tuple[Any, ...]:
    """Return containers of the arrays that rank 0 computes, of which it is said what they are. Collective.

    They are made first, while all ranks are awake: what is left behind the computation is one message for each. An
    error of rank 0 is raised on every rank.
    """
    ctx = source.context
    made: list[Any] = []
    try:
        for shape, dtype, divided in wanted:
            made.append(container_of(source, shape, np.dtype(dtype), divided, blank=True))
        parts = [_part_of_few(c) if ctx.size > 1 and c.nbytes <= FEW else None for c in made]
        found = _kept_on_root(ctx, op, compute) or (None,) * len(made)
        for c, part, array in zip(made, parts, found):
            given = np.ascontiguousarray(array, c.dtype) if ctx.rank == 0 else None
            if part is None:
                bridge.distribute(c, given)
            else:
                part[0][...] = collectives.broadcast(ctx, given, 0)[part[1]]
        confirm()
    except BaseException:
        for c in made:
            c.close()
        raise
    return tuple(made)


def _kept_on_root(ctx: Any, op: str, compute: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return what rank 0 computes on rank 0, and nothing elsewhere.

    Other ranks hear of an error of rank 0 in the collective call that follows.
    """
    with local_step(ctx, op), as_lapack_error():
        return tuple(compute()) if ctx.rank == 0 else ()


def _part_of_few(c: Any) -> tuple[Array, Any]:
    """Return this rank's part, and an index of the elements that belong there in an array of all."""
    part = c.local_view()
    return part, ... if part.shape == c.shape else np.ix_(*[c.local_indices(d) for d in range(c.ndim)])


def everywhere(source: DistributedContainer, array: Array) -> Any:
    """Return a container of an array that every rank has. Collective."""
    made = container_of(source, array.shape, array.dtype, REPLICATED, blank=True)
    made.local_view()[...] = array
    return made


def gathered(a: DistributedContainer, op: str, copies: int) -> Any:
    """Return the whole on rank 0, None elsewhere, if rank 0 has the memory for so many copies of it. Collective.

    The array is for reading: on one rank it is the container's own, where that has all elements in their order.
    """
    part = bridge.quick_whole(a)
    if part is not None and part.dtype == a.dtype and a.partition_policy is Partition.BLOCK:
        with local_step(a.context, op):
            check_room(op, a.nbytes * (copies - 1), f"{copies} copies of shape {a.shape}")
        read_only = part.view()
        read_only.flags.writeable = False
        return read_only
    with local_step(a.context, op):
        if a.context.rank == 0:
            check_room(op, a.nbytes * copies, f"{copies} copies of shape {a.shape}")
    started = slow_paths.clock() if slow_paths.listeners else 0
    whole = _on_rank_0(a, op) if is_plain(a) and a.nbytes > FEW else a.gather_to(0)
    if started and a.context.size > 1 and a.nbytes >= _LARGE:
        slow_paths.tell(slow_paths.GATHERED, op, a.nbytes, started)
    return whole


def _on_rank_0(a: DistributedContainer, op: str) -> Any:
    """Return the whole on rank 0, None elsewhere, in memory that DTL keeps. Collective.

    In an array that NumPy makes, each page is committed anew, and then those of LAPACK's copy, too.
    """
    divided = Division(Partition.EXPLICIT, sizes=(a.shape[0], *[0] * (a.context.size - 1)))
    pieces = (1, handle_to_read(a), *whole_region(a.shape).source())
    with container_of(a, a.shape, a.dtype, divided, Placement.HOST, True, f"{op} ", pieces) as made:
        return made.local_view() if a.context.rank == 0 else None


def check_room(op: str, size: int, what: str) -> None:
    """Refuse what one rank's machine has not the memory for. Little is tried, and all where the system does not say."""
    free = available() if size >= _MUCH else None
    if free is not None and size > free:
        raise MemoryError(
            f"{op}: {what} take {size} bytes on one rank, whose machine has {free} left; this is no distributed "
            "algorithm"
        )


def available() -> int | None:
    """Return the bytes of memory that the machine has left; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def local_parts(ctx: Any, op: str, compute: Callable[[], Any]) -> Any:
    """Return what this rank computes of its own part.

    A LinAlgError of any rank is raised on every rank: on the others by the collective call that follows.
    """
    with local_step(ctx, op), as_lapack_error():
        return compute()
