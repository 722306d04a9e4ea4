"""Joblib's Parallel over ranks."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

import numpy as np
import pytest

import dtl

joblib = pytest.importorskip("joblib", "1.2", reason="needs joblib; runs in the environments of `make setup`")


def square(x: int) -> int:
    return x * x


def nested(x: int) -> tuple[int, list[int]]:
    return os.getpid(), joblib.Parallel(n_jobs=2)(joblib.delayed(square)(y) for y in range(x))


def fail(x: int) -> int:
    if x == 5:
        raise KeyError(f"no {x}")
    time.sleep(0.001)  # it computes
    return x


@pytest.fixture(autouse=True)
def registered() -> None:
    dtl.register_joblib()


def test_calls_are_made_by_the_other_ranks(ctx: dtl.Context) -> None:
    others = set(dtl.allgather(ctx, os.getpid()).tolist()) - {os.getpid()}
    with dtl.Executor(ctx) as executor:
        if executor is None:
            return
        with joblib.parallel_backend("dtl"):
            assert joblib.effective_n_jobs() == (1 if ctx.size == 1 else max(2, ctx.size - 1))
            assert joblib.Parallel()(joblib.delayed(math.sqrt)(x) for x in range(50)) == [x**0.5 for x in range(50)]
            made = joblib.Parallel(batch_size=3)(joblib.delayed(nested)(x) for x in range(10))
            assert [inner for _, inner in made] == [[y * y for y in range(x)] for x in range(10)]
            assert {pid for pid, _ in made} <= (others or {os.getpid()})
            assert joblib.Parallel()([]) == []
            with joblib.Parallel(return_as="generator") as parallel:
                assert list(parallel(joblib.delayed(square)(x) for x in range(9))) == [x * x for x in range(9)]
            arrays = [np.full(200_000, float(i)) for i in range(3)]
            for i, array in enumerate(joblib.Parallel()(joblib.delayed(np.negative)(a) for a in arrays)):
                np.testing.assert_array_equal(array, -arrays[i])
        assert joblib.Parallel(2, backend="dtl")(joblib.delayed(square)(x) for x in range(9)) == [
            x * x for x in range(9)
        ]
        with joblib.parallel_backend("dtl", executor=executor, n_jobs=1):
            assert {pid for pid, _ in joblib.Parallel()(joblib.delayed(nested)(x) for x in range(3))} == {os.getpid()}


def test_what_a_call_raises(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            with joblib.parallel_backend("dtl"):
                with pytest.raises(KeyError, match="no 5"):
                    joblib.Parallel()(joblib.delayed(fail)(x) for x in range(500))
                assert joblib.Parallel()(joblib.delayed(fail)(x) for x in range(5)) == list(range(5))


def test_lambdas(ctx: dtl.Context) -> None:
    pytest.importorskip("cloudpickle", reason="not installed; runs in the environments of `make setup`")
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            with joblib.parallel_backend("dtl"):
                assert joblib.Parallel()(joblib.delayed(lambda x: 3 * x)(x) for x in range(4)) == [0, 3, 6, 9]


def test_refusals(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def use(**more: Any) -> None:
        with joblib.parallel_backend("dtl", **more):
            joblib.Parallel()(joblib.delayed(square)(x) for x in range(2))

    with pytest.raises(dtl.InvalidArgumentError, match="is for the block of a dtl"):
        use()
    with pytest.raises(dtl.InvalidTypeError, match=r"executor must be a dtl\.Executor, not int"):
        use(executor=3)
    executor = dtl.Executor(ctx)
    if ctx.is_root:
        executor.shutdown()
        with pytest.raises(ValueError, match="n_jobs == 0"):
            use(executor=executor, n_jobs=0)
        if ctx.size > 1:
            with pytest.raises(dtl.BackendError, match="was shut down"):
                use(executor=executor)
    else:
        executor.serve()
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(dtl.BackendUnavailableError, match="pip install joblib"):
        dtl.register_joblib()
