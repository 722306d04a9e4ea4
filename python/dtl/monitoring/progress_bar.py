"""A progress bar for long operations."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .._native import library
from ..exceptions import BackendUnavailableError

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

#: How often the bar moves, and after how many seconds of an operation it comes.
_EVERY = 0.1
_AFTER = 2.0

#: What launchers call a rank's number.
_RANKS = ("DTL_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")

_shower: _Shower | None = None


def progress(on: bool = True, *, anywhere: bool = False) -> None:
    """Choose whether operations that take more than about 2 seconds show a progress bar of tqdm. Not collective.

    The bar shows the operation, its phase, and how many bytes are done on rank 0. Only rank 0 shows it, on standard
    error, if that is a terminal. Sorts and redistributions have a bar.

    Parameters
    ----------
    on
        Whether to show bars from now on.
    anywhere
        Show them even if standard error is not a terminal: many launchers put a pipe in between.

    Raises
    ------
    BackendUnavailableError
        If tqdm is not installed: ``pip install tqdm``.

    Examples
    --------
    >>> import dtl
    >>> dtl.progress(True)  # doctest: +SKIP
    """
    global _shower
    if _shower is not None:
        _shower.stop()
        _shower = None
    if not on:
        return
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise BackendUnavailableError(f"progress needs tqdm: pip install tqdm ({error})") from None
    first = next((os.environ[name] for name in _RANKS if name in os.environ), "0") == "0"
    if first and (anywhere or sys.stderr.isatty()):
        _shower = _Shower(tqdm)


class _State(NamedTuple):
    op: str
    phase: str
    done: int
    total: int
    milliseconds: int


def _state() -> _State | None:
    """Return how far the operation under way is, if one is."""
    op, *rest = library.progress().split("\t")
    if not rest:
        return None
    phase, done, total, milliseconds = rest
    return _State(op, phase, int(done), int(total), int(milliseconds))


class _Shower:
    """The thread that shows the bar."""

    def __init__(self, bar: Any) -> None:
        self._new_bar = bar
        self._bar: Any = None
        self._shown = ("", "", 0)
        self._since: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="dtl-progress", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        atexit.unregister(self.stop)

    def _show(self) -> None:
        while not self._ended.wait(_EVERY):
            state = _state()
            if state is None or (state.op, state.phase, state.total) != self._shown:
                self._close()
            if self._lasts(state):
                self._move(state)
        self._close()

    def _lasts(self, state: _State | None) -> TypeGuard[_State]:
        """Say whether one phase has followed the other for so long that a bar is due."""
        if state is None:
            self._since = None
            return False
        if self._since is None:
            self._since = time.monotonic() - state.milliseconds / 1000
        return time.monotonic() - self._since >= _AFTER

    def _move(self, state: _State) -> None:
        if self._bar is None:
            self._shown = (state.op, state.phase, state.total)
            title = f"{state.op}, {state.phase}"
            self._bar = self._new_bar(desc=title, total=state.total, unit="B", unit_scale=True, leave=False)
        self._bar.update(state.done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
