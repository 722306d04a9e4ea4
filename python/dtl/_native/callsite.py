"""Where in the user's program a call is made, and warnings that name that line."""

from __future__ import annotations

import builtins
import functools
import os
import sys
import warnings
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, Callable, NamedTuple

import numpy as np

#: Returns the frame so many calls up.
frame_at: Callable[..., FrameType] = sys._getframe

#: Returns the frame that each thread is in, by its number.
frames_of_threads: Callable[[], dict[int, FrameType]] = sys._current_frames


#: The folder of the package.
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# What is not the user's: DTL, and NumPy, whose functions and operators call DTL for the user; nor what begins a thread.
_INSIDE = (
    PACKAGE,
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
    "<__array_function__ internals>",
    os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "threading.py"),
)


def own(frame: FrameType) -> bool:
    """Say whether a frame is one of DTL's own."""
    return frame.f_code.co_filename.startswith(PACKAGE)


def name(frame: FrameType, line: int | None = None) -> str:
    """Return the place of a frame, at its own line unless one is given, as ``app.py:41``."""
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno if line is None else line}"


def caller(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame, from one outwards, that is the user's."""
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return frame


def warn(
    text: str,
    category: type[Warning],
    source: Any = None,
    issue: Callable[..., None] = warnings.warn,
    frame_of: Callable[[], FrameType] = frame_at,
    inside: tuple[str, ...] = _INSIDE,
) -> None:
    """Issue a warning that names the user's line. What destructors need at the interpreter's end is held here."""
    frame, level = frame_of(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    issue(text, category, level, source)


def outside(frame: FrameType | None) -> str:
    """Return the innermost place of the user's, from a frame outwards; empty if there is none."""
    frame = caller(frame)
    return "" if frame is None else name(frame)


def raised(where: TracebackType | None) -> str:
    """Return the innermost place of a traceback that is not in DTL; empty if there is none."""
    place = ""
    while where is not None:
        if not own(where.tb_frame):
            place = name(where.tb_frame, where.tb_lineno)
        where = where.tb_next
    return place


def place(thread: int = 0) -> str:
    """Return the place in the user's program from which a thread came to DTL; empty if there is none.

    The thread is the calling one, or that which the system knows by a number.
    """
    if not thread:
        return outside(frame_at())
    import threading  # here, not at the top: only a wait that is too long comes this far

    frames = frames_of_threads()
    numbers = {known.native_id: known.ident for known in threading.enumerate()}
    return outside(frames.get(numbers.get(thread) or 0))


def place_of(code: CodeType, line: int) -> str:
    """Return the place of a line of the user's code; empty for code that is not the user's."""
    return "" if code.co_filename.startswith(_INSIDE) else f"{os.path.basename(code.co_filename)}:{line}"


class Site(NamedTuple):
    """Where in the program a call was made."""

    file: str
    line: int
    place: str  # as errors and reports have it: "app.py:41"

    def run(self, op: str, work: Callable[[], Any]) -> Any:
        """Return what work returns. Its caller is, to tracebacks, reports and traces, the site."""
        if not self.file:
            return work()
        names = {"__builtins__": builtins}  # which functions in C that import read
        return FunctionType(_code(op, self.file, self.line), names, op)(work, (), {})


def here() -> Site:
    """Return the innermost place of the user's in the calling thread."""
    frame = caller(frame_at(1))
    return Site("", 0, "") if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, name(frame))


def by_user(f: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], depth: int = 1) -> Any:
    """Return what a function of NumPy returns. What it warns of names the line where the user called DTL.

    Depth is how many frames up the user is at the nearest. It saves looking at those below, which takes time.
    """
    frame = caller(frame_at(depth))
    if frame is None:
        return f(*args, **options)
    return FunctionType(code_at(f.__name__, frame), frame.f_globals)(f, args, options)


def code_at(op: str, frame: FrameType) -> CodeType:
    """Return code of the line that a frame is at. It calls a function: what that warns of names the line."""
    return _code(op, frame.f_code.co_filename, frame.f_lineno)


# A frame belongs to the file and the line that its code names.
_called: Any = lambda f, args, options: f(*args, **options)  # noqa: E731 - one line: where the function begins


def _written(op: str, file: str, line: int) -> CodeType:
    """Return code that calls what it is given, and that was written at a place of the program."""
    code: CodeType = _called.__code__.replace(co_filename=file, co_firstlineno=line, co_name=op)
    return code


_code = functools.lru_cache(256)(_written)
