"""Formulas of einsum that Hypothesis draws, the same on every rank, on any partition and grid, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import assert_holds
from hypothesis import given, settings
from hypothesis import strategies as st
from older_numpy import VERSION
from test_drawn_access import divided, tensor

import dtl

#: The letters, with the extents of their dimensions.
EXTENTS = {"a": 2, "b": 3, "c": 2, "Y": 4, "z": 0}
DTYPES = ("int64", "int64", "float64", "complex128", "bool", "uint8")


@st.composite
def formulas(draw: Any) -> tuple[str, list[tuple[int, ...]]]:
    """Draw a formula of up to four operands, with the shapes of these: letters occur again, and some extents are 1."""
    dots = draw(st.none() | st.just((2, 3)))
    one = draw(st.sampled_from((*EXTENTS, None)))  # whose dimensions may have the extent 1 in an operand
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 4))):
        term = draw(st.lists(st.sampled_from("aabbccYz"), max_size=3))
        alone = draw(st.booleans())
        shape = [1 if letter == one and alone else EXTENTS[letter] for letter in term]
        if dots is not None and draw(st.booleans()):
            at = draw(st.integers(0, len(term)))
            term.insert(at, "...")
            shape[at:at] = [draw(st.sampled_from((n, 1))) for n in dots[draw(st.integers(0, len(dots))) :]]
        terms.append("".join(term))
        shapes.append(tuple(shape))
    formula = ",".join(terms)
    if draw(st.booleans()):
        letters = sorted(set(formula) & set(EXTENTS))
        kept = list(draw(st.permutations(letters)))[: draw(st.integers(0, len(letters)))]
        if "..." in formula:
            kept.insert(draw(st.integers(0, len(kept))), "...")
        formula += f"->{''.join(kept)}"
    return formula, shapes


@settings(max_examples=50)
@given(st.data(), formulas())
def test_einsum(ctx: dtl.Context, data: st.DataObject, drawn: tuple[str, list[tuple[int, ...]]]) -> None:
    formula, shapes = drawn
    arrays, operands = [], []
    for number, shape in enumerate(shapes):
        dtype = data.draw(st.sampled_from(DTYPES))
        values = np.arange(number, number + np.prod(shape, dtype=int)).reshape(shape) % 3
        arrays.append(values.astype(dtype))
        whole = not shape or data.draw(st.booleans())
        operands.append(arrays[-1] if whole else tensor(ctx, arrays[-1], data.draw(divided(ctx.size, shape))))
    if not any(isinstance(each, dtl.DistributedContainer) for each in operands):
        return
    expected = np.einsum(formula, *arrays)
    got = np.einsum(formula, *operands)
    if VERSION >= "2.0.0" or all(shapes):  # before, the type of an array of no dimensions did not count
        assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    whole = dtl.broadcast_object(ctx, got.gather_to(0), root=0) if expected.ndim else got
    np.testing.assert_array_equal(whole, expected)  # sums of few small integers


@pytest.mark.parametrize(
    ("formula", "shapes"),
    [
        ("ab,bbd->ad", [(3, 3), (3, 3, 3)]),
        ("iij,jk->ik", [(3, 3, 2), (2, 4)]),
        ("aab,fa->bf", [(2, 2, 3), (4, 2)]),
        ("ii,jj->ij", [(3, 3), (2, 2)]),
        ("iii->i", [(3, 3, 3)]),
    ],
)
@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
def test_a_letter_twice_in_one_operand(
    ctx: dtl.Context, formula: str, shapes: list[tuple[int, ...]], partition: str
) -> None:
    arrays = [np.arange(np.prod(shape)).reshape(shape) - 5 for shape in shapes]
    got = np.einsum(formula, *(dtl.asarray(ctx, a, partition=partition) for a in arrays))
    assert_holds(got, np.einsum(formula, *arrays))


def test_products_of_a_small_type_before_others(ctx: dtl.Context) -> None:
    """NumPy computes all of a formula in the type of its result."""
    a, b, c = np.full(2, 200, np.uint8), np.full((2, 3, 2), 100, np.uint8), np.array([1, 2])
    expected = np.einsum("d,dbd,e->e", a, b, c)
    assert_holds(np.einsum("d,dbd,e->e", dtl.asarray(ctx, a), b, c), expected)


@pytest.mark.parametrize(
    ("formula", "shapes", "text"),
    [
        ("ii->i", [(1, 3)], "extents 1 and 3"),
        ("...i->i", [(2, 3)], "has no ..."),
        ("ij,jk->ik", [(2, 3), (4, 2)], "extents 3 and 4"),
    ],
)
def test_formulas_that_fit_no_operands(
    ctx: dtl.Context, formula: str, shapes: list[tuple[int, ...]], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        np.einsum(formula, *(dtl.ones(ctx, shape) for shape in shapes))


def test_casting_of_einsum(ctx: dtl.Context) -> None:
    with pytest.raises(TypeError, match="may not be cast"):
        np.einsum("i,i", dtl.ones(ctx, 3), np.ones(3, int), casting="no")
