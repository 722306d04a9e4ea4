"""Functions that users pass to algorithms: each rank calls them with its own part, and tells the others of an error."""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence, TypeVar

import numpy as np

from .._native import slow_paths
from .._native.callsite import by_user, own
from ..containers.interior import BLOCK, in_blocks, is_limited
from ..containers.making import new_like
from ..exceptions import CommunicationError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import tell_ranks
from ..runtime.array_libraries import check_library
from ..runtime.context import Context

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

T = TypeVar("T")


@contextmanager
def user_code(ctx: Context, op: str) -> Iterator[None]:
    """Run a user's function before a collective call; where it raises here, the other ranks get its traceback.

    They raise CommunicationError in the call's agreement, which a rank that cannot make the call joins from here.
    """
    try:
        yield
    except Exception as error:
        lines = traceback.format_exception(type(error), error, _without_own_frames(error))
        text = f"the function raised\n{''.join(lines).rstrip()}"
        tell_ranks(ctx, op, error, CommunicationError.code, text)
        raise


class AsProgram:
    """Runs functions of the user's within steps of a call as ``user_code`` does, with the program's errors of floats.

    Those of NumPy are what they are where it is made: loops of this package have others.
    """

    def __init__(self, ctx: Context, op: str) -> None:
        self._context, self._op = ctx, op
        self._errors: Any = np.geterr()

    def __call__(self, run: Callable[[], T]) -> T:
        """Return what a function returns that calls functions of the user's."""
        with np.errstate(**self._errors), user_code(self._context, self._op):
            return run()


def _without_own_frames(error: Exception) -> Any:
    """Return an error's traceback without the outermost frames, which are DTL's own."""
    inner = error.__traceback__
    while inner and inner.tb_next and own(inner.tb_frame):
        inner = inner.tb_next
    return inner


def check_function(name: str, f: Any, library: Any = None) -> None:
    """Refuse what cannot be called, and what is no library whose arrays it could get."""
    if not callable(f):
        raise InvalidTypeError(f"{name} of type {type(f).__name__} is no function")
    check_library(library)


def with_options(f: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return a function of one argument, given one that gets further ones, of which plain ones become its name.

    Ranks compare functions by their names.
    """
    if not isinstance(args, (tuple, list)):
        raise InvalidTypeError(f"args must be a tuple of further arguments, not {args!r:.60}")
    if not (args or kwargs) or not callable(f):
        return f

    def called(value: Any) -> Any:
        return f(value, *args, **kwargs)

    known = {**{str(number): each for number, each in enumerate(args)}, **kwargs}
    words = [f"{name}={each!r}" for name, each in known.items() if isinstance(each, (int, float, str, np.generic))]
    called.__name__ = f"{getattr(f, '__name__', type(f).__name__)}({', '.join(words)})"
    return called


def named(f: Callable[..., Any]) -> str:
    """Return the name by which ranks find out whether they pass the same function: a ufunc's; "" of all others."""
    return f"np.{f.__name__}" if isinstance(f, np.ufunc) else ""


def apply(op: str, f: Callable[..., Any], parts: tuple[Array, ...], elementwise: bool) -> Array:
    """Return a function's values for parts of one shape, as an array of that shape.

    The function is called once with the parts. Told elementwise, or where it does not take arrays, it is called with
    each element. It is not called for nothing.
    """
    shape = parts[0].shape
    if not parts[0].size:
        return np.empty(shape, np.bool_)
    started = slow_paths.clock() if slow_paths.listeners else 0
    if elementwise or takes_numbers(f):
        values = np.array([f(*elements) for elements in zip(*(part.flat for part in parts))]).reshape(shape)
        tell_of_elements(op, parts, started)
        return values
    try:
        values = by_user(f, parts, {}) if isinstance(f, np.ufunc) else f(*parts)
    except REFUSALS as error:
        values = np.array(list(by_elements(f, parts, error))).reshape(shape)
        tell_of_elements(op, parts, started)
        return values
    if shape != () and parts[0].size == 1 and np.ndim(values) == 0:
        # NumPy makes a number of an array of one element, but not of two: they show whether f is of numbers.
        return apply(op, f, tuple(np.repeat(part, 2, axis=0) for part in parts), elementwise)[:1]
    values = np.asarray(values)
    if values.shape != shape:
        raise InvalidArgumentError(
            f"the function gave shape {values.shape} for a part of shape {shape}; it must be the same, or the function "
            "be of one element, with elementwise=True"
        )
    return values


#: What a function of numbers raises of an array: TypeError where it wants a float, ValueError where it asks whether an
#: array is true. NumPy deprecates to make a number of an array of one element.
REFUSALS = (TypeError, ValueError, AttributeError, DeprecationWarning)


def takes_numbers(f: Callable[..., Any]) -> bool:
    """Say whether a function is known to take numbers only."""
    return getattr(f, "__module__", None) in ("math", "cmath")


def by_elements(f: Callable[..., Any], parts: tuple[Array, ...], error: Exception) -> Iterator[Any]:
    """Yield the values of a function that refused arrays, for each element. One that refuses numbers, too, raises.

    The error is then the one that it raised of the arrays, unless it is of another class.
    """
    for at, elements in enumerate(zip(*(part.flat for part in parts))):
        try:
            value = f(*elements)
        except type(error):
            if at:
                raise
            raise error from None
        if np.ndim(value):
            raise error
        yield value


def tell_of_elements(op: str, parts: tuple[Array, ...], started: int) -> None:
    """Tell the ledger of slow paths, if it was open at the start, of a function that was called for each element."""
    if started:
        slow_paths.tell(slow_paths.BY_ELEMENTS, op, sum(part.nbytes for part in parts), started)


def by_blocks(
    op: str, f: Callable[..., Any], containers: Sequence[Any], elementwise: bool
) -> Iterator[tuple[slice, Array]]:
    """Yield ranges of this rank's rows of containers, and a function's values for these: all rows at once.

    Of what is on disk under a limit of memory, they are blocks, which have as many elements as four MiB of float64.
    """
    parts = [c.local_view() for c in containers]
    limited = next((c for c in containers if is_limited(c)), None)
    most = 0 if limited is None else BLOCK * min(limited.dtype.itemsize, 8) // 8
    for rows in (slice(None),) if limited is None else in_blocks(limited.local_view(), most):
        yield rows, apply(op, f, tuple([part[rows] for part in parts]), elementwise)


def predicates(op: str, f: Callable[..., Any], c: Any, elementwise: bool) -> Iterator[tuple[slice, Array]]:
    """Yield ranges of this rank's rows, and which elements of them a predicate holds for, as an array of bool."""
    for rows, values in by_blocks(op, f, (c,), elementwise):
        if values.dtype != np.bool_:
            raise InvalidTypeError(f"the predicate gave {values.dtype}; it must give bool")
        yield rows, values


def evaluate_predicate(op: str, f: Callable[..., Any], c: Any, elementwise: bool) -> Array:
    """Return which elements of this rank's part a predicate holds for, as an array of bool of its shape.

    The array is in a file for a container that is on disk under a limit of memory.
    """
    mask: Any = new_like(c, np.bool_).local_view() if is_limited(c) else None
    for rows, values in predicates(op, f, c, elementwise):
        if mask is None:
            return values
        mask[rows] = values
    return mask
