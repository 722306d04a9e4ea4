"""Operators and ufuncs on small containers, which the bridge computes by itself: beside NumPy, and what ends them."""

from __future__ import annotations

import contextlib
import gc
import operator
import os
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from older_numpy import VERSION

import dtl

_DTYPES = ("f8", "f4", "i8", "i4", "u1", "?", "c16")
_BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le, operator.eq,
    operator.ne, operator.gt, operator.ge, np.maximum, np.hypot, np.logical_and, divmod,
)  # fmt: skip
_IN_PLACE = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
)  # fmt: skip
_UNARY = (operator.neg, operator.pos, operator.invert, abs, np.sqrt, np.exp, np.isnan, np.square, np.conj)
if VERSION < "2.0.0":  # whose arrays square and do not negate truth values otherwise than its ufuncs do
    _UNARY = tuple(f for f in _UNARY if f is not operator.pos)
    _BINARY = tuple(f for f in _BINARY if f is not operator.pow)
_NUMBERS = (2, 3.5, True, 1j, 0, -1, 300, np.float64(0.5), np.float32(2), np.int8(3))


def _tried(function: Any, *operands: Any) -> Any:
    """Return what a function returns, or the class of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*operands)
    except (TypeError, ValueError, OverflowError) as error:
        return next(kind for kind in (OverflowError, TypeError, ValueError) if isinstance(error, kind))


def _check(made: Any, expected: Any) -> None:
    if isinstance(expected, tuple) and isinstance(made, tuple):
        for one, other in zip(made, expected):
            _check(one, other)
    elif isinstance(expected, np.ndarray):
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        mine = expected[np.ix_(*[made.local_indices(d) for d in range(made.ndim)])]
        np.testing.assert_array_equal(made.to_numpy(), mine)
    else:
        assert isinstance(expected, type)
        assert made is expected


@pytest.mark.parametrize(("partition", "shape"), [("block", 37), ("cyclic", 37), ("block", (5, 7))])
def test_random_calls_are_those_of_numpy(partition: str, shape: Any) -> None:
    """Each kind of call several times: the first goes another way than those that follow."""
    random = np.random.default_rng(3)
    with dtl.Context() as ctx:
        wholes = [(random.random(shape) * 9 + 1).astype(dtype) for dtype in _DTYPES]
        made = [dtl.asarray(ctx, whole, partition=partition) for whole in wholes]
        for _ in range(600):
            i, j, f = random.integers(len(made)), random.integers(len(made)), random.integers(4)
            number = _NUMBERS[random.integers(len(_NUMBERS))]
            if f == 0:
                function = _UNARY[random.integers(len(_UNARY))]
                _check(_tried(function, made[i]), _tried(function, wholes[i]))
            elif f == 1:
                function = _BINARY[random.integers(len(_BINARY))]
                _check(_tried(function, made[i], made[j]), _tried(function, wholes[i], wholes[j]))
            elif f == 2:
                function = _BINARY[random.integers(len(_BINARY))]
                _check(_tried(function, made[i], number), _tried(function, wholes[i], number))
                _check(_tried(function, number, made[i]), _tried(function, number, wholes[i]))
            else:
                function = _IN_PLACE[random.integers(len(_IN_PLACE))]
                one, other = made[i].copy(), wholes[i].copy()
                result = _tried(function, one, made[j])
                assert _tried(function, other, wholes[j]) is other if result is one else isinstance(result, type)
                _check(one, other)


def _small(ctx: dtl.Context) -> tuple[Any, Any]:
    """Return a container that a short call has made, and one that the core knows."""
    x = dtl.asarray(ctx, np.arange(12.0))
    for _ in range(3):
        y = x + x
    return y, x


def test_what_short_calls_make_is_a_container_like_any_other() -> None:
    with dtl.Context() as ctx:
        y, _ = _small(ctx)
        assert (y.sum(), y.views_out, y.shape) == (132, 0, (12,))
        assert type(y) is dtl.DistributedVector
        part = y.local_view()
        y += 1.0
        assert y.views_out == 1
        np.testing.assert_array_equal(part, 2.0 * y.local_indices() + 1)
        del part
        y.resize(14)
        for _ in range(3):
            z = y * 2.0
        np.testing.assert_array_equal(z.gather_to(0), [*(4 * np.arange(12) + 2), 0, 0] if ctx.rank == 0 else None)


def test_arrays_that_are_kept_do_not_count_as_views() -> None:
    with dtl.Context() as ctx:
        for c in _small(ctx):
            operator.iadd(c, c)
            assert c.views_out == 0
            c.redistribute("cyclic")
            assert (c + c).partition_policy is dtl.PARTITION_CYCLIC
            np.testing.assert_array_equal((c + 0.0).to_numpy(), c.to_numpy())
            c.redistribute("block")
            halo = dtl.Halo(c, 1)
            operator.iadd(c, 1.0)
            np.testing.assert_array_equal((c - 1.0).to_numpy() + 1.0, c.to_numpy())
            halo.close()


def test_a_view_that_is_out_keeps_the_structure() -> None:
    with dtl.Context() as ctx:
        for c in _small(ctx):
            view = c.local_view()
            operator.iadd(c, 1.0)
            with pytest.raises(BufferError, match="1 view"):
                c.resize(3)
            assert (view == c.local_view()).all()


def test_closed_containers_raise() -> None:
    with dtl.Context() as ctx:
        for c in _small(ctx):
            c.close()
            for call in (
                lambda c=c: c + c,
                lambda c=c: c + 1.0,
                lambda c=c: np.sqrt(c),
                lambda c=c: c.sum(),
                lambda c=c: -c,
            ):
                with pytest.raises(dtl.InvalidHandleError, match="closed"):
                    call()
            with pytest.raises(dtl.InvalidHandleError, match="closed"):
                operator.iadd(c, 1.0)


def test_containers_are_listed_and_released() -> None:
    gc.collect()
    before = len(dtl.live())
    with dtl.Context() as ctx:
        y, x = _small(ctx)
        listed = [handle.kind for handle in dtl.live()[before:]]
        assert listed.count("container") == 2
        z = x + y
        del x, y, z
    gc.collect()
    assert len(dtl.live()) == before


def test_results_outlive_what_they_are_made_of() -> None:
    with dtl.Context() as ctx:
        y, x = _small(ctx)
        x.close()
        z = y + y
        y.close()
        assert z.sum() == 264
        kept = z.local_view()
        z.close()
        del z
        np.testing.assert_array_equal(kept, 4.0 * dtl.asarray(ctx, np.arange(12)).to_numpy())


def test_threads_compute_while_others_close() -> None:
    """A part stays where it is while NumPy computes with it, without Python's lock: from 500 elements on."""
    with dtl.Context() as ctx:
        x = dtl.asarray(ctx, np.arange(4000.0))
        expected = np.sqrt(x.to_numpy()) + 1.0
        wrong: list[Any] = []

        def compute() -> None:
            for _ in range(150):
                y = np.sqrt(x)
                y += 1.0
                if not np.array_equal(y.to_numpy(), expected):
                    wrong.append(y)
                y.close()

        def churn() -> None:
            for _ in range(150):
                y = x * 2.0
                other = threading.Thread(target=y.close)
                other.start()
                with contextlib.suppress(dtl.InvalidHandleError):
                    y += 3.0
                other.join()

        threads = [threading.Thread(target=f) for f in (compute, compute, churn)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_warnings_name_the_line_of_the_user() -> None:
    with dtl.Context() as ctx:
        y, _ = _small(ctx)
        zeros = y * 0.0
        for _ in range(2):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                y / zeros
                np.divide(y, zeros)
            assert {warning.filename for warning in told} == ({__file__} if y.local_size else set())
        with np.errstate(all="raise"):
            outcomes = []
            for _ in range(2):
                try:
                    outcomes.append(y / zeros)
                except FloatingPointError as error:
                    outcomes.append(type(error))
        if y.local_size:
            assert outcomes == [FloatingPointError] * 2


def test_operators_leave_alone_who_wants_it() -> None:
    class Apart:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "mine"

    with dtl.Context() as ctx:
        y, _ = _small(ctx)
        assert y + Apart() == "mine"
        assert (y == Apart()) is False
        with pytest.raises(TypeError):
            y - Apart()
        with pytest.raises(TypeError, match="unhashable"):
            hash(y)


def test_a_forked_child_does_not_compute() -> None:
    with dtl.Context() as ctx:
        if ctx.size > 1:
            pytest.skip("MPI libraries warn of forks: test_small_calls.py on one rank does this")
        y, _ = _small(ctx)
        child = os.fork()
        if child == 0:
            try:
                y + y
            except dtl.DTLError:
                os._exit(3)
            os._exit(0)
        assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 3
        assert (y + y).sum() == 264


def test_containers_of_one_rank_outlive_its_context() -> None:
    with dtl.Context() as ctx:
        made = [dtl.DistributedVector(ctx, 5, dtype=np.int32), dtl.zeros(ctx, (3, 4))]
    assert [c.local_view().sum() for c in made] == [0, 0]
    with pytest.raises(dtl.InvalidHandleError, match="closed"):
        dtl.DistributedVector(ctx, 5)


@pytest.mark.parametrize("shape", [3, (2, 3), (3, 1, 2), 0, 5000])
def test_new_containers_are_zeros_that_can_be_used(shape: Any) -> None:
    with dtl.Context() as ctx:
        for _ in range(3):
            c = dtl.DistributedTensor(ctx, shape, dtype=np.float32)
            assert (c.shape, c.sum()) == (shape if isinstance(shape, tuple) else (shape,), 0)
            c += 2  # so that the memory, which the next one gets, is not zero
            other = dtl.DistributedTensor(ctx, shape, dtype=np.float32)
            assert ((other + c).sum(), other.owner(*[0] * other.ndim)) == (2 * c.size, 0) if c.size else c.size == 0
            c.close()


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean"])
def test_lines_of_small_matrices(name: str) -> None:
    whole = np.random.default_rng(5).random((6, 5, 4))
    whole[2, 3, 1] = np.nan
    with dtl.Context() as ctx:
        t = dtl.asarray(ctx, whole)
        for _ in range(2):
            for axis in (0, 1, 2, -1, (0, 1)):
                made, expected = getattr(t, name)(axis=axis), getattr(whole, name)(axis=axis)
                kind = dtl.DistributedVector if expected.ndim == 1 else dtl.DistributedTensor
                assert (type(made), made.shape, made.partition_policy) == (kind, expected.shape, dtl.PARTITION_BLOCK)
                np.testing.assert_allclose(
                    made.to_numpy(), expected[np.ix_(*map(made.local_indices, range(made.ndim)))]
                )
        for axis in (3, -4):
            with pytest.raises(np.AxisError if hasattr(np, "AxisError") else np.exceptions.AxisError):
                getattr(t, name)(axis=axis)


def test_products_of_small_vectors_and_matrices() -> None:
    random = np.random.default_rng(6)
    x, y, t = random.random(40), random.random(40), random.random((4, 10))
    with dtl.Context() as ctx:
        a, b, c = (dtl.asarray(ctx, array) for array in (x, y, t))
        b = a * 0.0 + b  # laid out as a is
        for _ in range(3):
            value = np.dot(a, b)
            assert type(value) is np.float64
            np.testing.assert_allclose(value, np.dot(x, y))
            made = c @ c.T
            np.testing.assert_allclose(made.to_numpy(), (t @ t.T)[made.local_indices()])
            np.testing.assert_array_equal(np.clip(a, 0.2, 0.7).to_numpy(), np.clip(x, 0.2, 0.7)[a.local_indices()])
            with pytest.raises(ValueError, match="10"):
                c @ c
        b.close()
        with pytest.raises(dtl.InvalidHandleError, match="closed"):
            np.dot(a, b)
