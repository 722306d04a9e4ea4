"""The exceptions that DTL raises.

Each of them is also the built-in exception that a user would catch. ``code`` is the core's number of the kind of
failure, and ``op`` the operation that failed; it is empty if the failure belongs to no operation.
"""

from __future__ import annotations

import builtins
import errno
import functools
import re
from typing import TYPE_CHECKING, Any

from ._numbers import STATUS

if TYPE_CHECKING:
    from numpy.exceptions import AxisError as _NumPysAxisError

__all__ = [
    "AxisError",
    "BackendError",
    "BackendUnavailableError",
    "BoundsError",
    "BufferError",
    "CollectiveMismatchError",
    "CommunicationError",
    "DTLError",
    "FileError",
    "FileNotFoundError",
    "FloatingPointError",
    "InvalidArgumentError",
    "InvalidHandleError",
    "InvalidTypeError",
    "KeyNotFoundError",
    "MemoryError",
    "OverflowError",
]


# What is noted on exceptions, of any class, for whoever catches them further out: the other ranks of a collective call
# know of the error; it is on stderr; the program ends by an exit code of its own; it says that there is no context.
KNOWN_TO_RANKS, PRINTED, HANDLED, ABOUT_CONTEXT = "_told", "_printed", "_handled", "_of_context"


def mark(error: BaseException, what: str) -> None:
    """Note something on an exception."""
    setattr(error, what, True)


def is_marked(error: BaseException, what: str) -> bool:
    """Say whether something was noted on an exception."""
    return bool(getattr(error, what, False))


class DTLError(Exception):
    """Base class of DTL's exceptions. If an exception is of this class itself, it is a bug in DTL."""

    code: int = STATUS.INTERNAL
    op: str = ""
    _told = False  # whether the other ranks of a collective call know of it
    _cause = ""  # of an error of the core's: the text without op


class InvalidArgumentError(DTLError, ValueError):
    """A value outside what the call accepts."""

    code = STATUS.INVALID_ARGUMENT


class InvalidTypeError(InvalidArgumentError, TypeError):
    """An argument of a type that the call does not accept."""

    code = STATUS.INVALID_TYPE


class InvalidHandleError(InvalidArgumentError):
    """An object that was closed, or that is of another kind than the call accepts."""

    code = STATUS.INVALID_HANDLE


class BoundsError(DTLError, IndexError):
    """An index, rank, root or tag outside its range."""

    code = STATUS.OUT_OF_BOUNDS


@functools.lru_cache(maxsize=None)
def _axis_error() -> Any:
    """Return the class that is NumPy's AxisError, too, which ``dtl run`` has no use for: it imports no NumPy."""
    import numpy as np

    base: Any = getattr(np, "exceptions", np).AxisError  # until NumPy 1.25 of numpy itself

    def begin(self: Any, axis: Any, ndim: Any = None) -> None:
        base.__init__(self, axis, ndim)
        self.args = (base.__str__(self),)

    members = {
        "__doc__": "A dimension that a container does not have. It is also the AxisError of NumPy.",
        "__module__": __name__,
        "__init__": begin,
        "__str__": Exception.__str__,  # NumPy's keeps the first text, where a caller's name is put before it
        "code": STATUS.NO_SUCH_AXIS,
    }
    return type("AxisError", (BoundsError, base), members)


if TYPE_CHECKING:

    class AxisError(BoundsError, _NumPysAxisError):
        """A dimension that a container does not have. It is also the AxisError of NumPy."""

        def __init__(self, axis: Any, ndim: Any = ...) -> None: ...

else:

    def __getattr__(name: str) -> Any:
        if name == "AxisError":
            return _axis_error()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class OverflowError(InvalidArgumentError, builtins.OverflowError):
    """A value that the element type cannot hold."""

    code = STATUS.OVERFLOW


class FloatingPointError(InvalidArgumentError, builtins.FloatingPointError):
    """An error of floats that another rank has, where ``np.errstate`` raises one. That rank raises NumPy's."""

    code = STATUS.FLOATING_POINT


class BufferError(DTLError, builtins.BufferError):
    """A change of a container's structure while views of its memory exist, or closing what requests still use."""

    code = STATUS.VIEWS_OUT


class KeyNotFoundError(DTLError, KeyError):
    """A key that a map does not have."""

    code = STATUS.KEY_NOT_FOUND

    __str__ = Exception.__str__  # KeyError quotes its text


class MemoryError(DTLError, builtins.MemoryError):
    """Memory that could not be allocated."""

    code = STATUS.OUT_OF_MEMORY


class CommunicationError(DTLError, RuntimeError):
    """A communication call that failed."""

    code = STATUS.COMMUNICATION


class CollectiveMismatchError(CommunicationError, InvalidArgumentError):
    """Ranks that made different calls, or passed different arguments, although all have to do the same."""

    code = STATUS.MISMATCH


class BackendError(DTLError, RuntimeError):
    """A backend that failed in something other than communication."""

    code = STATUS.BACKEND


class BackendUnavailableError(BackendError):
    """A backend that cannot be used in this process. The message says what is missing."""

    code = STATUS.BACKEND_UNAVAILABLE


class FileError(DTLError, OSError):
    """A file that is damaged, has another format, or cannot be read or written."""

    code = STATUS.FILE


class FileNotFoundError(FileError, builtins.FileNotFoundError):
    """A file that does not exist."""

    code = STATUS.FILE_MISSING

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.errno = errno.ENOENT


_CLASSES: dict[int, type[DTLError]] = {
    cls.code: cls
    for cls in (
        DTLError,
        InvalidArgumentError,
        InvalidTypeError,
        InvalidHandleError,
        BoundsError,
        OverflowError,
        FloatingPointError,
        BufferError,
        KeyNotFoundError,
        MemoryError,
        CommunicationError,
        CollectiveMismatchError,
        BackendError,
        BackendUnavailableError,
        FileError,
        FileNotFoundError,
    )
}
_CLASSES[STATUS.UNSUPPORTED] = _CLASSES[STATUS.LINEAR_ALGEBRA] = InvalidArgumentError


def know(kind: type[DTLError]) -> None:
    """Have a class of another package stand for the failures of its code, as its base class does until then."""
    _CLASSES[kind.code] = kind


#: With a number of the system's added to it, the code of a FileError that has this errno.
_ERRNO, _LARGEST_ERRNO = STATUS.FILE_ERRNO, 4095

_ENCODED = re.compile(r"\[(\d+) ([^]]*)\] (.*)", re.DOTALL)


def code_of(error: DTLError) -> int:
    """Return the code by which other ranks are told of an error: that of its class, and of files also its errno."""
    return code_of_file(error) if error.code == FileError.code else error.code


def code_of_file(error: Exception) -> int:
    """Return the code by which other ranks are told of an OSError, and so get a FileError with the same errno."""
    number = getattr(error, "errno", None)
    return _ERRNO + number if isinstance(number, int) and 0 < number <= _LARGEST_ERRNO else FileError.code


def from_text(text: str) -> DTLError:
    """Return the exception that the core's ``[code op] cause`` stands for."""
    match = _ENCODED.fullmatch(text)
    if match is None:
        return DTLError(text)
    code, op, cause = int(match[1]), match[2], match[3]
    number = None
    if _ERRNO < code <= _ERRNO + _LARGEST_ERRNO:
        code, number = FileError.code, code - _ERRNO
    kind = _axis_error() if code == STATUS.NO_SUCH_AXIS else _CLASSES.get(code, DTLError)
    error = kind(f"{op}: {cause}" if op else cause)
    error.code = code
    error.op = op
    error._cause = cause
    if number is not None and isinstance(error, FileError):
        error.errno = number
    return error


def from_call(text: str) -> DTLError:
    """Return the exception of a call of which the core tells the other ranks, unless the bridge takes that back."""
    error = from_text(text)
    error._told = True
    return error
