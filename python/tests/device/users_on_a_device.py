"""Functions of users on containers on GPUs: they get arrays of the user's library, which device_library.py pretends."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any, Callable

import device_library
import numpy as np
import pytest
from divisions import DIVISIONS, part
from on_a_device import VENDOR, failing, fake, holds, made, told_by_all  # noqa: F401 - fixtures

import dtl

#: Numba's arrays are of CUDA alone.
NUMBA = ("numba.cuda",) if VENDOR == "cuda" else ()
LIBRARIES = ("cupy", "torch", *NUMBA, "other")


def offered(monkeypatch: pytest.MonkeyPatch, *names: str) -> dict[str, ModuleType]:
    """Have the program have imported these libraries, and no other."""
    for name in ("cupy", "torch", "numba", "numba.cuda"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = {name: device_library.namespace(name) for name in names}
    for name, module in found.items():
        monkeypatch.setitem(sys.modules, name, module)
    return found


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return offered(monkeypatch, "cupy")["cupy"]


def twice(array: Any) -> Any:
    assert isinstance(array, device_library.Elements)
    return array * 2


def double(array: Any) -> None:
    array *= 2


def is_large(array: Any) -> Any:
    return array > 3


def staged(trace: Any) -> list[str]:
    return [record.operation for record in trace.records if "staged" in record.operation]


def crossed(fake: Any) -> int:  # noqa: F811
    """Return how many bytes have gone from GPUs to the host."""
    return int(fake.fake_outstanding(7))


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries(ctx: dtl.Context, fake: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:  # noqa: F811
    """The function gets the library's arrays, and neither it nor DTL waits or copies anything to the host."""
    library = offered(monkeypatch, name)[name]
    whole = np.arange(24.0).reshape(8, 3)
    with made(ctx, whole) as src, made(ctx, np.zeros((8, 3))) as dst, dtl.trace() as trace:
        for named in ({}, {"library": name}, {"library": library}) if name != "other" else ({"library": library},):
            dtl.fill(dst, -1)
            before, queued = crossed(fake), fake.fake_outstanding(6)
            dtl.transform(src, dst, twice, **named)
            dtl.for_each(dst, double, **named)
            dtl.transform((dst, src), dst, lambda a, b: a + b, **named)
            assert crossed(fake) == before
            assert fake.fake_outstanding(6) > queued or not dst.local_size
            holds(dst, 5 * whole)
        assert not staged(trace)


@pytest.mark.parametrize("division", DIVISIONS)
@pytest.mark.parametrize("shape", [(23,), (7, 4), (1,)])
def test_divisions(ctx: dtl.Context, cupy: Any, division: str, shape: tuple[int, ...]) -> None:
    whole = np.arange(float(np.prod(shape))).reshape(shape)
    with made(ctx, whole, division) as c, made(ctx, whole, division) as to:
        assert dtl.count_if(c, lambda a: a > 3) == (whole > 3).sum()
        assert dtl.find_if(c, lambda a: a > 3) == (4 if whole.size > 4 else None)
        assert dtl.any_of(c, lambda a: a > 3) is bool((whole > 3).any())
        assert dtl.all_of(c, lambda a: a > -1) is True
        assert dtl.none_of(c, lambda a: a > 1000) is True
        assert dtl.transform_reduce(c, twice) == 2 * whole.sum()
        assert dtl.transform_reduce((c, to), lambda a, b: a + b, op=dtl.MAX) == 2 * whole.max()
        dtl.transform(c, to, twice)
        holds(to, 2 * whole)
        dtl.replace_if(to, lambda a: a > 6, -1)
        holds(to, np.where(whole > 3, -1, 2 * whole))
        dtl.generate(to, twice)
        holds(to, 2 * whole)
        dtl.for_each(to, double)
        holds(to, 4 * whole)
        if len(shape) == 1:
            assert dtl.partition_by(c, lambda a: a > 3) == (whole > 3).sum()
            holds(c, np.concatenate([whole[whole > 3], whole[whole <= 3]]))


def test_nothing_goes_to_the_host(ctx: dtl.Context, fake: Any, cupy: Any) -> None:  # noqa: F811
    """But for numbers: what is counted and found, and what partials of sums are."""
    with made(ctx, np.arange(100_000.0 * ctx.size)) as vec, dtl.trace() as trace:
        before = crossed(fake)
        dtl.count_if(vec, lambda a: a > 3)
        dtl.find_if(vec, lambda a: a > 3)
        dtl.replace_if(vec, lambda a: a > 4000, 0)
        dtl.generate(vec, twice)
        dtl.transform_reduce(vec, twice, op=dtl.MIN)
        assert crossed(fake) - before < 80_000  # of 800_000
        assert not staged(trace)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "land", "lor", "band", "bor", "bxor"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex128"])
def test_reductions(ctx: dtl.Context, cupy: Any, op: str, dtype: str) -> None:
    """They have the values and types of the host's, or its errors, also of no elements."""
    whole = (np.arange(1, 10) % 4).astype(dtype)
    ufunc = np.logical_not if dtype == "bool" else np.positive
    with made(ctx, whole) as there, made(ctx, whole, placement="host") as here:
        for there_, here_ in ((there, here), (made(ctx, whole[:0]), made(ctx, whole[:0], placement="host"))):
            for reduced in (
                lambda c: dtl.transform_reduce(c, lambda a: a, op=op),
                lambda c: dtl.transform_reduce(c, ufunc, op=op),
                lambda c: dtl.reduce(c, op),
            ):
                answers = []
                for c in (there_, here_):
                    try:
                        answers.append(reduced(c))
                    except dtl.DTLError as error:
                        answers.append(type(error))
                assert type(answers[0]) is type(answers[1])
                assert answers[0] == answers[1]


def test_numpys_ufuncs_need_no_library(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch)
    whole = np.arange(1.0, 13)
    with made(ctx, whole) as vec, made(ctx, whole) as to, dtl.trace() as trace:
        dtl.transform(vec, to, np.sqrt)
        dtl.transform((vec, to), to, np.multiply)
        assert dtl.find_if(vec, np.isnan) is None
        assert dtl.transform_reduce(vec, np.negative, op="min") == -12
        assert dtl.inner_product(vec, vec) == (whole * whole).sum()
        dtl.replace_if(vec, np.isfinite, 7)
        holds(vec, np.full(12, 7.0))
        dtl.generate(vec, np.negative)
        holds(vec, -np.arange(12.0))
        with pytest.raises(dtl.DTLError, match="predicate gave float64"):
            dtl.count_if(vec, np.sqrt)
        np.testing.assert_allclose(to.to_numpy(), part(to, whole * np.sqrt(whole)), rtol=1e-15)
    assert not staged(trace)


def test_ranks_with_different_ufuncs(ctx: dtl.Context) -> None:
    if ctx.size == 1:
        return
    last = ctx.rank == ctx.size - 1
    with made(ctx, np.arange(8.0)) as vec, made(ctx, np.ones(8)) as other:
        for call in (
            lambda: dtl.transform(vec, other, np.negative if last else np.sqrt),
            lambda: dtl.transform_reduce(vec, np.negative if last else np.sqrt),
            lambda: dtl.count_if(vec, np.isnan if last else np.isinf),
        ):
            with pytest.raises(dtl.CollectiveMismatchError, match=r"np\.(negative|isnan)"):
                call()
        holds(other, np.ones(8))


RESULTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "the argument": (lambda a: a, lambda a: a),
    "in another order": (lambda a: (a * 2).T.compact().T, lambda a: 2 * a),
    "the argument, reversed": (lambda a: a.flipped(), lambda a: a[::-1]),
    "one element for all": (lambda a: (a * 3).repeated(), lambda a: np.broadcast_to(3 * a[:1, :1], a.shape)),
}


@pytest.mark.parametrize("name", sorted(RESULTS))
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_results_in_any_order(ctx: dtl.Context, cupy: Any, name: str, dtype: str) -> None:
    """And on the memory of the argument, also where that is written to, and of other types."""
    f, want = RESULTS[name]
    whole = np.arange(28).reshape(7, 4).astype(dtype)
    with made(ctx, whole) as src, made(ctx, np.zeros((7, 4))) as other, made(ctx, whole) as same:
        expected = want(part(src, whole)) if src.local_size else part(src, whole)
        dtl.transform(src, other, f)
        np.testing.assert_array_equal(other.to_numpy(), expected)
        dtl.transform(same, same, f)
        np.testing.assert_array_equal(same.to_numpy(), expected)


def test_a_result_that_may_not_be_written_to(ctx: dtl.Context, cupy: Any) -> None:
    def f(array: Any) -> Any:
        made = array * 2
        made.writable = False
        return made

    with made(ctx, np.arange(6.0)) as vec:
        dtl.transform(vec, vec, f)
        holds(vec, 2 * np.arange(6.0))


@pytest.mark.parametrize("name", ["cupy", *NUMBA])
def test_streams(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The library works in the stream that is current, and its memory is used again when DTL has read it."""
    offered(monkeypatch, name)

    def at_once(array: Any) -> Any:
        made = array * 5
        device_library.synchronize(device)
        return made

    with made(ctx, np.arange(1000.0)) as src, made(ctx, np.zeros(1000)) as dst:
        device = src.device_view().device_id
        for n in range(1, 4):
            with device_library.current(device, device_library.new_stream(device)):
                dtl.fill(src, n)
                dtl.transform(src, dst, lambda a: a * 2 + a)
                dtl.fill(src, -1)  # which comes after the function has read it
                device_library.synchronize(device)
            holds(dst, np.full(1000, 3.0 * n))
            dtl.fill(src, n)
            dtl.transform(src, dst, at_once)  # which waits for what DTL has queued
            holds(dst, np.full(1000, 5.0 * n))


def test_halos_and_spans(ctx: dtl.Context, cupy: Any) -> None:
    """A halo puts gaps between the rows of a part, and a span is some of the rows of another container."""
    whole = np.arange(6.0 * ctx.size * 4).reshape(-1, 4)
    with made(ctx, whole) as c, made(ctx, whole) as plain, dtl.Halo(c, 1) as halo:
        assert c.device_view().strides == (48, 8)
        dtl.transform(c, plain, twice)
        holds(plain, 2 * whole)
        dtl.transform(plain, c, lambda a: a)
        holds(c, 2 * whole)
        dtl.for_each(c, double)
        holds(c, 4 * whole)
        dtl.transform(c, c, lambda a: a.flipped())
        dtl.transform(c, c, lambda a: a.flipped())
        dtl.replace_if(c, lambda a: a > 30, 30)
        holds(c, np.minimum(4 * whole, 30))
        assert dtl.transform_reduce(c, lambda a: a) == np.minimum(4 * whole, 30).sum()
        dtl.generate(c, lambda a: a)
        holds(c, whole)
        halo.exchange()
        assert dtl.count_if(c, lambda a: a > 5) == (whole > 5).sum()
    with made(ctx, np.arange(30.0)) as vec:
        whole = np.arange(30.0)
        span = dtl.DistributedSpan(vec).subspan(4, 16)
        dtl.transform(span, span, twice)
        dtl.replace_if(span, lambda a: a > 30, 1)
        whole[4:20] = np.where(whole[4:20] > 15, 1, 2 * whole[4:20])
        holds(vec, whole)
        if ctx.size == 1:  # else the spans are not divided alike
            dtl.transform(span, dtl.DistributedSpan(vec).subspan(5, 16), lambda a: a)
            whole[5:21] = whole[4:20].copy()
            holds(vec, whole)


# ---- Refusals ----

WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an array of NumPy's": (lambda a: np.zeros(a.shape), "the function gave numpy.ndarray, which is on no GPU"),
    "a number": (lambda a: 1.0, "the function gave float, which is on no GPU"),
    "nothing": (lambda a: None, "the function gave NoneType, which is on no GPU"),
    "another shape": (lambda a: device_library.empty(a, a.dtype).T, r"gave shape \(2, \d\) for a part of shape"),
    "another type": (
        lambda a: device_library.empty(a, "complex128"),
        "gave complex128, which may not be cast to float64",
    ),
    "an error": (lambda a: a.missing, "has no attribute 'missing'"),
    "a truth value": (lambda a: a if a else -a, "truth value of an array is ambiguous"),
    "a number of the array": (lambda a: math.floor(float(a)), "an array on a GPU is no number"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_results(ctx: dtl.Context, cupy: Any, name: str) -> None:
    """Of the last rank only: all raise, nothing is written, and the next call works."""
    f, text = WRONG[name]
    whole = np.arange(2.0 * ctx.size * 3).reshape(-1, 2)
    last = ctx.rank == ctx.size - 1
    with made(ctx, whole) as src, made(ctx, whole) as dst:
        with pytest.raises(Exception, match=text) as raised:
            dtl.transform(src, dst, f if last else twice)
        assert last or isinstance(raised.value, dtl.DTLError)
        holds(dst, whole)
        dtl.transform(src, dst, twice)
        holds(dst, 2 * whole)


def test_an_array_of_another_gpu(ctx: dtl.Context, cupy: Any) -> None:
    if dtl.Topology.num_gpus() < 2:
        return  # several ranks have several GPUs
    device = (dtl.Topology.gpu_id(ctx.rank) + 1) % dtl.Topology.num_gpus()

    def elsewhere(array: Any) -> Any:
        made = array * 2
        block = device_library._Block(device, made.size * 8)
        return device_library.Array(device, block.address, made.dtype, made.shape, made.strides, block)

    wrong = pytest.raises(dtl.DTLError, match=r"gave an array on GPU \d; it must be on GPU \d")
    with made(ctx, np.arange(6.0)) as vec, wrong:
        dtl.transform(vec, vec, elsewhere)


REFUSED: dict[str, tuple[tuple[str, ...], dict[str, Any], type[Exception], str]] = {
    "none imported": (
        (),
        {},
        dtl.BackendUnavailableError,
        r"none of cupy \(pip install cupy-cuda12x\), torch \(.*as library",
    ),
    "two imported": (("cupy", "torch"), {}, dtl.InvalidArgumentError, "cupy and torch are imported; say which"),
    "one that is absent": ((), {"library": "absent_library"}, dtl.BackendUnavailableError, "No module named 'absent_"),
    "no library": (("cupy",), {"library": math}, dtl.InvalidTypeError, "library 'math' is neither a name nor a module"),
    "no module": (("cupy",), {"library": 3}, dtl.InvalidTypeError, "library of type int is neither"),
    "a module without arrays": ((), {"library": "math"}, dtl.InvalidTypeError, "library 'math' is neither"),
    "two places": (
        ("cupy",),
        {"library": "cupy", "elementwise": True},
        dtl.InvalidArgumentError,
        "elementwise=True calls",
    ),
}

CALLS: dict[str, Callable[..., Any]] = {
    "for_each": dtl.for_each,
    "transform": lambda c, f, **named: dtl.transform(c, c, f, **named),
    "transform_reduce": dtl.transform_reduce,
    "replace_if": lambda c, f, **named: dtl.replace_if(c, f, 1, **named),
    "generate": dtl.generate,
    "partition_by": dtl.partition_by,
    "find_if": dtl.find_if,
    "count_if": dtl.count_if,
    "all_of": dtl.all_of,
    "any_of": dtl.any_of,
    "none_of": dtl.none_of,
    "async_for_each": lambda c, f, **named: dtl.async_for_each(c, f, **named).get(),
    "async_transform": lambda c, f, **named: dtl.async_transform(c, c, f, **named).get(),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
@pytest.mark.parametrize("call", sorted(CALLS))
def test_libraries_that_are_refused(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str, call: str) -> None:
    """On every rank, with elements or without, before the function is called."""
    imported, named, kind, text = REFUSED[name]
    offered(monkeypatch, *imported)
    with made(ctx, np.arange(1.0)) as vec:
        with pytest.raises(kind, match=text):
            CALLS[call](vec, pytest.fail, **named)
        holds(vec, np.arange(1.0))


def test_a_function_of_numbers(ctx: dtl.Context, cupy: Any) -> None:
    with made(ctx, np.arange(1.0)) as vec, pytest.raises(dtl.InvalidTypeError, match=r"math.sqrt .* elementwise=True"):
        dtl.transform(vec, vec, math.sqrt)


@pytest.mark.parametrize("call", sorted(CALLS))
def test_ranks_with_different_libraries(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    if ctx.size == 1:
        return
    name = "torch" if ctx.rank else "cupy"
    offered(monkeypatch, name)
    predicate = call.endswith(("_if", "_of", "_by"))
    with made(ctx, np.arange(8.0)) as vec:
        f: Any = double if call.endswith("for_each") else is_large if predicate else twice
        with pytest.raises(dtl.CollectiveMismatchError, match=r"library (cupy|torch)"):
            CALLS[call](vec, f)


# ---- On the host ----


@pytest.mark.parametrize("named", [{"library": "numpy"}, {"library": np}, {"elementwise": True}])
def test_copies_on_the_host_are_asked_for(ctx: dtl.Context, cupy: Any, named: dict[str, Any]) -> None:
    """The trace and the ledger of slow paths say so."""
    kinds = set()

    def f(value: Any) -> Any:
        kinds.add(type(value))
        return value * 2

    with made(ctx, np.arange(6.0 * ctx.size)) as vec, dtl.trace() as trace, dtl.slow_paths() as slow:
        dtl.transform(vec, vec, f, **named)
        assert dtl.count_if(vec, lambda a: a > 3, **named) == 6 * ctx.size - 2
        holds(vec, 2 * np.arange(6.0 * ctx.size))
    assert kinds == {np.float64 if "elementwise" in named else np.ndarray}
    assert set(staged(trace)) == {"transform (staged)", "count_if (staged)"}
    told = {(record.operation, record.kind) for record in slow}
    assert ("transform", "elements of a GPU taken through the host") in told


def test_names_of_earlier_versions(ctx: dtl.Context, cupy: Any) -> None:
    """Their functions are of one element, and so are called on the host."""
    with made(ctx, np.arange(6.0)) as vec, dtl.trace() as trace:
        dtl.transform_vector(vec, lambda x: float(x) + 1)
        seen: list[Any] = []
        dtl.for_each_vector(vec, lambda x, i: seen.append((float(x), i)), with_index=True)
        assert seen == [(i + 1.0, i) for i in vec.local_indices()]
        assert dtl.count_if_vector(vec, lambda x: x > 3) == 3
    assert set(staged(trace)) == {"transform (staged)", "for_each (staged)", "count_if (staged)"}


@pytest.mark.parametrize("placement", ["host", "unified"])
def test_elements_on_the_host(ctx: dtl.Context, cupy: Any, placement: str) -> None:
    """Functions get arrays of NumPy, and what library says is only checked."""

    def f(array: Any) -> Any:
        assert type(array) is np.ndarray
        return array * 2

    with made(ctx, np.arange(6.0), placement=placement) as vec:
        for library in (None, "cupy", cupy, "absent_library", "numpy"):
            dtl.transform(vec, vec, f, library=library)
        holds(vec, 32 * np.arange(6.0))
        with pytest.raises(dtl.InvalidTypeError, match="is neither a name nor a module"):
            dtl.transform(vec, vec, f, library=3)  # type: ignore[arg-type]


def test_placements_do_not_mix(ctx: dtl.Context, cupy: Any) -> None:
    with made(ctx, np.arange(6.0)) as there, made(ctx, np.arange(6.0), placement="host") as here:
        for src, dst in ((there, here), (here, there)):
            with pytest.raises(dtl.InvalidTypeError, match=r"transform: an operand is on GPU"):
                dtl.transform(src, dst, twice)


# ---- Failures of the GPU ----

FAILING = (
    "cuLaunchKernel",
    "cuMemcpyAsync",
    "cuEventRecord",
    "cuStreamWaitEvent",
    "cuMemAlloc_v2",
    "cuStreamSynchronize",
)


@pytest.mark.parametrize("symbol", FAILING)
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"all_of", "any_of", "none_of"}))
def test_calls_of_the_driver_that_fail(ctx: dtl.Context, failing: Any, cupy: Any, name: str, symbol: str) -> None:  # noqa: F811
    """Whichever fails on the last rank, in DTL or in the library: all raise, and the next call works."""
    f: Any = double if name.endswith("for_each") else is_large if name.endswith(("_if", "_by")) else twice
    for n in range(1, 400):
        with made(ctx, np.arange(6.0)) as vec:
            dtl.trim()
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:{n}:2")
            failed = told_by_all(ctx, failing, lambda vec=vec: as_one_of_dtls(lambda: CALLS[name](vec, f)))[0]
            device_library.synchronize(vec.device_view().device_id)  # where the order of the streams is what failed
            dtl.fill(vec, 1)
            dtl.transform(vec, vec, twice)
            holds(vec, np.full(6, 2.0))
        if not failed:
            return
    raise AssertionError("it is never complete")


def as_one_of_dtls(call: Any) -> None:
    """Make a call in which an error of the pretended library is one of DTL's, as the other ranks have it."""
    try:
        call()
    except device_library.DriverError as error:
        raise dtl.CommunicationError(str(error)) from None


def test_reductions_stay_there(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(12.0)) as vec, dtl.trace() as trace:
        assert (dtl.reduce(vec), dtl.reduce(vec, "min"), dtl.async_reduce(vec, dtl.MAX).get()) == (66, 0, 11)
    assert not staged(trace)
