"""What is computed on the threads of a rank is what one thread computes, to the bit, and what NumPy computes."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import assert_holds, part
from programs import run, succeeded

import dtl

pytestmark = pytest.mark.alone("looks at the threads of one rank")

#: Every rank has more than two of the pieces in which threads work, and the last is a short one.
EACH = 300_001


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = dtl.get_num_threads()
    yield dtl.set_num_threads
    dtl.set_num_threads(before)


def arrays(ctx: dtl.Context, dtype: str, count: int = 3) -> list[Any]:
    rng = np.random.default_rng(7)
    return [(rng.random(EACH * ctx.size) * 100).astype(dtype) for _ in range(count)]


CHAINS: dict[str, Callable[..., Any]] = {
    "one step": lambda a, b, c: a + b,
    "a function": lambda a, b, c: np.sqrt(a),
    "a chain": lambda a, b, c: np.sqrt(a * a + b * b) / (c + 1),
    "numbers": lambda a, b, c: 2 * a - b * 3 + 1,
    "comparison": lambda a, b, c: a * 2 > b + c,
    "comparison with a number": lambda a, b, c: a <= 50,
    "negated truth": lambda a, b, c: ~(a < b) | (b < c),
    "casts": lambda a, b, c: a + (b > 50),
    "a number beyond": lambda a, b, c: (a > 1000) | (b < -1000),
    "twice": lambda a, b, c: (a + b) * (a + b),
    "slices": lambda a, b, c: a[1:] - a[:-1] * 2,
    "backwards": lambda a, b, c: a[::-1] + a[::-1],
    "floor": lambda a, b, c: (a + 1) // (b + 1) + a % (c + 1),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_chains(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    given = arrays(ctx, dtype)
    own = [dtl.DistributedVector.from_numpy(ctx, one) for one in given]
    for name, chain in CHAINS.items():
        if np.dtype(dtype).kind == "c" and name in ("floor", "a number beyond", "backwards"):
            continue
        with np.errstate(all="ignore"):
            want, found = chain(*given), set()
            for n in (1, 2, 4):
                threads(n)
                with chain(*own) as made:
                    view = made.local_view()
                    assert made.dtype == want.dtype, name
                    found.add(view.tobytes())
                    assert_holds(made, want)
                    del view
            assert len(found) == 1, name


def test_rows_are_spread(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    matrix, row = np.random.default_rng(1).random((EACH * ctx.size // 30, 30)), np.arange(30.0)
    t = dtl.DistributedTensor.from_numpy(ctx, matrix)
    for n in (1, 2, 4):
        threads(n)
        assert_holds(t - row, matrix - row)
        assert_holds(t - t.max(axis=0), matrix - matrix.max(axis=0))
        assert_holds((t * 2 - row) * row, (matrix * 2 - row) * row)


def test_in_place(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    given = arrays(ctx, "float64")
    for n in (1, 2, 4):
        threads(n)
        a, b, c = (dtl.DistributedVector.from_numpy(ctx, one) for one in given)
        a += b + 3 * c
        a *= a
        want = given[0] + (given[1] + 3 * given[2])
        assert_holds(a, want * want)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128", "bool"])
def test_what_is_folded_at_once_has_the_bits_of_what_is_stored(
    ctx: dtl.Context, dtype: str, threads: Callable[[int], None]
) -> None:
    given = arrays(ctx, dtype, 2)
    for policy in (dtl.EXEC_PAR, dtl.EXEC_SEQ):
        found = set()
        a, b = (dtl.DistributedVector.from_numpy(ctx, one, execution=policy) for one in given)
        for n in (1, 2, 4):
            threads(n)
            stored = a * b
            for fold in (dtl.sum, dtl.mean):
                assert fold(a * b).tobytes() == fold(stored).tobytes()
            found.add(dtl.sum(stored).tobytes())
        assert len(found) == 1


def test_policies_have_the_same_results(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    whole = arrays(ctx, "float64", 1)[0] - 50
    found = set()
    for policy in (dtl.EXEC_PAR, dtl.EXEC_SEQ):
        for n in (1, 2, 4):
            threads(n)
            with dtl.DistributedVector.from_numpy(ctx, whole, execution=policy) as vec:
                assert vec.execution_policy is policy
                numbers = [f(vec) for f in (dtl.sum, dtl.mean, dtl.std, dtl.var, dtl.norm, dtl.prod, dtl.min)]
                with dtl.cumsum(vec) as sums:
                    assert sums.execution_policy is policy
                    numbers.append(sums.local_view())
                    found.add(b"".join([one.tobytes() for one in numbers]))
                    del numbers
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_along_dimensions(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    """Reductions and scans of lines; the parts of one rank have several pieces, and rows that are added up at once."""
    shape = (1100 * ctx.size, 1000)
    whole = (np.random.default_rng(3).random(shape) * 100 - 40).astype(dtype)
    calls = {name: getattr(dtl, name) for name in ("sum", "mean", "max", "argmin", "std", "all", "cumsum")}
    for policy in (dtl.EXEC_PAR, dtl.EXEC_SEQ):
        t = dtl.DistributedTensor.from_numpy(ctx, whole, execution=policy)
        for name, call in calls.items():
            for axis in (0, 1):
                found = set()
                for n in (1, 2, 4):
                    threads(n)
                    with np.errstate(all="ignore"), call(t, axis=axis) as made:
                        found.add(made.local_view().tobytes())
                        if n == 2:
                            want = part(made, getattr(np, name)(whole, axis=axis))
                            np.testing.assert_allclose(made.local_view(), want, 1e-3)
                assert len(found) == 1, (name, axis)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint16", "bool", "complex128"])
@pytest.mark.parametrize("row", [3, 500, 30_000])
def test_lines_of_edge_values(ctx: dtl.Context, dtype: str, row: int, threads: Callable[[int], None]) -> None:
    """Lines with elements of NaN, of infinities and zeros of both signs, equal ones, and only true ones."""
    rng = np.random.default_rng(row)
    whole = (rng.random((EACH // row * ctx.size, row)) * 9 - 4).astype(dtype)
    whole[:, 1] = whole[:, 2] = whole.ravel()[0]
    whole[::3] = 1
    if np.dtype(dtype).kind in "fc":
        whole[1::7, row // 2], whole[2::7, -1], whole[4::7, 0] = np.nan, np.inf, -np.inf
        whole[5::7], whole[6::14] = -0.0, 0
    real = () if dtype == "complex128" else ("min", "max", "argmin", "argmax")
    for policy in (dtl.EXEC_PAR, dtl.EXEC_SEQ):
        t = dtl.DistributedTensor.from_numpy(ctx, whole, execution=policy)
        for name in ("all", "any", "sum", "mean", *real):
            for axis in (0, 1):
                threads(1 if policy is dtl.EXEC_SEQ else 2)
                with np.errstate(all="ignore"), getattr(dtl, name)(t, axis=axis) as made:
                    want = part(made, getattr(np, name)(whole, axis=axis))
                    assert made.dtype == want.dtype, name
                    if name in ("sum", "mean"):
                        np.testing.assert_allclose(made.local_view(), want, 1e-4, 1e-4)
                    else:
                        np.testing.assert_array_equal(made.local_view(), want, name)


def results(made: Any) -> bytes:
    return bytes(
        made.local_view().tobytes() if isinstance(made, dtl.DistributedContainer) else np.asarray(made).tobytes()
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", [3, 500, 30_000])
@pytest.mark.filterwarnings("ignore")
def test_lines_without_nan(ctx: dtl.Context, dtype: str, row: int, threads: Callable[[int], None]) -> None:
    """Lines with some elements of NaN, with none but them, with infinities, and far from zero."""
    rng = np.random.default_rng(row)
    whole = (rng.random((EACH // row * ctx.size, row)) * 9 + 1000).astype(dtype)
    whole[rng.random(whole.shape) < 0.1] = np.nan
    whole[3], whole[:, 1], whole[5, 0], whole[7, 2] = np.nan, np.nan, np.inf, -np.inf
    for axis in (0, 1, None):
        for name in ("nansum", "nanmean", "nanmin", "nanmax", "nanvar", "nanstd"):
            want = getattr(np, name)(whole.astype(np.float64), axis=axis)
            found = set()
            with dtl.DistributedTensor.from_numpy(ctx, whole) as t:
                for n in (1, 2):
                    threads(n)
                    made = getattr(np, name)(t, axis=axis)
                    found.add(results(made))
                    assert made.dtype == dtype, name
            assert len(found) == 1, (name, axis)
            have = made.local_view() if axis is not None else made
            np.testing.assert_allclose(have, want if axis is None else part(made, want), 1e-5, err_msg=f"{name} {axis}")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int8", "uint16", "bool"])
@pytest.mark.parametrize("axis", [1, (0, 1), (1, 2), (0, 2), 2])
def test_blocks(ctx: dtl.Context, dtype: str, axis: Any, threads: Callable[[int], None]) -> None:
    """Dimensions between others, and several at once."""
    whole = (np.random.default_rng(5).random((11 * ctx.size, 300, 150)) * 300 - 100).astype(dtype)
    with dtl.DistributedTensor.from_numpy(ctx, whole) as t:
        for name in ("sum", "mean", "max", "std", "any"):
            want, found = getattr(np, name)(whole.astype("f8") if name in ("mean", "std") else whole, axis=axis), set()
            for n in (1, 2):
                threads(n)
                with getattr(dtl, name)(t, axis=axis) as made:
                    found.add(results(made))
                    np.testing.assert_allclose(made.local_view(), part(made, want), 1e-4, err_msg=name)
            assert len(found) == 1, name


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_transforms(ctx: dtl.Context, name: str, norm: Any, threads: Callable[[int], None]) -> None:
    """Long vectors are matrices: of as many rows as columns, of fewer, and none where the length is prime."""
    for shape in ((1 << 18,), (3 << 17,), (262_147,), (600, 700)):
        whole = np.random.default_rng(4).random(shape) + 1j
        transform, found = getattr(np.fft, name), set()
        want = transform(whole, norm=norm)
        for n in (1, 2):
            threads(n)
            with dtl.asarray(ctx, whole) as given, transform(given, norm=norm) as made:
                np.testing.assert_allclose(made.local_view(), part(made, want), 1e-11, 1e-14 * abs(want).max())
                found.add(made.local_view().tobytes())
        assert len(found) == 1


@pytest.mark.parametrize("last", [1e308, np.inf, np.nan, 0.0])
def test_scans_of_wide_rows(ctx: dtl.Context, last: float, threads: Callable[[int], None]) -> None:
    """Rows that are added to the next are what NumPy's scan has, and so are the errors, of the whole."""
    whole = np.random.default_rng(4).random((40, 300)) + 0.5
    whole[-1, 7] = last
    whole[-2, 7] = 1.5e308 if last == 1e308 else -last
    t = dtl.DistributedTensor.from_numpy(ctx, whole)
    for name in ("cumsum", "cumprod"):
        told: list[list[str]] = []
        made = []
        for of in (whole, t):
            with warnings.catch_warnings(record=True) as some:
                warnings.simplefilter("always")
                made.append(getattr(np, name)(of, axis=0))
            told.append([str(one.message) for one in some])
        if ctx.size == 1:
            assert_holds(made[1], made[0])
            assert told[0] == told[1]
        np.testing.assert_allclose(made[1].local_view(), part(made[1], made[0]), 1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16"])
def test_orders(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    """Lines that are sorted side by side, and elements that are counted in pieces."""
    whole = (np.random.default_rng(5).random((700 * ctx.size, 500)) * 200 - 90).astype(dtype)
    vec, flat = dtl.DistributedVector.from_numpy(ctx, whole.ravel()), np.sort(whole, axis=None)
    want = flat[[0, len(flat) // 10, len(flat) // 2, -1]]
    if dtype.startswith("float"):
        whole[3, 5:9] = np.nan
    t = dtl.DistributedTensor.from_numpy(ctx, whole)
    columns = dtl.DistributedTensor.from_numpy(ctx, whole, grid=(1, ctx.size))
    found = set()
    for n in (1, 2, 4):
        threads(n)
        assert_holds(np.sort(t, axis=1), np.sort(whole, axis=1))
        assert_holds(np.sort(columns, axis=0), np.sort(whole, axis=0))
        assert_holds(np.argsort(t, axis=1), np.argsort(whole, axis=1, kind="stable"))
        assert_holds(np.argsort(columns, axis=0), np.argsort(whole, axis=0, kind="stable"))
        places = np.array([0, len(flat) // 10, len(flat) // 2, len(flat) - 1]) / (len(flat) - 1)
        np.testing.assert_array_equal(dtl.quantile(vec, places, method="nearest"), want)
        found.add(dtl.median(vec).tobytes())
    assert len(found) == 1


def test_random_numbers(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    """A stream has the same numbers on any number of threads, and those of its first numbers drawn alone."""
    draws: dict[str, Callable[[Any, int], Any]] = {
        "random": lambda rng, n: rng.random(n),
        "integers": lambda rng, n: rng.integers(0, 1000, n),
        "normal": lambda rng, n: rng.normal(size=n),
    }
    for name, draw in draws.items():
        found = []
        for n in (1, 2, 4):
            threads(n)
            with draw(dtl.random.Generator(ctx, 11), EACH * ctx.size) as made:
                found.append(made.gather_to())
        if ctx.is_root:
            assert len({one.tobytes() for one in found}) == 1, name
            assert len(np.unique(found[0])) > 900, name


@pytest.mark.parametrize("shape", [(1_001, 300), (131, 2_051), (2, 200_003), (20_011, 5), (33, 40, 130)])
def test_products_of_rows(ctx: dtl.Context, shape: tuple[int, ...], threads: Callable[[int], None]) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(shape), rng.standard_normal(shape)
    a, b = dtl.asarray(ctx, x), dtl.asarray(ctx, y)
    line = dtl.asarray(ctx, y.reshape(-1)[: shape[-1]].copy())
    letters = "ijk"[: len(shape)]
    found = []
    for n in (1, 2, 3):
        threads(n)
        made = [np.einsum(f"{letters},{letters}->{letters[:-1]}", a, each) for each in (a, b)]
        made += [np.einsum(f"{letters},{letters}->i", a, b)]
        if len(shape) == 2:
            made.append(a @ line)
        found.append([each.local_view().tobytes() for each in made])
    assert found[0] == found[1] == found[2]
    wants = [(x * x).sum(-1), (x * y).sum(-1), (x * y).reshape(len(x), -1).sum(-1), x @ y.reshape(-1)[: shape[-1]]]
    for each, want in zip(made, wants):
        np.testing.assert_allclose(dtl.broadcast(ctx, each.gather_to(0), 0), want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(40_003,), (300_001,), (1_001, 300), (67, 2_051), (5, 50_003), (20_011, 5)])
def test_places_of_extremes(ctx: dtl.Context, shape: tuple[int, ...], threads: Callable[[int], None]) -> None:
    rng = np.random.default_rng(7)
    unlike, alike = rng.standard_normal(shape), rng.integers(-2, 3, shape) * 0.5
    holes = np.where(rng.random(shape) < 3 / shape[-1], np.nan, unlike)
    ends = np.where(rng.random(shape) < 0.01, rng.choice([-np.inf, np.inf], shape), alike)
    late = np.zeros(shape)
    late[..., -1] = -0.0
    late[..., -2:] -= 1
    for x in (unlike, alike, holes, ends, late, np.full(shape, np.nan)):
        c = dtl.asarray(ctx, x)
        for n in (1, 2):
            threads(n)
            for name in ("argmax", "argmin"):
                for axis in (None, -1):
                    found, want = getattr(c, name)(axis), getattr(np, name)(x, axis)
                    if np.ndim(want):
                        assert_holds(found, want)
                    else:
                        assert found == want


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e200])
def test_products_of_rows_that_are_no_numbers(ctx: dtl.Context, value: float, threads: Callable[[int], None]) -> None:
    x = np.random.default_rng(3).random((301, 1_100))
    x[17, 3] = value
    y = np.ones(1_100)
    y[3] = 1e200 if np.isfinite(value) else 0.0
    a, line = dtl.asarray(ctx, x), dtl.asarray(ctx, y)
    threads(2)
    for function in (lambda m, v: m @ v, lambda m, v: np.einsum("ij,ij->i", m, m)):
        told = []
        for m, v in ((x, y), (a, line)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = function(m, v)
            told.append({str(each.message) for each in caught})
        with np.errstate(all="ignore"):
            want = function(x, y)
        np.testing.assert_allclose(found.local_view(), part(found, want), rtol=1e-11)
        assert ctx.size > 1 or told[0] == told[1]


@pytest.mark.parametrize("of", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "F", "D"])
def test_conversions(ctx: dtl.Context, of: str, threads: Callable[[int], None]) -> None:
    whole = (np.random.default_rng(6).random(EACH * ctx.size) * 200 - 90).astype(of)
    whole[3] = 1e5 if of == "d" else whole[3]
    vec = dtl.DistributedVector.from_numpy(ctx, whole)
    for to in "?bBhHiIlLqQefdFD":
        found = set()
        with warnings.catch_warnings():  # of imaginary parts, and of negative numbers without a sign
            warnings.simplefilter("ignore")
            want = whole.astype(to)
            for n in (1, 2):
                threads(n)
                with vec.astype(to) as made:
                    assert_holds(made, want)
                    found.add(made.local_view().tobytes())
        assert len(found) == 1, to


def test_a_conversion_that_overflows(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    whole = np.full(EACH * ctx.size, 1e300)
    vec = dtl.DistributedVector.from_numpy(ctx, whole)
    for n in (1, 2):
        threads(n)
        told: list[list[str]] = []
        for of in (vec, whole):
            with warnings.catch_warnings(record=True) as some:
                warnings.simplefilter("always")
                of.astype(np.float32)
            told.append([str(one.message) for one in some])
        assert told[0] == told[1]


@pytest.mark.parametrize("dtype", ["float64", "int8", "float32", "complex128", "datetime64[s]", "S3"])
def test_copies(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    whole = (np.random.default_rng(8).random((600 * ctx.size, 501)) * 200 - 90).astype(np.int64).astype(dtype)
    t, flat = dtl.DistributedTensor.from_numpy(ctx, whole), whole.ravel()
    vec = dtl.DistributedVector.from_numpy(ctx, flat)
    indices = np.random.default_rng(9).integers(-flat.size, flat.size, 200_000)
    for n in (1, 2, 4):
        threads(n)
        assert_holds(t.copy(), whole)
        assert_holds(t.T.copy(), whole.T)
        assert_holds(np.roll(vec, 1000), np.roll(flat, 1000))
        assert_holds(np.roll(t, (7, -3), axis=(0, 1)), np.roll(whole, (7, -3), axis=(0, 1)))
        for axis in (0, 1):
            assert_holds(np.concatenate([t, t], axis=axis), np.concatenate([whole, whole], axis=axis))
        assert_holds(np.take(vec, dtl.DistributedVector.from_numpy(ctx, indices)), np.take(flat, indices))
        if not dtype.startswith("S"):
            assert_holds(np.diff(vec), np.diff(flat))
    with pytest.raises(IndexError):
        np.take(vec, np.full(200_000, flat.size))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16"])
@pytest.mark.parametrize("row", [2, 501, 140_000])
def test_running_sums_of_lines(ctx: dtl.Context, dtype: str, row: int, threads: Callable[[int], None]) -> None:
    """Lines are added up side by side, each in NumPy's order."""
    rows = EACH // row + 1
    whole = (np.random.default_rng(10).random((rows * ctx.size, row)) * 100 - 40).astype(dtype)
    t = dtl.DistributedTensor.from_numpy(ctx, whole)
    want = np.cumsum(whole, axis=1)
    for n in (1, 2, 4):
        threads(n)
        assert_holds(np.cumsum(t, axis=1), want)


@pytest.mark.parametrize("of", ["?", "b", "B", "h", "i", "I", "l", "Q", "f", "d", "F"])
def test_operands_that_are_converted(ctx: dtl.Context, of: str, threads: Callable[[int], None]) -> None:
    """Ufuncs of operands of several types are those of the type that NumPy computes in."""
    rng = np.random.default_rng(12)
    whole = (rng.random(EACH * ctx.size) * 200 - 90).astype(of)
    vec = dtl.DistributedVector.from_numpy(ctx, whole)
    calls: list[tuple[np.ufunc, tuple[Any, ...]]] = [(np.sqrt, ()), (np.isnan, ())]
    for to in "?bHlQfD":
        other = (rng.random(EACH * ctx.size) * 200 - 90).astype(to)
        calls += [(ufunc, (other,)) for ufunc in (np.add, np.true_divide, np.less, np.hypot, np.logical_and)]
    numbers = (2.5, np.float64(0.1), 3, -1, 2**40, np.nan)
    calls += [(ufunc, (n,)) for ufunc in (np.multiply, np.greater) for n in numbers]
    for ufunc, rest in calls:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                want = ufunc(whole, *rest)
            except (TypeError, OverflowError):  # such as hypot of complex numbers
                continue
            given = [dtl.DistributedVector.from_numpy(ctx, x) if isinstance(x, np.ndarray) else x for x in rest]
            for n in (1, 2):
                threads(n)
                with ufunc(vec, *given) as made:
                    assert made.dtype == want.dtype
                    assert made.local_view().tobytes() == part(made, want).tobytes(), (ufunc, of, rest)


def test_default_is_several_threads(ctx: dtl.Context) -> None:
    made = [dtl.DistributedVector(ctx, 5), dtl.zeros(ctx, 5), dtl.arange(ctx, 5), dtl.asarray(ctx, np.arange(5.0))]
    made += [made[-1] + 1, made[-1][1:], dtl.DistributedTensor(ctx, (3, 4)), dtl.cumsum(made[0]), dtl.full(ctx, 5, 2.0)]
    assert {c.execution_policy for c in made} == {dtl.EXEC_PAR}


@pytest.mark.parametrize("n", [1, 2, 4])
def test_errors_of_floats_are_those_of_one_thread(ctx: dtl.Context, n: int, threads: Callable[[int], None]) -> None:
    threads(n)
    zeros = np.ones(EACH * ctx.size)
    zeros[-1] = 0  # in the last piece of the last rank
    huge, tiny = np.full(EACH * ctx.size, 1e300), np.full(EACH * ctx.size, 1e-300)
    vec, big, small = (dtl.DistributedVector.from_numpy(ctx, one) for one in (zeros, huge, tiny))
    last = ctx.rank == ctx.size - 1
    for make, text, here in [
        (lambda: 1 / vec, "divide by zero encountered in divide", last),
        (lambda: 0 / vec, "invalid value encountered in divide", last),
        (lambda: big * big, "overflow encountered in multiply", True),
        (lambda: np.sqrt(-big), "invalid value encountered in sqrt", True),
        (lambda: vec + vec, "", False),
        (lambda: small * small, "", False),  # NumPy ignores underflows unless it is told otherwise
    ]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            make().local_view()
        found = [str(one.message).replace("true_divide", "divide") for one in told]
        assert found == ([text] if here else []), text
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            make().local_view()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        (big * big).local_view()


def test_numbers_that_numpy_computes_with_in_another_type(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    threads(2)
    for dtype, number in [("float32", np.float64(0.1)), ("int64", 2.5), ("uint8", 3), ("int64", 2**60 + 1)]:
        (whole,) = arrays(ctx, dtype, 1)
        vec = dtl.DistributedVector.from_numpy(ctx, whole)
        for of in (np.multiply, np.greater, np.equal):
            assert_holds(of(vec, number), of(whole, number))


#: A program that says whether other threads than the caller's took next to no time between begin and end.
OTHERS = """
import time, numpy as np, dtl
ctx = dtl.Context()
def times(): return time.process_time(), time.thread_time()
def begin(): global begun; begun = times()
def end():
    of_all, own = (after - before for before, after in zip(begun, times()))
    print(of_all - own < 0.1 * own + 0.001)
"""

#: Go's runtime frees memory on threads of its own, and starts them when it pleases: their number says nothing.
ALONE = {"DTL_BACKEND": "cpu", "DTL_NUM_THREADS": "2", "GOGC": "off"}


@pytest.mark.jobs("starts processes")
class TestPrograms:
    def test_environment(self) -> None:
        show = "import dtl; print(dtl.get_num_threads())"
        for environment, want in [
            ({"OMP_NUM_THREADS": "3"}, 3),
            ({"OMP_NUM_THREADS": "3,2"}, 3),
            ({"OMP_NUM_THREADS": "3", "DTL_NUM_THREADS": "5"}, 5),
        ]:
            assert succeeded(run([sys.executable, "-c", show], **environment)) == f"{want}\n"

    def test_other_libraries_have_as_many(self) -> None:
        program = """
import numpy, pyarrow, dtl
from threadpoolctl import threadpool_info
dtl.set_num_threads(3)
dtl.set_num_threads(1)
print(pyarrow.cpu_count(), {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
"""
        pytest.importorskip("threadpoolctl")  # which scikit-learn brings: that of make test-ecosystem has it
        pytest.importorskip("pyarrow")
        assert succeeded(run([sys.executable, "-c", program])) == "1 {1}\n"

    def test_one_thread_computes_alone(self) -> None:
        program = """
v = dtl.DistributedVector(ctx, 3_000_000, fill=2.0)
dtl.set_num_threads(1)
begin()
np.sqrt(v * v).local_view(); v.sum(); dtl.sort(v)
end()
"""
        assert succeeded(run([sys.executable, "-c", OTHERS + program], **ALONE)) == "True\n"

    def test_exec_seq_computes_on_one_thread(self) -> None:
        program = """
v = dtl.DistributedVector(ctx, 3_000_000, fill=2.0, execution=dtl.EXEC_SEQ)
t = dtl.DistributedTensor(ctx, (3000, 1000), fill=2.0, execution=dtl.EXEC_SEQ)
mask = v > 1
mask.local_view()
for call in (
    lambda: np.where(mask, v, 0.0), lambda: v[mask], lambda: np.repeat(v, 2), lambda: v.copy(), lambda: np.roll(v, 7),
    lambda: v.astype(np.float32), lambda: np.diff(v), lambda: (v + mask).local_view(), lambda: np.sort(t, axis=1),
    lambda: np.cumsum(t, axis=1), lambda: t.max(axis=0), lambda: np.concatenate([v, v]), lambda: np.median(v),
    lambda: t.argmax(axis=1), lambda: t.sum(axis=1), lambda: t.std(axis=1), lambda: np.einsum("ij,ij->i", t, t),
    lambda: np.fft.fft2(t), lambda: np.fft.fft(v),
):
    begin()
    call()
    end()
"""
        assert succeeded(run([sys.executable, "-c", OTHERS + program], **ALONE)) == 19 * "True\n"

    def test_sums_of_narrow_rows_do_not_depend_on_blas(self) -> None:
        program = """
import numpy as np, dtl
a = np.random.default_rng(1).random((300_001, 10))
t = dtl.DistributedTensor.from_numpy(dtl.Context(), a)
for name in ("sum", "mean"):
    made = getattr(dtl, name)(t, axis=0).local_view()
    np.testing.assert_allclose(made, getattr(np, name)(a, axis=0), 1e-12)
    print(made.tobytes())
"""
        found = {
            succeeded(run([sys.executable, "-c", program], DTL_BACKEND="cpu", OPENBLAS_NUM_THREADS=n)) for n in "12"
        }
        assert len(found) == 1

    def test_interrupted(self) -> None:
        """Ctrl-C raises at the end of a call, and what is computed next is right."""
        program = """
import os, signal, threading, numpy as np, dtl
ctx = dtl.Context()
v = dtl.DistributedVector(ctx, 600_000, fill=0.5)
caught = 0
for turn in range(6):
    timer = threading.Timer(0.003 * turn, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        for _ in range(10):
            w = np.sin(v) * v + np.cos(v)
            w.local_view()
            v.sum()
        timer.join()
    except KeyboardInterrupt:
        caught += 1
        timer.join()
one = np.float64(0.5)
assert caught
assert (np.sin(v) * v + np.cos(v)).max() == np.sin(np.full(8, 0.5))[0] * one + np.cos(np.full(8, 0.5))[0]
print("right")
"""
        assert succeeded(run([sys.executable, "-c", program], DTL_NUM_THREADS="2", DTL_BACKEND="cpu")) == "right\n"

    def test_threads_of_a_program_beside(self) -> None:
        """Python's threads compute at once, each with containers of its own."""
        program = """
import threading, numpy as np, dtl
found = []
def work(seed):
    ctx = dtl.Context()
    whole = np.random.default_rng(seed).random(600_000)
    v = dtl.DistributedVector.from_numpy(ctx, whole)
    for _ in range(5):
        found.append(np.array_equal((np.sqrt(v) + v * v).local_view(), np.sqrt(whole) + whole * whole))
        with v.copy() as other:
            dtl.sort(other)
            found.append(np.array_equal(other.local_view(), np.sort(whole)))
workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[one.start() for one in workers]; [one.join() for one in workers]
print(len(found), all(found))
"""
        assert succeeded(run([sys.executable, "-c", program], DTL_NUM_THREADS="2", DTL_BACKEND="cpu")) == "40 True\n"

    def test_a_child_of_fork_ends(self) -> None:
        """A program that has computed on threads and forks goes on; its child ends."""
        program = """
import os, numpy as np, dtl
ctx = dtl.Context()
v = dtl.DistributedVector(ctx, 1_000_000, fill=2.0)
assert np.sqrt(v).sum() > 0
child = os.fork()
if not child:
    try:
        dtl.Context()
    except dtl.DTLError as error:
        os._exit(3)
    os._exit(4)
print(os.WEXITSTATUS(os.waitpid(child, 0)[1]), (v + v).sum())
"""
        assert (
            succeeded(run([sys.executable, "-c", program], DTL_NUM_THREADS="2", DTL_BACKEND="cpu")) == "3 4000000.0\n"
        )
