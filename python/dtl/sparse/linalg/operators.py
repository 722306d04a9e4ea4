"""What solvers multiply vectors by: matrices and functions, each by what it does to this rank's elements."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ...containers.base import DistributedContainer
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...policies import Partition, PartitionLike
from ...runtime.agreement import agree, check_context, collective, local_step
from ...runtime.context import Context
from .. import division, making
from ..array import csc_array, csr_array
from ..placing import on_host, placed
from ..products import product, transposed_product
from ..rows import Rows
from .vectors import Parts, checked, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Writes the product with the first array, this rank's part of a vector, to the second one. Collective.
Step = Callable[[Array, Array], None]


class _Held:
    """What operators are made of."""

    __slots__ = ("__weakref__", "_adjoint", "_columns", "_dtype", "_forward", "_rows")

    def __init__(self, rows: Parts, columns: Parts, dtype: Any, forward: Step, adjoint: Step | None) -> None:
        self._rows, self._columns = rows, columns
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._forward, self._adjoint = forward, adjoint


class LinearOperator(_Held):
    """A matrix that is known by its products with vectors. Making it is collective.

    Parameters
    ----------
    ctx
        The context.
    shape
        The rows and columns, the same on every rank.
    matvec
        A function of a DistributedVector with an element for each column, which returns one with an element for each
        row. Called on every rank; it may make collective calls. The vector is overwritten after the call: the function
        copies what it keeps.
    rmatvec
        The same for the conjugated and transposed matrix; None if there is none.
    dtype
        The type of the elements.
    partition
        How the vectors are divided that it is multiplied by and that it returns: PARTITION_BLOCK, or how many elements
        each rank has, of a square one. What the functions return may be divided in another way, and is moved then.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If the shape is none, or matvec no function. On every rank.
    CollectiveMismatchError
        If the ranks pass different shapes, types or partitions.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     twice = dtl.sparse.linalg.LinearOperator(ctx, (3, 3), matvec=lambda v: 2 * v)
    ...     x, info = dtl.sparse.linalg.cg(twice, np.array([2.0, 4.0, 6.0]))
    ...     print(x.get(np.arange(3)), info)
    [1. 2. 3.] 0
    """

    __module__ = "dtl.sparse.linalg"
    __slots__ = ()

    #: NumPy's arrays leave operators to this class.
    __array_ufunc__ = None

    @collective
    def __init__(
        self,
        ctx: Context,
        shape: Any,
        matvec: Callable[[DistributedVector], DistributedVector],
        rmatvec: Callable[[DistributedVector], DistributedVector] | None = None,
        *,
        dtype: Any = np.float64,
        partition: PartitionLike = Partition.BLOCK,
    ) -> None:
        check_context(ctx)
        extents, found = making.checked_shape(shape), making.checked_dtype(dtype)
        for name, function in (("matvec", matvec), ("rmatvec", rmatvec)):
            if not callable(function) and (function is not None or name == "matvec"):
                raise InvalidTypeError(f"{name} must be a function, not {function!r}")
        rows, columns = (Parts(ctx, division.starts_of("partition", extent, ctx.size, partition)) for extent in extents)
        words = f"shape {extents}, dtype {found}, partition {partition}, rmatvec {rmatvec is not None}"
        agree(ctx, "LinearOperator", words)
        adjoint = None if rmatvec is None else called("rmatvec", rmatvec, rows, columns)
        super().__init__(rows, columns, found, called("matvec", matvec, columns, rows), adjoint)

    @classmethod
    def of(cls, rows: Parts, columns: Parts, dtype: Any, forward: Step, adjoint: Step | None = None) -> LinearOperator:
        """Return an operator of functions of this rank's parts. For the modules of this package."""
        made = cls.__new__(cls)
        _Held.__init__(made, rows, columns, dtype, forward, adjoint)
        return made

    @property
    def context(self) -> Context:
        """The context whose ranks have the vectors."""
        return self._rows.context

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns. Not collective."""
        return self._rows.length, self._columns.length

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements. Not collective."""
        return self._dtype

    @property
    def rows(self) -> Parts:
        """How the products are divided: for the modules of this package."""
        return self._rows

    @property
    def columns(self) -> Parts:
        """How the vectors are divided that it is multiplied by: for the modules of this package."""
        return self._columns

    @property
    def forward(self) -> Step:
        """What multiplies a part: for the modules of this package."""
        return self._forward

    @property
    def H(self) -> LinearOperator:  # noqa: N802 - NumPy's name
        """The conjugated and transposed operator. Not collective.

        Raises
        ------
        InvalidArgumentError
            If the operator was made without ``rmatvec``.
        """
        if self._adjoint is None:
            raise InvalidArgumentError("the operator was made without rmatvec, so that its transposed one is not known")
        return LinearOperator.of(self._columns, self._rows, self._dtype, self._adjoint, self._forward)

    def matvec(self, x: Any) -> DistributedVector:
        """Return the product with a vector: a container, or an array that is the same on every rank. Collective.

        Raises
        ------
        InvalidArgumentError
            If the vector does not fit. On every rank.
        """
        return _times(self, x)

    def rmatvec(self, x: Any) -> DistributedVector:
        """Return the product of the conjugated and transposed operator with a vector. Collective.

        Raises
        ------
        InvalidArgumentError
            If the vector does not fit, or the operator was made without ``rmatvec``. On every rank.
        """
        return _times(self.H, x)

    def __matmul__(self, x: Any) -> DistributedVector:
        return _times(self, x)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<LinearOperator of {rows} x {columns}, {self.dtype}, on {self.context.size} ranks>"


@on_host
@collective
def _times(operator: LinearOperator, x: Any) -> DistributedVector:
    with local_step(operator.context, "matvec"):
        given = checked("x", x, operator.shape[1], f"the operator {operator.shape}")
    dtype = np.result_type(operator.dtype, given.dtype)
    made = operator.rows.new(dtype, f"matvec operator {operator.shape} with {said(given)}")
    operator.forward(operator.columns.part("matvec", given, dtype), made.local_view())
    return made


def called(name: str, function: Callable[..., Any], inner: Parts, outer: Parts) -> Step:
    """Return what calls a function of containers for this rank's part. Collective.

    The ranks agree after each call, so that the error of a function on one rank is raised on all.
    """
    ctx = inner.context
    given: dict[Any, Any] = {}

    def step(part: Array, out: Array) -> None:
        vector: Any = given.get(part.dtype)
        if vector is None:
            vector = given[part.dtype] = inner.new(part.dtype, f"{name} {part.dtype}")
        vector.local_view()[...] = part
        made = function(vector)
        if not isinstance(made, DistributedContainer):
            raise InvalidTypeError(f"{name} must return a DistributedVector, not {type(made).__name__}")
        if made.shape != (outer.length,):
            raise InvalidArgumentError(f"{name} returned shape {made.shape}, not {(outer.length,)}")
        if not np.can_cast(made.dtype, out.dtype, "same_kind"):
            raise InvalidTypeError(f"{name} returned elements of {made.dtype}, which {out.dtype} does not hold")
        agree(ctx, name, f"{name} returned {made.shape} {made.dtype}")
        out[...] = placed(name, made, outer.begins).local_view()

    return step


def applied(step: Step, vectors: Array, size: int | None = None) -> Array:
    """Return the products with vectors, one a row, of so many elements here; None for as many. Collective."""
    made = np.zeros((len(vectors), vectors.shape[1] if size is None else size), vectors.dtype)
    for vector, out in zip(vectors, made):
        step(vector, out)
    return made


def of_matrix(matrix: csr_array | csc_array) -> LinearOperator:
    """Return a matrix, or a transposed one, as an operator. Not collective."""
    rows = matrix.rows
    ctx = rows.context
    outer, inner = Parts(ctx, rows.begins), Parts(ctx, rows.column_begins)
    forward, backward = _products(rows)
    if isinstance(matrix, csr_array):
        return LinearOperator.of(outer, inner, rows.dtype, forward, _conjugated(backward))
    return LinearOperator.of(inner, outer, rows.dtype, backward, _conjugated(forward))


def _products(rows: Rows) -> tuple[Step, Step]:
    """Return what multiplies by rows, and by the transposed ones. Elements are converted once for a type."""
    converted = {rows.dtype: rows.local}

    def times(multiply: Any, part: Array, out: Array) -> None:
        local = converted.get(out.dtype)
        if local is None:
            own, other = (each.astype(out.dtype) for each in (rows.local.own, rows.local.other))
            local = converted[out.dtype] = rows.local._replace(own=own, other=other)
        multiply(local, rows.ghosts(), np.ascontiguousarray(part, out.dtype), out)

    return (
        lambda part, out: times(product, part, out),
        lambda part, out: times(transposed_product, part, out),
    )


def _conjugated(step: Step) -> Step:
    """Return the product with the conjugated matrix."""

    def conjugated(part: Array, out: Array) -> None:
        if np.iscomplexobj(out):
            step(part.conj(), out)
            np.conj(out, out=out)
        else:
            step(part, out)

    return conjugated


@collective
def aslinearoperator(A: Any) -> LinearOperator:  # noqa: N803 - SciPy's name
    """Return a matrix as a :class:`LinearOperator`. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a LinearOperator, which is returned.

    Returns
    -------
    LinearOperator
        Of a sparse matrix, with vectors that are divided as its rows and columns; of a container, by blocks.

    Raises
    ------
    InvalidTypeError
        If it is none of these. On every rank if it is on a context.
    """
    return operator_of("A", A)


def operator_of(name: str, given: Any) -> LinearOperator:
    """Return what a caller passes for a matrix as an operator."""
    if isinstance(given, LinearOperator):
        return given
    if isinstance(given, (csr_array, csc_array)):
        return of_matrix(given)
    if isinstance(given, DistributedContainer):
        return _of_container(name, given)
    raise InvalidTypeError(
        f"{name} must be a csr_array, a csc_array, a LinearOperator or a container of two dimensions, not {given!r:.80}"
    )


def _of_container(name: str, given: Any) -> LinearOperator:
    if given.ndim != 2:
        raise InvalidArgumentError(f"{name} of shape {given.shape} is no matrix: it must have two dimensions")
    ctx = given.context
    making.checked_dtype(given.dtype)
    rows, columns = (Parts(ctx, division.blocks(extent, ctx.size)) for extent in given.shape)
    forward = called("matmul", lambda x: given @ x, columns, rows)
    adjoint = called("matmul", lambda x: x @ given if given.dtype.kind != "c" else _conjugate(given, x), rows, columns)
    return LinearOperator.of(rows, columns, given.dtype, forward, adjoint)


def _conjugate(given: Any, x: Any) -> Any:
    """Return the product with the conjugated and transposed matrix."""
    return (x.conj() @ given).conj()
