"""What the bridge borrows from objects that are not, or do not stay, as they seem."""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

import numpy as np
import pytest

import dtl

pytestmark = pytest.mark.few("looks at one process's objects")


def dimensions(count: int) -> Any:
    """Return a buffer of one element with so many dimensions, which may be more than NumPy has."""
    kind: Any = ctypes.c_double
    for _ in range(count):
        kind = kind * 1
    return kind()


@pytest.mark.parametrize("count", [65, 255, 256, 600])
def test_more_dimensions_than_a_message_has(alone: dtl.Context, count: int) -> None:
    for call in (
        lambda value: dtl.send(alone, value, 0),
        lambda value: dtl.sendrecv(alone, value, 0, 0),
        lambda value: dtl.broadcast(alone, value),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match=f"has {count} dimensions; at most 64 can be sent") as caught:
            call(dimensions(count))
        assert caught.value.code == 100


def test_as_many_dimensions_as_a_message_has(alone: dtl.Context) -> None:
    out = np.ones(1)
    dtl.send(alone, dimensions(64), 0)
    assert dtl.recv(alone, 0, out=out) is out
    assert out[0] == 0


@pytest.mark.filterwarnings("ignore:A builtin ctypes object gave a PEP3118 format")  # Python 3.8's
def test_empty_buffer_without_an_address(alone: dtl.Context) -> None:
    empty = (ctypes.c_double * 0).from_address(0)
    assert np.asarray(dtl.broadcast(alone, empty)).shape == (0,)
    received = dtl.sendrecv(alone, empty, 0, 0)
    assert (received.shape, received.dtype) == ((0,), np.float64)


def test_class_name_cut_within_a_letter(alone: dtl.Context) -> None:
    thing: Any = type("x" + "Ä" * 100, (), {})()
    with pytest.raises(dtl.InvalidTypeError, match="native handle is wanted, not xÄ"):
        dtl.Context.barrier(thing)


def test_op_given_twice(alone: dtl.Context) -> None:
    with pytest.raises(TypeError, match="multiple values for argument 'op'"):
        dtl.allreduce(alone, 2.0, dtl.SUM, op=dtl.MAX)  # type: ignore[call-overload]


def test_closed_context_names_the_operation() -> None:
    ctx = dtl.Environment().make_cpu_context()
    ctx.close()
    for name, call in {
        "barrier": ctx.barrier,
        "allreduce": lambda: dtl.allreduce(ctx, 1.0),
        "send": lambda: dtl.send(ctx, 1.0, 0),
    }.items():
        with pytest.raises(dtl.InvalidHandleError, match=f"{name}: the context is closed") as caught:
            call()
        assert caught.value.op == name


@pytest.mark.filterwarnings("ignore:Setting the shape")  # NumPy 2.5 on
def test_shape_that_another_thread_changes(alone: dtl.Context) -> None:
    """The elements are the caller's to keep still; the shape is one or the other."""
    value = np.arange(12.0)
    done = threading.Event()

    def reshape() -> None:
        while not done.is_set():
            for shape in ((2, 6), (3, 2, 2), (1, 3, 1, 4), (12,)):
                value.shape = shape

    other = threading.Thread(target=reshape)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # often enough that it is between any two steps of a call
    other.start()
    try:
        for _ in range(20_000):
            assert dtl.sendrecv(alone, value, 0, 0).size == 12
    finally:
        sys.setswitchinterval(usual)
        done.set()
        other.join()
