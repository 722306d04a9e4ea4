"""Lanczos' iteration with thick restarts: a search for eigenvalues and their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...containers.making import created
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...linalg.errors import LinAlgError
from ...runtime.agreement import local_step
from .. import division
from .krylov import Inner, combine
from .operators import LinearOperator, Step
from .systems import tolerance
from .vectors import Parts, checked, floating, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_WHICH = ("LM", "SM", "LA", "SA", "BE")

#: Residuals of so many times the rounding of products get no smaller: 5 times was seen with rows of 100 elements.
_STALLED = 10

#: Of fewer wanted values than vectors divided by this, half of the vectors are kept at a restart: what is near to a
#: wanted value, and not kept, has to be found again and again.
_FEW = 4


def columns_of(parts: Parts, rows: Array, words: str) -> DistributedTensor:
    """Return vectors, of which each rank has its elements of each, as columns of a container. Collective."""
    divided = division.division_of(parts.begins)
    shape = (parts.length, len(rows))
    made = created(DistributedTensor, parts.context, shape, rows.dtype, divided, blank=True, words=words)
    made.local_view()[...] = rows.T
    return made


def start_vector(parts: Parts, number: int, dtype: Any) -> Array:
    """Return a vector without structure that is the same on any number of ranks."""
    places = np.arange(parts.begins[parts.context.rank], parts.begins[parts.context.rank + 1], dtype=np.float64)
    values = np.sin((number + 1) * 12.9898 + places * 78.233) * 43758.5453
    return (values - np.floor(values) - 0.5).astype(dtype)


def fill(inner: Inner, basis: Array, number: int) -> None:
    """Continue an orthonormal basis by a vector that nothing has led to. Collective."""
    for attempt in range(3):
        basis[number] = start_vector(inner.parts, number + 1 + 1000 * attempt, basis.dtype)
        _, length, before = inner.orthogonalized(basis[:number], basis[number])
        if length > 1e-6 * before:
            basis[number] *= 1 / length
            return
    basis[number] = 0


class Search:
    """The arguments of a search, and its iterations. Making it is collective."""

    def __init__(
        self,
        op: str,
        operator: LinearOperator,
        times: Step,
        parts: Parts,
        k: Any,
        which: Any,
        v0: Any,
        ncv: Any,
        maxiter: Any,
        tol: Any,
        words: str,
        inner: Inner | None = None,
    ) -> None:
        ctx, shape = operator.context, operator.shape
        self.inner = Inner(parts) if inner is None else inner
        with local_step(ctx, op):
            self.wanted = integer("k", k)
            if not 1 <= self.wanted < min(shape):
                raise InvalidArgumentError(f"k {self.wanted} outside [1, {min(shape)}) for a matrix of {shape}")
            if not isinstance(which, str) or which not in _WHICH:
                raise InvalidArgumentError(f"which {which!r} is none of {', '.join(_WHICH)}")
            self.kept = min(parts.length, max(2 * self.wanted + 1, 20)) if ncv is None else integer("ncv", ncv)
            if not self.wanted < self.kept <= parts.length:
                raise InvalidArgumentError(f"ncv {self.kept} outside ({self.wanted}, {parts.length}]")
            self.restarts = parts.length * 10 if maxiter is None else integer("maxiter", maxiter)
            self.dtype = floating(operator.dtype, *self.inner.dtypes)
            first = None if v0 is None else checked("v0", v0, parts.length, f"A {shape}")
            if first is not None and first.dtype.kind == "c" and self.dtype.kind != "c":
                raise InvalidTypeError(f"v0 of {first.dtype} does not fit a matrix of {self.dtype}")
            self.eps = float(np.finfo(self.dtype).eps)
            self.bound = tolerance("tol", tol) or self.eps
        self.op, self.times, self.parts, self.which = op, times, parts, which
        words = (
            f"{op} of {shape} {operator.dtype}, k {self.wanted}, which {which}, ncv {self.kept}, maxiter "
            f"{self.restarts}, tol {self.bound}, v0 {'None' if first is None else said(first)}{words}"
        )
        parts.new(self.dtype, words)  # what the ranks agree on
        self.basis = np.zeros((self.kept + 1, parts.size), self.dtype)
        self.basis[0] = start_vector(parts, 0, self.dtype) if first is None else parts.part(op, first, self.dtype)
        if inner is not None:  # which need not be definite: what it does not measure is taken away
            times(self.basis[0], self.basis[1])
            self.basis[0] = self.basis[1]
        norm = float(self.inner.norm(self.basis[0]))
        if not 0 < norm < np.inf:
            raise InvalidArgumentError(f"v0 has the norm {norm}; it must be a number that is not 0")
        self.basis[0] *= 1 / norm

    def run(self) -> tuple[Array, Array]:
        """Return the eigenvalues and their vectors, one a row. Collective."""
        small = np.zeros((self.kept, self.kept), self.dtype)
        begin = found = 0
        before: Array | None = None  # the eigenvalues that have been found
        for _ in range(max(self.restarts, 1)):
            last = self._expand(small, begin)
            if not np.isfinite(small).all():
                break
            values, vectors = np.linalg.eigh(small)
            order = self._order(values)
            left = abs(last * vectors[-1, order[: self.wanted]])
            rounding = self.eps * abs(values).max()  # of products, of which residuals stay a few times as large
            least = _STALLED * rounding
            found = int((left <= np.maximum(self.bound * abs(values[order[: self.wanted]]), least)).sum())
            are_there = found == self.wanted or last == 0
            begin = self.wanted
            if not are_there:
                begin = min(begin + min(found, (self.kept - begin) // 2), self.kept - 1)
                if self.wanted < self.kept // _FEW:
                    begin = max(begin, self.kept // 2)
            chosen = order[:begin]
            combine(self.basis[:begin], vectors[:, chosen].T, self.basis[:-1])
            if not are_there:
                self.basis[begin] = self.basis[-1]
            elif last == 0 or self._are_equal(values[chosen], before, rounding):
                return values[chosen].real, self.basis[:begin].copy()
            else:  # one vector leads to one vector of each eigenvalue: look once more, from another one
                before = values[chosen]
                fill(self.inner, self.basis, begin)
            small = np.zeros_like(small)
            small[np.arange(begin), np.arange(begin)] = values[chosen]
        raise LinAlgError(f"{self.op}: {found} of {self.wanted} values have been found in {self.restarts} restarts")

    def _expand(self, small: Array, begin: int) -> float:
        """Fill the basis and the matrix that the operator is in it. Return how much leads out of it. Collective."""
        for number in range(begin, self.kept):
            made = self.basis[number + 1]
            self.times(self.basis[number], made)
            found, length, before = self.inner.orthogonalized(self.basis[: number + 1], made)
            small[: number + 1, number], small[number, : number + 1] = found, found.conj()
            small[number, number] = found[number].real
            if length > 10 * self.eps * before:
                made *= 1 / length
            elif number + 1 < self.kept:  # the vectors so far are of a space of their own: begin another
                fill(self.inner, self.basis, number + 1)
            else:
                return 0.0
        return float(length)

    def _are_equal(self, values: Array, before: Array | None, rounding: float) -> bool:
        """Say whether the eigenvalues are those that had been found already, up to some times the rounding."""
        if before is None:
            return False
        far = abs(np.sort(values) - np.sort(before)).max()
        return bool(far <= 100 * max(self.bound * abs(values).max(), rounding))

    def _order(self, values: Array) -> Array:
        """Return the numbers of eigenvalues in ascending order, those that are wanted most first."""
        if self.which == "BE":
            ends = [np.arange(len(values) - 1, -1, -1), np.arange(len(values))]
            return np.stack(ends, axis=1).reshape(-1)[: len(values)]
        key = {"LM": -abs(values), "SM": abs(values), "LA": -values, "SA": values}[self.which]
        return np.argsort(key, kind="stable")
