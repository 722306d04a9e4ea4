"""What NumPy's functions of linear algebra do that have no function of their own in dtl, with NumPy's parameters."""

from __future__ import annotations

import builtins
import math
import string
import warnings
from typing import Any

import numpy as np

from .._native.arguments import input_array, integer
from .._native.callsite import warn
from .._native.kinds import fingerprint, kind_of
from .._native.no_value import NO_VALUE
from .._native.objects import refuse_closed
from .._native.values import array_from
from ..algorithms.array_operands import together
from ..algorithms.concatenate import stack, unstack
from ..algorithms.creation import asarray
from ..algorithms.exchange import share
from ..algorithms.manipulation import dimension, moveaxis, ravel, reshape
from ..algorithms.polynomials import coefficients, vander
from ..algorithms.statistics import sum as total
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import check_numbers
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.scheduler import algorithm
from . import contractions, diagonals, matrix_arguments, orthogonal, stacks
from .contractions import contracted, tensordot
from .errors import LinAlgError
from .matrix_arguments import inexact, real
from .norms import norm
from .orthogonal import lstsq
from .products import dot
from .squares import inv, solve

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
def inner(a: Any, b: Any) -> Any:
    """Return the sums of products along the last dimensions of both; a number multiplies each element."""
    if any(not isinstance(c, (list, tuple)) and np.ndim(c) == 0 for c in (a, b)):
        return dot(a, b)
    return tensordot(a, b, (-1, -1))


@algorithm
def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product: the first's elements, each times all of the second. The smaller one goes to all."""
    one, other = together(*(c if isinstance(c, (list, tuple)) else np.atleast_1d(c) for c in (a, b)))
    ndim = max(one.ndim, other.ndim)
    left = (1,) * (ndim - one.ndim) + one.shape
    right = (1,) * (ndim - other.ndim) + other.shape
    first = reshape(one, tuple(extent for n in left for extent in (n, 1)))
    second = reshape(other, tuple(extent for n in right for extent in (1, n)))
    return reshape(first * second, tuple(m * n for m, n in zip(left, right)))


@algorithm
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Return the coefficients of the polynomial that fits places and values best: arrays, the same on every rank."""
    x, y = together(x, y)
    order = _count_of_coefficients(x, y, deg)
    limit = None if rcond is None else _number("rcond", rcond)
    full, scaled, cov = bool(full), not (isinstance(cov, str) and cov == "unscaled"), bool(cov)
    heavy = None if w is None else _weights(w, y)
    also = [c for c in (y, heavy) if isinstance(c, DistributedContainer)]
    words = f"deg {order - 1}, rcond {limit}, full {full}, cov {cov}, scaled {scaled}"
    share(x, "polyfit", words if len(also) == 1 + (w is not None) else f"{words}, w {fingerprint(heavy)}", also=also)
    places, values = x + 0.0, y + 0.0
    threshold = len(x) * np.finfo(places.dtype).eps if limit is None else limit
    powers = vander(places, order)
    if heavy is not None:
        column = heavy[:, np.newaxis]
        powers, values = powers * column, values * (column if values.ndim == 2 else heavy)
    scale = _few(np.sqrt(total(powers * powers, 0)))
    powers = powers / scale
    solution, residuals, rank, singular = lstsq(powers, values, threshold)
    c = (_few(solution).T / scale).T
    if rank != order and not full:
        warn("Polyfit may be poorly conditioned", getattr(np, "exceptions", np).RankWarning)
    if full:
        return c, _few(residuals), rank, _few(singular), threshold
    if not cov:
        return c
    base = np.linalg.inv(_few(tensordot(powers, powers, (0, 0)))) / np.outer(scale, scale)
    factor: Any = 1
    if scaled:
        if len(x) <= order:
            raise InvalidArgumentError("the number of data points must exceed order to scale the covariance matrix")
        factor = _few(residuals) / (len(x) - order)
    return (c, base * factor) if y.ndim == 1 else (c, base[:, :, np.newaxis] * factor)


def _count_of_coefficients(x: Any, y: Any, deg: Any) -> int:
    """Return how many coefficients there are."""
    check_container("x", x)
    check_container("y", y)
    order = integer("deg", deg) + 1
    if order < 1:
        raise InvalidArgumentError("expected deg >= 0")
    if x.ndim != 1:
        raise InvalidTypeError("expected 1D vector for x")
    if not x.global_size:
        raise InvalidTypeError("expected non-empty vector for x")
    if not 1 <= y.ndim <= 2:
        raise InvalidTypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise InvalidTypeError("expected x and y to have same length")
    return order


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, builtins.OverflowError) as error:
        raise InvalidTypeError(f"{name} {value!r} is no number: {error}") from None


def _weights(w: Any, y: Any) -> Any:
    """Return weights, one for each value."""
    heavy = w if isinstance(w, DistributedContainer) else input_array("w", w)
    if heavy.ndim != 1:
        raise InvalidTypeError("expected a 1-d array for weights")
    if heavy.shape[0] != y.shape[0]:
        raise InvalidTypeError("expected w and y to have the same length")
    return heavy


def _few(c: Any) -> Array:
    """Return elements that are few on every rank. Collective."""
    return np.array(c[tuple(np.indices(c.shape))]) if c.ndim > 1 else np.array(c[np.arange(len(c))])


@algorithm
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """Return the cross products of vectors along a dimension of each: of three elements or, as NumPy has it, of two."""
    a, b = together(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    extents = tuple(c.shape[dimension(at, c.ndim)] for c, at in ((a, axisa), (b, axisb)))
    if axis is not None and 2 not in extents:
        return diagonals.cross(a, b, axis=axis)
    a, b = (c if at == -1 else moveaxis(c, at, -1) for c, at in ((a, axisa), (b, axisb)))
    made = _crossed_in_plane(a, b) if set(extents) in ({2}, {2, 3}) else diagonals.cross(a, b)
    return made if axisc == -1 or extents == (2, 2) else moveaxis(made, -1, axisc)


def _crossed_in_plane(a: Any, b: Any) -> Any:
    """Return the cross products of vectors of which one or both have two elements, with what NumPy says of that."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            np.cross(np.zeros(a.shape[-1]), np.zeros(b.shape[-1]))
        except ValueError as error:
            raise InvalidArgumentError(f"np.cross: {error}") from None
    for each in said:
        warn(str(each.message), each.category)
    (p, q, *r), (x, y, *z) = (unstack(c, axis=-1) for c in (a, b))
    last = p * y - q * x
    if not r and not z:
        return last
    parts = [q * z[0], -(p * z[0]), last] if z else [-(r[0] * y), r[0] * x, last]
    return asarray(a.context, np.stack(parts), like=a) if a.ndim == 1 == b.ndim else stack(parts, axis=-1)


@algorithm
def einsum(*operands: Any, dtype: Any = None, casting: Any = "safe", optimize: Any = False) -> Any:
    """Return the sum of products that a formula says, or lists of numbers of dimensions say.

    Whatever optimize is, more than two operands are multiplied two at a time.
    """
    subscripts, *given = operands if isinstance(operands[0], str) else _formula(operands)
    given = [c if isinstance(c, DistributedContainer) else array_from("an operand", c) for c in given]
    if dtype is not None or casting != "safe":  # all dtypes may be cast to that of the result safely
        to = np.result_type(*(c.dtype for c in given)) if dtype is None else np.dtype(dtype)
        for c in given:
            if not np.can_cast(c.dtype, to, casting):
                raise InvalidTypeError(f"einsum: elements of {c.dtype} may not be cast to {to} ({casting})")
        given = [c.astype(to) for c in given]
    return contractions.einsum(subscripts, *given)


def _formula(operands: tuple[Any, ...]) -> list[Any]:
    """Return the formula of operands that are each followed by the numbers of its dimensions, and the operands."""
    lists = [*operands[1::2], *(operands[-1:] if len(operands) % 2 else [])]
    try:
        terms = ["".join("..." if n is Ellipsis else string.ascii_letters[n] for n in each) for each in lists]
    except (TypeError, IndexError) as error:
        raise InvalidTypeError(f"einsum: no formula, and no lists of numbers of dimensions: {error}") from None
    arrow = f"->{terms.pop()}" if len(operands) % 2 else ""
    return [",".join(terms) + arrow, *operands[: len(operands) // 2 * 2 : 2]]


@algorithm
def matvec(x1: Any, x2: Any) -> Any:
    """Return the products of matrices and vectors."""
    matrices, vectors = together(x1, x2)
    _check_product("matvec", matrices, -1, vectors)
    return contracted("...ij,...j->...i", (matrices, vectors))


@algorithm
def vecmat(x1: Any, x2: Any) -> Any:
    """Return the products of vectors, conjugated, and matrices."""
    vectors, matrices = together(x1, x2)
    _check_product("vecmat", matrices, -2, vectors)
    return contracted("...i,...ij->...j", (kind_of(vectors.dtype).conjugated(vectors), matrices))


def _check_product(op: str, matrices: Any, summed: int, vectors: Any) -> None:
    """Refuse operands of too few dimensions, or whose extents along the summed one differ: none of these spreads."""
    check_container("the matrices", matrices)
    check_container("the vectors", vectors)
    if matrices.ndim < 2 or matrices.shape[summed] != vectors.shape[-1]:
        text = f"{op}: matrices of shape {matrices.shape} and vectors of shape {vectors.shape} not aligned"
        raise InvalidArgumentError(text)


@algorithm
def cond(x: Any, p: Any = None) -> Any:
    """Return the condition number of a matrix, or of each of a stack, by the norm of an order."""
    check_container("x", x)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional container given. It must be at least two-dimensional")
    order = isinstance(p, (str, int, float, np.integer, np.floating))
    if p is not None and not (order and p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)):
        raise InvalidArgumentError(f"Invalid norm order {p!r} for matrices.")
    if stacks.is_stack(x):
        if not x.shape[-2] or not x.shape[-1]:
            raise LinAlgError("cond is not defined on empty arrays")
        return stacks.each("cond", f"order {p!r}", (x,), lambda part: np.linalg.cond(part, p))
    if p is None or (not isinstance(p, str) and p in (2, -2)):
        number = orthogonal.cond(x)
        with np.errstate(divide="ignore"):
            return 1 / number if p == -2 else number
    try:
        inverse = inv(x)
    except LinAlgError:
        if x.shape[-1] != x.shape[-2]:
            raise
        return real(inexact(x.dtype)).type(np.inf)  # a matrix without an inverse
    return norm(x, p) * norm(inverse, p)


def _check_hermitian(a: Any, hermitian: bool) -> None:
    """Refuse what cannot be Hermitian. What is needs no other way here, with the same result."""
    if hermitian and (a.ndim < 2 or a.shape[-1] != a.shape[-2]):
        raise LinAlgError("Last 2 dimensions of the array must be square")


@algorithm
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return the decomposition into singular values and vectors."""
    _check_hermitian(a, hermitian)
    return orthogonal.svd(a, full_matrices, compute_uv)


@algorithm
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:  # noqa: N803
    """Return how many singular values are not zero: of a matrix, or of each of a stack. A vector is one row."""
    if tol is not None and rtol is not None:
        raise InvalidArgumentError("`tol` and `rtol` can't be both set.")
    check_container("A", A)
    if A.ndim < 2:
        return int(np.any(A))
    _check_hermitian(A, hermitian)
    if _is_one(tol) and _is_one(rtol):
        return orthogonal.matrix_rank(A, tol, rtol=rtol)
    values = orthogonal.svdvals(A)
    return np.count_nonzero(values > (_least(values, rtol) if tol is None else _for_each("tol", tol)), axis=-1)


@algorithm
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    """Return the pseudo-inverse of a matrix, with NumPy's limit for singular values that count as zero."""
    if rcond is not None and rtol is not NO_VALUE:
        raise InvalidArgumentError("`rtol` and `rcond` can't be both set.")
    _check_hermitian(a, hermitian)
    limit = rcond if rtol is NO_VALUE else rtol
    if _is_one(limit):
        return orthogonal.pinv(a, 1e-15 if limit is None and rtol is NO_VALUE else limit)
    u, s, vh = orthogonal.svd(np.conjugate(a), False)
    weights = np.where(s > _least(s, limit), 1 / np.where(s > 0, s, 1), 0).astype(s.dtype)
    return np.matmul(np.swapaxes(vh, -1, -2), weights[..., np.newaxis] * np.swapaxes(u, -1, -2))


def _is_one(limit: Any) -> bool:
    """Say whether a limit is none, or one number for all matrices."""
    return limit is None or (array_from("a limit", limit) if not hasattr(limit, "ndim") else limit).ndim == 0


def _for_each(name: str, limit: Any) -> Any:
    """Return limits, one for each matrix, beside the singular values of these."""
    given: Any = limit if isinstance(limit, DistributedContainer) else input_array(name, limit)
    return given[..., np.newaxis]


def _least(values: Any, limit: Any) -> Any:
    """Return up to where singular values count as zero, by limits relative to the largest of each matrix."""
    return _for_each("rtol", limit) * np.max(values, axis=-1, keepdims=True, initial=0)


@algorithm
def tensorinv(a: Any, ind: int = 2) -> Any:
    """Return the inverse of what tensordot with some dimensions does."""
    check_container("a", a)
    number = integer("ind", ind)
    if number <= 0:
        raise InvalidArgumentError("Invalid ind argument.")
    before, after = a.shape[:number], a.shape[number:]
    n = math.prod(after)
    if n != math.prod(before):
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return reshape(inv(reshape(a, (n, n))), (*after, *before))


@algorithm
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Return the x for which tensordot(a, x) with all of x's dimensions is b."""
    a, b = together(a, b)
    check_container("a", a)
    check_container("b", b)
    if axes is not None:
        for axis in axes:
            a = moveaxis(a, axis, -1)
    shape = a.shape[b.ndim :]
    n = math.prod(shape)
    if a.global_size != n * n or b.global_size != n:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return reshape(solve(reshape(a, (n, n)), reshape(b, (n,))), shape)


@algorithm
def outer(a: Any, b: Any) -> Any:
    """Return the products of each element of one operand, in C order, with each of another."""
    flat = [ravel(c) if isinstance(c, DistributedContainer) else array_from("a vector", c).reshape(-1) for c in (a, b)]
    return contractions.outer(*flat)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return a diagonal of the matrices that two dimensions are: along the last dimension, where there are others."""
    return diagonals.diagonal(_matrices(a, axis1, axis2), offset)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """Return the sum of a diagonal of the matrix, or matrices, that two dimensions are."""
    return diagonals.trace(_matrices(a, axis1, axis2), offset, dtype=dtype)


def _matrices(a: Any, axis1: int, axis2: int) -> Any:
    """Return a container whose last two dimensions are these. Collective."""
    check_container("a", a)
    if a.ndim < 2:
        raise InvalidArgumentError("diag requires an array of at least two dimensions")
    one, other = (dimension(axis, a.ndim) for axis in (axis1, axis2))
    if one == other:
        raise InvalidArgumentError("axis1 and axis2 cannot be the same")
    return a if (one, other) == (a.ndim - 2, a.ndim - 1) else moveaxis(a, (one, other), (-2, -1))


@algorithm
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Return the coefficients of the quotient and of the rest of two polynomials, on every rank. Rank 0 divides."""
    one, other = coefficients("polydiv", u, v)
    for c in (one, other):
        refuse_closed(c)
        check_numbers(c, "np.polydiv")
        if not c.shape[0]:
            raise BoundsError("np.polydiv: there is no coefficient with index 0")
    share(one, "polydiv", also=(other,))
    left, right = (matrix_arguments.gathered(c, "polydiv", 4) for c in (one, other))
    with np.errstate(all="ignore"):
        quotient, rest = matrix_arguments.on_root(one.context, "polydiv", lambda: np.polydiv(left, right))
    return matrix_arguments.everywhere(one, quotient), matrix_arguments.everywhere(one, rest)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order of products that NumPy would take, which follows from the shapes alone."""
    shapes = [
        np.broadcast_to(np.zeros((), c.dtype), c.shape) if isinstance(c, DistributedContainer) else c for c in operands
    ]
    return np.einsum_path(*shapes, optimize=optimize)
