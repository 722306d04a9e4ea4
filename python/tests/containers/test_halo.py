"""What halos hold, against NumPy on the whole array: ghosts, stencils in one and more dimensions, and grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from halo_oracle import around, grids, numbers, offsets, part
from hypothesis import given
from hypothesis import strategies as st
from older_numpy import VERSION
from oracle import DTYPES
from places import everywhere, stays

import dtl

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def begun(container: Any, halo: dtl.Halo, whole: Array) -> int:
    """Write the elements of a container, and have ones around them where the host can; return what is there."""
    ghosts = int(isinstance(halo.view(), np.ndarray))
    if ghosts:
        halo.view()[...] = ghosts
    container[...] = whole
    return ghosts


def seen(halo: dtl.Halo) -> Array:
    """Return what a halo has, on the host."""
    view: Any = halo.view()
    return view if isinstance(view, np.ndarray) else view.to_numpy()


@everywhere
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 100])
@pytest.mark.parametrize("mode", MODES)
def test_vectors(ctx: dtl.Context, place: str, dtype: str, size: int, mode: str) -> None:
    whole = numbers(size, dtype)
    for width in (0, 1, 3, ((2, 0),), ((0, 5),)):
        with dtl.DistributedVector(ctx, size, dtype, placement=place) as vec:
            halo = dtl.Halo(vec, width, mode=mode)
            ghosts = begun(vec, halo, whole)
            with stays(place):
                halo.exchange()
            np.testing.assert_array_equal(seen(halo), around(whole, vec, halo, ghosts))
            assert halo.view().dtype == vec.dtype
            np.testing.assert_array_equal(vec.to_numpy(), part(whole, vec))


@everywhere
@given(st.data())
def test_anything(ctx: dtl.Context, place: str, data: st.DataObject) -> None:
    ndim = data.draw(st.integers(1, 3))
    shape = data.draw(st.tuples(*[st.integers(0, 6)] * ndim))
    grid = data.draw(st.sampled_from(grids(ctx.size, ndim)))
    width = data.draw(st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 3))] * ndim))
    mode = data.draw(st.tuples(*[st.sampled_from(MODES)] * ndim))
    dtype = data.draw(st.sampled_from(DTYPES))
    with dtl.DistributedTensor(ctx, shape, dtype, grid=grid, placement=place) as tensor:
        halo = dtl.Halo(tensor, width, mode=mode)
        for round in range(2):
            whole = numbers(shape, dtype) if round == 0 else numbers(shape, dtype)[::-1]
            ghosts = begun(tensor, halo, whole)
            with stays(place):
                if round == 0:
                    halo.exchange()
                else:
                    halo.begin()
                    halo.end()
            np.testing.assert_array_equal(seen(halo), around(whole, tensor, halo, ghosts))
            np.testing.assert_array_equal(tensor.to_numpy(), part(whole, tensor))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_jacobi_in_one_dimension(ctx: dtl.Context, size: int, periodic: bool) -> None:
    expected = np.random.RandomState(1).randn(size)
    vec = dtl.DistributedVector(ctx, size)
    halo = dtl.Halo(vec, 1, periodic=periodic)
    vec.local_view()[:] = part(expected, vec)
    local, u = vec.local_view(), halo.view()
    for _ in range(20):
        whole = np.pad(expected, 1, mode="wrap" if periodic else "constant")
        expected = (whole[:-2] + whole[2:]) / 2
        halo.exchange()
        local[:] = (u[:-2] + u[2:]) / 2
        np.testing.assert_array_equal(local, part(expected, vec))


def nine(u: Array) -> Array:
    """Return a stencil that needs the corners."""
    rows = u[:-2] + 2 * u[1:-1] + u[2:]
    result: Array = (rows[:, :-2] - 3 * rows[:, 1:-1] + rows[:, 2:]) / 5
    return result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(8, 9), (3, 40), (1, 2), (5, 3)])
def test_stencils_with_corners_on_every_grid(ctx: dtl.Context, shape: tuple[int, int], mode: str) -> None:
    for grid in grids(ctx.size, 2):
        expected = np.random.RandomState(2).randn(*shape)
        tensor = dtl.DistributedTensor(ctx, shape, grid=grid)
        halo = dtl.Halo(tensor, 1, mode=mode)
        local, u = tensor.local_view(), halo.view()
        u[...] = 7
        local[...] = part(expected, tensor)
        for _ in range(5):
            options: Any = {"constant_values": 7} if mode == "constant" else {}
            whole = np.pad(expected, 1, mode=mode, **options)  # type: ignore[call-overload]  # which has a name for each
            expected = nine(whole)
            halo.exchange()
            local[...] = nine(u)
            np.testing.assert_array_equal(local, part(expected, tensor))


def test_work_between_begin_and_end(ctx: dtl.Context) -> None:
    """The inside is worked on while messages travel; it writes elsewhere, as everybody's does."""
    expected = np.random.RandomState(3).randn(41)
    vec = dtl.DistributedVector(ctx, 41)
    halo = dtl.Halo(vec, 2, periodic=True)
    local, u = vec.local_view(), halo.view()
    local[:] = part(expected, vec)
    new = np.empty_like(local)
    for _ in range(10):
        expected = (np.roll(expected, 2) + np.roll(expected, -2)) / 2
        halo.begin()
        new[2:-2] = (local[:-4] + local[4:]) / 2
        halo.end()
        both = (u[:-4] + u[4:]) / 2
        new[:2], new[-2:] = both[:2], both[-2:]
        local[:] = new
        np.testing.assert_array_equal(local, part(expected, vec))


@everywhere
@pytest.mark.parametrize("shape", [(300, 300), (3, 20000)])
def test_large_faces(ctx: dtl.Context, place: str, shape: tuple[int, int]) -> None:
    for grid in grids(ctx.size, 2):
        whole = numbers(shape)
        tensor = dtl.DistributedTensor(ctx, shape, grid=grid, placement=place)
        halo = dtl.Halo(tensor, (1, 7), periodic=(True, False))
        tensor[...] = whole
        halo.exchange()
        np.testing.assert_array_equal(seen(halo), around(whole, tensor, halo, 0))


@pytest.mark.skipif(VERSION < "1.25.0", reason="np.pad has other elements before, where they wrap more than once")
@pytest.mark.parametrize("mode", MODES)
def test_pad_of_more_than_there_is(ctx: dtl.Context, mode: str) -> None:
    """The whole with its ghosts is what np.pad makes, the widths being greater than parts and extents."""
    whole = numbers((5, 3))
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole if ctx.is_root else None)
    halo = dtl.Halo(tensor, ((7, 9), 4), mode=mode)
    halo.exchange()
    padded = np.pad(whole, ((7, 9), (4, 4)), mode=mode)  # type: ignore[call-overload]  # which has a name for each
    (start, _), n = offsets(tensor), tensor.local_shape[0]
    np.testing.assert_array_equal(halo.view(), padded[start : start + n + 16])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"mode": "nearest"}, ValueError, "'nearest' is none of constant, edge, reflect, symmetric, wrap"),
        ({"mode": 1}, TypeError, "must be a str"),
        ({"mode": ("edge", "edge", "edge")}, ValueError, "3 entries for 2 dimensions"),
        ({"mode": ("wrap", "edge"), "periodic": True}, ValueError, "has the mode 'wrap', not 'edge'"),
    ],
)
def test_wrong_modes(ctx: dtl.Context, options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        dtl.Halo(dtl.zeros(ctx, (4, 4)), 1, **options)


def test_periodic_is_a_mode(ctx: dtl.Context) -> None:
    halo = dtl.Halo(dtl.zeros(ctx, (4, 4)), 1, mode=("wrap", "edge"), periodic=(True, False))
    assert halo.mode == ("wrap", "edge")
    assert halo.periodic == (True, False)


def test_explicit_sizes(ctx: dtl.Context) -> None:
    """Parts differ, and one between others is empty."""
    sizes = [rank % 3 * 4 for rank in range(ctx.size - 1)] + [5]
    start, n = sum(sizes[: ctx.rank]), sizes[ctx.rank]
    whole = numbers(sum(sizes), np.int16)
    vec = dtl.DistributedVector.from_local(ctx, whole[start : start + n])
    halo = dtl.Halo(vec, 6, periodic=True)
    halo.exchange()
    np.testing.assert_array_equal(halo.view(), whole.take(np.arange(start - 6, start + n + 6), mode="wrap"))


def test_the_inside_is_the_container(ctx: dtl.Context) -> None:
    tensor = dtl.DistributedTensor(ctx, (8, 6))
    halo = dtl.Halo(tensor, ((1, 2), 3))
    local, u = tensor.local_view(), halo.view()
    assert u.shape == (local.shape[0] + 3, local.shape[1] + 6)
    assert np.shares_memory(local, u)
    assert local.__array_interface__["data"] == u[1:-2, 3:-3].__array_interface__["data"]
    assert local.strides == u.strides
    assert not local.flags.c_contiguous
    local[...] = tensor.context.rank
    assert (u[1:-2, 3:-3] == ctx.rank).all()
    assert u.sum() == local.sum(), "ghosts start at zero"


def test_everything_else_works_on_a_container_with_a_halo(ctx: dtl.Context) -> None:
    """Its part has strides now: indexing, gathering, redistribution and reductions do not mind."""
    whole = numbers((9, 5))
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole if ctx.is_root else None)
    halo = dtl.Halo(tensor, 2)
    np.testing.assert_array_equal(tensor.to_numpy(), part(whole, tensor))
    assert tensor[4, 3] == whole[4, 3]
    tensor[1:8:3, ::2] = 5
    whole[1:8:3, ::2] = 5
    np.testing.assert_array_equal(tensor[2:].to_numpy(), tensor[2:].local_view())
    gathered = tensor.gather_to(0)
    if ctx.is_root:
        np.testing.assert_array_equal(gathered, whole)
    assert dtl.allreduce(ctx, tensor.local_view().sum()) == whole.sum()
    doubled = tensor + tensor
    np.testing.assert_array_equal(doubled.local_view(), 2 * part(whole, tensor))
    del doubled
    halo.exchange()
    np.testing.assert_array_equal(halo.view(), around(whole, tensor, halo, 0))
    tensor.redistribute(grid=(1, ctx.size))
    np.testing.assert_array_equal(tensor.local_view(), part(whole, tensor))
