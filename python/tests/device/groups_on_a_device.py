"""Groups of containers on GPUs, against the same groups on the host. It is run as on_a_device.py is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS
from on_a_device import failing, fails_at, fake, made, told_by_all

import dtl

__all__ = ["failing", "fake"]

OPS = ("sum", "prod", "min", "max", "count", "mean", "var", "std", "median", "nunique", "first", "last", np.ptp)
COUNT = 60


def keys(dtype: str) -> Any:
    """Return keys, of which some occur often."""
    drawn = np.random.default_rng(3).integers(0, 9, COUNT)
    if dtype == "wide":
        return drawn * 10**6
    if dtype == "nan":
        return np.where(drawn > 6, np.nan, drawn)
    return drawn.astype(dtype)


def same(results: Any) -> None:
    """Check that keys and aggregates are the same, but for the order in which floats were added."""
    for host, device in zip(*results):
        assert host.dtype == device.dtype
        if host.dtype.kind == "f":
            np.testing.assert_allclose(host, device, rtol=1e-14)
        else:
            np.testing.assert_array_equal(host, device)


def aggregated(k: Any, v: Any, op: Any) -> Any:
    """Return the keys, and the aggregates, all on every rank."""
    with dtl.group_by(k) as groups:
        found, made = groups.agg(v, op)
        each = [*(found if isinstance(found, tuple) else (found,)), made]
        placement = (k[0] if isinstance(k, list) else k).placement_policy
        assert {c.placement_policy for c in each} == {placement}
        return [dtl.broadcast_object(c.context, c.gather_to(0), root=0) for c in each]


@pytest.mark.parametrize("op", OPS, ids=str)
@pytest.mark.parametrize("dtype", ["int8", "wide", "nan", "bool", "complex128", "M8[s]", "U3", "float16"])
def test_keys(ctx: dtl.Context, dtype: str, op: Any) -> None:
    whole, values = keys(dtype), np.random.default_rng(5).integers(1, 4, COUNT).astype(float)
    results = []
    for place in ("host", "device"):
        with made(ctx, whole, "block", place) as k, made(ctx, values, "block", place) as v:
            results.append(aggregated(k, v, op))
    same(results)


@pytest.mark.parametrize("op", ["sum", "mean", "median", "nunique", "first"])
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "complex64", "bool", "m8[s]"])
def test_values(ctx: dtl.Context, dtype: str, op: str) -> None:
    whole = keys("int64")
    values = np.random.default_rng(5).integers(0, 2, COUNT).astype(dtype)
    results: list[Any] = []
    for place in ("host", "device"):
        with made(ctx, whole, "block", place) as k, made(ctx, values, "block", place) as v:
            try:
                results.append(aggregated(k, v, op))
            except dtl.InvalidTypeError as error:
                results.append([np.array(str(error))])
    same(results)


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions(ctx: dtl.Context, name: str) -> None:
    a, b = keys("int32"), keys("wide")[::-1].copy()
    values = np.arange(float(COUNT))
    results = []
    for place in ("host", "device"):
        with made(ctx, a, name, place) as k, made(ctx, b, name, place) as other, made(ctx, values, name, place) as v:
            results.append(aggregated([k, other], v, "sum") + aggregated(k, v, "max"))
    same(results)


def test_what_goes_through_the_host(ctx: dtl.Context) -> None:
    with made(ctx, keys("int64")) as k, made(ctx, np.ones(COUNT)) as v, dtl.trace() as trace:
        aggregated(k, v, "sum")
        assert len(dtl.value_counts(k)[0]) == len(np.unique(keys("int64")))
    ops = {record.operation for record in trace.records}
    assert {"group_by (staged)", "agg (staged)"} <= ops


def test_what_is_refused(ctx: dtl.Context) -> None:
    with made(ctx, keys("int64")) as k, made(ctx, np.ones(COUNT), "block", "host") as v, dtl.group_by(k) as groups:
        with pytest.raises(dtl.InvalidTypeError, match="copy one first"):
            groups.agg(v, "sum")
        with pytest.raises(dtl.InvalidTypeError, match="copy one first"):
            dtl.group_by([k, v])
        assert groups.agg(k, "count")[1].sum() == COUNT


FAILING: Any = {
    "group_by": lambda k, v, groups: dtl.group_by(k).close(),
    "sum": lambda k, v, groups: groups.agg(v, "sum"),
    "median": lambda k, v, groups: groups.agg(v, "median"),
    "last": lambda k, v, groups: groups.agg(v, "last"),
    "function": lambda k, v, groups: groups.agg(v, np.ptp),
}


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuEventSynchronize"])
@pytest.mark.parametrize("name", FAILING)
def test_calls_that_fail(ctx: dtl.Context, failing: Any, name: str, symbol: str) -> None:
    """Whichever call of the driver fails on one rank: every rank gets the error, and the groups stay as they were."""
    for nth in [*range(1, 9), *range(9, 400, 13)]:  # not each digit of a sort
        with made(ctx, keys("int8")) as k, made(ctx, np.ones(COUNT)) as v, dtl.group_by(k) as groups:
            dtl.trim()
            if ctx.rank == ctx.size - 1:
                failing(fails_at(symbol, nth))
            failed = told_by_all(ctx, failing, lambda k=k, v=v, g=groups: FAILING[name](k, v, g))[0]
            assert groups.agg(v, "sum")[1].sum() == COUNT
        if not failed:
            return
    raise AssertionError("it is never complete")
