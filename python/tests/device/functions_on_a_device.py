"""NumPy's ufuncs by kernels: all of them that containers take, on numbers whose results are easy to get wrong.

It is run as on_a_device.py is.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from divisions import part
from kernels_on_a_device import by_kernels, numbers
from older_numpy import VERSION
from on_a_device import holds, made
from oracle import DTYPES

import dtl

#: What NumPy says of the same elements on the host.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: All that work element by element on numbers, each once.
UFUNCS = sorted(
    {
        u.__name__: u
        for u in vars(np).values()
        if isinstance(u, np.ufunc) and u.signature is None and any("d" in t or "l" in t for t in u.types)
    }.values(),
    key=lambda ufunc: str(ufunc.__name__),
)

#: Results that NumPy rounds, or leaves open, in another way.
_ROUNDED = {
    *("exp", "exp2", "expm1", "power", "float_power", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sin", "cos", "tan", "arcsin", "arccos", "arctan"),
    *("arctan2", "hypot", "cbrt"),
}


def operands(dtype: str) -> list[Array]:
    """Return two operands of a type: every number with every other one, in any order of signs and sizes."""
    few = numbers(dtype)
    if few.dtype.kind in "fc":
        few = np.concatenate([few, np.array([-1, -2, 0.5, 3, 700, -745.5, 1e5, 1 + 2**-20], dtype)])
    if few.dtype.kind == "c":
        few = np.concatenate(
            [few, np.array([complex(np.inf, 1), complex(-np.inf, -0.0), complex(0, np.inf), -0.5j], dtype)]
        )
        few = few[~(np.abs(few) > 1000) | ~np.isfinite(few)]
    pairs = np.array(list(itertools.product(few, few)), dtype)
    return [np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])]


def wanted(ufunc: np.ufunc, given: list[Array]) -> tuple[Array, ...] | None:
    """Return NumPy's results; None where it refuses the types, or has results that no container on a GPU holds.

    Of complex powers, NumPy has several right digits less than a double; so they are those of a longer type.
    """
    try:
        results = ufunc(*given)
        if results[0].dtype.kind == "c" and ufunc.__name__ in ("power", "float_power", "exp2"):
            results = ufunc(*[array.astype(np.clongdouble) for array in given]).astype(results.dtype)
    except (TypeError, ValueError):
        return None
    results = results if isinstance(results, tuple) else (results,)
    return None if any(result.dtype == np.float16 for result in results) else results


def alike(got: Array, want: Array, name: str, complex_operands: bool) -> None:
    """Compare results: to the bit, but for what is rounded, and for what NaN it is."""
    assert got.dtype == want.dtype
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
        return
    eps = float(np.finfo(want.dtype).eps)
    if complex_operands or want.dtype.kind == "c":
        finite = np.isfinite(want) & (np.abs(want) < np.finfo(want.dtype).max / 4)
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
        np.testing.assert_allclose(got[finite], want[finite], rtol=64 * eps, atol=np.finfo(want.dtype).tiny)
        return
    rtol = 4 * eps if name in _ROUNDED else 0
    least = np.nextafter(want.dtype.type(0), want.dtype.type(1))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=4 * least if rtol else 0)
    zero = want == 0
    if name not in ("maximum", "minimum", "fmax", "fmin"):
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: str(ufunc.__name__))
def test_ufuncs(ctx: dtl.Context, ufunc: np.ufunc, dtype: str) -> None:
    given = operands(dtype)[: ufunc.nin]
    if ufunc is np.ldexp:
        given[1] = np.resize([0, 1, -1, 5, -70, 1100, -1100, 2**31 - 1, -(2**31)], given[0].shape).astype(np.int32)
    elif ufunc is np.power and given[0].dtype.kind == "i":
        given[1] = np.maximum(given[1], 0)
    elif VERSION < "1.23.0" and ufunc is np.reciprocal and given[0].dtype.kind in "iu":
        given[0] = given[0][given[0] != 0]  # of which C says nothing
    elif VERSION < "1.23.0" and ufunc in (np.remainder, np.fmod) and given[0].dtype.kind == "i":
        ends = (given[0] == np.iinfo(dtype).min) & (given[1] == -1)  # the process, by SIGFPE
        given = [array[~ends] for array in given]
    elif VERSION < "1.23.0" and ufunc in (np.power, np.float_power) and given[0].dtype.kind == "c":
        return  # of infinities, it has other powers
    want = wanted(ufunc, given)
    if want is None:
        return
    containers = [made(ctx, array, "cyclic") for array in given]
    with by_kernels():
        results = ufunc(*containers)
    for got, expected in zip(results if isinstance(results, tuple) else (results,), want):
        assert got.placement_policy is dtl.PLACEMENT_DEVICE
        alike(got.to_numpy(), part(got, expected), ufunc.__name__, given[0].dtype.kind == "c")


#: What a ufunc is to compute in, and what may be converted to that.
_NAMED = [
    *[
        (dtype, casting)
        for dtype in ("float32", "float64", "complex64", "int16")
        for casting in ("same_kind", "unsafe")
    ],
    *[(None, "unsafe"), (None, "no")],
]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy says from 2.0 on which loop it takes")
@pytest.mark.filterwarnings("ignore:.*discards the imaginary part")
@pytest.mark.parametrize(
    "ufunc", [np.add, np.divide, np.floor_divide, np.less, np.power, np.divmod, np.sqrt, np.negative]
)
@pytest.mark.parametrize(("dtype", "casting"), _NAMED)
def test_types_that_are_named(ctx: dtl.Context, ufunc: np.ufunc, dtype: str | None, casting: Any) -> None:
    """Also with a mask, and where the result is converted to that of out."""
    options = {"casting": casting} if dtype is None else {"casting": casting, "dtype": dtype}
    for kinds in (("int64", "int8"), ("float64", "int32"), ("float32", "float64"), ("complex128", "float32")):
        given = [(np.arange(12) * 5 % 9 + 1).astype(kind) for kind in kinds][: ufunc.nin]
        outs = [np.zeros(12, "float32") for _ in range(ufunc.nout)]
        where = np.arange(12) % 3 > 0
        for more in ({}, {"where": where, "out": tuple(outs)}, {"out": tuple(outs)}):
            try:
                want = ufunc(*given, **options, **more)
            except TypeError:
                want = None
            containers = [made(ctx, array, "cyclic") for array in given]
            named = dict(options)
            if more:
                named["out"] = tuple([made(ctx, 0 * out, "cyclic") for out in outs])
            if "where" in more:
                named["where"] = made(ctx, where, "cyclic")
            if want is None:
                with pytest.raises(dtl.InvalidTypeError):
                    ufunc(*containers, **named)
                continue
            with by_kernels():
                got = ufunc(*containers, **named)
            for one, expected in zip(*[each if isinstance(each, tuple) else (each,) for each in (got, want)]):
                alike(one.to_numpy(), part(one, expected), ufunc.__name__, expected.dtype.kind == "c")


@pytest.mark.parametrize("division", ["block", "cyclic", "replicated"])
def test_masked_powers_of_integers(ctx: dtl.Context, division: str) -> None:
    """An exponent is looked at only where the mask is true. The host has no part in it."""
    base, exponents = np.arange(-6, 14), np.arange(20) % 7 - 2
    mask = exponents >= 0
    want = np.power(base, exponents, where=mask, out=base.copy())
    with made(ctx, base, division) as a, made(ctx, exponents, division) as b, made(ctx, mask, division) as c:
        with made(ctx, base, division) as out, by_kernels():
            np.power(a, b, where=c, out=out)
            holds(out, want)
        for where in (c, mask, True):
            with made(ctx, base, division) as out:
                if where is True:
                    told = "no error"
                    try:
                        np.power(a, b, where=~c, out=out)
                    except dtl.InvalidArgumentError as error:
                        told = str(error)
                    ranks_told = dtl.allgather_object(ctx, told)
                    assert any("negative integer powers" in text for text in ranks_told), ranks_told
                else:
                    np.power(a, b, where=where, out=out)
                    holds(out, want)


def test_numbers_that_a_type_does_not_hold(ctx: dtl.Context) -> None:
    for dtype in ("int8", "uint8", "int64", "uint64"):
        whole = np.arange(11).astype(dtype)
        with made(ctx, whole) as a:
            larger = (2**70, -(2**70)) if VERSION >= "2.0.0" else ()  # which before are objects
            for number in (300, -1, 2**63, *larger):
                for ufunc in (np.less, np.equal, np.greater_equal):
                    try:
                        want = ufunc(whole, number)
                    except OverflowError:  # NumPy before 2
                        continue
                    holds(ufunc(a, number), want)
                    holds(ufunc(number, a), ufunc(number, whole))


def test_half_precision_is_a_result(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(5, dtype=np.int8)) as a, made(ctx, np.arange(5.0)) as b:
        holds(np.sqrt(a), np.sqrt(np.arange(5, dtype=np.int8)))
        rooted = np.sqrt(np.arange(5.0), dtype="float16", casting="same_kind")
        holds(np.sqrt(b, dtype="float16", casting="same_kind"), rooted)
        holds(b.astype("float16"), np.arange(5).astype("float16"))
        holds(np.sqrt(a, dtype="float32"), np.sqrt(np.arange(5, dtype=np.int8), dtype="float32"))


#: Functions of floats, and between which arguments errors are measured: of one each, or of both together.
_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh"), (-700, 700)),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "cbrt", "arcsinh", "arccosh"), (1, 1e300)),
    **dict.fromkeys(("sin", "cos", "tan"), (-1e6, 1e6)),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-1, 1)),
    **dict.fromkeys(("tanh", "arctan", "arctan2", "hypot", "logaddexp", "logaddexp2"), (-20, 20)),
    "power": (1e-3, 90),
}


def errors(ufunc: np.ufunc, got: Array, given: list[Array]) -> Array:
    """Return by how many units in the last place results differ from those of a longer type.

    Of logarithms of sums, which may cancel an operand, the unit is that of the larger one of both.
    """
    exact = ufunc(*[array.astype(np.longdouble) for array in given])
    size = np.abs(exact)
    if ufunc in (np.logaddexp, np.logaddexp2):
        size = np.maximum(size, np.abs(np.maximum(*given)))
    return np.abs(got - exact) / np.spacing(size.astype(got.dtype))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no longer type; runs on x86-64 and aarch64 with Linux")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(_RANGES))
def test_how_exact_functions_are(ctx: dtl.Context, name: str, dtype: str) -> None:
    """Less than one unit in the last place, as the guide says, near to 0 and to 1, too."""
    ufunc, (low, high), rng = getattr(np, name), _RANGES[name], np.random.default_rng(3)
    if dtype == "float32":
        low, high = max(low, -80), min(high, 80)
    few = rng.uniform(0, 1, (3, 20000))
    wide = np.exp(np.log(low) + few[0] * np.log(high / low)) if low > 0 else low + few[0] * (high - low)
    small = (few[1] - 0.5) * 2.0 ** -np.floor(few[2] * 30)
    near = 1 + (-np.abs(small) if high == 1 else small)
    one = rng.permutation(np.clip(np.concatenate([wide, near, small]), low, high)).astype(dtype)
    given = [one, rng.permutation(one)][: ufunc.nin]
    containers = [made(ctx, array) for array in given]
    with by_kernels():
        got = ufunc(*containers)
    mine = [part(got, array) for array in given]
    with np.errstate(all="ignore"):
        worst = errors(ufunc, got.to_numpy(), mine)
    worst = worst[np.isfinite(worst)]
    assert worst.size > 0.5 * mine[0].size
    assert worst.max() < 1
