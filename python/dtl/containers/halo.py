"""Halos: each rank's part with the neighbouring elements around it, for stencils."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native import library
from .._native.arguments import integer
from .._native.callsite import warn
from .._native.library import bridge
from .._native.objects import Owner
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime import detached, scheduler
from ..runtime.agreement import collective
from . import cached_windows
from .base import DistributedContainer, check_container

# Looked up once: the look-up would take a good part of the time of a short exchange.
_call, _EXCHANGE, _BEGIN, _END = bridge.call, bridge.HALO_EXCHANGE, bridge.HALO_BEGIN, bridge.HALO_END


class Halo(Owner):
    """The elements around each rank's part of a container, its ghosts, in one array with the part.

    ``view()`` is that array: what lies inside is the container's own memory, and what lies around it is filled by
    ``exchange()`` with the elements of other ranks that come there. So a stencil is one slicing expression.

    Making a halo is a change of structure, like ``resize``: the part moves to memory with room for the ghosts, and
    spans of the container become stale. A second halo on the container shares the room if it is no wider; a wider one
    moves the part again, and makes the first stale. ``resize`` and ``redistribute`` make every halo stale. A stale
    halo raises InvalidHandleError. Collective.

    Parameters
    ----------
    container
        A vector, array or tensor whose parts are ranges: partition policy PARTITION_BLOCK or PARTITION_EXPLICIT, or a
        grid. The halo keeps it alive, but not open.
    width
        How many elements along each dimension: an integer for all dimensions, or a sequence of one entry for each
        dimension, an integer or a pair ``(before, after)``. A width may be larger than a neighbour's part.
    periodic
        Whether a dimension is a circle, on which the first element follows the last: a bool for all dimensions, or a
        sequence of one for each. On other dimensions, ghosts before the first element and after the last stand for no
        element: they start at zero, and no exchange touches what is written to them. On a circle, a width may be
        larger than the extent, up to 64 times.

    Raises
    ------
    InvalidArgumentError
        If the parts are no ranges (``redistribute`` to PARTITION_BLOCK first), the container is a span, or a width is
        negative or too large. On every rank.
    InvalidTypeError
        If container is none, width no integers, or periodic no bools. On every rank, if container is a container.
    BufferError
        If views of the container are out on any rank, and the part has to move. On every rank.
    CollectiveMismatchError
        If ranks pass different widths. On every rank.
    MemoryError
        If the memory cannot be allocated on any rank. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6) as vec:
    ...     halo = dtl.Halo(vec, 1, periodic=True)
    ...     vec.local_view()[:] = np.arange(6.0)[vec.local_indices()]
    ...     halo.exchange()
    ...     u = halo.view()
    ...     vec.local_view()[:] = u[2:] - u[:-2]
    ...     vec.gather_to(0)
    array([-4.,  2.,  2.,  2.,  2., -4.])
    """

    __module__ = "dtl"

    _container: DistributedContainer
    _width: tuple[tuple[int, int], ...]
    _periodic: tuple[bool, ...]

    @collective
    def __init__(self, container: DistributedContainer, width: Any, *, periodic: Any = False) -> None:
        check_container("container", container)
        container._check_idle("halo")
        self._container = container
        self._width = _widths(width, container.ndim)
        self._periodic = _periodicity(periodic, container.ndim)
        numbers = [(*pair, circle) for pair, circle in zip(self._width, self._periodic)]
        cached_windows.end(container, "halo", f"widths {numbers}")
        self._handle = bridge.call(bridge.HALO_MAKE, container, np.array(numbers, np.int64).ravel(), None, 0, 0, 0, 0)

    def _let_go(self, handle: int) -> None:
        library.halo_close(handle)

    def _drop(self, warn: Callable[..., None] = warn, keep: Callable[[int], None] = detached.keep_halo) -> None:
        handle, self._handle = self._handle, 0
        if handle and not library.forked() and not library.halo_drop(handle):
            keep(handle)
            text = "a dtl.Halo was dropped while an exchange is under way; its buffers stay until it is over"
            warn(text, ResourceWarning, self)

    def __repr__(self) -> str:
        state = "" if self._handle else ", closed"
        return f"<dtl.Halo of width {self._width}, periodic {self._periodic}, around {self._container!r}{state}>"

    @property
    def container(self) -> DistributedContainer:
        """The container."""
        return self._container

    @property
    def width(self) -> tuple[tuple[int, int], ...]:
        """The number of ghosts before and after the part, along each dimension."""
        return self._width

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Whether each dimension is a circle."""
        return self._periodic

    def view(self) -> np.ndarray[Any, Any]:
        """Return this rank's part with its ghosts, as an array that shares their memory. Not collective.

        Its extent along a dimension is that of the part and both widths: with widths ``(b, a)``, index ``b`` is the
        part's first element. Nothing is copied. The array keeps the memory alive, and counts among the views that
        hinder a change of structure. It is right from one exchange to the next; there is no need to ask for it again.

        Raises
        ------
        InvalidHandleError
            If the halo is stale or closed, or its container is closed.
        """
        return self._container._elements(_call(bridge.HALO_VIEW, self, None, None, 0, 0, 0, 0))

    def exchange(self) -> None:
        """Fill the ghosts with the elements that they stand for, as these are now, corners included.

        Collective, in that every rank calls it; a rank waits only for those whose elements it needs. One message goes
        to each of those, but for large faces, which travel by themselves. Faces that lie side by side in memory are
        not copied.

        Raises
        ------
        InvalidHandleError
            If the halo is stale or closed, or its container is closed. Where that is so on one rank alone, its
            neighbours wait for it: there is no agreement before an exchange.
        InvalidArgumentError
            If an exchange has begun and not ended.
        CommunicationError
            If a message fails.
        """
        if library.state.under_way:
            scheduler.wait_for(self._container)
        _call(_EXCHANGE, self, None, None, 0, 0, 0, 0)

    def begin(self) -> None:
        """Start what exchange does, and return without waiting for other ranks. Collective in the same sense.

        Until ``end()`` returns, the ghosts mean nothing, and the elements that others need, those no further from the
        part's edge than the widths, must not change. Reading them is fine, and so is changing those further inside. The
        container refuses a change of structure until then.

        Raises
        ------
        InvalidHandleError
            If the halo is stale or closed, or its container is closed.
        InvalidArgumentError
            If an exchange has begun and not ended.
        CommunicationError
            If a message fails.
        """
        if library.state.under_way:
            scheduler.wait_for(self._container)
        _call(_BEGIN, self, None, None, 0, 0, 0, 0)

    def end(self) -> None:
        """Wait until the exchange that began has filled the ghosts. Collective in the same sense.

        Raises
        ------
        InvalidHandleError
            If the halo is closed.
        InvalidArgumentError
            If no exchange has begun.
        CommunicationError
            If a message fails.
        """
        _call(_END, self, None, None, 0, 0, 0, 0)

    def close(self) -> None:
        """Let the halo's buffers go. A second call does nothing. Views stay, and the container is as it was.

        Not collective, unless an exchange has begun: it is ended first, as by ``end()``. A halo that is dropped, or
        that an exception leaves, waits for nobody: with an exchange under way it warns with a ResourceWarning, and its
        buffers stay until that is over.
        """
        super().close()


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _entries(name: str, value: Any, ndim: int) -> list[Any]:
    """Return one entry for each dimension."""
    if not _is_sequence(value):
        return [value] * ndim
    if len(value) != ndim:
        hint = "; a pair (before, after) stands in a sequence with an entry a dimension" if name == "width" else ""
        raise InvalidArgumentError(f"{name} {value!r} has {len(value)} entries for {ndim} dimensions{hint}")
    return list(value)


def _widths(width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    pairs = []
    for entry in _entries("width", width, ndim):
        pair = list(entry) if _is_sequence(entry) else [entry, entry]
        if len(pair) != 2:
            raise InvalidArgumentError(f"width {entry!r} has {len(pair)} entries where a pair (before, after) has 2")
        pairs.append((integer("width", pair[0]), integer("width", pair[1])))
    return tuple(pairs)


def _periodicity(periodic: Any, ndim: int) -> tuple[bool, ...]:
    circles = _entries("periodic", periodic, ndim)
    for circle in circles:
        if not isinstance(circle, (bool, np.bool_)):
            raise InvalidTypeError(f"periodic must be a bool, not {circle!r} of type {type(circle).__name__}")
    return tuple(map(bool, circles))
