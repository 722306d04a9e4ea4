"""One rank's bad argument, told to all."""

from __future__ import annotations

import builtins
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from . import _native
from ._arguments import integer
from .context import Context
from .exceptions import BoundsError, DTLError, InvalidArgumentError, InvalidTypeError, MemoryError


@contextmanager
def together(ctx: Context, op: str) -> Iterator[None]:
    """Prepare the arguments of a collective call; where that fails on this rank, the call raises on every rank.

    The block must make no collective call. The core starts each collective call on a container with an agreement of
    the ranks, which a rank that cannot make the call joins from here.
    """
    try:
        yield
    except Exception as error:
        _tell(_native.context_refuse, ctx, op, error)
        if isinstance(error, builtins.MemoryError) and not isinstance(error, DTLError):
            raise MemoryError(f"{op}: {error}") from None
        raise


@contextmanager
def posting(ctx: Context, op: str) -> Iterator[None]:
    """Prepare the arguments of a collective that does not block; where that fails here, the other ranks hear of it."""
    try:
        yield
    except Exception as error:
        _tell(_native.context_refuse_start, ctx, op, error)
        raise


def agree(ctx: Context, op: str, words: str = "") -> None:
    """Start a collective call that makes no call on a container yet: raise on every rank where a rank refuses.

    Words are the arguments that all must pass alike, as the error of ranks that do not shows them. Collective.
    """
    _native.context_agree(ctx._handle, op, words)


def check_context(ctx: Any) -> None:
    """Refuse what is no context: there is nobody to tell."""
    if not isinstance(ctx, Context):
        raise InvalidTypeError(f"ctx must be a dtl.Context, not {type(ctx).__name__}")


def root_number(op: str, ctx: Any, root: Any) -> int:
    """Return the root of a collective call as an int, or raise on every rank. There must be a context."""
    check_context(ctx)
    if root.__class__ is int and 0 <= root < ctx.size:
        return int(root)
    with together(ctx, op):
        number = integer("root", root)
        if not 0 <= number < ctx.size:
            raise BoundsError(f"root {number} outside [0, {ctx.size})")
        return number


def _tell(refuse: Callable[..., Any], ctx: Any, op: str, error: Exception) -> None:
    """Tell the other ranks, where there are any, why this one does not make the call."""
    if isinstance(ctx, Context) and ctx.size > 1 and ctx._handle and not _native.forked():
        code = error.code if isinstance(error, DTLError) else _code(error)
        refuse(ctx._handle, code, op, str(error))


def _code(error: Exception) -> int:
    """Return the code of an exception that is not DTL's, such as one of NumPy's."""
    return MemoryError.code if isinstance(error, builtins.MemoryError) else InvalidArgumentError.code
