"""Contexts: groups of ranks that work together."""

from __future__ import annotations

import contextlib
import os
import sys
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable

from .._lazy import late, public
from .._native import library, log, process, slow_paths, threads, variables
from .._native.arguments import integer, text
from .._native.callsite import raised, warn
from .._native.library import bridge
from ..exceptions import (
    BackendError,
    BufferError,
    CollectiveMismatchError,
    CommunicationError,
    DTLError,
    InvalidArgumentError,
)
from ..runtime.scheduler import short
from . import abort, backends, detached, function_calls, hang_monitor
from .agreement import agree, collective, local_step
from .devices import DeviceRanks, usual_or

_WITH_MPI = "python -m dtl run --mpi has MPI connect them, as a program with mpi4py needs it"

#: The most that the other ranks are told of the error by which a rank leaves.
LONGEST_REASON = 200

_unknown_attribute = late(".runtime.hints", "unknown_attribute")

_limit_memory = late(".runtime.scratch", "configure")

#: The folder of files of containers on disk where nobody names one: what is in /tmp is often in memory.
_USUAL_SCRATCH = "/var/tmp"

#: What is called with the handle of each context that was closed.
on_close: list[Callable[[int], None]] = []


class Kept:
    """What packages above keep with a context: of asynchronous calls, topologies, sparse matrices, and namespaces."""

    __slots__ = ("array_namespaces", "compared_gpus", "exchanges", "neighbours", "prepared", "streams", "topologies")

    def __init__(self) -> None:
        self.streams: Any = None  # what runs asynchronous calls, where there have been any
        self.compared_gpus = False  # whether ranks were warned that share a GPU
        self.topologies = 0  # how many grids and graphs of its ranks there are
        self.neighbours: Context | None = None  # a duplicate, for the messages of sparse matrices alone
        self.exchanges = 0  # how many patterns of such messages there have been
        self.prepared: Any = ()  # weak references to those, whose requests end with the context
        self.array_namespaces: Any = None  # weak references to those of the array API standard, by partition

    def close(self) -> None:
        """Close what the context had made for itself: it is closed."""
        if self.streams is not None:
            self.streams.close()
        if self.neighbours is not None:
            for messages in tuple(self.prepared):
                messages.close()
            self.neighbours.close()


class Context(DeviceRanks):
    """A group of ranks that work together, on which you make containers and call collectives. A context manager.

    Making and closing a context is collective: every rank does both.

    Parameters
    ----------
    comm
        A communicator of mpi4py, or an object with a ``handle``; the context works on a duplicate of it, and never
        frees the original. None for all processes that a launcher started together, or for this process alone if no
        launcher did.
    device_id
        The number of this rank's GPU. -1 is for a program that uses the CPU alone: containers cannot be on a GPU then.
        With None, those that are to be on one take the GPU that ``Topology.gpu_id`` names.
    backend
        The backend that connects the ranks, the same on every rank: ``"local"`` (processes of one machine, started by
        ``dtl run``), ``"mpi"``, ``"shmem"`` (OpenSHMEM) or ``"cpu"`` (this process alone). None takes it from the
        environment variable DTL_BACKEND, or else from the launcher that started this process.
    check
        Where the ranks compare each collective call before it begins. ``"full"``: always, by messages if necessary.
        ``"node"``: only if all ranks share memory, which costs next to nothing; otherwise, calls that do not match may
        hang or give wrong numbers. None takes it from the environment variable DTL_CHECK, or else ``"full"``. If you
        say ``"full"`` in either way, ``dtl.live()`` also tells where later objects were made.
    progress
        When requests of this rank, and accesses of other ranks to its windows, make progress. ``"none"``: in calls that
        wait for another rank. ``"poll"``: in every call. ``"thread"``: all the time, by a thread that exists while
        something is under way, and that needs MPI_THREAD_MULTIPLE. None takes it from the environment variable
        DTL_PROGRESS, or else ``"none"``. The ranks may pass different ones.
    scratch
        The folder for the files of containers of PLACEMENT_DISK, which have no name there, and are gone when the
        process is. The ranks may pass different ones. None takes it from the environment variable DTL_SCRATCH, or else
        TMPDIR, or else ``/var/tmp``.

    Raises
    ------
    InvalidArgumentError
        If check or progress is unknown, if backend does not connect ranks, or if it is not ``"mpi"`` and there is a
        comm.
    InvalidTypeError
        If comm is not a communicator, backend not a str, or device_id not an integer.
    BackendUnavailableError
        If MPI or OpenSHMEM is needed and cannot be opened, or if device_id names a GPU and none can be used (on every
        rank).
    BoundsError
        If there is no GPU with this number on some rank. On every rank.
    BackendError
        If a rank started this process, so that it is not a rank of the job itself, or if a function of an
        :class:`Executor` makes the context.
    FileError
        If no file can be made in the scratch folder that the argument names, on some rank; FileNotFoundError if there
        is no such folder. On every rank.
    CommunicationError
        If the launcher started another number of processes than the library connects.

    Notes
    -----
    Without a launcher and without comm, MPI is not even opened. Since the communicator is a duplicate, messages of
    different contexts never meet. (MPI standard, chapter "Groups, Contexts, Communicators, and Caching".)

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(f"rank {ctx.rank} of {ctx.size}")
    rank 0 of 1
    """

    __module__ = "dtl"

    _kept: Kept  # by packages above

    def __init__(
        self,
        comm: Any = None,
        device_id: int | None = None,
        *,
        backend: str | None = None,
        check: str | None = None,
        progress: str | None = None,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        device = usual_or(device_id)
        folder = _scratch_folder(scratch)
        log.configure()
        hang_monitor.configure(check, progress, backend)
        process.refuse_other_versions()
        if os.environ.get("DTL_MEMORY_LIMIT"):
            _limit_memory()
        if comm is not None and backend not in (None, "mpi"):
            raise library.invalid("context", f"backend {backend!r} beside a communicator, which MPI connects")
        native = 0 if comm is None else _mpi4py().native_communicator(comm)
        if backend != "cpu" and not (comm and getattr(comm, "size", None) == 1):  # which concern this process alone
            function_calls.refuse("context")
        if comm is None:
            process.refuse_child()
            name = backends.chosen() if backend is None else text("backend", backend)
            unsaid = backend is None and not name
            self._adopt(library.context_world(device) if unsaid else library.context_on(name, device))
            if self._backend != "cpu":
                process.claim()
            _log_choice(self, backend, name)
            if not self._rank:
                variables.warn_of_unknown()
        else:
            if library.local_joined() or library.local_active():
                _mpi4py().refuse_world(comm, f"the backend local connects the ranks of this job; {_WITH_MPI}")
            self._adopt(library.context_adopt(native, device))
        library.context_set_scratch(self._handle, folder)
        if scratch is not None:
            self._check_scratch()

    def _check_scratch(self) -> None:
        """Close the context again where no file can be made in its scratch folder on a rank. Collective."""
        try:
            with local_step(self, "context"):
                os.close(library.context_scratch_file(self._handle))
            agree(self, "context", "a scratch folder")
        except BaseException:
            self.close()
            raise

    def _adopt(self, handle: int) -> None:
        self._handle = handle
        self._kept = Kept()
        bridge.attach(self)
        threads.get_num_threads()  # which tells the core how many
        self._device = library.context_device(handle)
        self._backend = library.context_backend(handle)
        if self._size > 1:
            if self._backend != "cpu":  # whose ranks are threads of this process
                abort.install(self._rank)
                if log.state["rank"] is None:
                    log.state["rank"] = self._rank
            hang_monitor.start()
        log.say("context", log.DEBUG, "a context of %d ranks on %r", self._size, self._backend)
        slow_paths.log_them()

    @classmethod
    def _adopt_handle(cls, handle: int) -> Context:
        return of_handle(handle, cls)

    def close(self, *, wait: bool = False) -> None:
        """Free the communicator. Collective. Closing twice does nothing.

        Containers on the context remain: you can still use their views and read local elements. Their calls that
        communicate raise InvalidHandleError, and so do calls of other threads that wait on the context.

        Parameters
        ----------
        wait
            Wait for requests and asynchronous calls of this rank that are under way on the context. You can still get
            their results afterwards.

        Raises
        ------
        BufferError
            If requests or asynchronous calls are under way on this rank and wait is false; then the context stays open
            on this rank. Or if a window of the context is in use on any rank, which the message names; then the context
            stays open on every rank.
        BackendError
            If what connects the ranks, such as NCCL's communicator, cannot be freed on this rank. The context is
            closed.
        """
        if self._handle:
            if not library.forked():
                bridge.register_all()  # on a context that is closed, nothing is made
                streams = self._kept.streams
                if streams is not None:
                    streams.begin_close("close", wait)
                try:
                    if wait:
                        library.context_settle(self._handle)
                    detached.settle(wait)
                    try:
                        library.context_close(self._handle)
                    except CommunicationError as error:
                        if type(error) is CommunicationError:  # without the other ranks nobody can close it
                            self._give_up(_reason(error))
                        raise
                    except BackendError:  # the context is closed, but not all that it had could be freed
                        self._handle = 0
                        raise
                except BaseException:
                    if streams is not None and self._handle:  # it stays open
                        streams.closed = False
                    raise
                self._kept.close()
                for closed in on_close:
                    closed(self._handle)
                detached.settle_windows()
            self._handle = 0

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        # A rank that fails must not wait for the others to close: they may wait for it in another call.
        if error is None:
            try:
                self.close()
            except CollectiveMismatchError as mine:  # of an earlier call: a rank that raised it there has left
                self._give_up(_reason(mine))
                raise
        elif self._size > 1:
            self._give_up(_reason(error))
        else:
            with contextlib.suppress(BufferError):
                self.close()
        self._handle = 0

    def _give_up(self, why: str) -> None:
        """Leave the context without the other ranks, and tell those that wait for this one why."""
        handle, self._handle = self._handle, 0
        if handle and not library.forked():
            log.say("ranks", log.WARNING, "this rank leaves a context of %d: %s", self._size, why)
            with contextlib.suppress(DTLError):  # below MPI_THREAD_MULTIPLE, another thread may be in a call
                library.context_give_up(handle, why)
                if self._kept.streams is not None:
                    self._kept.streams.give_up(why)
                if self._kept.neighbours is not None:
                    give_up(self._kept.neighbours, why)

    # The interpreter's end takes the modules away first, so what is used then is held here.
    def __del__(
        self,
        warn: Callable[..., None] = warn,
        category: type[Warning] = ResourceWarning,
        finalizing: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        if not self._handle:
            return
        if self._backend == "cpu" and self._size == 1:
            if not finalizing():
                self.close()
        else:
            # Collected at different times on different ranks, so it may not communicate.
            warn(f"{self!r} was not closed", category, self)

    if not TYPE_CHECKING:  # which knows what there is

        def __getattr__(self, name: str) -> Any:
            """Say what there is in place of an attribute that there is not."""
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                text = _unknown_attribute(type(self).__name__, name, public)
            raise AttributeError(text)

    def __repr__(self) -> str:
        state = "" if self._handle else ", closed"
        return f"<dtl.Context rank {self._rank} of {self._size}, {self._backend}{state}>"

    @property
    def rank(self) -> int:
        """The rank of this process, in [0, size)."""
        return self._rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._size

    @property
    def is_root(self) -> bool:
        """Whether this is rank 0."""
        return self._rank == 0

    @short(bridge.BARRIER, "owner", "met")
    def barrier(self) -> None:
        """Wait until every rank has called it. Collective (MPI_Barrier)."""
        bridge.barrier(self)

    @property
    def scratch(self) -> str:
        """The folder of containers on disk."""
        return library.context_scratch(self._handle)

    def fence(self) -> None:
        """Order this process's memory accesses before the call before those after it. Not collective."""
        library.context_fence(self._handle)

    @collective
    def dup(self) -> Context:
        """Return a context of the same ranks. Messages of the two never meet. Collective (MPI_Comm_dup)."""
        self._refuse_in_function("dup")
        return of_handle(library.context_dup(self._handle))

    @collective
    def split(self, color: int | None, key: int = 0) -> Context | None:
        """Return a context of the ranks that passed the same color. Collective (MPI_Comm_split).

        Parameters
        ----------
        color
            A number, at least 0, for the group to join; None to join none.
        key
            The ranks of the new context are ordered by key, and by their rank here if the keys are equal.

        Returns
        -------
        Context or None
            The new context; None if color is None.

        Raises
        ------
        InvalidArgumentError
            If color is negative.
        """
        self._refuse_in_function("split")
        part = -1
        if color is not None:
            part = integer("color", color)
            if part < 0:
                raise library.invalid("split", f"color {part} is negative; None joins no part")
        handle = library.context_split(self._handle, part, integer("key", key))
        return of_handle(handle) if handle else None

    @collective
    def split_by_node(self) -> Context:
        """Return a context of the ranks that share memory with this one. Collective (MPI_Comm_split_type).

        Returns
        -------
        Context
            The ranks on this rank's machine, in the order that they have here.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx, ctx.split_by_node() as node:
        ...     1 <= node.size <= ctx.size
        True
        """
        self._refuse_in_function("split_by_node")
        return of_handle(library.context_split_by_node(self._handle))

    def _refuse_in_function(self, op: str) -> None:
        """Refuse a call that makes a context of several ranks in a function of an executor, where one makes it."""
        if self._size > 1:
            function_calls.refuse(op)

    @collective
    def to_mpi4py(self) -> Any:
        """Return a communicator of mpi4py with the same ranks. Collective (MPI_Comm_dup).

        Returns
        -------
        mpi4py.MPI.Intracomm
            A duplicate, whose messages never meet those of this context. It stays valid when the context is closed. You
            free it with its ``Free()``, which is collective; otherwise it is freed with MPI itself. If the context does
            not use MPI, it is a duplicate of ``MPI.COMM_SELF``, for which mpi4py initialises MPI if necessary.

        Raises
        ------
        BackendUnavailableError
            If mpi4py cannot be imported, or uses another MPI library.
        InvalidArgumentError
            If OpenSHMEM or the backend ``local`` connects the ranks, or if the ranks are threads of this process.
        BackendError
            If MPI would be initialised in a process that a rank started, so that it is not a rank of the job itself.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     comm = ctx.to_mpi4py()  # doctest: +SKIP
        """
        if not self._handle:
            raise library.closed("context")
        if self._backend == "local":
            raise library.invalid("to_mpi4py", f"the backend local connects the ranks; {_WITH_MPI}")
        if self.has_shmem:
            library.context_export(self._handle)  # says why not
        if self.has_mpi:
            module = _mpi4py().mpi4py_module()
            return _mpi4py().communicator(module, library.context_export(self._handle))
        if self._size > 1:
            raise InvalidArgumentError("to_mpi4py: the ranks are threads of this process, which MPI does not connect")
        process.refuse_child()
        return _mpi4py().mpi4py_module().COMM_SELF.Dup()


def _scratch_folder(given: str | os.PathLike[str] | None) -> str:
    """Return the absolute path of the scratch folder that an argument names, or else the environment."""
    folder = variables.value("DTL_SCRATCH") or os.environ.get("TMPDIR") or _USUAL_SCRATCH if given is None else given
    if not text("scratch", os.fspath(folder) if isinstance(folder, os.PathLike) else folder):
        raise InvalidArgumentError("scratch is '', and has to name a folder")
    return os.path.abspath(os.fspath(folder))


#: What packages above keep with a context.
kept_of: Callable[[Any], Kept] = attrgetter("_kept")

#: Leaves a context without the other ranks, and tells those that wait for this one why, from (ctx, why).
give_up = Context._give_up


def of_handle(handle: int, kind: type[Context] = Context) -> Context:
    """Return the context of a handle that the core made."""
    context = kind.__new__(kind)
    context._adopt(handle)
    return context


def of_threads(ranks: int) -> list[Context]:
    """Return the contexts of new ranks, each of which a thread of this process is to use. Not collective."""
    hang_monitor.configure(None)
    return [of_handle(int(handle)) for handle in library.contexts_of_threads(ranks).split()]


def _log_choice(ctx: Context, argument: str | None, variable: str) -> None:
    """Say which backend connects the ranks of the world, and why."""
    if log.heard("context", log.INFO) is None:
        return
    if argument is not None:
        why = f"backend={argument!r} says so"
    elif variable:
        why = f"DTL_BACKEND is {variable!r}"
    elif ctx.backend == "local":
        why = "dtl run has started them without MPI"
    elif ctx.backend == "cpu":
        why = "no launcher has started this process"
    else:
        why = "a launcher has started them, or MPI is initialised"
    text = f"{ctx.size} ranks on {ctx.backend!r}: {why}"
    if ctx.has_mpi:
        from . import mpi

        described = mpi.describe() or {}
        text += "".join(f"; {described[part]}" for part in ("version", "path") if part in described)
    log.say("context", log.INFO, "%s", text)


def _reason(error: BaseException) -> str:
    """Return what the other ranks are told of a rank that an error takes out of a context."""
    if isinstance(error, SystemExit):
        return hang_monitor.PROGRAM_ENDED
    if isinstance(error, KeyboardInterrupt):
        place = raised(error.__traceback__)
        where = f"was at {place}, and " if place else ""
        return f"{where}{hang_monitor.LEFT_CONTEXT} KeyboardInterrupt"
    return f"{hang_monitor.LEFT_CONTEXT} {type(error).__name__}: {error}"[:LONGEST_REASON]


def _mpi4py() -> Any:
    """Return the module that knows mpi4py's communicators, which not every program needs."""
    from . import mpi4py

    return mpi4py


def this_rank(ctx: Any) -> int:
    """Return the caller's rank; what is no context is refused as the bridge refuses it."""
    if not isinstance(ctx, Context):
        bridge.barrier(ctx)
    rank: int = ctx.rank
    return rank
