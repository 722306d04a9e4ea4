"""Files of containers on GPUs, and checkpoints. It is run as on_a_device.py is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, division
from on_a_device import PLACES, failing, fails_at, fake, holds, made, told_by_all
from oracle import DTYPES, values

import dtl
from dtl.io import blocks

__all__ = ["failing", "fake"]

OTHERS = ["float16", "M8[s]", "m8[ms]", "U5", "S3", "i2,f8"]


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have little of a GPU on the host at once, so that each part is several pieces."""
    monkeypatch.setattr(blocks, "STAGED", 40)
    monkeypatch.setattr(blocks, "WINDOW", 64)


def elements(dtype: str, shape: tuple[int, ...]) -> Any:
    """Return elements of any type."""
    if dtype not in OTHERS:
        return values(dtype, shape, 3)
    numbers = np.arange(1, int(np.prod(shape)) + 1)
    if dtype == "i2,f8":
        return np.array([(n, n / 4) for n in numbers], dtype).reshape(shape)
    return numbers.astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", [*DTYPES, *OTHERS])
@pytest.mark.parametrize("placement", PLACES)
def test_types(ctx: dtl.Context, folder: str, dtype: str, placement: str) -> None:
    whole = elements(dtype, (11, 3))
    with made(ctx, whole, "block", placement) as t:
        dtl.checkpoint(folder, {"t": t})
        with dtl.restore(ctx, folder)["t"] as again:
            assert again.placement_policy is t.placement_policy
            holds(again, whole)
        if dtype == "i2,f8":
            return
        path = os.path.join(folder, "t.npy")
        dtl.save(t, path)
        np.testing.assert_array_equal(np.load(path), whole)
        with dtl.load(ctx, path, placement=placement) as again:
            assert again.placement_policy is t.placement_policy
            holds(again, whole)


@pytest.mark.parametrize("shape", [(11,), (7, 3), (3, 2, 50), (0,), (4, 0)])
@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions(ctx: dtl.Context, folder: str, name: str, shape: tuple[int, ...]) -> None:
    whole = elements("int32", shape)
    with made(ctx, whole, name) as c, dtl.trace() as trace:
        dtl.checkpoint(folder, {"c": c, "step": 3}, keep=2)
        with dtl.restore(ctx, folder)["c"] as again:
            assert again.placement_policy is dtl.PLACEMENT_DEVICE
            assert again.partition_policy is c.partition_policy
            holds(again, whole)
        for place in ("host", "unified", "device"):
            with dtl.restore(ctx, folder, placement=place)["c"] as again:
                assert again.placement_policy.name == place.upper()
                holds(again, whole)
        dtl.async_checkpoint(folder, {"c": c}).get()
        with dtl.restore(ctx, folder)["c"] as again:
            holds(again, whole)
        path = os.path.join(folder, "c.npy")
        dtl.save(c, path)
        np.testing.assert_array_equal(np.load(path), whole)
        with dtl.load(ctx, path, **division(name, shape[0], ctx.size), placement="device") as again:
            holds(again, whole)
    staged = {record.operation for record in trace.records if "staged" in record.operation}
    assert staged <= {f"{call} (staged)" for call in ("save", "load", "checkpoint", "restore")}
    if ctx.size == 1 and whole.size:
        assert len(staged) == 4


def test_other_numbers_of_ranks(ctx: dtl.Context, folder: str) -> None:
    """What all ranks save, the first restores alone, and the reverse."""
    whole = elements("float64", (9, 2))
    with made(ctx, whole, "cyclic") as c, dtl.DistributedMap(ctx, int, float, placement="device") as m:
        m.update_many(np.arange(20), 2.5)
        dtl.checkpoint(folder, {"c": c, "m": m})
        sums = m.size * 2.5 * ctx.size
    first = ctx.split(int(ctx.rank > 0))
    if ctx.rank == 0:
        again = dtl.restore(first, folder)
        holds(again["c"], whole)
        assert again["m"].placement_policy is dtl.PLACEMENT_DEVICE
        assert sum(value for _, value in again["m"].items()) == sums
        dtl.checkpoint(folder, again)
    ctx.barrier()
    first.close()
    for place, expected in ((None, "DEVICE"), ("host", "HOST"), ("unified", "UNIFIED")):
        again = dtl.restore(ctx, folder, placement=place)
        assert {value.placement_policy.name for value in again.values()} == {expected}
        holds(again["c"], whole)
        assert dtl.allreduce(ctx, sum(value for _, value in again["m"].items())) == sums


def test_a_part_with_a_halo(ctx: dtl.Context, folder: str) -> None:
    """Its rows do not lie side by side."""
    whole = elements("int64", (4 * ctx.size, 9))
    with made(ctx, whole) as t, dtl.Halo(t, 1):
        dtl.checkpoint(folder, {"t": t, "span": dtl.DistributedSpan(t).subspan(1, 3 * ctx.size)})
        again = dtl.restore(ctx, folder)
        holds(again["t"], whole)
        whole_span = again["span"].gather_to(0)
        assert whole_span is None or np.array_equal(whole_span, whole[1 : 1 + 3 * ctx.size])


@pytest.mark.parametrize("suffix", ["npz", "raw", "h5", "zarr", "parquet", "arrow", "csv"])
def test_formats(ctx: dtl.Context, folder: str, suffix: str) -> None:
    for package in {"h5": ["h5py"], "zarr": ["zarr"], "parquet": ["pyarrow"], "arrow": ["pyarrow"]}.get(suffix, []):
        pytest.importorskip(package)
    if suffix == "csv":
        pytest.importorskip("pyarrow")
    whole = np.arange(23.0) + 0.25
    path = os.path.join(folder, f"a.{suffix}")
    with made(ctx, whole) as vec, dtl.DistributedVector(ctx, 23, fill=2.0) as host:
        one = suffix == "raw"
        dtl.save(vec if one else {"a": vec, "b": host}, path)
        options: Any = {"dtype": "float64"} if one else {"name": "a"}
        with dtl.load(ctx, path, placement="device", **options) as again:
            assert again.placement_policy is dtl.PLACEMENT_DEVICE
            holds(again, whole)


def test_what_is_refused(ctx: dtl.Context, folder: str) -> None:
    with made(ctx, np.arange(9.0)) as vec:
        dtl.checkpoint(folder, {"vec": vec})
        for call in (dtl.restore, dtl.load):
            with pytest.raises(dtl.InvalidArgumentError, match="placement 'moon'"):
                call(ctx, os.path.join(folder, "a.npy"), placement="moon")
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError, match="placement HOST"):
                dtl.restore(ctx, folder, placement="host" if ctx.rank else None)


#: What each call does that may fail, with a container of a division, and a folder with a checkpoint and a file of it.
FAILING: Any = {
    "checkpoint": lambda c, folder: dtl.checkpoint(folder, {"c": c}),
    "restore": lambda c, folder: dtl.restore(c.context, folder)["c"].close(),
    "save": lambda c, folder: dtl.save(c, os.path.join(folder, "c.npy")),
    "load": lambda c, folder: dtl.load(c.context, os.path.join(folder, "c.npy"), placement="device").close(),
}


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuEventSynchronize"])
@pytest.mark.parametrize("name", ["block", "cyclic"])
@pytest.mark.parametrize("call", FAILING)
def test_calls_that_fail(ctx: dtl.Context, failing: Any, folder: str, call: str, name: str, symbol: str) -> None:
    """Whichever call of the driver fails on one rank: every rank gets the error, and what was saved is whole."""
    whole = np.arange(24.0)
    with made(ctx, whole, name) as c:
        dtl.checkpoint(folder, {"c": c})
        path = os.path.join(folder, "c.npy")
        dtl.save(c, path)
        for nth in range(1, 400):
            dtl.trim()
            if ctx.rank == ctx.size - 1:
                failing(fails_at(symbol, nth))
            failed = told_by_all(ctx, failing, lambda: FAILING[call](c, folder))[0]
            np.testing.assert_array_equal(np.load(path), whole)
            if not failed:
                with dtl.restore(ctx, folder)["c"] as again:
                    holds(again, whole)
                return
    raise AssertionError("it is never complete")


def test_what_is_taken_is_given_back(ctx: dtl.Context, fake: Any, folder: str) -> None:
    dtl.trim()
    before = fake.fake_outstanding(1)
    with made(ctx, np.arange(100.0)) as vec:
        dtl.checkpoint(folder, {"vec": vec})
        dtl.restore(ctx, folder)["vec"].close()
    dtl.trim()
    assert fake.fake_outstanding(1) == before
