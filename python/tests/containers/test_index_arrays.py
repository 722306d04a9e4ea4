"""Index arrays and masks beside slices, and masks of rows, against NumPy."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from places import everywhere, stays

import dtl

CUBE = np.arange(7 * 5 * 3).reshape(7, 5, 3)
TABLE = CUBE[:, :, 0].copy()
ROWS, CELLS = TABLE[:, 0] > 20, TABLE % 2 == 0

DIVIDED: tuple[Any, ...] = (*DIVISIONS, "columns")

KEYS: tuple[tuple[Any, Any], ...] = (
    (TABLE, [3, 1, 1, -1]),
    (TABLE, np.s_[:, [2, 0]]),
    (TABLE, np.s_[[1, 2], 1:3]),
    (TABLE, np.s_[::-2, [4, 4, 0]]),
    (TABLE, (None, [1, 2])),
    (TABLE, ([1, 2], None)),
    (TABLE, (np.array([[0, 1], [2, 3]]), slice(1, 4, 2))),
    (TABLE, ROWS),
    (TABLE, np.s_[:, np.array([True, False, True, False, True])]),
    (TABLE, []),
    (TABLE, np.s_[3:3, [0, 1]]),
    (TABLE, (..., [0, 1])),
    (CUBE, np.s_[:, [1, 2], [0, 2]]),
    (CUBE, np.s_[[1, 2], :, [0, 1]]),
    (CUBE, np.s_[0, :, [0, 1]]),
    (CUBE, CELLS),
    (CUBE, np.s_[ROWS, :, 1]),
    (CUBE, np.s_[::3, [[0], [1]], :]),
    (CUBE, (None, [1], None, [0], slice(None))),
    (CUBE, np.s_[1:6:2, [1, 2], -1]),
)


def tensor(ctx: dtl.Context, whole: Any, name: str, place: str = "host") -> dtl.DistributedTensor:
    divided: Any = division(name, len(whole), ctx.size) if name != "columns" else {}
    if name == "columns":
        divided["grid"] = (1, ctx.size, *[1] * (whole.ndim - 2))
    return dtl.DistributedTensor.from_numpy(ctx, whole, placement=place, **divided)


@everywhere
@pytest.mark.parametrize("name", DIVIDED)
def test_selected_and_assigned(ctx: dtl.Context, place: str, name: str) -> None:
    for whole, key in KEYS:
        expected = whole.copy()
        with tensor(ctx, whole, name, place) as of:
            with stays(place):
                got = of[key]
            assert got.placement_policy is of.placement_policy
            selected = whole[key]
            assert isinstance(got, dtl.DistributedVector if selected.ndim == 1 else dtl.DistributedTensor)
            assert_holds(got, selected)
            values = np.arange(selected.size).reshape(selected.shape) + 1000
            for value in (-7, values):
                with stays(place):
                    of[key] = expected[key] = value
                assert_holds(of, expected)
            expected[key] = values[::-1]
            of[key] = tensor(ctx, values[::-1], "columns" if values.ndim > 1 else "cyclic", place)
            assert_holds(of, expected)


@everywhere
@pytest.mark.parametrize("of_mask", DIVIDED)
@pytest.mark.parametrize("name", DIVIDED)
def test_masks_that_are_divided_differently(ctx: dtl.Context, place: str, name: str, of_mask: str) -> None:
    """Masks of rows, of which the elements beside one are chosen, and masks of all elements."""
    for chosen in (ROWS, TABLE[:, 0] < 0, CELLS, CUBE % 3 == 0):
        if of_mask == "columns" and chosen.ndim == 1:
            continue
        expected = CUBE.copy()
        with tensor(ctx, CUBE, name, place) as of, tensor(ctx, chosen, of_mask, place) as mask:
            with stays(place):
                got = of[mask]
            assert got.placement_policy is of.placement_policy
            assert_holds(got, CUBE[chosen])
            row = np.arange(math.prod(CUBE.shape[chosen.ndim :])).reshape(CUBE.shape[chosen.ndim :])
            for value in (-1, row, row[np.newaxis], CUBE[chosen][::-1]):
                expected[chosen] = value
                with stays(place):
                    of[mask] = value
                assert_holds(of, expected)
            expected[chosen] = CUBE[chosen] * 3
            of[mask] = tensor(ctx, CUBE[chosen] * 3, "cyclic", place)
            assert_holds(of, expected)


@everywhere
@pytest.mark.parametrize("name", DIVIDED)
def test_rows_of_a_container_of_indices(ctx: dtl.Context, place: str, name: str) -> None:
    for whole in (TABLE, CUBE):
        with tensor(ctx, whole, name, place) as of:
            for indices in (np.array([3, -1, 3, 0]), np.array([], np.int64), np.array([[1, 2], [6, 0]])):
                given = dtl.asarray(ctx, indices, placement=place)
                for got in (of[given], of[given, ...], of[(given, *[slice(None)] * (whole.ndim - 1))]):
                    assert_holds(got, whole[indices])


@everywhere
def test_a_mask_beside_an_integer(ctx: dtl.Context, place: str) -> None:
    of = tensor(ctx, TABLE, "block", place)
    assert of[ROWS, 0].tolist() == TABLE[ROWS, 0].tolist()
    expected = TABLE.copy()
    of[ROWS, 0] = expected[ROWS, 0] = -1
    assert_holds(of, expected)


#: Containers beside slices: of bool and of integers.
BESIDE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a mask and a column": lambda t, mask, i: np.s_[mask, 0],
    "a mask and a range": lambda t, mask, i: np.s_[mask, 1:],
    "a mask and all columns": lambda t, mask, i: np.s_[mask, :],
    "a mask and dots": lambda t, mask, i: np.s_[mask, ..., -1],
    "rows and a range": lambda t, mask, i: np.s_[i, ::-1],
    "columns": lambda t, mask, i: np.s_[:, i],
    "columns of some rows": lambda t, mask, i: np.s_[2:, i],
    "columns by dots": lambda t, mask, i: np.s_[..., i],
    "columns by a mask": lambda t, mask, i: np.s_[:, t[0] > 1],
    "a computed mask and a column": lambda t, mask, i: np.s_[t.sum(axis=1) > 10, 1],
}


@everywhere
@pytest.mark.parametrize("name", BESIDE)
def test_containers_beside_slices(ctx: dtl.Context, place: str, name: str) -> None:
    columns = np.array([2, 0, 1])
    for partition in ("block", "cyclic", "replicated", "columns"):
        of = tensor(ctx, TABLE, partition, place)
        mask, indices = dtl.asarray(ctx, ROWS, placement=place), dtl.asarray(ctx, columns, placement=place)
        key, expected = BESIDE[name](of, mask, indices), BESIDE[name](TABLE, ROWS, columns)
        assert_holds(of[key], TABLE[expected])
        for value in (7, TABLE[expected] * 2):
            written = TABLE.copy()
            written[expected] = value
            of[key] = value if np.ndim(value) == 0 else dtl.asarray(ctx, value, placement=place)
            assert_holds(of, written)
            of[...] = TABLE
    assert_holds(np.take(of, indices, axis=1), TABLE[:, columns])
    assert_holds(dtl.take(of, indices, axis=0), TABLE[columns])


@everywhere
def test_the_same_index_more_than_once(ctx: dtl.Context, place: str) -> None:
    """The last value stays, as in NumPy, whoever has it."""
    expected = np.zeros((4, 3), np.int64)
    of = dtl.DistributedTensor(ctx, (4, 3), dtype=np.int64, placement=place)
    key = np.s_[[2, 0, 2, 2], 1:]
    values = np.arange(8).reshape(4, 2)
    expected[key] = values
    of[key] = tensor(ctx, values, "block", place)
    assert_holds(of, expected)
    of[...] = 0
    of[key] = values
    assert_holds(of, expected)


REFUSED: tuple[tuple[Any, type[dtl.DTLError], str], ...] = (
    (np.s_[[0, 7], :], dtl.BoundsError, r"index 7 outside \[-7, 7\) of dimension 0"),
    (np.s_[:, [0], [0]], dtl.BoundsError, "3 indices for 2 dimensions"),
    (np.s_[[0, 1], :, None, [0]], dtl.BoundsError, "3 indices for 2 dimensions"),
    (np.s_[np.ones(3, bool), :], dtl.BoundsError, r"mask of shape \(3,\) .* from dimension 0 on"),
    (np.s_[:, np.ones(7, bool)], dtl.BoundsError, r"mask of shape \(7,\) .* from dimension 1 on"),
)


@pytest.mark.parametrize(("key", "error", "text"), REFUSED, ids=str)
def test_refused(ctx: dtl.Context, key: Any, error: type[dtl.DTLError], text: str) -> None:
    of = tensor(ctx, TABLE, "block")
    for use in (lambda: of[key], lambda: of.__setitem__(key, 1)):
        with pytest.raises(error, match=text):
            use()
    assert_holds(of, TABLE)


def test_values_that_do_not_fit(ctx: dtl.Context) -> None:
    of = tensor(ctx, TABLE, "block")
    mask = dtl.asarray(ctx, ROWS)
    for key, value in (
        ([0, 1], np.ones((3, 5), np.int64)),
        (mask, np.ones((2, 5), np.int64)),
        (mask, np.ones((2, 1, 5), np.int64)),
        (mask, np.ones((int(ROWS.sum()), 4), np.int64)),
        (mask, dtl.asarray(ctx, np.ones(int(ROWS.sum()) - 1, np.int64))),
        (mask, dtl.asarray(ctx, np.ones((2, 5), np.int64))),
    ):
        with pytest.raises(dtl.InvalidArgumentError):
            of[key] = value
    assert_holds(of, TABLE)


@everywhere
@pytest.mark.parametrize(
    "key", [True, False, np.bool_(True), np.array(False), np.zeros(0, bool), np.zeros((0, 3), bool)]
)
def test_masks_without_dimensions_or_elements(ctx: dtl.Context, place: str, key: Any) -> None:
    table = np.arange(12.0).reshape(4, 3)
    c = dtl.asarray(ctx, table, placement=place)
    for mask in (key, dtl.asarray(ctx, key, placement=place)) if np.ndim(key) else (key,):
        assert_holds(c[mask], table[key])
        c[mask] = 5.0
        table[key] = 5.0
        assert_holds(c, table)
