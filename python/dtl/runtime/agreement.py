"""Errors of one rank in a collective call are raised on every rank: every entry point is ``collective``."""

from __future__ import annotations

import builtins
import functools
from contextlib import contextmanager, suppress
from typing import Any, Callable, Iterable, Iterator, TypeVar, cast

from .._lazy import late
from .._native import library
from .._native.arguments import integer
from .._native.library import bridge
from .._native.objects import handle_of, size_of
from ..exceptions import (
    KNOWN_TO_RANKS,
    BoundsError,
    CommunicationError,
    DTLError,
    FloatingPointError,
    InvalidArgumentError,
    InvalidTypeError,
    KeyNotFoundError,
    MemoryError,
    OverflowError,
    code_of,
    code_of_file,
    is_marked,
    mark,
)

F = TypeVar("F", bound=Callable[..., Any])

# What calls that fail come to.
_better_error = late(".runtime.hints", "better_error")
_no_context = late(".runtime.hints", "no_context")


def collective(f: F) -> F:
    """Let a collective call that fails on this rank raise on every rank.

    Every collective call starts with an agreement of the ranks, in which the core reports the errors that it finds
    itself. This wrapper reports all others, such as an argument that Python refuses: it takes part in the agreement in
    place of the call that failed.
    """
    return _telling_others(f, library.context_refuse)


def collective_start(f: F) -> F:
    """Do what ``collective`` does for a call that starts a collective operation and does not block."""
    return _telling_others(f, library.context_refuse_start)


def _telling_others(f: F, refuse: Callable[..., Any]) -> F:
    family, _, name = f.__qualname__.rpartition(".")
    op = family.lower() if name == "__init__" else name.strip("_")

    def failed(error: Exception, arguments: tuple[Any, ...], words: tuple[str, ...] | None) -> None:
        better = _better_error(f, error, arguments, words)
        if words:
            first = len(arguments) - len(words)
            arguments = in_order(f, arguments[:first], dict(zip(words, arguments[first:])))
        if name != "__init__":  # the core names what is made
            name_call(error, op)
        tell(better or error, op, arguments, refuse)
        if better is not None:
            raise better from None

    call: Any = functools.update_wrapper(bridge.Collective(f, failed), f)
    call.__code__, call.__defaults__, call.__kwdefaults__ = f.__code__, f.__defaults__, f.__kwdefaults__
    return cast("F", call)


def in_order(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a call in the order of the function's parameters, in whatever order keywords came."""
    return (*args, *keywords_in_order(f, kwargs).values())


def keywords_in_order(f: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments in the order of the function's parameters: the ranks may write them in any order."""
    known = {name: kwargs[name] for name in f.__code__.co_varnames if name in kwargs}
    return {**known, **kwargs}


def tell(error: Exception, op: str, arguments: Iterable[Any], refuse: Callable[..., Any] | None = None) -> None:
    """Report an error that ends a call here to the other ranks, unless they know it. A MemoryError becomes DTL's.

    The other ranks are those of the first argument that has ranks. If no argument has ranks, nobody is told.
    """
    if not is_marked(error, KNOWN_TO_RANKS):
        ranks = _ranks(arguments)
        if ranks is not None:
            tell_ranks(ranks, op, error, refuse=refuse)
    if isinstance(error, builtins.MemoryError) and not isinstance(error, DTLError):
        raise _reported_memory_error(error, op) from None


def cause_of(error: DTLError) -> str:
    """Return the text of an error of the core's without the call that it names; "" of another one."""
    return error._cause


def name_call(error: Exception, op: str) -> None:
    """Let the error of a collective call that is a part of another one name that one, which the program has made."""
    if not isinstance(error, DTLError) or not is_marked(error, KNOWN_TO_RANKS):
        return
    cause = cause_of(error)
    if cause and error.op not in ("", op, "collective call"):
        error.args, error.op = (f"{op}: {cause}",), op


def _ranks(arguments: Iterable[Any]) -> Any:
    """Return the first context of several ranks among arguments, or what one is on, or a sequence of such is on."""
    for argument in arguments:
        for one in argument if isinstance(argument, (tuple, list)) else (argument,):
            ranks = one
            if not isinstance(one, bridge.Ranks) and (isinstance(one, bridge.Handle) or _of_dtl(one)):
                ranks = getattr(one, "_context", None)
            if isinstance(ranks, bridge.Ranks) and handle_of(ranks) and size_of(ranks) > 1:
                return ranks
    return None


def _of_dtl(thing: Any) -> bool:
    """Say whether a thing's class is one of DTL's own, so that its attributes are."""
    return f"{type(thing).__module__}.".startswith("dtl.")


def on_context(f: F) -> F:
    """Let a call that concerns no rank but the caller, or one more, say that its context is missing, where it is.

    Or what to write in place of ``inplace``.
    """

    def failed(error: Exception, arguments: tuple[Any, ...], words: tuple[str, ...] | None) -> None:
        better = _better_error(f, error, arguments, words)
        if better is not None:
            raise better from None

    call: Any = functools.update_wrapper(bridge.Collective(f, failed), f)
    call.__code__, call.__defaults__, call.__kwdefaults__ = f.__code__, f.__defaults__, f.__kwdefaults__
    return cast("F", call)


@contextmanager
def local_step(ctx: Any, op: str) -> Iterator[None]:
    """Do a step of a collective call that may fail on this rank alone, such as the preparation of arguments.

    Where it fails, the call raises on every rank of ctx. The block must make no collective call.
    """
    try:
        yield
    except Exception as error:
        if not is_marked(error, KNOWN_TO_RANKS):
            tell_ranks(ctx, op, error)
        if isinstance(error, builtins.MemoryError) and not isinstance(error, DTLError):
            raise _reported_memory_error(error, op) from None
        raise


@contextmanager
def last_step() -> Iterator[None]:
    """Do the last part of a collective call, after all communication: an error there is not reported to other ranks."""
    try:
        yield
    except Exception as error:
        mark(error, KNOWN_TO_RANKS)
        raise


def agree(ctx: Any, op: str, words: str = "") -> None:
    """Start a collective call that makes no call on a container yet: raise on every rank where a rank refuses.

    Words are the arguments that all must pass alike, as the error of ranks that do not shows them. Collective.
    """
    library.context_agree(handle_of(ctx), op, words if words.isprintable() else _sendable(words))


def confirm() -> None:
    """Wait until all ranks have come to the call that this one has gone on from, if there is one, and made the same.

    A collective call whose last step is a broadcast, reduce, gather or scatter ends with it, so that it raises on every
    rank.
    """
    library.confirm(0)


def check_context(ctx: Any) -> None:
    """Raise InvalidTypeError unless ctx is a context."""
    if not isinstance(ctx, bridge.Ranks):
        raise InvalidTypeError(_no_context(ctx))


def refuse_other_context(what: str, given: Any, ctx: Any) -> None:
    """Raise InvalidArgumentError if what is given to a call belongs to another context than that of the call."""
    if given.context is not ctx:
        raise InvalidArgumentError(f"{what} belongs to another context")


def check_open(ctx: Any) -> None:
    """Raise InvalidTypeError unless ctx is a context, and InvalidHandleError if it is closed."""
    check_context(ctx)
    if not handle_of(ctx):
        raise library.closed("context")


def root_number(ctx: Any, root: Any) -> int:
    """Return the root of a collective call as an int. There must be a context."""
    check_context(ctx)
    number = integer("root", root)
    if not 0 <= number < ctx.size:
        raise BoundsError(f"root {number} outside [0, {ctx.size})")
    return number


def tell_ranks(
    ctx: Any,
    op: str,
    error: Exception,
    code: int | None = None,
    text: str | None = None,
    refuse: Callable[..., Any] | None = None,
) -> None:
    """Report to the other ranks of a context why this rank does not make the call that they make.

    Whether or not they hear of it, this rank has its own error to raise.
    """
    mark(error, KNOWN_TO_RANKS)
    if isinstance(ctx, bridge.Ranks) and size_of(ctx) > 1 and handle_of(ctx) and not library.forked():
        if code is None:
            code = code_of(error) if isinstance(error, DTLError) else _code(error)
        with suppress(CommunicationError):  # no rank comes any more that could hear of it
            (refuse or library.context_refuse)(
                handle_of(ctx), code, op, _sendable(str(error) if text is None else text)
            )


def _sendable(text: str) -> str:
    """Return a text without what C has no text with: NUL and surrogates, which an error of NumPy's may quote."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def _reported_memory_error(error: builtins.MemoryError, op: str) -> MemoryError:
    """Return NumPy's MemoryError as DTL's, which was reported already."""
    own = MemoryError(f"{op}: {error}")
    mark(own, KNOWN_TO_RANKS)
    return own


def _code(error: Exception) -> int:
    """Return the code of an exception that is not DTL's, such as one of NumPy's: of the class that a user catches."""
    if isinstance(error, OSError):
        return code_of_file(error)
    return next((code for kind, code in _CODES if isinstance(error, kind)), InvalidArgumentError.code)


# The first that an exception is: NumPy's AxisError is a ValueError, and an IndexError too.
_CODES = (
    (builtins.MemoryError, MemoryError.code),
    (builtins.OverflowError, OverflowError.code),
    (builtins.FloatingPointError, FloatingPointError.code),
    (ValueError, InvalidArgumentError.code),
    (TypeError, InvalidTypeError.code),
    (IndexError, BoundsError.code),
    (KeyError, KeyNotFoundError.code),
)
