"""The short way into the core comes to the same as the function behind it, which prepares any arguments."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import sys
import typing
import weakref
from typing import Any, Callable

import numpy as np
import pytest
from oracle import DTYPES

import dtl
from dtl._native import library

bridge = library.bridge

FUNCTIONS = [
    dtl.allreduce,
    dtl.reduce,
    dtl.broadcast,
    dtl.gather,
    dtl.allgather,
    dtl.scatter,
    dtl.send,
    dtl.recv,
    dtl.sendrecv,
    dtl.Context.barrier,
]

PYTHON_SCALARS = [2.5, float("nan"), -7, 2**62, True, 1 - 2j]
NUMPY_SCALARS = [np.dtype(name).type(3) for name in DTYPES]
ARRAYS = [
    np.arange(n).reshape(shape).astype(name) for name in DTYPES for n, shape in ((1, ()), (6, (2, 3)), (0, (0, 2)))
]
LONG = np.arange(5000.0)
OTHERS: list[Any] = [
    np.arange(8.0)[::2],
    np.arange(6.0).reshape(2, 3).T,
    np.arange(3, dtype=">f8"),
    np.array([1, 2], np.longlong),
    np.longlong(4),
    [1.5, 2.5],
    np.ones((1,) * 32),
]
VALUES = [*PYTHON_SCALARS, *NUMPY_SCALARS, *ARRAYS, LONG, *OTHERS]


def behind(function: Any) -> Callable[..., Any]:
    """Return the function that prepares arguments."""
    wrapped: Callable[..., Any] = function.__wrapped__
    return wrapped


def outcome(call: Callable[..., Any], *args: Any, **words: Any) -> Any:
    """Return what a call returns, or its error."""
    try:
        return call(*args, **words)
    except (dtl.DTLError, TypeError) as error:
        return error


def assert_alike(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, Exception):
        assert str(one) == str(other)
        return
    if one is not None:
        assert np.array_equal(one, other, equal_nan=np.asarray(other).dtype.kind in "fc")
    if isinstance(one, np.ndarray):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.strides == other.strides or one.size == 0
        assert one.flags.owndata or one.base is not None
        assert one.flags.writeable
        assert one.flags.aligned
        assert one.flags.c_contiguous
        assert one.flags.f_contiguous == other.flags.f_contiguous


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {np.asarray(value).dtype}")
def test_same_result_as_the_function_behind(ctx: dtl.Context, value: Any) -> None:
    last, around, before = ctx.size - 1, (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    here = value if ctx.rank == last else None
    rows = np.broadcast_to(value, (ctx.size, *np.shape(value)[:31]))[..., :2] if np.ndim(value) else [value] * ctx.size
    kind = np.asarray(value).dtype
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (dtl.allreduce, (value,), {"op": dtl.MAX}),
        (dtl.allreduce, (value, dtl.SUM), {}),
        (dtl.reduce, (value, dtl.PROD), {"root": last}),
        (dtl.reduce, (value,), {}),
        (dtl.broadcast, (here, last), {}),
        (dtl.gather, (value,), {"root": last}),
        (dtl.allgather, (value,), {}),
        (dtl.scatter, (np.array(rows) if ctx.rank == last else None, last), {}),
        (dtl.sendrecv, (value, around, before), {"send_tag": 3, "recv_tag": 3}),
    ]
    if kind.isnative:
        out = np.empty(np.shape(value), kind)
        calls += [(dtl.allreduce, (value, "min"), {"out": out}), (dtl.broadcast, (here, last), {"out": out})]
        calls += [(dtl.gather, (value,), {"out": np.empty((ctx.size, *np.shape(value)[:31]), kind)})]
    for function, args, words in calls:
        assert_alike(outcome(function, ctx, *args, **words), outcome(behind(function), ctx, *args, **words))


def goes_behind(function: Any, *args: Any, **words: Any) -> bool:
    """Make a call, and say whether the function behind had to prepare something."""
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(frame.f_code))
    try:
        function(*args, **words)
    finally:
        sys.setprofile(None)
    return behind(function).__code__ in seen


READY = [2.5, 7, 1j, np.float64(3), np.int8(3), np.arange(3.0), np.zeros((2, 3), np.int16), np.array(1.0), LONG]


@pytest.mark.parametrize("value", READY, ids=lambda value: f"{type(value).__name__} {np.asarray(value).dtype}")
def test_ready_arguments_take_the_short_way(ctx: dtl.Context, value: Any) -> None:
    shape, kind = np.shape(value), np.asarray(value).dtype
    out, all_of_it = np.empty(shape, kind), np.empty((ctx.size, *shape), kind)
    for root in range(ctx.size):
        assert not goes_behind(dtl.reduce, ctx, value, dtl.PROD, root=root)
        assert not goes_behind(dtl.broadcast, ctx, value if ctx.rank == root else None, root)
        assert not goes_behind(dtl.broadcast, ctx, np.array(value), root, out=out)
        assert not goes_behind(dtl.gather, ctx, value, root)
        assert not goes_behind(dtl.scatter, ctx, all_of_it if ctx.rank == root else None, root=root)
    assert not goes_behind(dtl.allreduce, ctx, value)
    assert not goes_behind(dtl.allreduce, ctx, value, op=dtl.PROD, out=out)
    assert not goes_behind(dtl.allgather, ctx, value, out=all_of_it)
    if out.nbytes < 1000:  # a longer one would wait for its receiver
        assert not goes_behind(dtl.send, ctx, value, dest=ctx.rank, tag=7)
        assert not goes_behind(dtl.recv, ctx, dtl.ANY_SOURCE, 7, kind, out.size)
    assert not goes_behind(dtl.sendrecv, ctx, value, ctx.rank, ctx.rank, 5, dtl.ANY_TAG, out=out)
    assert not goes_behind(dtl.Context.barrier, ctx)
    assert goes_behind(dtl.allreduce, ctx, value, "max" if kind.kind != "c" else "sum")


def test_short_calls_beside_a_message_that_has_not_come(ctx: dtl.Context) -> None:
    with ctx.dup() as other:
        request = dtl.irecv(other, source=other.rank, tag=7)  # of any length, so it has a second step
        for _ in range(3):
            assert not goes_behind(dtl.Context.barrier, ctx)
        dtl.send(other, 5, dest=other.rank, tag=7)
        assert request.wait() == 5


def test_long_results_keep_their_memory(ctx: dtl.Context) -> None:
    for _ in range(3):
        got = dtl.sendrecv(ctx, LONG, ctx.rank, ctx.rank)
        part = got[10:20]
        del got
        dtl.sendrecv(ctx, LONG + 1, ctx.rank, ctx.rank)
        assert (part == LONG[10:20]).all()


def test_results_are_nobody_elses(ctx: dtl.Context) -> None:
    for value in (np.ones(3), LONG):
        results = dtl.allreduce(ctx, value), dtl.allgather(ctx, value), dtl.sendrecv(ctx, value, ctx.rank, ctx.rank)
        for result in results:
            assert not np.shares_memory(result, value)
            result[...] = -5
        assert value[0] in (1, 0)


def test_receive_states_its_dtype(ctx: dtl.Context) -> None:
    for dtype in (np.float64, np.dtype("f8"), "float64", float, "f8", None):
        dtl.send(ctx, np.ones(2), ctx.rank)
        assert_alike(dtl.recv(ctx, ctx.rank, 0, dtype, 2), np.ones(2))
    for dtype in (np.float32, np.dtype("i8"), "uint8", bool, np.dtype(">f8"), "no dtype", np.longdouble):
        dtl.send(ctx, np.ones(2), ctx.rank)
        with pytest.raises(dtl.InvalidArgumentError, match="dtype"):
            dtl.recv(ctx, ctx.rank, dtype=dtype)
        dtl.recv(ctx, ctx.rank)


# ---- What a function says of itself ----


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: str(function.__name__))
def test_looks_like_the_function_behind(function: Any) -> None:
    wrapped = behind(function)
    assert inspect.signature(function) == inspect.signature(wrapped)
    assert typing.get_type_hints(function, {**vars(dtl), "Op": dtl.ops.Op, "OpLike": dtl.ops.OpLike}, {"Any": Any})
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(function, name) == getattr(wrapped, name)
    assert inspect.isroutine(function)
    shown = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert f"{function.__name__}(" in shown
    assert "Collective" in shown or "MPI_" in shown
    assert repr(function).startswith(f"<function {function.__qualname__} at ")
    assert weakref.ref(function)() is function
    assert hash(function) == hash(function)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: str(function.__name__))
def test_pickles_and_copies_are_the_function(function: Any) -> None:
    for again in (pickle.loads(pickle.dumps(function)), copy.copy(function), copy.deepcopy(function)):
        assert again is function


def test_attributes_cannot_be_set() -> None:
    for name in ("__name__", "__wrapped__", "__doc__", "anything"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(dtl.allreduce, name, len)


def test_method(ctx: dtl.Context) -> None:
    class Mine(dtl.Context):
        def barrier(self) -> None:
            super().barrier()

    assert dtl.Context.barrier(ctx) is None  # type: ignore[func-returns-value]
    bound = ctx.barrier
    assert bound.__self__ is ctx  # type: ignore[attr-defined]
    assert bound() is None  # type: ignore[func-returns-value]
    with Mine() as mine:
        mine.barrier()


# ---- Arguments that are wrong ----

WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1.0,), {}),
    ((1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), {}),
    ((1.0,), {"nothing": 1}),
    ((1.0, 0), {"out": None, "ctx": 1}),
    ((1.0, 0, 0, 0, 0, 0), {"value": 1, "data": 2}),
    ((), {"value": 1.0, "root": 0, "out": np.ones(1), "op": dtl.SUM, "x": 1}),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: str(function.__name__))
def test_arguments_that_do_not_fit_the_parameters(alone: dtl.Context, function: Any) -> None:
    for args, words in WRONG:
        try:
            inspect.signature(function).bind(alone, *args, **words)
        except TypeError:
            with pytest.raises(TypeError) as one:
                function(alone, *args, **words)
            with pytest.raises(TypeError) as other:
                behind(function)(alone, *args, **words)
            assert str(one.value) == str(other.value)


def test_out_is_a_keyword(alone: dtl.Context) -> None:
    one, out = np.ones(1), np.zeros(1)
    for call in (
        lambda: dtl.allreduce(alone, one, dtl.SUM, out),  # type: ignore[misc,call-overload]
        lambda: dtl.gather(alone, one, 0, out),  # type: ignore[misc]
        lambda: dtl.recv(alone, 0, 0, None, 0, out),  # type: ignore[misc]
    ):
        with pytest.raises(TypeError, match="positional argument"):
            call()


def test_keywords_that_are_equal_but_not_the_same(ctx: dtl.Context) -> None:
    word = "".join(["o", "ut"])
    out = np.zeros(1)
    assert dtl.allreduce(ctx, np.ones(1), **{word: out}) is out
    assert out == ctx.size
    assert dtl.allreduce(value=2.0, ctx=ctx, op=dtl.MAX) == 2.0
    assert dtl.allreduce(ctx=ctx, value=2.0, **{"".join(["o", "p"]): "max"}) == 2.0


class Index:
    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_integers(ctx: dtl.Context) -> None:
    """Whatever is an index is one; what does not fit 64 bits, and what is none, says so."""
    for zero in (Index(0), np.int8(0), False, np.uint64(0)):
        assert dtl.broadcast(ctx, 1.5, zero) == 1.5  # type: ignore[arg-type]
        dtl.send(ctx, 1.5, ctx.rank, zero)  # type: ignore[arg-type]
        assert dtl.recv(ctx, ctx.rank, zero) == 1.5  # type: ignore[arg-type]
    for huge in (10**30, -(10**30), Index(2**63)):
        for call in (
            lambda: dtl.send(ctx, 1.5, ctx.rank, huge),  # type: ignore[arg-type] # noqa: B023
            lambda: dtl.recv(ctx, ctx.rank, huge),  # type: ignore[arg-type] # noqa: B023
            lambda: dtl.recv(ctx, ctx.rank, count=huge),  # type: ignore[arg-type] # noqa: B023
            lambda: dtl.gather(ctx, 1.5, huge),  # type: ignore[arg-type] # noqa: B023
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=r"outside \[-2\*\*63, 2\*\*63\)"):
                call()
    for none in (1.0, "0", None, [0], np.zeros(2)):
        for call in (
            lambda: dtl.send(ctx, 1.5, none),  # type: ignore[arg-type] # noqa: B023
            lambda: dtl.recv(ctx, none),  # type: ignore[arg-type] # noqa: B023
            lambda: dtl.gather(ctx, 1.5, none),  # type: ignore[arg-type] # noqa: B023
        ):
            with pytest.raises(dtl.InvalidTypeError, match="must be an integer, not"):
                call()


class Subclass(np.ndarray):  # type: ignore[type-arg]
    pass


def test_arrays_that_mean_more_than_their_elements(ctx: dtl.Context) -> None:
    masked = np.ma.masked_array(np.ones(3), [False, True, False])
    for call in (dtl.allreduce, dtl.gather, dtl.allgather, dtl.reduce):
        with pytest.raises(dtl.InvalidArgumentError, match="masked elements"):
            call(ctx, masked)
    mine = np.ones(3).view(Subclass)
    for result in (dtl.allreduce(ctx, mine), dtl.allgather(ctx, mine), dtl.sendrecv(ctx, mine, ctx.rank, ctx.rank)):
        assert type(result) is np.ndarray
    out = np.zeros(3).view(Subclass)
    assert dtl.allreduce(ctx, np.ones(3), out=out) is out
    assert (out == ctx.size).all()


def test_outputs_that_cannot_be_written(ctx: dtl.Context) -> None:
    frozen, apart, swapped = np.zeros(3), np.zeros(6)[::2], np.zeros(3, ">f8")
    frozen.flags.writeable = False
    wrong = {"is read-only": frozen, "is not C-contiguous": apart, "dtype >f8": swapped, "must be a NumPy array": [0.0]}
    for text, out in wrong.items():
        for call in (
            lambda: dtl.allreduce(ctx, np.ones(3), out=out),  # noqa: B023
            lambda: dtl.recv(ctx, ctx.rank, out=out),  # noqa: B023
        ):
            with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError), match=text):
                call()


def test_owners_that_are_none(alone: dtl.Context) -> None:
    vec, closed = dtl.DistributedVector(alone, 3), dtl.Environment().make_cpu_context()
    closed.close()
    for owner in (None, 5, "ctx", vec, closed, bridge.Handle(), bridge.Ranks(), alone._handle, dtl.Context):
        for call in (
            lambda: dtl.allreduce(owner, 1.5),  # noqa: B023
            lambda: dtl.gather(owner, np.ones(3)),  # noqa: B023
            lambda: dtl.broadcast(owner, 1.5),  # noqa: B023
            lambda: dtl.recv(owner, 0),  # noqa: B023
            lambda: dtl.Context.barrier(owner),  # noqa: B023
        ):
            with pytest.raises((dtl.InvalidTypeError, dtl.InvalidHandleError)):
                call()


def test_ranks_say_what_the_core_says(alone: dtl.Context) -> None:
    """Nobody else can: the bridge takes the rank and the size from the handle."""
    other: Any = dtl.Context.__new__(dtl.Context)
    other._handle = alone._handle
    try:
        for name, value in (("_rank", 5), ("_size", 7), ("_rank", -1), ("_size", 10**6)):
            with pytest.raises(AttributeError):
                setattr(other, name, value)
        assert dtl.allgather(other, np.ones(3)).shape == (1, 3)
    finally:
        other._handle = 0


@pytest.mark.parametrize(
    "args",
    [
        (),
        (len, 1, "owner", "like"),
        (None, 1, "owner", "like"),
        (outcome, "1", "owner", "like"),
        (behind, 1, "owner in", "like"),
        (behind, 1, "", "like"),
        (behind, 1, "in", "like"),
        (behind, 1, "owner0", "like"),
        (behind, 1, "0", "like"),
        (behind, 1, "owner", "unheard of"),
        (outcome, 1, "owner in out", "received"),
        (lambda a, b, c, d, e, f, g, h, i, j, k: None, 1, "owner 0 0 0 0 0 0 0 0 0 0", "received"),
        (lambda a, b: None, 1, "owner 4", "received"),
        (lambda a, b: None, 1, "owner root", "received"),
        (lambda a, b: None, 1, "owner 00", "received"),
    ],
    ids=str,
)
def test_places_that_are_not_the_functions(args: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        bridge.ShortCall(*args)


def test_operations_that_are_none(alone: dtl.Context) -> None:
    for code in (-1, 10**6, 2**62):
        short: Any = bridge.ShortCall(lambda ctx, value: "prepared", code, "owner in", "received")
        with pytest.raises(dtl.DTLError, match="no operation has the code"):
            short(alone, 1.5)
        assert short(alone, [1]) == "prepared"
