"""Windows: memory of each rank that all ranks can read and write, without a call of the rank that it belongs to."""

from __future__ import annotations

import contextlib
import sys
import weakref
from operator import attrgetter
from types import TracebackType
from typing import Any, Callable, cast

import numpy as np

from .._native import library
from .._native.arguments import as_bytes, check_output, integer, is_on_device, stored_number
from .._native.callsite import warn
from .._native.library import bridge
from .._native.objects import handle_of
from ..containers.base import DistributedContainer
from ..exceptions import DTLError, InvalidArgumentError, InvalidHandleError, InvalidTypeError
from ..policies import Placement
from ..runtime import detached
from ..runtime.agreement import check_context, collective, local_step
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray, from_dlpack, is_foreign, is_in_c_order, memory_of_array
from .epochs import Epochs

_call = bridge.call


class Window(Epochs):
    """Memory of each rank that all ranks of a context can read and write (MPI_Win). A context manager.

    Making a window, ``fence`` and ``close`` are collective. Each rank's memory is its *part* of the window.

    ``rma_put``, ``rma_get`` and the atomic ``rma_accumulate``, ``rma_fetch_and_add``, ``rma_fetch_and_op`` and
    ``rma_compare_and_swap`` access the parts, within an *epoch*. An epoch lies between two calls of ``fence``, which
    every rank makes; or between ``lock`` and ``unlock`` of one rank's part, which only the accessing rank calls. ``with
    win.epoch():`` and ``with win.locked(target):`` end what they begin.

    Parameters
    ----------
    owner
        The context; or a container, whose local parts become the parts of the window, without a copy. They may be on
        GPUs, if all ranks are on one machine and share memory.
    size
        How many bytes to allocate on this rank, set to zero. On one machine, the memory is shared by all ranks. The
        sizes of the ranks may differ, and be 0.
    base
        Instead of size, this rank's part: a C-contiguous array that can be written to, or a :class:`DeviceArray` of a
        container. The window keeps it alive, and in place, until the window is closed.

    Raises
    ------
    InvalidArgumentError
        If there is not exactly one of size, base and a container, if size is negative, or if base cannot be used. On
        every rank.
    InvalidTypeError
        If owner is neither a context nor a container, size not an integer, or base not an array. On every rank, if the
        error is not about owner.
    CollectiveMismatchError
        If some ranks pass a size, and others memory, or memory of GPUs. On every rank.
    MemoryError
        If a rank cannot allocate the memory. On every rank.
    BackendUnavailableError
        If the ranks do not share memory, and the backend has no one-sided access, or the elements are on GPUs. On every
        rank.

    Notes
    -----
    If a window is open when its context is closed, it is closed too. While it is in use on any rank, the context stays
    open. (MPI standard, chapter "One-Sided Communications".)

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.Window(ctx, size=24) as win:
    ...     with win.epoch():
    ...         dtl.rma_put(win, target=ctx.rank, offset=0, data=np.arange(3.0))
    ...     win.local_view(np.float64)
    array([0., 1., 2.])
    """

    __module__ = "dtl"

    _array: np.ndarray[Any, Any] | None
    _device_dtype: np.dtype[Any] | None = None  # of the part, if a GPU alone reaches it
    _held: bridge.PendingCall | None = None  # keeps base alive
    _base: int
    _sizes: list[int]
    _requests: weakref.WeakSet[Any]  # of rma_rput and rma_rget, where they can be under way
    _cached = False  # ended by containers.cached_windows, not by close
    _kind = "window"  # errors say that the window, lock or counter is closed

    @collective
    def __init__(self, owner: Any, size: Any = None, base: Any = None) -> None:
        ctx = owner.context if isinstance(owner, DistributedContainer) else owner
        check_context(ctx)
        with local_step(ctx, "window"):
            self._array, there, count = _part(owner, size, base)
        self._kept = {}
        self._requests = weakref.WeakSet()
        self._context = ctx
        storage = 0 if there is None else memory_of_array(there).storage
        if self._array is None:
            self._device_dtype = None if there is None else there.dtype
            self._handle = _call(bridge.WIN_MAKE, ctx, None, None, count, storage, 0, 0)
        else:
            self._held = bridge.start(bridge.WIN_MAKE, ctx, None, as_bytes(self._array), 0, storage, 0, 0)
            self._handle = handle_of(self._held)
        facts = np.asarray(_call(bridge.WIN_FACTS, self, None, None, 0, 0, 0, 0)).tolist()
        self._near, self._base, self._sizes = bool(facts[0]), facts[1], facts[2:]
        bridge.attach_window(self)

    @property
    def context(self) -> Context:
        """The context that the window was made on."""
        return self._context

    @property
    def size(self) -> int:
        """The number of bytes of this rank's part."""
        return self._sizes[self._context.rank]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of bytes of each rank's part."""
        return tuple(self._sizes)

    @property
    def base(self) -> int:
        """The address of this rank's part. Raises InvalidHandleError if the window is closed."""
        self._check_open()
        return self._base

    @property
    def is_valid(self) -> bool:
        """Whether both the window and its context are open."""
        return bool(self._handle and handle_of(self._context))

    def local_view(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        """Return this rank's part as a one-dimensional array that shares its memory. Not collective.

        The array keeps the memory alive, so it stays valid when the window is closed. It shows what other ranks have
        written after ``fence`` or ``sync``, or while this rank's part is locked. Of a part on a GPU, it is a
        :class:`DeviceArray`.

        Parameters
        ----------
        dtype
            The dtype of the array; None for that of base, or bytes.

        Raises
        ------
        InvalidArgumentError
            If the part's size is not a multiple of the size of an element.
        InvalidHandleError
            If the window is closed.
        """
        self._check_open()
        if self._array is None:
            return self.shared_view(self._context.rank, self._device_dtype if dtype is None else dtype)
        flat = self._array.reshape(-1)
        if dtype is None:
            return flat
        stored_number(dtype)
        element = np.dtype(dtype)
        if self.size % element.itemsize:
            text = f"the part of {self.size} bytes is no whole number of {element} elements of {element.itemsize} bytes"
            raise InvalidArgumentError(f"local_view: {text}")
        return flat.view(element)

    def shared_view(self, rank: int, dtype: Any = None) -> np.ndarray[Any, Any]:
        """Return any rank's part as a one-dimensional array that shares its memory. Not collective.

        This works for this rank's own part. It works for another rank's part if the window has allocated the memory and
        all ranks are on one machine.

        Parameters
        ----------
        rank
            The rank whose part it is.
        dtype
            The dtype of the array; None for bytes.

        Raises
        ------
        InvalidArgumentError
            If this process cannot reach the part, or if its size is not a multiple of the size of an element.
        BoundsError
            If there is no such rank.
        InvalidHandleError
            If the window is closed.
        """
        element = np.dtype(np.uint8) if dtype is None else dtype
        number = stored_number(element)
        if self._array is not None and rank == self._context.rank:
            return self.local_view(element)
        view = _call(bridge.WIN_VIEW, self, None, None, integer("rank", rank), number, 0, 0)
        if self._device_dtype is not None:
            there: Any = DeviceArray(view, np.dtype(element))
            return cast("np.ndarray[Any, Any]", there)
        return np.asarray(view).view(element)

    def close(self, *, wait: bool = False) -> None:
        """Close the window. Collective (MPI_Win_free). Views keep their memory. Closing twice does nothing.

        Parameters
        ----------
        wait
            Wait for this rank's requests first. You can still get their results afterwards.

        Raises
        ------
        BufferError
            If there are accesses since the last fence, locks, or requests, which the message names. On every rank; the
            window stays open.
        """
        # A context that is closed has ended its windows. One that was given up has no other ranks that would take part.
        if not handle_of(self._context):
            self._drop()
            return
        if self._handle and not library.forked():
            if wait:
                self._settle()
            library.window_close(self._handle)
        self._end()

    def _settle(self) -> None:
        """Wait for this rank's requests. If one fails, the call that waits for it raises the error."""
        with local_step(self._context, "close"):
            for request in list(self._requests):
                with contextlib.suppress(DTLError):
                    request.wait()

    def _end(self) -> None:
        self._handle = 0
        self._held = self._array = None
        self._kept = {}

    def _check_open(self) -> None:
        if not self._handle:
            raise library.closed(self._kind)
        if not handle_of(self._context):
            raise InvalidHandleError(f"the {self._kind} is closed, with its context")

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._drop()

    def _drop(self, keep: Callable[[int, Any], None] = detached.keep_window) -> bool:
        """Let the window go without the other ranks, which may be anywhere, and say whether it is gone.

        If not, it ends with its context, and what others reach for stays until then.
        """
        gone = not self._handle or library.forked() or library.window_drop(self._handle)
        if not gone:
            keep(self._handle, (self._held, self._kept))
        self._end()
        return gone

    # At the interpreter's end modules are cleared first, so the defaults hold what is called.
    def __del__(self, warn: Callable[..., None] = warn, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not self._handle or self._cached or finalizing():
            return
        text = f"{self!r}{'' if self._kind == 'window' else f', of a {self._kind},'} was not closed"
        if not self._drop():
            end = "its context is closed" if handle_of(self._context) else "the process ends, as its context does"
            warn(f"{text}; its memory stays until {end}", ResourceWarning, self)

    def __repr__(self) -> str:
        state = "" if self.is_valid else ", closed"
        return f"<dtl.Window of {self.size} bytes on rank {self._context.rank} of {self._context.size}{state}>"


# What the other modules of this package ask of a window.

#: The dtype of this rank's part, if a GPU alone reaches it, else None.
device_dtype_of: Callable[[Any], Any] = attrgetter("_device_dtype")

#: Whether accesses are over when their calls return, because this process reaches all parts.
is_near: Callable[[Any], bool] = attrgetter("_near")

#: Keeps what an access uses until it is over, from (win, target, array).
keep = Window._keep

_requests_of = attrgetter("_requests")


def note_request(win: Window, request: Any) -> None:
    """Note a request of an access, for which close can wait."""
    _requests_of(win).add(request)


def name_in_errors(win: Window, kind: str) -> None:
    """Have errors call a window by what it is part of, such as lock."""
    win._kind = kind


def lock_for_good(win: Window, kind: str, cached: bool = False) -> None:
    """Lock all parts, in shared mode, until a window ends. Errors call it by its kind, such as counter.

    If it is cached, containers.cached_windows ends it, and not close.
    """
    win._cached = cached
    win.lock_all()
    _call(bridge.WIN_DETACH, win, None, None, 0, 0, 0, 0)
    name_in_errors(win, kind)


def _part(owner: Any, size: Any, base: Any) -> tuple[np.ndarray[Any, Any] | None, DeviceArray | None, int]:
    """Return the memory that a rank brings to a window, for the host and for a GPU, or how many bytes to allocate."""
    given = [size is not None, base is not None, isinstance(owner, DistributedContainer)]
    if sum(given) != 1:
        raise InvalidArgumentError(
            "a window takes either size=, how many bytes to allocate, or base=, an array, or a container"
        )
    if size is not None:
        count = integer("size", size)
        if count < 0:
            raise InvalidArgumentError(f"size {count} is negative")
        return None, None, count
    if base is None:
        return (*_exposed(owner), 0)
    if is_on_device(base):
        array = _side_by_side(from_dlpack(base), "base")
        if is_foreign(array) or memory_of_array(array).managed:
            what = "in managed memory" if memory_of_array(array).managed else "another library's, which may free it"
            raise InvalidArgumentError(f"base is {what}; copy it to a container, as from_local does, and pass that")
        return None, array, 0
    if not isinstance(base, np.ndarray):
        raise InvalidTypeError(f"base must be a NumPy array or a DeviceArray, not {type(base).__name__}")
    if isinstance(base, np.ma.MaskedArray):
        raise InvalidArgumentError("base is a masked array, whose mask a window has no place for; fill it first")
    return _writable(base, "base "), None, 0


def _exposed(container: DistributedContainer) -> tuple[np.ndarray[Any, Any] | None, DeviceArray | None]:
    """Return a container's local part, whose elements have to lie side by side, for the host and for a GPU."""
    there = None
    if container.placement_policy not in (Placement.HOST, Placement.DISK):
        there = _side_by_side(container.device_view(), repr(container))
    if container.placement_policy is Placement.DEVICE:
        return None, there
    elements = container.local_view()
    if not elements.flags.c_contiguous:
        raise _apart(repr(container))
    return _writable(elements, "the container's part "), there


def _writable(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    try:
        check_output(as_bytes(array))
    except InvalidArgumentError as error:
        raise type(error)(str(error).replace("out ", name, 1)) from None
    return array


def _side_by_side(array: DeviceArray, name: str) -> DeviceArray:
    if not is_in_c_order(array):
        raise _apart(name)
    return array


def _apart(name: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"the elements of {name} do not lie side by side here, as with a halo or in a span, so they are no part of a "
        "window"
    )
