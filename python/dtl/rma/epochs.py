"""Epochs of windows: the times between which parts may be accessed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, TypeVar

from .._native.arguments import as_bytes, integer
from .._native.library import bridge
from ..exceptions import BoundsError, InvalidArgumentError
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.scheduler import short

Self = TypeVar("Self", bound="Epochs")

_call = bridge.call
_EVERY = -1
_MODES = {"exclusive": 1, "shared": 0}


class Epochs(bridge.Exposed):
    """The methods of a window that begin and end epochs."""

    _context: Context
    _near: bool  # whether an access is complete when its call returns, as in shared memory
    _kept: dict[int, list[Any]]  # of each target, the arrays that accesses under way read and write

    def fence(self) -> None:
        """End the epoch that the last fence began, and begin one in which every rank may access every part.

        When it returns, all earlier accesses are complete on all ranks. Collective (MPI_Win_fence).

        Raises
        ------
        InvalidArgumentError
            If this rank has locked a part. On every rank.
        InvalidHandleError
            If the window is closed.
        """
        _call(bridge.WIN_FENCE, self, None, None, 0, 0, 0, 0)
        self._kept.clear()

    def lock(self, target: int, mode: str = "exclusive") -> None:
        """Begin an epoch for one rank's part (MPI_Win_lock). Not collective: the target makes no call.

        Waits until ranks that hold a conflicting lock release it.

        Parameters
        ----------
        target
            The rank whose part it is.
        mode
            ``"exclusive"``: no other rank may lock the part at the same time; ``"shared"``: others may, in this mode.

        Raises
        ------
        InvalidArgumentError
            If this rank has locked the part already, if there were accesses since the last fence, or if mode is
            unknown.
        BoundsError
            If there is no such rank.
        CommunicationError
            If the rank that has locked it has ended.
        """
        if not isinstance(mode, str) or mode not in _MODES:
            raise InvalidArgumentError(f"lock: mode {mode!r} is neither 'exclusive' nor 'shared'")
        _call(bridge.WIN_LOCK, self, None, None, self._rank("lock", target), _MODES[mode], 0, 0)

    def unlock(self, target: int) -> None:
        """End the epoch of ``lock``, when all its accesses are complete at the target (MPI_Win_unlock). Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank has not locked the part.
        BoundsError
            If there is no such rank.
        """
        _call(bridge.WIN_UNLOCK, self, None, None, self._rank("unlock", target), 0, 0, 0)
        self._unlock_target(target)

    def lock_all(self) -> None:
        """Begin an epoch for all parts, in shared mode (MPI_Win_lock_all). Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank has locked a part, or if there were accesses since the last fence.
        """
        _call(bridge.WIN_LOCK, self, None, None, _EVERY, 0, 0, 0)

    def unlock_all(self) -> None:
        """End the epoch of ``lock_all``, when all its accesses are complete (MPI_Win_unlock_all). Not collective.

        Raises
        ------
        InvalidArgumentError
            If there is no epoch of ``lock_all``.
        """
        _call(bridge.WIN_UNLOCK, self, None, None, _EVERY, 0, 0, 0)
        self._kept.clear()

    @short(bridge.WIN_FLUSH, "owner 0", "flushed")
    def flush(self, target: int) -> None:
        """Wait until all accesses to a target that have begun are complete there (MPI_Win_flush). Not collective.

        Raises
        ------
        InvalidArgumentError
            If no epoch is open for its part.
        BoundsError
            If there is no such rank.
        """
        _call(bridge.WIN_FLUSH, self, None, None, self._rank("flush", target), 0, 0, 0)
        self._unlock_target(target)

    def flush_all(self) -> None:
        """Wait until all accesses that have begun are complete (MPI_Win_flush_all). Not collective.

        Raises
        ------
        InvalidArgumentError
            If no epoch is open.
        """
        _call(bridge.WIN_FLUSH, self, None, None, _EVERY, 0, 0, 0)
        self._kept.clear()

    def flush_local(self, target: int) -> None:
        """Wait until data of puts may be changed again, and results of gets are available (MPI_Win_flush_local).

        Not collective.

        Raises
        ------
        InvalidArgumentError
            If no epoch is open for the target's part.
        BoundsError
            If there is no such rank.
        """
        _call(bridge.WIN_FLUSH, self, None, None, self._rank("flush_local", target), 1, 0, 0)
        self._unlock_target(target)

    def flush_local_all(self) -> None:
        """Do ``flush_local`` for all targets (MPI_Win_flush_local_all). Not collective.

        Raises
        ------
        InvalidArgumentError
            If no epoch is open.
        """
        _call(bridge.WIN_FLUSH, self, None, None, _EVERY, 1, 0, 0)
        self._kept.clear()

    def sync(self) -> None:
        """Make completed writes of other ranks visible in this rank's part (MPI_Win_sync). Not collective."""
        _call(bridge.WIN_SYNC, self, None, None, 0, 0, 0, 0)

    @contextmanager
    def epoch(self: Self) -> Iterator[Self]:
        """Call ``fence`` before and after a block. Collective.

        If the block raises on a rank, the ``fence`` of the other ranks raises, too.
        """
        self.fence()
        with local_step(self._context, "fence"):
            yield self
        self.fence()

    @contextmanager
    def locked(self: Self, target: int, mode: str = "exclusive") -> Iterator[Self]:
        """Lock one rank's part for a block. Not collective. Parameters and errors are those of ``lock``."""
        self.lock(target, mode)
        try:
            yield self
        finally:
            self.unlock(target)

    def _rank(self, op: str, target: Any) -> int:
        """Return a target's rank. The core refuses other numbers, except the one that stands for all ranks."""
        number = integer("target", target)
        if number == _EVERY:
            error = BoundsError(f"{op}: target {number} outside [0, {self._context.size})")
            error.op = op
            raise error
        return number

    def _keep(self, target: int, array: Any) -> None:
        """Keep what an access uses until it is over."""
        if not self._near:
            self._kept.setdefault(target, []).append(memoryview(as_bytes(array)))

    def _unlock_target(self, target: int) -> None:
        if self._kept:
            self._kept.pop(target, None)
