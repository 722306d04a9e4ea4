"""Counts, order statistics and choices where NumPy's answer is easily missed: NumPy's result on every partition."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Callable

import numpy as np
import pytest
from divisions import assert_holds, division
from numpy_calls import same
from older_numpy import VERSION

import dtl

_NS = 1_700_000_000_000_000_000 + np.array([0, 1, 2, 3, 255, 256])  # nanoseconds since 1970
_WIDE = _NS[0] + np.array([0, 1023, 5000, 5001, 9000, 20_001])
_EDGES = _NS[0] + np.array([0, 1, 2, 300])
_U = np.array([2**63, 2**63 + 1, 2**64 - 1], np.uint64)
_BIG = np.finfo(float).max
_LARGEST = np.iinfo(np.int64).max
_NAN = np.array([1.0, np.nan, 2.0, np.nan, 1.0])
_TABLE = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 4.0]])
_MASK = np.array([True, False])
_F4, _U1, _I1 = np.array([0.5, 0.25], "f4"), np.array([3, 4], "u1"), np.array([1, 2], "i1")
_DRAWN = np.random.RandomState(1).randn(60)
_RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")
_ONES, _ZEROS = np.ones(6), np.zeros(6)

#: By real parts, then by imaginary ones, and after that NaNs in either.
_Z = np.array([3 + 1j, 1 + 2j, 1 - 5j, 3 - 1j, 2, 1 + 2j, -1 + 9j, 3 + 1j])
_ZN = np.array([3 + 1j, 2, complex(1, np.nan), 3 - 1j, 5j, complex(np.nan, 3), -1 + 9j])
_PLANE = np.array([[1.0, 2.0], [np.inf, 0.5], [-3.0, 4.0]])

Case = Callable[..., Any]

#: What is special, the call, and its arrays, in the place of which containers come.
CASES: list[tuple[str, Case, list[Any]]] = [
    ("histogram of int64", lambda a: np.histogram(a, _EDGES), [_NS]),
    ("histogram of int64 in equal bins", lambda a: np.histogram(a, 7), [_WIDE]),
    ("histogram of int64 in a range", lambda a: np.histogram(a, 4, (int(_WIDE[1]), int(_WIDE[4]))), [_WIDE]),
    ("histogram of int64 with weights", lambda a, w: np.histogram(a, _EDGES, weights=w), [_NS, np.arange(6.0)]),
    ("histogram of int64, density", lambda a: np.histogram(a, _EDGES, density=True), [_NS]),
    ("histogram of uint64", lambda a: np.histogram(a, _U), [_U]),
    ("histogram up to the largest", lambda a: np.histogram(a, [0, _LARGEST - 1, _LARGEST]), [_NS * 0 + _LARGEST - 1]),
    ("histogram with complex weights", lambda a, w: np.histogram(a, 3, weights=w), [_ONES, _ONES * 1j]),
    ("histogram of halves", lambda a: np.histogram(a, 1, (np.float32(1.0000001), 2)), [np.ones(3, "f2")]),
    ("edges in the type of a range", lambda a: np.histogram(a, 2, (np.float64(0.1), 2)), [np.ones(3, "f4")]),
    ("isclose, tolerances", lambda a, b, t: np.isclose(a, b, atol=t), [_ZEROS, _ONES, np.arange(6) / 2]),
    ("isclose, an array of tolerances", lambda a: np.isclose(a, _ONES, _ONES / 2, np.arange(6) / 3), [_ZEROS]),
    ("isclose, tolerances alone", lambda t: np.isclose(_ZEROS, _ONES, atol=t), [np.arange(6) / 2]),
    ("isclose, more dimensions", lambda a, t: np.isclose(a, 1, atol=t), [_ZEROS, np.array([[0.5], [2.0]])]),
    ("allclose, tolerances", lambda a, b, t: np.allclose(a, b, rtol=t), [_ZEROS, _ONES, np.arange(6) / 2]),
    ("allclose, an array of tolerances", lambda a: np.allclose(a, 1, atol=[1, 1, 1, 2, 2, 2]), [_ZEROS]),
    ("median of opposite extremes", np.median, [np.array([-_BIG, _BIG])]),
    ("median of infinities", np.median, [np.array([-np.inf, np.inf, np.inf, 3])]),
    ("median of opposite infinities", np.median, [np.array([-np.inf, np.inf])]),
    ("median of integers", np.median, [np.array([_LARGEST, _LARGEST, 3, 2])]),
    ("medians of rows", lambda a: np.median(a, axis=1), [np.array([[-_BIG, _BIG], [np.inf, np.inf]])]),
    ("medians of columns", lambda a: np.median(a, axis=0, keepdims=True), [np.array([[-np.inf, 1], [np.inf, np.nan]])]),
    ("nanmedian", np.nanmedian, [np.array([-_BIG, np.nan, _BIG])]),
    ("nanmedians", lambda a: np.nanmedian(a, axis=1), [np.array([[-_BIG, np.nan, _BIG], [np.inf, np.inf, 1]])]),
    ("nanvar without freedom", lambda a: np.nanvar(a, ddof=2), [np.array([1.0, 2.0])]),
    ("nanstd without freedom", lambda a: np.nanstd(a, axis=1, ddof=2), [_TABLE]),
    ("nanstd, dimensions kept", lambda a: np.nanstd(a, keepdims=True, ddof=9), [_TABLE]),
    ("partition of nothing", lambda a: np.partition(a, 3), [np.zeros((0, 2))]),
    ("argpartition of nothing", lambda a: np.argpartition(a, 0), [np.zeros(0)]),
    ("select, a float beside", lambda m, f, i: np.select([m, ~m], [f, i], 0.5), [_MASK, _F4, _I1]),
    ("select, an integer beside", lambda m, u: np.select([m, ~m], [u, m], 7), [_MASK, _U1]),
    ("select, arrays beside", lambda m: np.select([m, np.array([True, True])], [_U1, _I1]), [_MASK]),
    ("select, a container as a choice", lambda i: np.select([_MASK, ~_MASK], [_U1, i], 3), [_I1]),
    ("select, rows", lambda m, t: np.select([m], [t], [[1], [2]]), [_MASK, _TABLE[:, :2]]),
    ("trapezoid, x of columns", lambda y, x: _trapezoid(y, x, axis=0), [np.ones((3, 4)), np.array([[0.0], [1], [3]])]),
    ("trapezoid, x of rows", lambda y, x: _trapezoid(y, x, axis=1), [_TABLE, np.array([[0.0, 1, 3]])]),
    ("diff of no order", lambda a: np.diff(a, n=0, append=0, prepend=[1, 2]), [np.array([1, 2, 3])]),
    *((f"bins by rule {name}", lambda a, name=name: np.histogram(a, name), [_DRAWN]) for name in _RULES),
    ("bins by a rule, of a range", lambda a: np.histogram(a, "fd", (0, 1)), [_DRAWN]),
    ("edges by a rule", lambda a: np.histogram_bin_edges(a, "auto"), [(_DRAWN * 9).astype(int)]),
    ("bins by a rule, of nothing", lambda a: np.histogram(a, "auto"), [np.zeros(0)]),
    ("bins by a rule, of truths", lambda a: np.histogram(a, "sqrt"), [_DRAWN > 0]),
    ("edges in a container", np.histogram, [_ZEROS, np.array([-1.0, 0.5, 2.0])]),
    ("halves and integers on a grid", np.histogram2d, [np.ones(3, "f2"), np.array([1, 2, 4], "i2")]),
    ("points in an array", lambda w: np.histogramdd(np.arange(8.0).reshape(4, 2), 2, weights=w), [np.arange(4.0)]),
    ("quantiles for q in a container", np.quantile, [_ONES, np.array([0.25, 0.5])]),
    ("quantiles in the type of q", lambda a: np.quantile(a, [0.3], axis=0), [_TABLE.astype("f4")]),
    ("a quantile in the type of its elements", lambda a: np.quantile(a, 0.3), [_F4]),
    ("percentiles in the type of q", lambda a: np.percentile(a, [30, 40]), [_F4]),
    ("a percentile in the type of its elements", lambda a: np.nanpercentile(a, 30), [_F4]),
    ("nanquantiles of nothing", lambda a: np.nanquantile(a, 0.5), [np.zeros(0, int)]),
    ("average with weights beside", lambda w: np.average(np.arange(6), weights=w), [np.arange(6.0)]),
    ("average and its count", lambda a: np.average(a, returned=True), [np.array([np.inf, 1])]),
    ("cov with weights beside", lambda w: np.cov(np.arange(6) ** 2, aweights=w), [np.arange(6.0)]),
    ("piecewise of an array", lambda m: np.piecewise(np.array([1.0, 2.0]), [m], [3, 4]), [_MASK]),
    ("piecewise of one condition", lambda v: np.piecewise(v, v > 1, [3, lambda x: -x]), [np.array([1.0, 2.0])]),
    ("diff of no dates", lambda a: np.diff(a, n=2).astype(int), [np.zeros(0, "M8[s]")]),
    ("convolve by number", lambda a: np.convolve(a, [1.0, 2.0], 1), [_NAN]),
]
if hasattr(np, "unique_all"):
    CASES += [
        ("unique_values, NaN", np.unique_values, [_NAN]),
        ("unique_counts, NaN", np.unique_counts, [_NAN]),
        ("unique_inverse, NaN", lambda a: np.unique_inverse(a).values, [_NAN]),
        ("unique_all, NaN", lambda a: tuple(np.unique_all(a)[k] for k in (0, 3)), [_NAN]),
        ("unique, equal NaN", lambda a: np.unique(a, return_counts=True), [_NAN]),
    ]
    for _name in ("nanmax", "nanmin"):
        for _first in (np.nan, 1.5):
            _start = partial(getattr(np, _name), initial=_first)
            CASES += [
                (f"{_name} from {_first}", _start, [_NAN]),
                (f"{_name} from {_first} of nothing but NaN", _start, [_NAN * np.nan]),
                (f"{_name} from {_first} of nothing", _start, [_NAN[:0]]),
                (f"{_name} from {_first} by columns", partial(_start, axis=0), [_TABLE]),
                (f"{_name} from {_first} where", partial(_start, where=_NAN[:3] < 2), [_TABLE]),
            ]
for _name in ("min", "max", "argmin", "argmax", "ptp", "median", "nanmin", "nanmax", "nanargmax", "nanmedian", "sort"):
    _of: Case = getattr(np, _name)
    CASES += [(f"{_name} of complex", _of, [_Z]), (f"{_name} of complex float32", _of, [_Z.astype("c8")])]
    CASES += [(f"{_name} of complex with NaN", _of, [_ZN])]
    for _axis in (0, 1):
        CASES += [(f"{_name} of complex along {_axis}", partial(_of, axis=_axis), [_Z.reshape(4, 2)])]
for _shape in ((3, 0), (0, 0), (0, 3), (2, 3, 0)):
    for _axis in range(len(_shape)):
        _rows = partial(np.unique, return_index=True, return_inverse=True, return_counts=True, axis=_axis)
        CASES += [(f"unique of shape {_shape} along {_axis}", _rows, [np.zeros(_shape)])]
CASES += [
    ("max of complex from a number", lambda a: np.max(a, initial=5 + 2j), [_Z]),
    ("min of complex where", lambda a: np.min(a, initial=5, where=np.arange(8) % 2 > 0), [_Z]),
    ("maximum.reduce of complex", np.maximum.reduce, [_Z]),
]
if VERSION < "2.5.0":  # from where on NumPy refuses vectors of two elements, and so do containers
    CASES += [
        ("cross in the plane", np.cross, [_PLANE, _PLANE[::-1]]),
        ("cross in the plane and in space", np.cross, [_PLANE, np.eye(3)]),
        ("cross in space and in the plane", np.cross, [np.eye(3), _PLANE]),
        ("cross of columns in the plane", lambda a, b: np.cross(a, b, 0, 1, 0), [_PLANE.T, np.eye(3)]),
        ("cross of two vectors in the plane", np.cross, [_PLANE[0], _PLANE[1]]),
    ]


def _trapezoid(*args: Any, **kwargs: Any) -> Any:
    return getattr(np, "trapezoid" if hasattr(np, "trapezoid") else "trapz")(*args, **kwargs)


@pytest.mark.parametrize(("call", "arrays"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_as_numpy(ctx: dtl.Context, call: Case, arrays: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        want = call(*arrays)
        for name in ("block", "cyclic", "replicated"):
            made = call(*(_held(ctx, array, name) for array in arrays))
            pairs = zip(made, want) if isinstance(want, tuple) else [(made, want)]
            for got, of in pairs:
                same(got, of, everywhere=not isinstance(got, dtl.DistributedContainer))


def _held(ctx: dtl.Context, array: Any, name: str) -> Any:
    c = dtl.asarray(ctx, array)
    if array.ndim == 1 or name != "cyclic":
        c.redistribute(**division(name, array.shape[0], ctx.size))
    return c


WRONG: list[tuple[str, Case, type[Exception], str]] = [
    ("tolerances of another length", lambda v: np.allclose(v, _ONES, atol=np.ones(2)), ValueError, "could not be"),
    ("weights of another shape", lambda v: np.histogram_bin_edges(v, 4, weights=v[:3]), ValueError, "same shape as a"),
    ("a start that is NaN", lambda v: np.sum(v.astype(int), initial=np.nan), ValueError, "NaN to integer"),
    ("a start that is infinite", lambda v: np.max(v.astype(int), initial=np.inf), OverflowError, "infinity"),
    ("the first letter of a mode", lambda v: np.convolve(v, [1.0], "f"), ValueError, "mode must be one of"),
    ("a rule that there is not", lambda v: np.histogram(v, "square"), ValueError, "not a valid estimator"),
    ("a rule with weights", lambda v: np.histogram(v, "auto", weights=v), TypeError, "not supported for weighted"),
    ("indices beyond int64", lambda v: np.choose(v.astype(np.uint64), [v, v]), TypeError, "uint64"),
    ("weights of nothing", lambda v: np.cov(v, aweights=v * 0), ZeroDivisionError, "sum to zero"),
    ("the mean of nothing", lambda v: np.average(v[:0].reshape(2, 0), axis=0), ZeroDivisionError, "division"),
    ("indices in floats", lambda v: dtl.argmax(v, keepdims=True, out=v[:1]), TypeError, "of int64"),
    ("a mode of no kind", lambda v: np.correlate(v, v, None), TypeError, "mode must be"),
    ("a mode of a number", lambda v: np.correlate(v, v, 3), ValueError, "mode must be one of"),
    ("a range of text", lambda v: np.histogram(v, 2, ("a", "b")), TypeError, "range must be two numbers"),
    ("no common dtype", lambda v: np.select([v > 0], [v], np.datetime64(3, "s")), TypeError, "common dtype"),
    ("x of no dimension", lambda v: _trapezoid(v, 3), ValueError, "at least one dimension"),
    ("an output of another shape", lambda v: np.max(v, keepdims=True, out=v), ValueError, "out has shape"),
]


@pytest.mark.parametrize(("call", "error", "text"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_arguments(ctx: dtl.Context, call: Case, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(dtl.ones(ctx, 6))


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "mean", "any"])
def test_a_container_for_the_kept_dimensions_of_all_elements(ctx: dtl.Context, name: str) -> None:
    array = np.array([[1.0, 3.0], [2.0, 0.0]])
    want = np.reshape(getattr(np, name)(array), (1, 1))
    out = dtl.zeros(ctx, (1, 1), want.dtype)
    assert getattr(dtl, name)(dtl.asarray(ctx, array), keepdims=True, out=out) is out
    assert_holds(out, want)


def test_warnings(ctx: dtl.Context) -> None:
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        np.nanvar(dtl.asarray(ctx, [1.0, np.nan]), ddof=1)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        np.nanmedian(dtl.asarray(ctx, [np.nan]))
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        np.nanmax(dtl.asarray(ctx, [np.nan]))
    if "2.0" <= np.__version__ < "2.5":
        with pytest.warns(DeprecationWarning, match="2-dimensional vectors"):
            np.cross(dtl.ones(ctx, (3, 2)), dtl.ones(ctx, 2))


def test_ptp_into_a_container(ctx: dtl.Context) -> None:
    out = dtl.zeros(ctx, 2)
    assert np.ptp(dtl.asarray(ctx, [[1.0, 2.0], [3.0, 5.0]]), axis=0, out=out) is out
    assert_holds(out, [2.0, 3.0])


def test_weights_that_are_divided_otherwise(ctx: dtl.Context) -> None:
    a, w = dtl.arange(ctx, 7.0, partition="cyclic"), dtl.arange(ctx, 7)
    for made, want in zip(np.histogram(a, 3, weights=w), np.histogram(np.arange(7.0), 3, weights=np.arange(7))):
        same(made, want, everywhere=True)
    same(np.bincount(dtl.arange(ctx, 7), weights=a), np.arange(7.0), everywhere=True)


@pytest.mark.skipif(VERSION < "2.0.0", reason="the values of Python's numbers count in the dtype before")
def test_a_choice_that_wraps_around(ctx: dtl.Context) -> None:
    """Or is refused, which is for NumPy to say: 2.5 does so."""
    try:
        want = np.where(_MASK, 300, _U1)
    except OverflowError:
        with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
            np.where(dtl.asarray(ctx, _MASK), 300, _U1)
    else:
        assert_holds(np.where(dtl.asarray(ctx, _MASK), 300, _U1), want)
