"""Every public function of NumPy on containers: NumPy's result, or one refusal, and the same on any number of ranks."""

from __future__ import annotations

import types
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from numpy_calls import ARRAYS, CASES, ELSEWHERE, EVERYWHERE, LINALG_CASES, dispatched, held, outcome, same
from older_numpy import VERSION
from refusals import TYPE, refused

import dtl
from dtl.algorithms import neighbours


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    for place, case in enumerate(CASES[name]):
        partition = DIVISIONS[(len(name) + place) % len(DIVISIONS)]
        for chosen in ("block", partition) if place == 0 else (partition,):
            same(case(held(ctx, chosen)), case(ARRAYS), name in EVERYWHERE)


#: Arguments of quantiles that NumPy before 2.0 has not.
_WRONG_WEIGHTS: list[Any] = [
    (lambda v, t: np.quantile(v, 0.5, weights=v), ValueError, "Only method 'inverted_cdf'"),
    (lambda v, t: np.quantile(v, 0.5, weights=v, method="inverted_cdf"), ValueError, "non-negative"),
    (lambda v, t: np.quantile(t, 0.5, 0, weights=t * 0, method="inverted_cdf"), ValueError, "all zero"),
    (lambda v, t: np.quantile(v, 0.5, weights=t, method="inverted_cdf"), TypeError, "must be specified"),
]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda v, t: np.convolve(t, v), ValueError, "must have 1 dimension"),
        (lambda v, t: np.convolve(v, [], "same"), ValueError, "cannot be empty"),
        (lambda v, t: np.correlate(v, v, "middle"), ValueError, "mode must be one of"),
        (lambda v, t: np.gradient(v[:1]), ValueError, "too small to calculate"),
        (lambda v, t: np.gradient(t, 1.0, 2.0, 3.0), TypeError, "invalid number of arguments"),
        (lambda v, t: np.gradient(v, [1.0, 2.0]), ValueError, "distances must match"),
        (lambda v, t: np.put(v, [9], 1), IndexError, "index 9 outside"),
        (lambda v, t: np.put(v, [0.5], 1), TypeError, "must be integers"),
        (lambda v, t: np.put(v, [0], 1j), TypeError, "would not stay what they are"),
        (lambda v, t: np.insert(v, 8, 1), IndexError, "out of bounds"),
        (lambda v, t: np.delete(t, 5, axis=0), IndexError, "out of bounds"),
        (lambda v, t: np.pad(v, -1), ValueError, "negative"),
        (lambda v, t: np.pad(v, 1, "most"), ValueError, "is not supported"),
        (lambda v, t: np.pad(v, 1, "edge", constant_values=1), ValueError, "unsupported keyword"),
        (lambda v, t: np.pad(v, 1, "maximum", stat_length=0), ValueError, "stat_length of 0"),
        (lambda v, t: np.pad(v, 1, lambda *args: None), TypeError, "mode is a function"),
        (lambda v, t: np.isposinf(v * 1j), TypeError, "np.isposinf: .* ambiguous"),
        (lambda v, t: np.i0(v * 1j), TypeError, "np.i0: .* complex"),
        (lambda v, t: np.nan_to_num(v, nan=[1.0, 2.0]), ValueError, "nan of shape"),
        (lambda v, t: np.ravel_multi_index((v.astype(int), 9), (9, 9)), ValueError, "invalid entry"),
        (lambda v, t: np.fill_diagonal(v, 1), ValueError, "at least 2-d"),
        (lambda v, t: np.choose(v, [v, v]), TypeError, "must be integers"),
        (lambda v, t: np.unravel_index(v.astype(int) * 99, (2, 2)), ValueError, "out of bounds"),
        (lambda v, t: np.partition(v, 7), ValueError, "out of bounds"),
        (lambda v, t: np.polyfit(v, t, 1), TypeError, "same length"),
        (np.polydiv, ValueError, "1 dimension"),
        (lambda v, t: np.polydiv(v, v[:0]), IndexError, "no coefficient"),
        (lambda v, t: np.average(v, weights=v * 0), ZeroDivisionError, "sum to zero"),
        (lambda v, t: np.average(t, axis=1, weights=t[0] * 0), ZeroDivisionError, "sum to zero"),
        (lambda v, t: np.average(t, axis=1, weights=np.zeros(t.shape[1])), ZeroDivisionError, "sum to zero"),
        (lambda v, t: np.average(t, weights=v), TypeError, "must be specified"),
        (lambda v, t: np.average(t, axis=0, weights=v), ValueError, "consistent"),
        (lambda v, t: np.histogramdd(t[:, :0]), ValueError, "no coordinates"),
        (lambda v, t: np.ravel_multi_index((v[:1], 0), (9, 1), mode="clip"), TypeError, "only int indices"),
        (lambda v, t: np.polydiv(v, v.astype("S8")), TypeError, "np.polydiv"),
        (lambda v, t: np.histogram2d(v, v, 0), ValueError, "must be positive"),
        (lambda v, t: np.kron(v, "text"), TypeError, "dtype"),
        (lambda v, t: np.packbits(v), TypeError, "integer or boolean"),
        (lambda v, t: np.packbits(v > 0, bitorder="middle"), ValueError, "'little' or 'big'"),
        (lambda v, t: np.packbits(v > 0, axis=1), IndexError, "out of bounds"),
        (lambda v, t: np.unpackbits(v.astype(np.int8)), TypeError, "unsigned byte"),
        (lambda v, t: np.unpackbits(v.astype(np.uint8), count=-57), ValueError, "-57 of 56"),
        *([(lambda v, t: np.nanmax(v, where=v > 0), ValueError, "where needs initial")] if VERSION >= "1.22.0" else []),
        (lambda v, t: np.nanmean(v, dtype=int), TypeError, "dtype must be inexact"),
        (lambda v, t: np.std(t, 0, dtype=int), TypeError, "may not be cast"),
        (lambda v, t: np.cov(t, dtype=int), TypeError, "are of floats"),
        (lambda v, t: np.partition(v, 1, order="x"), ValueError, "no fields"),
        (lambda v, t: np.partition(v, 1, kind="sort"), ValueError, "select kind"),
        (lambda v, t: np.sort(v, kind="introselect"), ValueError, "sort kind"),
        (lambda v, t: np.clip(v, 1, 2, min=0), ValueError, "one or the other"),
        (lambda v, t: np.concatenate([v, v.astype(int)], casting="no"), TypeError, "do not become"),
        (lambda v, t: np.append(v, 1, axis=0), TypeError, "a distributed container"),
        (lambda v, t: np.choose(v > 0, [v, v], out=t), ValueError, "out has shape"),
        (lambda v, t: np.compress(v > 0, v, out=np.zeros(5)), TypeError, "must be a container"),
        (lambda v, t: np.matmul(t, t.T, out=t), ValueError, "out has shape"),
        (lambda v, t: np.matmul(t, t.T, out=np.zeros((5, 5))), TypeError, "must be a container"),
        (lambda v, t: np.matmul(t, t.T, out=np.zeros_like(t @ t.T, dtype=int)), TypeError, "may not be cast"),
        (lambda v, t: np.sort(v, order="x"), ValueError, "no fields"),
        (lambda v, t: np.select([v], [v]), TypeError, "should be boolean"),
        (lambda v, t: np.select([], []), ValueError, "empty condition list"),
        (lambda v, t: np.reshape(t, 20, order="K"), ValueError, "not permitted"),
        (lambda v, t: np.take(v, [1], mode="middle"), ValueError, "mode must be one of"),
        (lambda v, t: np.round(v, 1, np.zeros(7)), TypeError, "out is of type ndarray"),
        (lambda v, t: np.cumsum(t, 0, out=v), ValueError, "out has shape"),
        (lambda v, t: np.quantile(v[:0], 0.5), IndexError, "no elements"),
        (lambda v, t: np.quantile(t[:0], 0.5, axis=0), IndexError, "no elements"),
        (lambda v, t: np.cov(t, fweights=[1.5, 1, 1, 1]), TypeError, "must be integer"),
        (lambda v, t: np.cov(t, aweights=v), RuntimeError, "incompatible numbers of samples"),
        (lambda v, t: np.cov(t, fweights=t.astype(int)), RuntimeError, "multidimensional"),
        (lambda v, t: np.cov(v, aweights=v), ValueError, "cannot be negative"),
        *(_WRONG_WEIGHTS if VERSION >= "2.0.0" else []),
    ],
)
def test_wrong_arguments(ctx: dtl.Context, call: Callable[[Any, Any], Any], error: type[Exception], text: str) -> None:
    given = held(ctx, "block")
    with pytest.raises(error, match=text):
        call(given.v, given.t)


def test_the_median_of_nothing(ctx: dtl.Context) -> None:
    given = held(ctx, "block")
    with pytest.warns(RuntimeWarning):
        assert np.isnan(np.median(given.v[:0]))
    with pytest.warns(RuntimeWarning):
        same(np.median(given.t[:0], axis=0), np.full(4, np.nan))


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy before 2.1 does not have the function")
def test_cumulative_sums_of_several_dimensions_need_an_axis(ctx: dtl.Context) -> None:
    with pytest.raises(ValueError, match="axis"):
        np.cumulative_sum(held(ctx, "block").t)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: np.mean(t[:0], axis=0), "Mean of empty slice"),
        (lambda t: np.median(t[:0], axis=0), "Mean of empty slice"),
        (lambda t: np.nanmedian(t[:0], axis=0), "Mean of empty slice"),
        (lambda t: np.nanquantile(t[:0], 0.5, axis=0), "Mean of empty slice"),
        (lambda t: np.var(t, axis=0, ddof=5), "Degrees of freedom"),
        (lambda t: np.std(t[:0], axis=0), "Degrees of freedom"),
        (lambda t: np.nanmax(t * np.nan, axis=0), "All-NaN slice"),
        (lambda t: np.nanquantile(t * np.nan, 0.5, axis=1), "All-NaN slice"),
    ],
)
def test_warnings_along_a_dimension(ctx: dtl.Context, call: Callable[[Any], Any], text: str) -> None:
    with pytest.warns(RuntimeWarning, match=text):
        made = call(held(ctx, "block").t)
    with pytest.warns(RuntimeWarning):
        same(made, call(ARRAYS.t))


def test_a_function_that_fails_on_one_rank(ctx: dtl.Context) -> None:
    given = held(ctx, "block")

    def line(values: Any) -> Any:
        if values[0] == ARRAYS.t[0, 0]:  # the first line alone
            raise KeyError("no such line")
        return values.sum()

    expected = KeyError if ctx.rank == 0 else dtl.CommunicationError
    with pytest.raises(expected, match="no such line"):
        np.apply_along_axis(line, 1, given.t)


@pytest.mark.parametrize("name", LINALG_CASES)
def test_linear_algebra_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    for partition in ("block", "cyclic"):
        given = held(ctx, partition)
        for case in LINALG_CASES[name]:
            same(case(given), case(ARRAYS))


def test_files_as_numpy_writes_them(ctx: dtl.Context, folder: str) -> None:
    given = held(ctx, "cyclic")
    one, several = f"{folder}/one", f"{folder}/several.npz"
    np.save(one, given.t)
    np.savez(several, given.v, names=given.i)
    ctx.barrier()
    np.testing.assert_array_equal(np.load(f"{one}.npy"), ARRAYS.t)
    with np.load(several) as found:
        np.testing.assert_array_equal(found["arr_0"], ARRAYS.v)
        np.testing.assert_array_equal(found["names"], ARRAYS.i)
    with open(f"{one}.npy", "rb") as file:
        refused(lambda: np.save(file, given.t), TYPE, 101, "file must be a path")
    ctx.barrier()


@pytest.mark.parametrize("module", [np, np.linalg, np.fft], ids=lambda module: module.__name__)
def test_all_others_refuse_alike(ctx: dtl.Context, module: types.ModuleType) -> None:
    """There is no function that hands back an array on one rank and something else on several."""
    from dtl.protocol.array_function import FUNCTIONS

    refusing = 0
    for name, function in dispatched(module).items():
        if function in FUNCTIONS:
            # By identity, because older versions have several names of one function, such as round_.
            cases = [other for other in (*CASES, *ELSEWHERE) if getattr(np, other, None) is function]
            assert module is not np or cases, f"np.{name} has no case here"
            continue
        for container in (dtl.ones(ctx, 4), dtl.ones(ctx, (2, 2))):
            error = outcome(function, container)
            assert isinstance(error, dtl.InvalidTypeError), f"{name} gave {error!r}"
            if name == "ravel_multi_index" and VERSION < "1.22.0":  # which asks for an index first
                continue
            texts = ("takes no containers, on any number of ranks", "does not become an array", "is not iterated")
            assert any(text in str(error) for text in texts)
            assert "gather_to(root)" in str(error)
        refusing += 1
    assert refusing > 5 or (module is not np and set(dispatched(module).values()) & set(FUNCTIONS))


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.array,
        np.asanyarray,
        np.ascontiguousarray,
        np.asfortranarray,
        np.asarray_chkfinite,
        lambda c: np.asarray(c, np.float32),
        lambda c: np.ones(4).dot(c),
        lambda c: np.ones(4)[c],
        lambda c: np.asarray([c, c]),
        lambda c: np.ones(4).__setitem__(slice(None), c),
        lambda c: np.testing.assert_array_equal(c, np.ones(4)),
    ],
)
def test_no_conversion(ctx: dtl.Context, convert: Callable[[Any], Any]) -> None:
    for name in DIVISIONS:
        c = dtl.ones(ctx, 4, int, **division(name, 4, ctx.size))
        if name == "replicated":
            np.testing.assert_array_equal(convert(c), convert(np.ones(4, int)))
            continue
        refused(lambda c=c: convert(c), TYPE, 101, "does not become an array", "local_view()", "gather_to(root)")


def test_the_refusal_names_what_fits(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 4)
    refused(
        lambda: np.savetxt("nowhere", vec),
        TYPE,
        101,
        "np.savetxt: takes no",
        "use dtl.save, or",
        op="np.savetxt",
    )
    refused(lambda: np.shares_memory(vec, vec), TYPE, 101, "takes no containers", op="np.shares_memory")


def test_pictures_of_parts_are_refused(ctx: dtl.Context) -> None:
    """Matplotlib asks any object for to_numpy(), and would draw this rank's part as if it were all."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    vec = dtl.ones(ctx, 4)
    figure, axes = pyplot.subplots()
    try:
        for draw in (axes.plot, axes.hist, axes.boxplot):
            with pytest.raises(TypeError, match=r"matplotlib asks for all elements .* gather_to\(root\)"):
                draw(vec)
        for picture in (lambda: axes.scatter(vec, vec), lambda: axes.imshow(dtl.ones(ctx, (2, 2)))):
            with pytest.raises(TypeError, match=r"gather_to\(root\)"):
                picture()
        axes.plot(vec.local_view())
    finally:
        pyplot.close(figure)
    assert vec.to_numpy().tolist() == [1.0] * vec.local_size


@pytest.mark.parametrize("put", [np.putmask, np.place])
def test_a_value_that_does_not_fit_is_an_error_everywhere(ctx: dtl.Context, put: Callable[..., Any]) -> None:
    """Only the rank where it belongs sees it."""
    to, mask = dtl.zeros(ctx, 9, np.int8), dtl.full(ctx, 9, True)
    values = dtl.asarray(ctx, [1, 2, 3, 4, 5, 6, 7, 8, 900])
    with pytest.raises(dtl.OverflowError if ctx.rank == ctx.size - 1 else dtl.DTLError, match="900 does not fit int8"):
        put(to, mask, values)
    assert dtl.allreduce(ctx, 1) == ctx.size
    put(to, mask, values[:8])
    assert to.sum() == 37


def test_like(ctx: dtl.Context) -> None:
    vec = dtl.ones(ctx, 4, partition="cyclic")
    made: Any = np.zeros(6, like=vec)  # type: ignore[call-overload]
    assert made.partition_policy is dtl.PARTITION_CYCLIC
    assert_holds(made, np.zeros(6))
    assert_holds(np.arange(2, 9, 3, like=vec), np.arange(2, 9, 3))  # type: ignore[call-overload]
    assert_holds(np.asarray([[1, 2], [3, 4]], like=vec), np.array([[1, 2], [3, 4]]))  # type: ignore[call-overload]
    assert_holds(np.ones(3, np.int8, like=vec), np.ones(3, np.int8))  # type: ignore[call-overload]
    assert_holds(np.full((3, 2), 7, like=vec), np.full((3, 2), 7))  # type: ignore[call-overload]
    assert_holds(np.eye(3, 4, 1, like=vec), np.eye(3, 4, 1))  # type: ignore[call-overload]
    assert_holds(np.eye(3, like=vec), np.eye(3))  # type: ignore[call-overload]


@pytest.mark.parametrize("function", [np.isneginf, np.isposinf, np.fix, np.around])
def test_out_by_position(ctx: dtl.Context, function: Any) -> None:
    """It is a container, as by its name; of an array, each rank would write elements at the start."""
    array = np.array([np.inf, -np.inf, -2.5, 0, 3, -3])
    c, places = dtl.asarray(ctx, array), (0,) if function is np.around else ()
    want = function(array)
    out = dtl.zeros(ctx, 6, want.dtype)
    assert function(c, *places, out) is out
    assert_holds(out, want)
    for wrong in (np.zeros(6, want.dtype), np.zeros(2, want.dtype)):
        with pytest.raises(dtl.InvalidTypeError, match="out is of type ndarray"):
            function(c, *places, wrong)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("place", [0, 1, 40, 88, 89])
def test_gradients_do_not_depend_on_who_has_which_rows(
    ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, place: int, edge_order: int
) -> None:
    """Of even places NumPy leaves the middle element out, which is not to be so where others are uneven."""
    f, at = np.arange(90.0) ** 2 / 7, np.arange(90)
    f[[20, 60]] = np.nan, np.inf
    at[place:] += 1
    at[:place] -= place == 0
    with np.errstate(invalid="ignore"):
        wanted = [np.gradient(f, each, edge_order=edge_order) for each in (at, at * 0.1, np.arange(90) * 0.1)]
        for blocks in ((slice(None),), [slice(lo, lo + 2) for lo in range(0, 90, 2)]):

            def in_blocks(part: Any, blocks: Any = blocks) -> Any:
                return [rows for rows in blocks if rows == slice(None) or rows.start < len(part)]

            monkeypatch.setattr(neighbours, "in_blocks", in_blocks)
            for each, want in zip((at, at * 0.1, np.arange(90) * 0.1), wanted):
                for places in (each, dtl.asarray(ctx, each)):
                    assert_holds(np.gradient(dtl.asarray(ctx, f), places, edge_order=edge_order), want)
