"""Operands of other shapes and divisions than the result, by kernels. It is run as on_a_device.py is."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, ContextManager

import numpy as np
import pytest
from divisions import DIVISIONS, part
from kernels_on_a_device import by_kernels
from on_a_device import holds, made

import dtl

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def by_kernels_unless(*names: str) -> ContextManager[None]:
    """Check that nothing goes through the host, unless a rank's indices of an operand that all have are no range."""
    irregular = {"block_cyclic", "hash"}.intersection(names)
    return nullcontext() if irregular and len(set(names)) > 1 else by_kernels()


def numbered(*shape: int) -> Array:
    """Return elements that are all different."""
    return (np.arange(np.prod(shape), dtype=np.float64) * 7 % 101 - 30).reshape(shape)


#: Shapes that spread to another one: rows, columns, single elements, and fewer dimensions.
SHAPES = [
    ((8, 5), (5,)),
    ((8, 5), (1, 5)),
    ((8, 5), (8, 1)),
    ((8, 5), (1, 1)),
    ((8, 1), (1, 5)),
    ((6, 4, 5), (4, 1)),
    ((6, 4, 5), (6, 1, 5)),
    ((6, 1, 5), (1, 4, 1)),
    ((3, 2, 3, 2, 3), (3, 1, 3, 1, 3)),
    ((0, 5), (1, 5)),
    ((7,), (1,)),
]


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(ctx: dtl.Context, shapes: tuple[tuple[int, ...], tuple[int, ...]], name: str) -> None:
    whole, other = (numbered(*shape) for shape in shapes)
    for of in (name, "replicated", "block"):
        a, b = made(ctx, whole, name), made(ctx, other, of)
        with by_kernels_unless(name, of):
            holds(a - b, whole - other)
            holds(b - a, other - whole)
            holds(np.arctan2(a, b) > 0, np.arctan2(whole, other) > 0)


@pytest.mark.parametrize("name", DIVISIONS)
def test_arrays(ctx: dtl.Context, name: str) -> None:
    whole = numbered(8, 5)
    with made(ctx, whole, name) as a, by_kernels():
        for other in (numbered(5), numbered(8, 1), numbered(8, 5), numbered(2, 8, 5), np.arange(5), np.array(3.0)):
            holds(a + other, whole + other)
            holds(other < a, other < whole)
        holds(a * [1, 2, 3, 4, 5], whole * [1, 2, 3, 4, 5])
        assert np.subtract(a, np.arange(5), out=a) is a
        holds(a, whole - np.arange(5))


def test_reductions_with_kept_dimensions(ctx: dtl.Context) -> None:
    whole = numbered(8, 5)
    with made(ctx, whole) as a, by_kernels():
        for axis in (0, 1):
            mean = dtl.mean(a, axis=axis, keepdims=True)
            got = (a - mean) / dtl.std(a, axis=axis, keepdims=True)
            want = (whole - whole.mean(axis, keepdims=True)) / whole.std(axis, keepdims=True)
            np.testing.assert_allclose(got.to_numpy(), part(got, want), rtol=1e-14)


def test_several_divisions(ctx: dtl.Context) -> None:
    whole = numbered(11)
    for one in DIVISIONS:
        for other in DIVISIONS:
            a, b = made(ctx, whole, one), made(ctx, whole[::-1].copy(), other)
            with by_kernels_unless(one, other):
                holds(a + b, whole + whole[::-1])


def test_masks_and_outputs(ctx: dtl.Context) -> None:
    whole, row = numbered(8, 5), np.arange(5.0)
    with made(ctx, whole) as a, made(ctx, row) as b, made(ctx, np.full((8, 5), -1.0)) as out, by_kernels():
        assert np.add(a, b, out=out) is out
        holds(out, whole + row)
        np.add(a, b, out=out, where=a > 0)
        holds(out, whole + row)
        np.multiply(a, 2, out=out, where=row > 1)
        holds(out, np.where(row > 1, whole * 2, whole + row))
        quotient, rest = np.divmod(a, b + 1)
        for got, want in zip((quotient, rest), np.divmod(whole, row + 1)):
            holds(got, want)
        holds(np.sqrt(a, where=a > 0), np.sqrt(whole, where=whole > 0, out=np.zeros((8, 5))))


def test_outputs_of_another_type(ctx: dtl.Context) -> None:
    whole = np.arange(12)
    with made(ctx, whole) as a, made(ctx, whole.astype(np.float64)) as out, by_kernels():
        np.multiply(a, 3, out=out)
        holds(out, whole * 3.0)


def test_spans_of_the_output(ctx: dtl.Context) -> None:
    """An operand that has elements of the output's memory at other places is read as it was."""
    whole = numbered(40)
    with made(ctx, whole, "replicated") as a:
        there = dtl.DistributedSpan(a)
        with there.subspan(0, 30) as low, there.subspan(1, 30) as high:
            np.add(low, high, out=low)
            holds(a, np.concatenate([whole[:30] + whole[1:31], whole[30:]]))


def test_negative_powers_of_integers(ctx: dtl.Context) -> None:
    """A rank raises that has one, as on the host."""
    with made(ctx, np.arange(12)) as a, made(ctx, np.arange(12) % 3 - 1) as b:
        for exponents in (-2, np.arange(12) % 3 - 1, b):
            with pytest.raises(dtl.InvalidArgumentError, match="negative integer powers"):
                np.power(a, exponents)


def test_shapes_that_do_not_spread(ctx: dtl.Context) -> None:
    with made(ctx, numbered(8, 5)) as a, made(ctx, numbered(4)) as b, made(ctx, numbered(5)) as c:
        with pytest.raises(dtl.InvalidArgumentError, match="could not be broadcast"):
            a + b
        with pytest.raises(dtl.InvalidArgumentError, match="out has shape"):
            np.add(a, 1, out=c)
