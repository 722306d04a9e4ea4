"""Calls that are made for the program, as if they were made where the program called DTL."""

from __future__ import annotations

import functools
import sys
from types import CodeType, FunctionType
from typing import Any, Callable, NamedTuple

from .callsite import caller, name


class Site(NamedTuple):
    """Where in the program a call was made."""

    file: str
    line: int
    place: str  # as errors and reports have it: "app.py:41"

    def run(self, op: str, work: Callable[[], Any]) -> Any:
        """Return what work returns. Its caller is, to tracebacks, reports and traces, the site."""
        if not self.file:
            return work()
        return FunctionType(_code(op, self.file, self.line), {}, op)(work)


def here() -> Site:
    """Return the innermost place of the user's in the calling thread."""
    frame = caller(sys._getframe(1))
    return Site("", 0, "") if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, name(frame))


def by_user(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a function of NumPy returns. What it warns of names the line where the user called DTL."""
    frame = caller(sys._getframe(1))
    if frame is None:
        return f(*args, **options)
    code = _code(getattr(f, "__name__", "numpy"), frame.f_code.co_filename, frame.f_lineno)
    return FunctionType(code, frame.f_globals)(f, *args, **options)


# A frame belongs to the file and the line that its code names.
_called: Any = lambda f, *args, **options: f(*args, **options)  # noqa: E731 - one line: where the function begins


def _written(op: str, file: str, line: int) -> CodeType:
    """Return code that calls what it is given, and that was written at a place of the program."""
    code: CodeType = _called.__code__.replace(co_filename=file, co_firstlineno=line, co_name=op)
    return code


_code = functools.lru_cache(256)(_written)
