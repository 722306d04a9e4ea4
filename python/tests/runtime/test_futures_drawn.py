"""Futures against a model: drawn histories of setting, cancelling, chaining and waiting, from several threads."""

from __future__ import annotations

import concurrent.futures
import gc
import queue
import threading
from typing import Any, Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

import dtl

#: What a future came to: a value, an error's text, or cancelled; None while it is under way.
Outcome = Any


pytestmark = pytest.mark.alone("communicates nothing")


class DrawnError(Exception):
    """What futures fail with here."""


def outcome(future: dtl.Future) -> Outcome:
    """Return what a future came to, asked without waiting."""
    if not future.done:
        return None
    try:
        return ("value", future.get(0))
    except DrawnError as error:
        return ("error", str(error))
    except concurrent.futures.CancelledError:
        return ("cancelled",)


class Futures(RuleBasedStateMachine):
    """Futures, each with the outcome that it should have; threads that wait for them; and what was made of them."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[int, tuple[dtl.Future, Callable[[], Outcome]]] = {}
        self.set: dict[int, Outcome] = {}
        self.waiting: list[tuple[threading.Thread, queue.SimpleQueue[Outcome], Callable[[], Outcome]]] = []
        self.jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.helper = threading.Thread(target=self.help)
        self.helper.start()

    def help(self) -> None:
        while (job := self.jobs.get()) is not None:
            job[0](*job[1:3])
            job[3].set()

    def elsewhere(self, call: Callable[..., Any], *args: Any) -> None:
        """Make a call in another thread, and wait until it was made."""
        over = threading.Event()
        self.jobs.put((call, *args, *[None] * (2 - len(args)), over))
        assert over.wait(20)

    def add(self, future: dtl.Future, expected: Callable[[], Outcome]) -> int:
        key = len(self.model)
        self.model[key] = future, expected
        return key

    @rule(target=made)
    def promise(self) -> int:
        key = len(self.model)
        return self.add(dtl.Future(), lambda: self.set.get(key))

    @rule(key=made, value=st.integers(0, 9), kind=st.sampled_from(["set", "fail", "cancel"]), here=st.booleans())
    def end(self, key: int, value: int, kind: str, here: bool) -> None:
        future, expected = self.model[key]

        def act(*_: Any) -> None:
            over = expected() is not None
            try:
                if kind == "set":
                    future.set(value)
                elif kind == "fail":
                    future.set_exception(DrawnError(value))
                elif not future.cancel():
                    assert over
                    return
            except dtl.InvalidArgumentError:
                assert over
            else:
                assert not over
                self.set[key] = {"set": ("value", value), "fail": ("error", str(value)), "cancel": ("cancelled",)}[kind]

        if expected() is None and key not in self.set and self.derived(key):
            return  # the model does not say who would win
        act() if here else self.elsewhere(act)

    def derived(self, key: int) -> bool:
        return key in self.origin

    @property
    def origin(self) -> set[int]:
        """The futures that were made of others."""
        return self.__dict__.setdefault("_origin", set())

    @rule(target=made, key=made, fails=st.booleans())
    def then(self, key: int, fails: bool) -> int:
        future, expected = self.model[key]

        def f(value: Any) -> Any:
            if fails:
                raise DrawnError("in then")
            return (value, "then")

        def after() -> Outcome:
            before = expected()
            if before is None or before[0] != "value":
                return before
            return ("error", "in then") if fails else ("value", (before[1], "then"))

        made = self.add(future.then(f), after)
        self.origin.add(made)
        return made

    @rule(target=made, keys=st.lists(made, max_size=4))
    def all(self, keys: list[int]) -> int:
        parts = [self.model[key] for key in keys]

        def after() -> Outcome:
            outcomes = [expected() for _, expected in parts]
            if None in outcomes:
                return None
            bad = [o for o in outcomes if o[0] != "value"]
            return bad[0] if bad else ("value", [o[1] for o in outcomes])

        made = self.add(dtl.when_all([future for future, _ in parts]), after)
        self.origin.add(made)
        return made

    @rule(target=made, keys=st.lists(made, min_size=1, max_size=4))
    def any(self, keys: list[int]) -> int:
        parts = [self.model[key] for key in keys]
        future = dtl.when_any(part for part, _ in parts)
        first: list[Outcome] = []

        def after() -> Outcome:
            overs = [expected() for _, expected in parts]
            candidates = [("value", (i, o[1])) if o[0] == "value" else o for i, o in enumerate(overs) if o is not None]
            if candidates and not first:  # of those that one call ended, any may have been the first
                assert outcome(future) in candidates
                first.append(outcome(future))
            return first[0] if first else None

        after()
        made = self.add(future, after)
        self.origin.add(made)
        return made

    @rule(key=made)
    def wait_elsewhere(self, key: int) -> None:
        future, expected = self.model[key]
        told: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

        def wait() -> None:
            future.wait()
            told.put(outcome(future))

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        self.waiting.append((thread, told, expected))

    @rule(key=made, seconds=st.sampled_from([0, 1e-4]))
    def wait_a_little(self, key: int, seconds: float) -> None:
        future, expected = self.model[key]
        assert future.wait(seconds) == (expected() is not None)

    @rule(key=made)
    def as_another(self, key: int) -> None:
        future, expected = self.model[key]
        other = future.to_concurrent()
        over = expected()
        assert other.done() == (over is not None)
        if over is not None and over[0] == "value":
            assert other.result(0) == over[1]

    @rule(key=consumes(made))
    def drop(self, key: int) -> None:
        """Nothing else happens to this one: the rest goes on."""

    @invariant()
    def holds(self) -> None:
        for future, expected in self.model.values():
            assert outcome(future) == expected()

    def teardown(self) -> None:
        for key, (future, expected) in self.model.items():
            if expected() is None and key not in self.origin:
                future.set("last")
                self.set[key] = ("value", "last")
                self.holds()
        for thread, told, expected in self.waiting:
            thread.join(20)
            assert told.get_nowait() == expected()
        self.jobs.put(None)
        self.helper.join()
        self.model.clear()
        gc.collect()


TestFutures = Futures.TestCase
TestFutures.settings = settings(max_examples=40, stateful_step_count=25)
