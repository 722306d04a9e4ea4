"""Halos: a rank's part together with copies of the neighbouring elements, for stencils."""

from __future__ import annotations

from typing import Any, Callable, cast

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
from .expressions import note_reached
from .interior import check_idle, forget_part
from .places.place import place_of

#: What ghosts beyond the ends stand for, as the modes of ``np.pad``: the core's numbers of them are the places here.
_MODES = ("constant", "wrap", "edge", "reflect", "symmetric")

# Looked up once: the look-up would take a good part of the time of a short exchange.
_call, _EXCHANGE, _BEGIN, _END = bridge.call, bridge.HALO_EXCHANGE, bridge.HALO_BEGIN, bridge.HALO_END


class Halo(Owner):
    """Each rank's part of a container, surrounded by copies of neighbouring elements, the ghosts. For stencils.

    ``view()`` is one array with the part in the middle, in the container's own memory, and the ghosts around it.
    ``exchange()`` fills the ghosts with the elements of other ranks. So a stencil is one expression with slices.

    Making a halo is collective, and changes the structure of the container, as ``resize`` does: the part moves to
    memory with room for the ghosts, and spans of the container become stale. A second halo shares the memory if it is
    no wider. A wider one moves the part again, and makes the first halo stale. ``resize`` and ``redistribute`` make
    every halo stale. A stale halo raises InvalidHandleError.

    Parameters
    ----------
    container
        A vector, array or tensor whose parts are ranges: its partition is PARTITION_BLOCK or PARTITION_EXPLICIT, or it
        has a grid. The halo keeps the container alive, but ``close`` still closes it.
    width
        The number of ghosts along each dimension: an integer for all dimensions, or a sequence with one entry for each,
        an integer or a pair ``(before, after)``. A width may be larger than a neighbour's part.
    periodic
        Whether the first element of a dimension follows its last one: a bool for all dimensions, or a sequence with one
        for each. True means the mode "wrap".
    mode
        What ghosts before the first element of a dimension and after its last one hold, as for ``np.pad``: one for all
        dimensions, or a sequence with one for each. "constant": they are no copies; they are zero at first, and you can
        set them; no exchange changes them. "edge": copies of the first or last element. "reflect": copies of the
        elements from there on backwards, without that one; "symmetric": with it. "wrap": the dimension is a circle.
        Where they are copies, widths may be larger than the extent; except for "edge", up to 64 times.

    Raises
    ------
    InvalidArgumentError
        If the parts are not ranges (redistribute to PARTITION_BLOCK first), if container is a span, if a width is
        negative or too large, if there is no such mode, or if a periodic dimension has another one. On every rank.
    InvalidTypeError
        If container is not a container, width has other values than integers, periodic other values than bools, or mode
        other values than names. On every rank, unless container is not a container.
    BufferError
        If the part has to move, and views of the container exist on any rank. On every rank.
    CollectiveMismatchError
        If the ranks pass different widths. On every rank.
    MemoryError
        If a rank cannot allocate the memory. On every rank.

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
    _mode: tuple[str, ...]

    @collective
    def __init__(
        self, container: DistributedContainer, width: Any, *, periodic: Any = False, mode: Any = "constant"
    ) -> None:
        check_container("container", container)
        check_idle(container, "halo")
        self._container = container
        self._width = _widths(width, container.ndim)
        self._mode = _modes(mode, _periodicity(periodic, container.ndim), container.ndim)
        numbers = [(*pair, _MODES.index(mode)) for pair, mode in zip(self._width, self._mode)]
        cached_windows.end(container, "halo", f"widths {numbers}")
        forget_part(container)
        self._handle = bridge.halo_make(container, np.array(numbers, np.int64).ravel())
        note_reached(container)

    def _release(self, handle: int) -> None:
        library.halo_close(handle)

    def _drop(self, warn: Callable[..., None] = warn, keep: Callable[[int], None] = detached.keep_halo) -> None:
        handle, self._handle = self._handle, 0
        if handle and not library.forked() and not library.halo_drop(handle):
            keep(handle)
            text = "a dtl.Halo was dropped while an exchange is under way; its buffers stay until it is over"
            warn(text, ResourceWarning, self)

    def __repr__(self) -> str:
        state = "" if self._handle else ", closed"
        return f"<dtl.Halo of width {self._width}, mode {self._mode}, around {self._container!r}{state}>"

    @property
    def container(self) -> DistributedContainer:
        """The container that the halo was made for."""
        return self._container

    @property
    def width(self) -> tuple[tuple[int, int], ...]:
        """The numbers of ghosts before and after the part, as a pair for each dimension."""
        return self._width

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Whether each dimension is periodic."""
        return tuple([mode == "wrap" for mode in self._mode])

    @property
    def mode(self) -> tuple[str, ...]:
        """What ghosts beyond the ends of each dimension hold."""
        return self._mode

    def view(self) -> np.ndarray[Any, Any]:
        """Return this rank's part with its ghosts, as an array that shares their memory. Not collective.

        With widths ``(b, a)`` along a dimension, the array is b + a longer than the part, and its index ``b`` is the
        first element of the part. Nothing is copied. The array stays valid from one exchange to the next, so you need
        to ask for it only once. It keeps the memory alive. While it exists, the structure of the container cannot
        change. If the placement of the container is DEVICE, the array is a :class:`DeviceArray`.

        Raises
        ------
        InvalidHandleError
            If the halo is stale or closed, or its container is closed.
        """
        made = _call(bridge.HALO_VIEW, self, None, None, 0, 0, 0, 0)
        return cast("np.ndarray[Any, Any]", place_of(self._container).array_of(self._container, made))

    def exchange(self) -> None:
        """Fill the ghosts, corners included, with the current values of the elements that they are copies of.

        Every rank has to call it, but a rank waits only for the ranks whose elements it needs. If the placement is
        DEVICE, it waits for all, which agree that no kernel has failed. It sends one message to each of its neighbours,
        and further ones for large faces. Faces that are contiguous in memory are not copied first.

        Raises
        ------
        InvalidHandleError
            If the halo is stale or closed, or its container is closed. If that is so on one rank only, its neighbours
            wait for it, because the ranks do not agree on the call before an exchange.
        InvalidArgumentError
            If an exchange has begun and not ended.
        CommunicationError
            If a message fails.
        BackendError
            If a kernel or a copy fails on the GPU of a rank. On every rank; the ghosts are undefined then.
        """
        if library.state.under_way:
            scheduler.wait_for(self._container)
        _call(_EXCHANGE, self, None, None, 0, 0, 0, 0)

    def begin(self) -> None:
        """Start an exchange, and return without waiting for other ranks. Every rank has to call it.

        Until ``end()`` returns, do not use the ghosts, and do not change the elements that other ranks need: those that
        are no further from the edge of the part than the widths. You may read these, and read and change all others.
        The structure of the container cannot change. If the placement is DEVICE, ``end()`` raises what fails here.

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
        """Wait until the exchange that ``begin`` started has filled the ghosts. Every rank has to call it.

        Raises
        ------
        InvalidHandleError
            If the halo is closed.
        InvalidArgumentError
            If no exchange has begun.
        CommunicationError
            If a message fails.
        BackendError
            If a kernel or a copy fails on the GPU of a rank. On every rank; the ghosts are undefined then.
        """
        _call(_END, self, None, None, 0, 0, 0, 0)

    def close(self) -> None:
        """Release the halo's buffers. Views stay valid, and the container is unchanged. Closing twice does nothing.

        Not collective, unless an exchange has begun: then the call ends it first, as ``end()`` does. If a halo is
        deleted, or an exception leaves its ``with`` block, nothing waits for the exchange: you get a ResourceWarning,
        and the buffers are released when the exchange is over.
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


def _modes(mode: Any, circles: tuple[bool, ...], ndim: int) -> tuple[str, ...]:
    names = []
    for name, circle in zip(_entries("mode", mode, ndim), circles):
        if not isinstance(name, str):
            raise InvalidTypeError(f"mode must be a str, not {name!r} of type {type(name).__name__}")
        if name not in _MODES:
            raise InvalidArgumentError(f"mode {name!r} is none of {', '.join(sorted(_MODES))}")
        if circle and name not in ("constant", "wrap"):
            raise InvalidArgumentError(f"a periodic dimension has the mode 'wrap', not {name!r}")
        names.append("wrap" if circle else name)
    return tuple(names)
