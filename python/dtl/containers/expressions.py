"""Expressions of ufuncs and slices, which are computed when somebody needs their elements.

A ufunc on large parts reads and writes more than the cache holds, so the processor waits for memory: in ``a * b + c``,
the product is written to memory, and read again. So such a call only queues an expression, and returns a container
whose elements are still to be computed; so does a slice, whose elements on this rank are those of another container.
Whoever uses that container, or one that a queued expression reads, computes the queue first, in the order of the calls.
What nobody refers to any more by then is not written to memory: its blocks are operands of the expressions that use it
(fused_loops.py).

Each step is the ufunc's own, on the same elements, so the results are those of the call. The queue is this process's,
and communicates nothing. An expression is queued only if nobody else can see or change its containers' elements
meanwhile: no view of them is out, no span or halo was made, no asynchronous call is under way.
"""

from __future__ import annotations

import contextlib
import math
import threading
import warnings
from abc import abstractmethod
from operator import attrgetter
from types import FunctionType
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .._native import library, variables
from .._native.arguments import stored_number
from .._native.callsite import caller, code_at, frame_at
from .._native.hidden_ufuncs import CLIP
from .._native.kinds import kind_of
from .._native.library import bridge, state
from .._native.objects import owner_of, raw_handle_of
from ..exceptions import BackendError, InvalidHandleError, MemoryError
from ..policies import Execution, Partition, Placement
from . import fused_loops
from .fused_loops import Pieces, Spread
from .interior import copy_rows, is_plain
from .making import of_handle, tell_full_disk

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many calls an expression consists of, and how many expressions wait, before all of them are computed.
_MOST_STEPS, _MOST_QUEUED = 32, 64

#: The bytes of the largest array that is copied into an expression, for NumPy to spread it.
_MOST_SPREAD = 1 << 16

#: What np.errstate can do about an error of floats later, too.
_LATER = frozenset(("ignore", "warn"))


def _least() -> float:
    """Return how many bytes the smallest part has of which expressions are queued, as DTL_FUSE says."""
    said = variables.value("DTL_FUSE")
    return fused_loops.BLOCK if said is None else float(said)


#: Smaller parts are in the cache anyway.
state.least_queued = _least()


class Queued:
    """The value of a container, which is still to be computed.

    Attributes
    ----------
    dtype
        The type of the elements.
    inputs
        The numbers, parts, arrays that are spread, and expressions that it is computed from.
    reads
        The parts that it reads, also through other expressions.
    steps
        How many calls it consists of.
    handle
        The native handle of the container; 0 once only expressions that use it want the value.
    part
        The container's part; None while nothing needs it.
    users
        How many expressions use it.
    done
        Whether the value is in the part: one truth value, which bridge.compute sets.
    stale
        Whether an expression that is queued behind it writes what it reads.
    ranks
        The context of a container on disk; else None.
    """

    __slots__ = ("done", "dtype", "handle", "inputs", "part", "ranks", "reads", "stale", "steps", "users")

    def __init__(self, dtype: np.dtype[Any], inputs: tuple[Any, ...]) -> None:
        self.dtype = dtype
        self.inputs = inputs
        self.reads: list[Array] = [value for value in inputs if isinstance(value, np.ndarray)]
        self.steps = 1
        self.users = 0
        for value in inputs:
            if isinstance(value, Queued):
                value.users += 1
                self.steps += value.steps
                self.reads += value.reads
        self.handle = 0
        self.part: Array = None
        self.done = [False]
        self.stale = False
        self.ranks: Any = None

    @property
    def stored(self) -> Any:
        """What has the value as an operand."""
        return self.part

    def below(self) -> Iterator[Queued]:
        """Yield the expressions that this one uses, and those that they use, some of them more than once."""
        for value in self.inputs:
            if isinstance(value, Queued):
                yield value
                yield from value.below()

    @abstractmethod
    def compute(self) -> list[tuple[Call, str]]:
        """Write the value to the container's part, and return what there is to warn of."""

    def release(self) -> None:
        """Refer no more to what it was computed from."""
        self.inputs, self.reads = (), []

    def allocate(self) -> None:
        """Have memory for the value."""
        if self.part is None:
            library.container_allocate(self.handle)
            self.part = _part(owner_of(self.handle))


class Call(Queued):
    """A call of a ufunc.

    Attributes
    ----------
    ufunc
        The function of the inputs.
    errors
        What np.geterr said.
    site
        The code and the names of the line that warnings are to name; None where there is none.
    threads
        On how many threads it is computed at most; 0 is all that the rank has.
    """

    __slots__ = ("errors", "site", "threads", "ufunc")

    def __init__(
        self, ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: np.dtype[Any], errors: Any, site: Any, threads: int
    ) -> None:
        super().__init__(dtype, inputs)
        self.threads = threads
        self.ufunc = ufunc
        self.errors = errors
        self.site = site

    def inlined(self) -> list[Call]:
        """Return the calls among the inputs that have not been computed, each once."""
        calls: list[Call] = []
        for value in self.inputs:
            if isinstance(value, Call) and not value.done[0] and not any([value is other for other in calls]):
                calls.append(value)
        return calls

    def compute(self) -> list[tuple[Call, str]]:
        """Write the value to the container's part, and return what there is to warn of."""
        self.allocate()
        return fused_loops.compute(self, self.part, self.threads)


class Copy(Queued):
    """Rows of another container, which this rank has, between rows that it has got from other ranks.

    Attributes
    ----------
    own, first, last
        The rows that this rank has, and where they belong.
    """

    __slots__ = ("_pieces", "first", "last", "own")

    def __init__(self, leaf: Array, own: Array, first: int, last: int) -> None:
        super().__init__(own.dtype, (leaf,))
        self.own: Array = own
        self.first = first
        self.last = last
        self._pieces: Any = None

    @property
    def stored(self) -> Any:
        """What has the value as an operand."""
        if self.done[0]:
            return self.part
        if self._pieces is None:
            self._pieces = self.own if self.part is None else Pieces(self.own, self.part, self.first, self.last)
        return self._pieces

    def compute(self) -> list[tuple[Call, str]]:
        """Write the value to the container's part."""
        self.allocate()
        copy_rows(self.part[self.first : self.last], self.own)
        self.done[0] = True
        return []

    def release(self) -> None:
        """Refer no more to what it was computed from."""
        super().release()
        self.own = self._pieces = None


class _Known(NamedTuple):
    """What expressions know of the elements of a container, at one moment."""

    part: Array | None = None  # as an operand of queued expressions
    expression: Queued | None = None  # whose value they have


_NOTHING = _Known()

_known_of: Callable[[Any], _Known] = attrgetter("_known")
_is_reached: Callable[[Any], bool] = attrgetter("_reached")
_is_temporary: Callable[[Any], bool] = attrgetter("_is_temporary")

#: Whether something is to be computed before anybody uses a container's elements.
is_pending: Callable[[Any], bool] = attrgetter("_pending")

_queue: list[Queued] = []
_lock = threading.RLock()
#: Held by the thread that computes, which holds the other lock, too.
_computing = threading.Lock()


def call(ufunc: np.ufunc, inputs: tuple[Any, ...], like: Any, out: Any, dtype: np.dtype[Any], depth: int) -> Any:
    """Queue a call of a ufunc, and return the container of its result; None where it has to be made at once.

    The inputs are numbers, containers that are laid out as one of them, like, and arrays that are spread. Depth is how
    many frames up the user is at the nearest.
    """
    errors = np.geterr()
    if state.under_way or not _LATER.issuperset(errors.values()) or not _is_plain(ufunc, dtype):
        return None
    with _lock:
        if not all([_is_private(value) for value in (*inputs, like, out) if isinstance(value, Fusable)]):
            return None
        if len(_queue) >= _MOST_QUEUED:
            compute_all()
        result = _unallocated(like, dtype) if out is None else out
        given = _operands(inputs)
        if sum([value.steps for value in given if isinstance(value, Queued)]) >= _MOST_STEPS or _overwrites(out, given):
            compute_all()
            given = _operands(inputs)
        frame = caller(frame_at(depth))
        site = None if frame is None else (code_at(ufunc.__name__, frame), frame.f_globals)
        threads = int(result.execution_policy is Execution.SEQ)
        _give(result, Call(ufunc, given, dtype, errors, site, threads), out is not None)
    return result


def spread(array: Array) -> Spread | None:
    """Return an array as an operand that NumPy spreads; None where it is too large to be copied."""
    return Spread(array.copy()) if array.nbytes <= _MOST_SPREAD else None


def own_rows(made: Any, of: Any, start: int) -> tuple[int, int] | None:
    """Return which rows of a slice this rank has itself, if most of them can be copied later. Not collective.

    Parameters
    ----------
    made
        The container of the slice, whose elements are still anything.
    of
        The container of which it has rows.
    start
        The first of them.
    """
    if made.local_size * made.dtype.itemsize < state.least_queued or state.under_way:
        return None
    if not (_is_private(made) and _is_private(of)) or any([c.grid[0] != c.context.size for c in (made, of)]):
        return None
    if made.partition_policy is not Partition.BLOCK or of.partition_policy not in (Partition.BLOCK, Partition.EXPLICIT):
        return None
    rows = made.local_shape[0]
    before = of.local_offset - start - made.local_offset
    first = min(max(before, 0), rows)
    last = min(max(before + of.local_shape[0], first), rows)
    return (first, last) if 2 * (last - first) >= rows else None


def copy(made: Any, of: Any, chosen: tuple[slice, ...], rows: tuple[int, int]) -> None:
    """Queue the copy of the rows of a slice that this rank has itself. The others are there."""
    first, last = rows
    with _lock:
        leaf = _operand(of)
        at = made.local_offset + first + chosen[0].start - of.local_offset
        own = leaf[(slice(at, at + last - first), *chosen[1:])]
        expression = Copy(leaf, own, first, last)
        if last - first < made.local_shape[0]:
            expression.part = _part(made)
        _give(made, expression, False)


def _is_plain(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    """Say whether a ufunc is one of NumPy's that computes each element by itself, and never raises."""
    if ufunc.nout != 1 or (getattr(np, ufunc.__name__, None) is not ufunc and ufunc is not CLIP):
        return False
    kind = kind_of(dtype)
    return not kind.is_moved and (ufunc is not np.power or not kind.is_integer)  # which refuses negative exponents


def _is_private(c: Any) -> bool:
    """Say whether nobody but its calls reaches the elements of a container. Not collective."""
    if _is_reached(c) or not is_plain(c):
        return False
    return _known_of(c) is not _NOTHING or c.views_out == 0


def _operands(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([_operand(value) if isinstance(value, Fusable) else _number(value) for value in inputs])


def _number(value: Any) -> Any:
    """Return an operand that is no container. Arrays without dimensions become numbers, for an array is a part."""
    return value[()] if isinstance(value, np.ndarray) else value


def _operand(c: Any) -> Any:
    """Return a container's expression, or its part where it has been computed."""
    expression = _known_of(c).expression
    if expression is not None and not expression.done[0] and expression.stale:
        compute_all()
    if expression is not None and expression.done[0]:
        _know(c, _Known(expression.part))
    elif expression is not None:
        return expression
    if _known_of(c).part is None:
        _know(c, _Known(_part(c)))
    return _known_of(c).part


def _unallocated(like: Any, dtype: np.dtype[Any]) -> Any:
    """Return a container that is laid out as another one, without memory yet. Not collective."""
    return of_handle(like, library.container_unallocated(raw_handle_of(like), stored_number(dtype)), dtype)


def _part(of: Any) -> Array:
    """Return this rank's elements of a container, or of an object that has its handle."""
    return np.asarray(bridge.view(of))


def _overwrites(out: Any, given: tuple[Any, ...]) -> bool:
    """Say whether a queued expression reads what a call is to write. Those that the call uses go stale instead."""
    own = [] if out is None else _parts(out)
    readers = [one for one in _queue if _reads(one, own)]
    used = [value for value in given if isinstance(value, Queued)]
    used += [below for value in used for below in value.below()]
    if not all([any([one is other for other in used]) for one in readers]):
        return True
    for one in readers:
        one.stale = True
    return False


def _give(result: Any, expression: Queued, written: bool) -> None:
    """Make an expression the value of a container; whether it is written, or new.

    A signal's handler may raise between any two statements. Then the value is the one before, or the new one.
    """
    known = _known_of(result)
    before = known.expression
    if before is not None:
        expression.part = before.part
    elif written:
        expression.part = _part(result) if known.part is None else known.part
    expression.handle = raw_handle_of(result)
    expression.ranks = result.context if result.placement_policy is Placement.DISK else None
    _queue.append(expression)
    _know(result, _Known(None, expression))
    if before is not None:
        _forget(before)


def _forget(expression: Queued) -> None:
    """Do not write an expression to memory, and drop it if nothing uses it."""
    if expression.done[0]:
        return
    expression.handle = 0
    if expression.users:
        return
    _queue[:] = [one for one in _queue if one is not expression]
    for value in expression.inputs:
        if isinstance(value, Queued):
            value.users -= 1
            if not value.handle:
                _forget(value)
    expression.inputs = ()


def compute_before_use(c: Any) -> None:
    """Compute what is queued, if a container's elements, or what reads them, are part of it."""
    if not is_pending(c):
        return
    with _lock:
        if _is_queued(c):
            compute_all()
        _know(c, _NOTHING)


def folded(c: Any, kind: int) -> Any:
    """Return what this rank's elements of a container are folded to; None where they have to be computed first.

    This is for a container that nobody else refers to: its elements are computed for the fold alone.
    """
    with _lock:
        expression = _known_of(c).expression
        if _computing.locked() or not _is_temporary(c) or not isinstance(expression, Call) or expression.done[0]:
            return None
        with _computing:
            words, told = fused_loops.fold(expression, c.local_shape, kind, expression.threads)
    for one, text in told:
        _warn(one.site, text)
    return words


class Windows:
    """The value of a container that nobody has computed, a window after the other. It stays to be computed.

    That is for what is read once, such as by who writes it to a file: it is not written to the container's memory.

    Attributes
    ----------
    whole_rows
        Whether a window has to consist of rows of the first dimension.
    """

    def __init__(self, call: Call, shape: tuple[int, ...]) -> None:
        self._windows = fused_loops.Windows(call, shape)
        self._shape = shape
        self.whole_rows = not self._windows.is_flat

    def elements(self, start: int, stop: int) -> Array:
        """Return the elements of a range of those in C order. The next call overwrites them."""
        row = math.prod(self._shape[1:]) if self.whole_rows else 1
        with _lock, _computing:
            return self._windows.rows_from(start // row, stop // row)

    def warn(self) -> None:
        """Give the warnings of what was computed."""
        for one, text in self._windows.told():
            _warn(one.site, text)


def copied_rows(c: Any) -> list[Array]:
    """Return the arrays that have this rank's elements of a slice that nobody has copied; none if it is not one."""
    expression = _known_of(c).expression
    if not isinstance(expression, Copy) or expression.done[0] or expression.stale:
        return []
    part = expression.part
    return [expression.own] if part is None else [part[: expression.first], expression.own, part[expression.last :]]


def windows(c: Any) -> Windows | None:
    """Return the value of a container in windows; None where its elements are there, or have to be. Not collective."""
    with _lock:
        expression = _known_of(c).expression
        if not isinstance(expression, Call) or expression.done[0] or expression.stale or _computing.locked():
            return None
        if (
            expression.part is not None
        ):  # it may overwrite what it reads, and a destructor may have it computed meanwhile
            return None
        shape: tuple[int, ...] = c.local_shape
        return Windows(expression, shape) if math.prod(shape) else None


def raw(c: Any) -> Any:
    """Return an object for calls on a container that use no element, while what is pending on it stays so."""
    return owner_of(raw_handle_of(c))


def handle_to_read(c: Any) -> int:
    """Return the native handle of a container whose elements are only read: what reads them, too, stays queued."""
    expression = _known_of(c).expression
    if expression is not None and not expression.done[0]:
        with _lock:
            compute_all()
    handle: int = raw_handle_of(c)
    return handle


def leave(c: Any) -> None:
    """Let a container go: what is to read its elements is computed, and what they are to become is not."""
    with _lock:
        own = _parts(c)
        expression = _known_of(c).expression
        if expression is not None:
            _forget(expression)
        if not _computing.locked() and any([one.handle and _reads(one, own) for one in _queue]):
            with contextlib.suppress(MemoryError):  # whoever uses the results raises it; here may be a destructor
                compute_all(leaving=True)
        _know(c, _NOTHING)


def _is_queued(c: Any) -> bool:
    expression = _known_of(c).expression
    if expression is not None and not expression.done[0]:
        return True
    own = _parts(c)
    return any([_reads(one, own) for one in _queue])


def _parts(c: Any) -> list[Array]:
    """Return the arrays by which expressions know the elements of a container."""
    known = _known_of(c)
    written = None if known.expression is None else known.expression.part
    return [part for part in (known.part, written) if part is not None]


def _reads(one: Queued, parts: list[Array]) -> bool:
    return any([part is own for own in parts for part in one.reads])


def compute_all(leaving: bool = False) -> None:
    """Compute all queued expressions whose values are wanted, in the order of the calls. Then give their warnings.

    Other ranks learn that a disk is full, but not from who leaves a container, which is no call of the program's.
    """
    told: list[tuple[Call, str]] = []
    with _lock:
        if _computing.locked():
            raise BackendError("a signal's handler, or a destructor, uses a container while expressions are computed")
        with _computing:
            queued = tuple(_queue)  # destructors may take some away meanwhile
            for one in queued:
                if one.handle and not one.done[0]:
                    try:
                        told += one.compute()
                    except InvalidHandleError:  # a signal's handler ended the destructor before it said so
                        one.handle = 0
                    except MemoryError as error:
                        if one.ranks is not None and not leaving:
                            tell_full_disk(one.ranks, error)
                        raise
            over = set(map(id, queued))
            _queue[:] = [one for one in _queue if id(one) not in over]
            for one in queued:
                one.release()
    for one, text in told:
        _warn(one.site, text)


def _warn(site: Any, text: str) -> None:
    """Give a warning of NumPy's, which names the line of the call."""
    given = (text, RuntimeWarning)
    if site is None:
        warnings.warn(*given, stacklevel=2)
    else:
        FunctionType(*site)(warnings.warn, given, {})


class Fusable:
    """What expressions need of a container."""

    #: Whether something other than its own calls may reach the elements at any time: what does not own them, a span, or
    #: a halo.
    _reached = True

    #: What expressions know of the elements.
    _known = _NOTHING

    def _know(self, known: _Known) -> None:
        """Set what is known of the elements. A signal's handler may raise between the two statements."""
        if known is not _NOTHING:
            self._pending = True
        self._known = known
        if known is _NOTHING:
            self._pending = False

    def _note_reached(self) -> None:
        self._reached = True


#: Notes that something other than a container's own calls may reach its elements at any time.
note_reached: Callable[[Any], None] = Fusable._note_reached

_know: Callable[[Any, _Known], None] = Fusable._know

bridge.on_use(compute_before_use)
