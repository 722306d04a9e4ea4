"""What is made of operators: sums, products, powers and transposed ones, against SciPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from matrices import drawn, gathered
from refusals import ARGUMENT, TYPE, refused

import dtl

linalg = dtl.sparse.linalg
whole = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is an extra; make test installs it")

MADE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a + b": lambda a, b, c: a + b,
    "a - b": lambda a, b, c: a - b,
    "-a": lambda a, b, c: -a,
    "2 * a": lambda a, b, c: 2 * a,
    "a * 2j": lambda a, b, c: a * 2j,
    "a / 4": lambda a, b, c: a / 4 if hasattr(a, "__truediv__") else a * 0.25,  # SciPy has it from 1.12 on
    "a @ b": lambda a, b, c: a @ b,
    "a * b": lambda a, b, c: a * b,
    "a.dot(c)": lambda a, b, c: a.dot(c),
    "a**3": lambda a, b, c: a**3,
    "a**0": lambda a, b, c: a**0,
    "b.T": lambda a, b, c: b.T,
    "b.H": lambda a, b, c: b.H,
    "b.adjoint()": lambda a, b, c: b.adjoint(),
    "b.transpose()": lambda a, b, c: b.transpose(),
    "(a @ b).H": lambda a, b, c: (a @ b).H,
    "(2j * a + b).H": lambda a, b, c: (2j * a + b).H,
    "(c.T @ b).H": lambda a, b, c: (c.T @ b).H,
    "((a + b) @ c).T": lambda a, b, c: ((a + b) @ c).T,
}


@pytest.mark.parametrize("name", MADE)
def test_operators_of_operators(ctx: dtl.Context, name: str) -> None:
    a, b, c = drawn((7, 7), density=0.9), drawn((7, 7), "complex128", seed=4), drawn((7, 4), seed=5)
    one_rank = [7, *[0] * (ctx.size - 1)]
    made = [
        linalg.aslinearoperator(dtl.sparse.csr_array(ctx, each, partition=how))
        for each, how in ((a, "block"), (b, one_rank), (c, [*[0] * (ctx.size - 1), 7]))
    ]
    want, got = MADE[name](*map(whole.aslinearoperator, (a, b, c))), MADE[name](*made)
    assert (got.shape, got.dtype, got.ndim) == (want.shape, want.dtype, 2)
    unit = np.eye(want.shape[1])
    dense = want @ unit
    np.testing.assert_allclose(gathered(got @ unit), dense, atol=1e-12)
    np.testing.assert_allclose(gathered(got.matmat(dtl.asarray(ctx, unit))), dense, atol=1e-12)
    np.testing.assert_allclose(gathered(got.rmatmat(np.eye(want.shape[0]))), dense.conj().T, atol=1e-12)
    np.testing.assert_allclose(gathered(got(unit[0])), dense[:, 0], atol=1e-12)
    x = np.arange(float(want.shape[0]))
    np.testing.assert_allclose(gathered(x @ got), x @ dense, atol=1e-12)
    np.testing.assert_allclose(gathered(np.stack([x, -x]) @ got), np.stack([x, -x]) @ dense, atol=1e-12)


def test_operators_of_functions_and_matrices(ctx: dtl.Context) -> None:
    a = drawn((9, 9))
    matrix = dtl.sparse.csr_array(ctx, a)
    twice = linalg.LinearOperator(ctx, (9, 9), lambda v: v * 2.0, lambda v: v * 2.0)
    dense, unit = a.toarray(), np.eye(9)
    for made, want in (
        (twice @ matrix, 2 * dense),
        (matrix @ twice, 2 * dense),
        (matrix.T @ twice, 2 * dense.T),
        (twice + matrix, 2 * unit + dense),
        (twice - matrix.T, 2 * unit - dense.T),
        ((twice @ matrix).H, 2 * dense.T),
    ):
        np.testing.assert_allclose(gathered(made @ unit), want)
    one_way = linalg.LinearOperator(ctx, (9, 9), lambda v: v * 3.0)
    both = one_way @ twice + one_way
    np.testing.assert_allclose(gathered(both @ unit), 9 * unit)
    refused(lambda: both.H, ARGUMENT, None, "rmatvec")


def test_operators_that_do_not_fit(ctx: dtl.Context) -> None:
    square, wide = (linalg.aslinearoperator(dtl.sparse.csr_array(ctx, drawn(shape))) for shape in ((4, 4), (3, 4)))
    refused(lambda: square + wide, ARGUMENT, None, "(4, 4)", "(3, 4)")
    refused(lambda: square @ wide, ARGUMENT, None, "(4, 4)", "(3, 4)")
    refused(lambda: wide**2, ARGUMENT, None, "(3, 4)")
    refused(lambda: square**-1, ARGUMENT, None, "-1")
    refused(lambda: square @ np.ones((3, 2)), ARGUMENT, None, "(3, 2)")
    refused(lambda: square + 3, TYPE, None, "3")
    with pytest.raises(TypeError):
        square @ 2
