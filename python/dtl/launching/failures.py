"""Exceptions that come back from ranks, as ``concurrent.futures`` brings them back from its processes."""

from __future__ import annotations

import pickle
import traceback
from types import TracebackType
from typing import NamedTuple, Sequence

from ..exceptions import KNOWN_TO_RANKS, BackendError, DTLError, mark
from . import transport


class RemoteTraceback(Exception):  # noqa: N818 - it is none that is raised
    """The cause of an exception that comes from ranks: their tracebacks. ``rank`` is the one that raised it."""

    def __init__(self, rank: int, text: str) -> None:
        super().__init__(rank, text)
        self.rank = rank
        self.text = text

    def __str__(self) -> str:
        return self.text


class EndThread(BaseException):
    """Ends a thread that computes when its rank is to end. No function has failed."""


class Failure(NamedTuple):
    """What a function raised on a rank."""

    rank: int
    kind: str  # the name of its class
    text: str
    trace: str
    pickled: bytes  # the exception, b"" if it cannot be sent

    def exception(self, kinds: type[BaseException] = Exception) -> BaseException:
        """Return the exception, or one that says what it was where it is none of these kinds, or cannot be sent."""
        if self.pickled:
            try:
                error = transport.unpack(self.pickled)
                if isinstance(error, kinds):
                    return error
            except BaseException:  # noqa: BLE001 - of a class that is not here, or that is not made as it is pickled
                pass
        return BackendError(f"rank {self.rank} raised {self.words}")

    @property
    def words(self) -> str:
        """The class and the text, as in the last line of a traceback."""
        return f"{self.kind}: {self.text}" if self.text else self.kind


def describe(rank: int, error: BaseException, where: TracebackType | None) -> Failure:
    """Return what the launching process is told of an exception; the traceback begins where the caller says."""
    kind = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        kind = f"{type(error).__module__}.{kind}"
    trace = "".join(traceback.format_exception(type(error), error, where))
    pickled = b""
    try:
        pickled = transport.pack(error)
        transport.unpack(pickled)
    except BaseException:  # noqa: BLE001 - of a class that cannot be sent, or not be made again from what it sends
        pickled = b""
    return Failure(rank, kind, _text(error), trace, pickled)


def _text(error: BaseException) -> str:
    """Return the text of an exception, or what tracebacks have in its place."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - of a class that fails to say what it is
        return "<exception str() failed>"


def pack(failure: Failure) -> bytes:
    """Return a failure as bytes."""
    return pickle.dumps(tuple(failure))


def unpack(data: bytes) -> Failure:
    """Return the failure that these bytes stand for."""
    return Failure(*pickle.loads(data))


def raised(failures: Sequence[Failure]) -> BaseException:
    """Return the exception to raise for what several ranks raised: the first one's, with the others in its cause."""
    first = failures[0]
    error = first.exception()
    error.__cause__ = RemoteTraceback(first.rank, _tracebacks(failures))
    if isinstance(error, DTLError):
        mark(error, KNOWN_TO_RANKS)
    return error


def interrupted(failures: Sequence[Failure]) -> KeyboardInterrupt:
    """Return the exception to raise for a call that the user has interrupted; its cause says where the ranks were."""
    error = KeyboardInterrupt()
    if failures:
        error.__cause__ = RemoteTraceback(failures[0].rank, _tracebacks(failures))
    return error


def _tracebacks(failures: Sequence[Failure]) -> str:
    """Return the tracebacks, each once, with the ranks that have it."""
    ranks: dict[str, list[int]] = {}
    for failure in failures:
        ranks.setdefault(failure.trace, []).append(failure.rank)
    parts = []
    for trace, those in ranks.items():
        names = ", ".join(map(str, sorted(those)))
        parts.append(f"rank{'s' if len(those) > 1 else ''} {names} raised:\n{trace}")
    return "\n\n" + "\n".join(parts)
