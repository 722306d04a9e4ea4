"""What to write in place of a first hour's mistakes, for the texts of their errors.

Nothing here is reached but from a call that failed already.
"""

from __future__ import annotations

import inspect
import reprlib
from typing import Any, Callable, Iterable

from .._native.library import bridge
from ..exceptions import ABOUT_CONTEXT, DTLError, InvalidTypeError, is_marked, mark

#: Names of NumPy's, mpi4py's and other libraries', and what dtl has in their place.
ELSEWHERE = {
    "COMM_SELF": "dtl.Environment().make_cpu_context()",
    "COMM_WORLD": "dtl.Context()",
    "Get_rank": "ctx.rank",
    "Get_size": "ctx.size",
    "Init": "dtl.Context()",
    "MPI": "dtl.Context()",
    "Wtime": "time.perf_counter()",
    "array": "dtl.asarray(ctx, values)",
    "barrier": "ctx.barrier()",
    "bcast": "dtl.broadcast",
    "compute": "the container itself: nothing is lazy, unless its execution is dtl.EXEC_ASYNC",
    "concatenate": "dtl.concat",
    "from_array": "dtl.asarray(ctx, values)",
    "hstack": "dtl.concat",
    "init": "dtl.Context()",
    "ndarray": "dtl.DistributedTensor",
    "ndim": "the container's ndim",
    "rank": "ctx.rank",
    "read_table": "dtl.read_csv",
    "shape": "the container's shape",
    "size": "ctx.size, or len() of a container",
    "transpose": "dtl.permute_dims",
    "vstack": "dtl.concat",
}

#: How alike two names are, of which one is taken for a slip of the other.
_ALIKE = 0.75

_words = reprlib.Repr()
_words.maxother = _words.maxstring = 40


def unknown_name(package: str, name: str, names: Iterable[str]) -> str:
    """Return what the AttributeError of a module says."""
    text = f"module {package!r} has no attribute {name!r}"
    known = list(names)
    for other in (name, name.lower()):
        if package == "dtl" and other in known:
            return f"{text}; it is dtl.{other}"
        if other in ELSEWHERE:
            return f"{text}; in its place there is {ELSEWHERE[other]}"
    if package == "dtl.random":
        return f"{text}; numbers are drawn by methods of dtl.random.Generator(ctx, seed)"
    if _dtype(name):
        return f"{text}; dtypes are NumPy's: np.{name}, or {name!r}"
    import difflib  # which few programs need

    close = difflib.get_close_matches(name, known, 1, _ALIKE)
    return f"{text}; did you mean {close[0]!r}?" if close else text


def _dtype(name: str) -> bool:
    import numpy as np

    kind = getattr(np, name, None)
    return isinstance(kind, type) and issubclass(kind, np.generic)


def unknown_attribute(context: str, name: str, functions: Callable[[str], Any]) -> str:
    """Return what the AttributeError of a context says, whose functions are the package's."""
    text = f"{context!r} object has no attribute {name!r}"
    for other in (name, name.lower()):
        function = functions(other)
        if callable(function) and next(iter(inspect.signature(function).parameters), "") == "ctx":
            return f"{text}; it is a function of dtl, as in dtl.{other}(ctx, ...)"
        if other in ELSEWHERE:
            return f"{text}; in its place there is {ELSEWHERE[other]}"
    return text


def no_context(thing: Any) -> str:
    """Return the text for what is passed as a context and is none."""
    text = f"ctx must be a dtl.Context, not {type(thing).__name__}"
    if isinstance(thing, type) and issubclass(thing, bridge.Ranks):
        return f"{text}: this is the class; dtl.Context() makes one"
    if hasattr(type(thing), "make_world_context"):
        return f"{text}; make_world_context() makes one of it"
    if hasattr(type(thing), "Get_rank"):
        return f"{text}; dtl.Context(comm) makes one of a communicator"
    return f"{text}; it comes first"


def no_container(name: str, thing: Any) -> str:
    """Return the text for what is passed as a container and is none."""
    text = f"{name} must be a distributed container, not {type(thing).__name__}"
    if isinstance(thing, bridge.Ranks):
        return f"{text}: a container knows its context, which is not passed here"
    if isinstance(thing, list) or type(thing).__module__ == "numpy":
        return f"{text}; dtl.asarray(ctx, values) makes one of what is the same on every rank"
    return text


def better_error(
    f: Callable[..., Any], error: Exception, arguments: tuple[Any, ...], words: tuple[str, ...] | None
) -> InvalidTypeError | None:
    """Return an error that says what to write, for a call without a context or with ``inplace``; None for others."""
    if "inplace" in (words or ()) and isinstance(error, TypeError) and not isinstance(error, DTLError):
        thing = type(arguments[0]).__name__.lower()
        return InvalidTypeError(
            f"{f.__name__} has no inplace=, since it changes nothing: write {thing} = {thing}.{f.__name__}(...)"
        )
    return _context_missing(f, error, arguments, words)


def _context_missing(
    f: Callable[..., Any], error: Exception, arguments: tuple[Any, ...], words: tuple[str, ...] | None
) -> InvalidTypeError | None:
    """Return a better error for a call that left its context out, or passed something else as it; None for others."""
    if not isinstance(error, TypeError) or is_marked(error, ABOUT_CONTEXT):
        return None
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    first = 1 if names[:1] == ("self",) else 0
    count = len(arguments) - len(words or ())
    if names[first : first + 1] != ("ctx",) or "ctx" in (words or ()) or len(arguments) == first:
        return None
    if count > first and isinstance(arguments[first], bridge.Ranks):
        return None
    if isinstance(error, DTLError):  # nothing was missing
        if count == first or isinstance(arguments[first], bridge.Handle):
            return None
        return _of_context(no_context(arguments[first]))
    name = type(arguments[0]).__name__ if first else f.__name__
    given = [_short(value) for value in arguments[first:count]]
    given += [f"{word}={_short(value)}" for word, value in zip(words or (), arguments[count:])]
    return _of_context(f"{name}: ctx, the context, is missing, which comes first: ({', '.join(['ctx', *given])})")


def _of_context(text: str) -> InvalidTypeError:
    error = InvalidTypeError(text)
    mark(error, ABOUT_CONTEXT)
    return error


def _short(value: Any) -> str:
    return " ".join(_words.repr(value).split())
