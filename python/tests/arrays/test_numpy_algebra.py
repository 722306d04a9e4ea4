"""NumPy's functions and methods of linear algebra with operands of odd shapes, and with all of their parameters."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS
from numpy_calls import ARRAYS, held, same
from older_numpy import VERSION
from refusals import ARGUMENT, TYPE, refused

import dtl


def cube(g: Any) -> Any:
    """Return a stack of two matrices."""
    return g.u.reshape((2, 3, 4)) + 0.5


def squares(g: Any) -> Any:
    """Return a stack of two square matrices."""
    return cube(g)[:, :, :3] + 9 * np.eye(3)


CASES: dict[str, Callable[[Any], Any]] = {
    "inner of a number": lambda g: np.inner(g.v, 3),
    "inner of a list": lambda g: np.inner([1, 2, 3, 4], g.t),
    "inner of a scalar of NumPy": lambda g: np.inner(np.float32(2), g.u),
    "dot of a number is of float64": lambda g: np.dot(g.v.astype(np.float32), 3.0),
    "dot of an integer": lambda g: np.dot(2, g.i.astype(np.int8)),
    "vdot of other shapes": lambda g: np.vdot(g.t, g.t.reshape(2, 10)),
    "vdot of complex numbers, and a list": lambda g: np.vdot(g.z, [[1, 2, 3, 4, 5, 6, 1j]]),
    "matmul of a list": lambda g: np.matmul(g.t, [1, 2, 3, 4]),
    "matmul with a list first": lambda g: np.matmul([[1, 2, 3, 4, 5]], g.t),
    "outer of matrices": lambda g: np.outer(g.t, [1, 2]),
    "tril of a vector": lambda g: np.tril(g.v),
    "triu of a vector": lambda g: np.triu(g.v, -1),
    "trace, a method": lambda g: g.u.trace(),
    "trace of other dimensions, a method": lambda g: cube(g).trace(1, 2, 0, np.float32),
    "trace of a matrix, a method": lambda g: g.t.trace(-1),
    "diagonal, a method": lambda g: g.u.diagonal(),
    "diagonal of other dimensions, a method": lambda g: cube(g).diagonal(1, axis1=0, axis2=-1),
    "cond of a stack": lambda g: np.linalg.cond(cube(g)),
    "cond of a stack, least": lambda g: np.linalg.cond(cube(g), -2),
    "cond of a stack, of another norm": lambda g: np.linalg.cond(squares(g), "fro"),
    "cond of a stack with a singular matrix": lambda g: np.linalg.cond(
        squares(g) * np.array([0, 1])[:, np.newaxis, np.newaxis], 1
    ),
    "matrix_rank of a vector": lambda g: np.linalg.matrix_rank(g.v),
    "matrix_rank of zeros": lambda g: np.linalg.matrix_rank(g.v * 0),
    "matrix_rank of a stack": lambda g: np.linalg.matrix_rank(cube(g), tol=[1e-3, 9]),
    "matrix_rank by several limits": lambda g: np.linalg.matrix_rank(g.t, tol=np.array([1e-3, 5, 99])),
    "pinv of a stack, by limits": lambda g: np.linalg.pinv(cube(g), [1e-3, 0.5]),
}
CASES["matmul in another dtype"] = lambda g: np.matmul(g.t, g.t.T, dtype=np.complex128)
CASES["matmul along other dimensions"] = lambda g: np.matmul(g.t, g.t, axes=[(-1, -2), (-2, -1), (-1, -2)])
if VERSION >= "2.0.0":
    CASES["vecdot with a dimension kept"] = lambda g: np.vecdot(cube(g), cube(g), axis=1, keepdims=True)
    CASES["vecdot of vectors with a dimension kept"] = lambda g: np.vecdot(g.v, g.w, keepdims=True)
    CASES["vecdot along a dimension of each"] = lambda g: np.vecdot(g.t, g.t.T, axes=[0, 1])
    CASES["matrix_rank, relative"] = lambda g: np.linalg.matrix_rank(cube(g), rtol=[0.2, 0.9])
    CASES["pinv, relative"] = lambda g: np.linalg.pinv(cube(g), rtol=np.array([0.5, 0.01]))
    CASES["vecdot along the first dimension"] = lambda g: np.vecdot(g.t, g.v[:5], axis=0)
    CASES["vecdot along a dimension"] = lambda g: np.vecdot(cube(g), cube(g)[0][:, :1], axis=-2)


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_does(ctx: dtl.Context, name: str) -> None:
    case = CASES[name]
    for partition in ("block", DIVISIONS[len(name) % len(DIVISIONS)]):
        same(case(held(ctx, partition)), case(ARRAYS))


def test_refusals(ctx: dtl.Context) -> None:
    g = held(ctx, "block")
    refused(lambda: np.linalg.cond(cube(g), 3), ARGUMENT, 100, "Invalid norm order")
    refused(lambda: np.vdot(g.v, g.t), ARGUMENT, 100, "not aligned")
    refused(lambda: dtl.vecdot(g.t, g.v[:4], axis=0), ARGUMENT, 100, "differ in the extents")
    refused(lambda: np.matmul(g.t, np.ones((1, 3))), ARGUMENT, 100, "not aligned")
    refused(lambda: np.matmul(g.t, g.t.T, dtype=int), TYPE, 101, "may not be cast")
    refused(lambda: np.matmul(g.t, g.t.T, axes=[0, 1]), ARGUMENT, 100, "axes")
    refused(lambda: np.matmul(g.t, g.t.T, signature="dd->d"), TYPE, 101, "signature= is not taken")
    if VERSION >= "2.0.0":
        refused(lambda: np.linalg.matrix_rank(g.t, 0.1, rtol=0.1), ARGUMENT, 100, "can't be both set")
    if VERSION >= "2.2.0":
        refused(lambda: np.matvec(g.t, np.ones(1)), ARGUMENT, 100, "not aligned")
        refused(lambda: np.vecmat(np.ones(1), g.t), ARGUMENT, 100, "not aligned")
        refused(lambda: np.matvec(g.v, g.v), ARGUMENT, 100, "not aligned")
