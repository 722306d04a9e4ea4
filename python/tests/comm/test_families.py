"""The names of existing DTL programs do what those programs expect, on whole containers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import assert_holds

import dtl
from dtl.algorithms import compat
from dtl.containers.making import new_like

KINDS = pytest.mark.parametrize(("end", "kind"), [("_vector", dtl.DistributedVector), ("_array", dtl.DistributedArray)])


def made(ctx: dtl.Context, kind: Any) -> Any:
    c = kind(ctx, 20, dtype=np.float64)
    dtl.iota(c, 1)
    return c


def function(name: str, end: str) -> Any:
    return getattr(dtl, name + end)


@KINDS
def test_every_name_is_there(end: str, kind: Any) -> None:
    names = {name for name in compat.FUNCTIONS if name.endswith(end)}
    assert len(names) == len(compat.FUNCTIONS) // 2
    for name in names:
        assert getattr(dtl, name) is compat.FUNCTIONS[name]
        assert getattr(dtl, name).__doc__
    with pytest.raises(AttributeError, match="nothing_vector"):
        _ = dtl.nothing_vector


@KINDS
def test_functions_of_elements(ctx: dtl.Context, end: str, kind: Any) -> None:
    c, whole = made(ctx, kind), np.arange(1.0, 21.0)
    function("transform", end)(c, lambda x: x * 2 if x > 3 else -x)
    whole = np.where(whole > 3, whole * 2, -whole)
    assert_holds(c, whole)
    seen: list[Any] = []
    function("for_each", end)(c, seen.append)
    assert seen == c.local_view().tolist()
    del seen[:]
    function("for_each", end)(c, lambda x, i: seen.append((x, i)), with_index=True)
    assert seen == list(zip(c.local_view().tolist(), c.local_indices().tolist()))
    assert function("find_if", end)(c, lambda x: x > 20) == 10
    assert function("count_if", end)(c, lambda x: x < 0) == 3
    assert function("all_of", end)(c, lambda x: x < 41)
    assert function("any_of", end)(c, lambda x: x == -3)
    assert function("none_of", end)(c, lambda x: x == 3)


@KINDS
def test_values(ctx: dtl.Context, end: str, kind: Any) -> None:
    c = made(ctx, kind)
    assert function("find", end)(c, 10.0) == 9
    assert function("count", end)(c, 10.0) == 1
    assert function("minmax", end)(c) == (1, 20)
    assert function("min_element", end)(c) == (1, 0)
    assert function("max_element", end)(c) == (20, 19)
    assert function("reduce_local", end)(c, op="sum") == c.local_view().sum()
    assert function("reduce_local", end)(c, "prod") == c.local_view().prod()
    twin = new_like(c, c.dtype)
    function("copy", end)(c, twin)
    assert_holds(twin, np.arange(1.0, 21.0))
    function("fill", end)(c, 4)
    assert_holds(c, np.full(20, 4.0))


@KINDS
def test_orders_and_scans(ctx: dtl.Context, end: str, kind: Any) -> None:
    c = made(ctx, kind)
    for options, expected in (({"reverse": True}, -1), ({}, 1), ({"descending": True}, -1), ({"descending": False}, 1)):
        function("sort", end)(c, **options)
        assert_holds(c, np.arange(1.0, 21.0)[::expected])
    function("inclusive_scan", end)(c, op="sum")
    assert_holds(c, np.arange(1.0, 21.0).cumsum())
    function("exclusive_scan", end)(c, "max")
    assert_holds(c, np.concatenate(([-np.inf], np.arange(1.0, 20.0).cumsum())))
