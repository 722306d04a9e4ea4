"""NumPy's functions that create, join and shape arrays, with drawn arguments of which some are containers.

What comes back is what NumPy makes of the arrays: values, shapes, dtypes, types, and the class of errors.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from divisions import division
from drawn_calls import CALLS, Draw
from older_numpy import VERSION

import dtl

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        VERSION < "2.0.0", reason="compared with NumPy 2 or later; test_numpy_functions.py compares with older ones"
    ),
]


DRAWS = 12
DIVISIONS = ("block", "block", "cyclic", "replicated", "block_cyclic", "explicit")

#: The classes of errors that programs catch.
_CLASSES = (ValueError, TypeError, IndexError, OverflowError)


def arrays_in(value: Any, change: Any) -> Any:
    """Return a value with each array of at least one dimension changed."""
    if isinstance(value, np.ndarray) and value.ndim:
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([arrays_in(each, change) for each in value])
    if isinstance(value, dict):
        return {key: arrays_in(each, change) for key, each in value.items()}
    return value


def outcome(function: Any, words: Any, keywords: Any) -> Any:
    """Return what a call returns or raises."""
    try:
        return function(*words, **keywords)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        return error


def whole(ctx: dtl.Context, value: Any) -> Any:
    """Return the elements of containers on every rank."""
    if isinstance(value, dtl.DistributedContainer):
        return dtl.broadcast_object(ctx, value.gather_to(0), root=0)
    return type(value)([whole(ctx, each) for each in value]) if type(value) in (list, tuple) else value


def same(got: Any, want: Any) -> None:
    """Check type, shape, dtype and values."""
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"{got!r} for {want!r}"
        assert any(isinstance(got, kind) and isinstance(want, kind) for kind in _CLASSES), f"{got!r} for {want!r}"
    elif isinstance(got, Exception):
        raise got
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want)
        assert len(got) == len(want)
        for one, other in zip(got, want):
            same(one, other)
    elif isinstance(want, (np.ndarray, np.generic)):
        assert isinstance(got, (np.ndarray, np.generic))
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        if want.dtype.kind in "fc":
            digits = np.finfo(want.dtype).resolution * 10
            np.testing.assert_allclose(got, want, rtol=digits, atol=digits)
        else:
            np.testing.assert_array_equal(got, want)
    else:
        assert got == want
        assert type(got) is type(want)


@pytest.mark.parametrize("name", CALLS)
def test_drawn_calls(ctx: dtl.Context, name: str) -> None:
    for number in range(DRAWS):
        d = Draw(f"{name} {number}")
        call = CALLS[name](d)
        partition, share = d.choice(DIVISIONS), d.choice([0.4, 1.0, 1.0])
        held: list[Any] = []

        def hold(array: Any, into: list[Any] = held, how: str = partition, some: float = share, d: Draw = d) -> Any:
            if into and d.random() > some:
                return array
            into.append(dtl.asarray(ctx, array, **division(how, array.shape[0], ctx.size)))
            return into[-1]

        out = {key: arrays_in(call.keywords[key], hold) for key in ("out",) if key in call.keywords}  # always held
        words = arrays_in(call.words, hold)
        keywords = {**{key: arrays_in(value, hold) for key, value in call.keywords.items() if key not in out}, **out}
        want = outcome(call.function, copy.deepcopy(call.words), copy.deepcopy(call.keywords))
        got = outcome(call.function, words, keywords)
        try:
            same(whole(ctx, got), want)
        except (AssertionError, ValueError, TypeError, LookupError) as error:
            text = f"draw {number}, {partition}: {call.function.__name__}{call.words!r}, {call.keywords!r}"
            raise AssertionError(f"{text}: {error}") from error
        for container in held:
            container.close()
