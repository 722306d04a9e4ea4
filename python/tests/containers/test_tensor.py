"""DistributedTensor: shapes, grids of ranks, and views with the right strides."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from oracle import DTYPES, block, values

import dtl

SHAPES = ((5,), (0,), (7, 3), (1, 9), (2, 0, 3), (4, 3, 5), (2, 3, 2, 2))


def grids(ranks: int, ndim: int) -> list[tuple[int, ...]]:
    """Return every grid of so many ranks over up to ndim dimensions."""
    found = []
    for length in range(1, ndim + 1):
        found += [grid for grid in itertools.product(range(1, ranks + 1), repeat=length) if np.prod(grid) == ranks]
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_grids(ctx: dtl.Context, shape: tuple[int, ...]) -> None:
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for grid in grids(ctx.size, len(shape)):
        tensor = dtl.DistributedTensor.from_numpy(ctx, whole, grid=grid)
        full = (*grid, *[1] * (len(shape) - len(grid)))
        place = np.unravel_index(ctx.rank, full)
        held = [block(n, parts)[at] for n, parts, at in zip(shape, full, place)]
        assert tensor.grid == full
        assert (tensor.shape, tensor.ndim, len(tensor)) == (shape, len(shape), shape[0])
        assert tensor.local_shape == tuple(map(len, held))
        assert tensor.global_size == whole.size
        assert tensor.local_size == np.prod([len(part) for part in held], dtype=int)
        for d, part in enumerate(held):
            assert tensor.local_indices(d).tolist() == tensor.local_indices(d - len(shape)).tolist() == part
        assert_holds(tensor, whole)
        np.testing.assert_array_equal(tensor.local_view(), whole[np.ix_(*held)])
        for index in itertools.product(*map(range, shape)):
            coordinates = [
                next(at for at, part in enumerate(block(n, parts)) if i in part)
                for i, n, parts in zip(index, shape, full)
            ]
            owner = int(np.ravel_multi_index(coordinates, full))
            assert tensor.owner(*index) == owner
            assert tensor.is_local(*index) is (owner == ctx.rank)
        tensor.close()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_dimension_0_by_any_partition(ctx: dtl.Context, name: str, dtype: str) -> None:
    for shape in SHAPES:
        whole = values(dtype, shape, 2)
        tensor = dtl.DistributedTensor(ctx, shape, dtype, **division(name, shape[0], ctx.size))
        tensor[...] = whole
        assert_holds(tensor, whole)
        assert tensor.local_shape[1:] == shape[1:]
        assert tensor.partition_policy is getattr(dtl, f"PARTITION_{name.upper()}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_view_has_the_strides_of_an_array(ctx: dtl.Context, dtype: str) -> None:
    tensor = dtl.DistributedTensor(ctx, (4 * ctx.size, 3, 2), dtype, fill=1)
    view = tensor.local_view()
    expected = np.ones((4, 3, 2), dtype)
    assert (view.shape, view.strides, view.dtype) == (expected.shape, expected.strides, expected.dtype)
    assert view.flags.c_contiguous
    view[1, :, 1] = 0
    assert tensor.local_view()[1, 2, 1] == 0
    assert np.shares_memory(view, tensor.local_view())
    memory = memoryview(view)
    assert (memory.shape, memory.strides, memory.ndim) == (expected.shape, expected.strides, 3)
    assert not np.shares_memory(tensor.to_numpy(), view)


def test_an_integer_is_a_shape_of_one_dimension(ctx: dtl.Context) -> None:
    assert dtl.DistributedTensor(ctx, 7).shape == dtl.DistributedTensor(ctx, (7,)).shape == (7,)
    assert dtl.DistributedTensor(ctx, np.array([3, 4])).shape == (3, 4)
    assert dtl.DistributedTensor(ctx, [np.int8(3), 4]).shape == (3, 4)


def test_slices_keep_the_grid_while_they_can(ctx: dtl.Context) -> None:
    for grid in grids(ctx.size, 3):
        if len(grid) < 3:
            continue
        tensor = dtl.DistributedTensor(ctx, (8, 9, 10), grid=grid)
        assert tensor[1:, :, ::2].grid == grid
        assert tensor[1:, None, :, ::2].grid == (grid[0], 1, *grid[1:])
        dim0 = (ctx.size, 1)
        assert tensor[0].grid == (grid[1:] if grid[0] == 1 else dim0)
        assert tensor[:, :, 0].grid == (grid[:2] if grid[2] == 1 else dim0)
    cyclic = dtl.DistributedTensor(ctx, (8, 9), partition=dtl.PARTITION_CYCLIC)
    assert cyclic[:, 0].partition_policy is dtl.PARTITION_CYCLIC
    assert cyclic[0].partition_policy is dtl.PARTITION_BLOCK
    assert cyclic[None].partition_policy is dtl.PARTITION_BLOCK


ARGUMENT, TYPE = dtl.InvalidArgumentError, dtl.InvalidTypeError

BAD: tuple[tuple[str, dict[str, Any], type[dtl.DTLError], str], ...] = (
    ("negative extent", {"shape": (3, -1)}, ARGUMENT, "-1 is negative"),
    ("no dimension", {"shape": ()}, ARGUMENT, "0 dimensions"),
    ("65 dimensions", {"shape": (1,) * 65}, ARGUMENT, "65 dimensions"),
    ("a float", {"shape": (3, 2.0)}, TYPE, "shape must be an integer, not 2.0"),
    ("a text", {"shape": "33"}, TYPE, "'33'"),
    ("no shape", {"shape": None}, TYPE, "None"),
    ("too many elements", {"shape": (2**40, 2**40)}, ARGUMENT, "elements"),
    ("grid of too many", {"shape": (3, 2), "grid": (50, 1)}, ARGUMENT, "does not multiply to"),
    ("grid of zero", {"shape": (3, 2), "grid": (0, 1)}, ARGUMENT, "at least 1"),
    ("negative grid", {"shape": (3, 2), "grid": (-1, -1)}, ARGUMENT, "at least 1"),
    ("grid of more dimensions", {"shape": (3,), "grid": (1, 1)}, ARGUMENT, "2 axes for 1 dim"),
    ("grid of floats", {"shape": (3,), "grid": (1.0,)}, TYPE, "grid must be an integer"),
    (
        "grid and cyclic",
        {"shape": (3,), "grid": (1,), "partition": dtl.PARTITION_CYCLIC},
        ARGUMENT,
        "blocks",
    ),
    ("dtype", {"shape": (3,), "dtype": "O"}, ARGUMENT, "object"),
    ("execution", {"shape": (3,), "execution": 9}, ARGUMENT, "execution 9"),
)


@pytest.mark.parametrize("row", BAD, ids=lambda row: row[0])
def test_refused(ctx: dtl.Context, row: tuple[str, dict[str, Any], type[dtl.DTLError], str]) -> None:
    _, keywords, error, text = row
    with pytest.raises(error, match=text) as caught:
        dtl.DistributedTensor(ctx, **keywords)
    assert type(caught.value) is error
    assert dtl.DistributedTensor(ctx, (2, 2), fill=1.0)[1, 1] == 1


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        ((4, 0), dtl.BoundsError, r"index 4 outside \[-4, 4\) of dimension 0"),
        ((0, -6), dtl.BoundsError, r"index -6 outside \[-5, 5\) of dimension 1"),
        ((slice(None), 5), dtl.BoundsError, r"index 5 outside \[-5, 5\) of dimension 1"),
        (([0, 4], [0, 0]), dtl.BoundsError, r"index 4 outside \[-4, 4\) of dimension 0"),
        (([0, 1], [0, 1, 2]), dtl.BoundsError, r"shapes \(2,\), \(3,\)"),
        ((0, 0, 0), dtl.BoundsError, "3 indices for 2 dimensions"),
        ((..., ...), dtl.BoundsError, "more than once"),
        (np.ones(5, bool), dtl.BoundsError, r"mask of shape \(5,\) for a container of shape \(4, 5\)"),
        ((0, np.ones(4, bool)), dtl.BoundsError, "mask .* from dimension 1 on"),
        ((0, 1.0), dtl.InvalidTypeError, "1.0"),
        ("ab", dtl.InvalidTypeError, "'ab'"),
    ],
)
def test_subscripts_refused(ctx: dtl.Context, key: Any, error: type[dtl.DTLError], text: str) -> None:
    tensor = dtl.DistributedTensor(ctx, (4, 5))
    for use in (lambda: tensor[key], lambda: tensor.__setitem__(key, 1.0)):
        with pytest.raises(error, match=text) as caught:
            use()
        assert type(caught.value) is error
    assert not tensor.local_view().any()
    for index in ((0,), (0, 0, 0), ()):
        with pytest.raises(dtl.InvalidArgumentError, match=f"{len(index)} indices for 2 dimensions"):
            tensor.owner(*index)
