"""What calls of tables send to other ranks: told to traces, and to ``explain``, which has a call stop before it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from .._native.library import bridge


class TableCall(str):
    """The name of a call, as errors have it, which traces have with its columns.

    Parameters
    ----------
    op
        The name, such as ``merge``.
    words
        The name with the columns, such as ``merge on 'k'``.
    """

    words: str

    def __new__(cls, op: str, words: str) -> TableCall:  # noqa: D102 - the class says it
        made = super().__new__(cls, op)
        made.words = words
        return made


def in_words(keys: list[str]) -> str:
    """Return names of columns in words."""
    return ", ".join(map(repr, keys))


def words_of(op: str) -> str:
    """Return what traces call a call of a table."""
    return op.words if isinstance(op, TableCall) else op


class Move(NamedTuple):
    """What a call sends between ranks.

    Attributes
    ----------
    what
        What is sent, and to whom.
    bytes
        How many bytes go to other ranks; None if that depends on what is not known before.
    """

    what: str
    bytes: int | None


class Plan:
    """What a call that is only explained has sent, and what it would send from here on."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.expected: list[Move] = []


#: What the call is told to that is only explained; None where a call is made.
_plan: ContextVar[Plan | None] = ContextVar("plan", default=None)


class Stopped(BaseException):
    """Raised on every rank in the place of the move at which a call ends that is only explained."""


def is_explained() -> bool:
    """Say whether the call is only explained."""
    return _plan.get() is not None


def expect(what: str, nbytes: int | None) -> None:
    """Say what the call sends after its next large move, before which it ends where it is only explained."""
    plan = _plan.get()
    if plan is not None:
        plan.expected.append(Move(what, nbytes))


@contextmanager
def explained() -> Iterator[Plan]:
    """Have calls of tables end before they send many rows, and tell what they send."""
    plan = Plan()
    token = _plan.set(plan)
    try:
        yield plan
        plan.expected.clear()
    except Stopped:
        plan.moves += plan.expected
    finally:
        _plan.reset(token)


def each(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return what calls make, one after the other. Where they are only explained, each of them is."""
    plan = _plan.get()
    if plan is None:
        return [call() for call in calls]
    made, expected, stopped = [], plan.expected, False
    for call in calls:
        plan.expected = []
        try:
            made.append(call())
        except Stopped:
            plan.moves += plan.expected
            stopped = True
    plan.expected = expected
    if stopped:
        raise Stopped
    return made


@contextmanager
def moving(op: str, what: str, nbytes: int, needed: bool = False) -> Iterator[None]:
    """Tell of what is sent in the block: so many bytes of this rank's, to others.

    Where the call is only explained, it ends here, unless that is needed to know what else is sent.
    """
    plan = _plan.get()
    if plan is not None:
        plan.moves.append(Move(what, nbytes))
        if not needed:
            raise Stopped
    start, failed = bridge.clock(), True
    try:
        yield
        failed = False
    finally:
        if start:
            bridge.note(f"{words_of(op)}: {what}", start, failed, 0, 0 if failed else nbytes)
