"""Ufuncs and operators on containers, against NumPy on the whole."""

from __future__ import annotations

import operator
import tracemalloc
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, part, vector
from oracle import DTYPES, values

import dtl
from dtl._native import library

SIZES = (0, 1, 2, 7, 100)

#: Each once: some have several names.
UFUNCS = sorted(
    {ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc) and ufunc.signature is None},
    key=lambda ufunc: str(ufunc.__name__),
)

BINARY = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
)
BITWISE = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
IN_PLACE = (
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def same(ufunc: Callable[..., Any], given: list[Any], of: list[np.ndarray[Any, Any]], first: Any) -> None:
    """Check that a call gives containers like first that hold what NumPy makes of the whole, or that both refuse."""
    try:
        expected = ufunc(*of)
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(next(kind for kind in (TypeError, ValueError, OverflowError) if isinstance(error, kind))):
            ufunc(*given)
        return
    for one in expected if isinstance(expected, tuple) else (expected,):
        if one.dtype.name not in (*DTYPES, "float16"):
            with pytest.raises(dtl.InvalidTypeError, match=one.dtype.name):
                ufunc(*given)
            return
    got = ufunc(*given)
    assert isinstance(got, tuple) == isinstance(expected, tuple)
    pairs = zip(got, expected) if isinstance(got, tuple) else [(got, expected)]
    for one, wanted in pairs:
        assert type(one) is type(first)
        assert one.partition_policy is first.partition_policy
        assert_holds(one, wanted)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_and_dtype(ctx: dtl.Context, ufunc: np.ufunc) -> None:
    for dtype in DTYPES:
        arrays = [values(dtype, (9,), rank) for rank in range(ufunc.nin)]
        vectors = [vector(ctx, array, "cyclic") for array in arrays]
        same(ufunc, vectors, arrays, vectors[0])


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", SIZES)
def test_every_partition_and_size(ctx: dtl.Context, name: str, size: int) -> None:
    a, b = (np.arange(size) + 1.5, np.arange(size)[::-1] - 2.0)
    x, y = vector(ctx, a, name), vector(ctx, b, name)
    for binary in BINARY:
        same(binary, [x, y], [a, b], x)
        same(binary, [x, 3], [a, 3], x)
        same(binary, [2.5, x], [2.5, a], x)
    for unary in (operator.neg, operator.pos, abs, np.sqrt, np.isfinite):
        same(unary, [x], [a], x)


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
def test_mixed_dtypes(ctx: dtl.Context, first: str, second: str) -> None:
    a, b = (values(dtype, (7,), rank) for rank, dtype in enumerate((first, second)))
    x, y = vector(ctx, a), vector(ctx, b)
    for function in (np.add, np.true_divide, np.power, np.less, np.logical_and):
        same(function, [x, y], [a, b], x)


@pytest.mark.parametrize("scalar", [True, 3, -1, 2.5, 1j, np.int8(5), np.float32(0.1), np.float64(2), np.array(4)])
def test_scalars_promote_as_in_numpy(ctx: dtl.Context, scalar: Any) -> None:
    for dtype in DTYPES:
        array = values(dtype, (7,), 0)
        x = vector(ctx, array, "block_cyclic")
        for function in (np.add, np.multiply, np.maximum, np.equal) * 2:  # the type of the result is known then
            same(lambda given, function=function: function(given, scalar), [x], [array], x)
            same(lambda given, function=function: function(scalar, given), [x], [array], x)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_bitwise(ctx: dtl.Context, dtype: str) -> None:
    a, b = values(dtype, (9,), 0), values(dtype, (9,), 1)
    x, y = vector(ctx, a, "hash"), vector(ctx, b, "hash")
    for function in BITWISE:
        same(function, [x, y], [a, b], x)
    same(operator.invert, [x], [a], x)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_in_place(ctx: dtl.Context, name: str, dtype: str) -> None:
    for function in IN_PLACE:
        a, b = values(dtype, (10,), 0), values(dtype, (10,), 1)
        x, y = vector(ctx, a, name), vector(ctx, b, name)
        view = x.local_view()
        for other, number in ((y, b), (2, 2), (x, a)):
            try:
                a = function(a, a if other is x else number)
            except TypeError:
                with pytest.raises(dtl.InvalidTypeError, match=r"same_kind|No loop"):  # NumPy 1.20 says the latter
                    function(x, other)
            else:
                assert function(x, other) is x
            assert_holds(x, a)
        assert np.shares_memory(view, x.local_view()) or not view.size


def test_results_are_containers_of_their_own(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(9.0))
    y = +x
    y += 1
    assert_holds(x, np.arange(9.0))
    assert_holds(y, np.arange(9.0) + 1)
    x.close()
    assert_holds(y, np.arange(9.0) + 1)


def test_several_results(ctx: dtl.Context) -> None:
    a = np.linspace(-3, 3, 11)
    x = vector(ctx, a, "cyclic")
    for function in (np.modf, np.frexp, lambda given: np.divmod(given, 0.7), lambda given: divmod(given, 2)):
        same(function, [x], [a], x)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_out_of_containers_laid_out_alike(ctx: dtl.Context, dtype: str) -> None:
    a = np.arange(1.0, 10)
    x, y, z = vector(ctx, a), vector(ctx, a * 2), vector(ctx, np.zeros(9, dtype))
    for turn in range(3):
        for given, of in (
            ((x, y), (a, 2 * a)),
            ((turn, x), (turn, a)),
            ((x[::-1], x), (a[::-1], a)),
            ((1, turn), (1, turn)),
        ):
            expected = np.zeros(9, dtype)
            try:
                np.add(*of, out=expected)
            except TypeError:
                with pytest.raises(dtl.InvalidTypeError, match="same_kind"):
                    np.add(*given, out=z)
            else:
                assert np.add(*given, out=z) is z
            assert_holds(z, expected)
            z.fill(0)
    other = vector(ctx, np.zeros(10, dtype))
    with pytest.raises(dtl.InvalidArgumentError, match="shape"):
        np.add(x, y, out=other)


def test_out(ctx: dtl.Context) -> None:
    a = np.arange(1.0, 10)
    x, y, z = vector(ctx, a, "hash"), vector(ctx, a * 2, "hash"), vector(ctx, np.zeros(9, "f4"), "hash")
    assert np.add(x, y, out=z) is z
    assert_holds(z, (a * 3).astype("f4"))
    assert np.multiply(x, x, out=x) is x
    assert_holds(x, a * a)
    assert np.add(1, 2, out=x) is x
    assert_holds(x, np.full(9, 3.0))
    fraction, whole = np.modf(y / 4, out=(None, x))
    assert whole is x
    assert_holds(fraction, np.modf(a / 2)[0])
    assert_holds(whole, np.modf(a / 2)[1])


def test_where(ctx: dtl.Context) -> None:
    a = np.arange(9.0)
    x, out = vector(ctx, a, "cyclic"), vector(ctx, np.full(9, -1.0), "cyclic")
    assert np.sqrt(x, out=out, where=x > 4) is out
    assert_holds(out, np.where(a > 4, np.sqrt(a), -1))
    chosen = np.negative(x, where=x > 4)
    assert (part(chosen, a) > 4).tolist() == (chosen.local_view() < 0).tolist()
    np.add(x, 1, out=x, where=False)
    assert_holds(x, a)


def test_options_go_to_numpy(ctx: dtl.Context) -> None:
    a = values("int8", (9,), 0)
    x = vector(ctx, a)
    assert_holds(np.sqrt(x, dtype=np.float32), np.sqrt(a, dtype=np.float32))
    assert_holds(np.add(x, 1.5, dtype="i4", casting="unsafe"), np.add(a, 1.5, dtype="i4", casting="unsafe"))
    assert np.add(x, 1.5, out=x, casting="unsafe") is x
    assert_holds(x, np.add(a, 1.5, out=a.copy(), casting="unsafe"))


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("axis", [0, 1])
def test_tensors_on_a_grid(ctx: dtl.Context, ndim: int, axis: int) -> None:
    shape = (5, 6, 2)[:ndim]
    grid = [1] * ndim
    grid[axis] = ctx.size
    a = np.arange(np.prod(shape), dtype=float).reshape(shape)
    x = dtl.DistributedTensor(ctx, shape, grid=tuple(grid))
    x.local_view()[...] = part(x, a)
    y = x * 2 + np.sqrt(x)
    assert type(y) is dtl.DistributedTensor
    assert y.grid == x.grid
    assert_holds(y, a * 2 + np.sqrt(a))


def test_the_first_operand_says_what_the_result_is(ctx: dtl.Context) -> None:
    size = 8
    array = dtl.DistributedArray(ctx, size, fill=2.0)
    x = vector(ctx, np.arange(8.0))
    assert type(array + x) is dtl.DistributedArray
    assert type(x + array) is dtl.DistributedVector
    assert type(1 - array) is dtl.DistributedArray
    span = dtl.DistributedSpan(x)
    assert type(span + array) is dtl.DistributedVector
    assert type(dtl.DistributedSpan(dtl.DistributedTensor(ctx, (3, 4))) + 1) is dtl.DistributedTensor


def test_span_of_a_part(ctx: dtl.Context) -> None:
    a = np.arange(20.0)
    for name in DIVISIONS:
        x = vector(ctx, a, name)
        span = dtl.DistributedSpan(x).subspan(5, 9)
        result = span * span + 1
        assert_holds(result, a[5:14] ** 2 + 1)
        assert_holds(result + span, a[5:14] ** 2 + 1 + a[5:14])
        span += 100
        assert_holds(x, np.concatenate([a[:5], a[5:14] + 100, a[14:]]))


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_overlapping_spans(alone: dtl.Context, shift: int) -> None:
    """On one rank, neighbouring ranges of a block are divided alike."""
    a, expected = np.arange(100.0), np.arange(100.0)
    x = vector(alone, a)
    early, late = dtl.DistributedSpan(x).subspan(0, 100 - shift), dtl.DistributedSpan(x).subspan(shift, 100 - shift)
    late += early
    expected[shift:] += expected[:-shift]
    assert_holds(x, expected)
    np.multiply(late, 2, out=early)
    expected[:-shift] = expected[shift:] * 2
    assert_holds(x, expected)


def test_one_rank_by_itself(ctx: dtl.Context) -> None:
    """Nothing is communicated, so no rank waits for another."""
    x = vector(ctx, np.arange(10.0))
    if ctx.rank == ctx.size - 1:
        y = np.exp(x) + x * 2 > 3
        y |= x == 0
        assert y.dtype == np.bool_
        assert "x" not in repr(y.astype("i4").copy())
    ctx.barrier()


def test_no_temporary(ctx: dtl.Context) -> None:
    count = 1_000_000
    x = dtl.DistributedVector(ctx, count * ctx.size, fill=1.0)
    y = x + x
    y.local_view()
    before = library.memory_in_use()
    tracemalloc.start()
    np.add(x, y, out=y)
    y += x
    z = x + y
    z.local_view()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_200_000  # of 8 MB: a block of an expression
    assert library.memory_in_use() - before == count * 8
    assert (z.local_view() == 5).all()


def test_no_view_stays_out(ctx: dtl.Context) -> None:
    x = vector(ctx, np.arange(10.0))
    y = x + 1
    y += x
    np.modf(y, out=(x, None))
    assert x.views_out == y.views_out == 0
    with pytest.raises(dtl.InvalidArgumentError):
        x + vector(ctx, np.arange(9.0))
    assert x.views_out == 0


def test_containers_that_were_laid_out_alike(ctx: dtl.Context) -> None:
    """What is known of two containers ends when one of them is divided anew, or gets another size."""
    x = np.arange(20.0)
    a, b = vector(ctx, x), vector(ctx, x)
    made = a + b
    assert_holds(made + a, 3 * x)
    b.redistribute("cyclic")
    assert_holds(a + b, 2 * x)
    assert_holds(made + b, 3 * x)
    b.redistribute("block")
    assert_holds(a + b, 2 * x)
    assert made.shape == (20,)
    made.resize(10)
    assert made.shape == (10,)
    assert dtl.allreduce(ctx, made.local_size) == 10
    assert_holds(made + made, 4 * x[:10])
    with pytest.raises(dtl.InvalidArgumentError):
        made + a
    del a, b
    assert_holds(made * 2, 4 * x[:10])


@pytest.mark.parametrize("number", [0, 1, 127, 128, 255, 256, -1, -128, 2**31, 2**63, 2**64])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.bool_, np.complex64])
def test_integers_of_python(ctx: dtl.Context, dtype: Any, number: int) -> None:
    x = np.array([0, 1, 1] * 5).astype(dtype)
    a = vector(ctx, x)
    for _ in range(2):  # the second time, the type of the result is known
        for f in (operator.add, operator.mul, operator.lt, np.maximum):
            same(f, [a, number], [x, number], a)
