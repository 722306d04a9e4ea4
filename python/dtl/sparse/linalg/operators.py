"""What solvers multiply vectors by: matrices and functions, each by what it does to this rank's elements."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import integer
from ...containers.base import DistributedContainer
from ...containers.making import created
from ...containers.sequences import DistributedVector
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...policies import Partition, PartitionLike
from ...runtime.agreement import agree, check_context, collective, local_step, refuse_other_context
from ...runtime.context import Context
from .. import division, making
from ..array import csc_array, csr_array
from ..elementwise import is_number
from ..local_rows import is_scipys
from ..placing import on_host, placed
from ..products import product, transposed_product
from ..rows import Rows
from .vectors import Parts, checked, columns_given, rows_of_columns, said

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
    def adjoint_step(self) -> Step | None:
        """What multiplies a part by the conjugated and transposed operator, if it is known: for this package."""
        return self._adjoint

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

    @property
    def T(self) -> LinearOperator:  # noqa: N802 - NumPy's name
        """The transposed operator. Not collective.

        Raises
        ------
        InvalidArgumentError
            If the operator was made without ``rmatvec``.
        """
        other = self.H
        return LinearOperator.of(
            other.rows, other.columns, self._dtype, _conjugated(other.forward), _conjugated(self._forward)
        )

    @property
    def ndim(self) -> int:
        """The number of dimensions: 2."""
        return 2

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

    def matmat(self, X: Any) -> DistributedTensor:  # noqa: N803 - SciPy's name
        """Return the products with vectors that are columns of a container, or of an array. Collective.

        Raises
        ------
        InvalidArgumentError
            If the vectors do not fit. On every rank.
        """
        return _times_columns(self, X)

    def rmatmat(self, X: Any) -> DistributedTensor:  # noqa: N803 - SciPy's name
        """Return the products of the conjugated and transposed operator with columns. Collective, as :meth:`matmat`."""
        return _times_columns(self.H, X)

    def dot(self, x: Any) -> Any:
        """Return the product with a vector, with columns, with another operator or a matrix, or with a number.

        The product with another operator, a matrix or a number is an operator.
        """
        if is_number(x):
            return _scaled(self, x)
        if isinstance(x, (LinearOperator, csr_array, csc_array)):
            return _composed(self, operator_of("x", x))
        return _times_columns(self, x) if np.ndim(x) == 2 else _times(self, x)

    def adjoint(self) -> LinearOperator:
        """Return the conjugated and transposed operator: ``H``. Not collective."""
        return self.H

    def transpose(self) -> LinearOperator:
        """Return the transposed operator: ``T``. Not collective."""
        return self.T

    def __call__(self, x: Any) -> Any:
        """Return the product, as :meth:`dot`."""
        return self.dot(x)

    def __mul__(self, x: Any) -> Any:
        return self.dot(x)

    def __rmul__(self, x: Any) -> LinearOperator:
        if is_number(x):
            return _scaled(self, x)
        return NotImplemented

    def __matmul__(self, x: Any) -> Any:
        return NotImplemented if is_number(x) else self.dot(x)

    def __rmatmul__(self, x: Any) -> Any:
        if isinstance(x, (csr_array, csc_array)):
            return _composed(operator_of("x", x), self)
        if is_number(x):
            return NotImplemented
        if np.ndim(x) == 1:
            return _times(self.T, x)
        return _times_columns(self.T, (x if hasattr(x, "T") else np.asarray(x)).T).T

    def __add__(self, other: Any) -> LinearOperator:
        return _summed(self, operator_of("other", other, self._rows))

    def __sub__(self, other: Any) -> LinearOperator:
        return _summed(self, _scaled(operator_of("other", other, self._rows), -1))

    def __neg__(self) -> LinearOperator:
        return _scaled(self, -1)

    def __truediv__(self, number: Any) -> LinearOperator:
        if is_number(number):
            return _scaled(self, 1 / number)
        return NotImplemented

    def __pow__(self, power: Any) -> LinearOperator:
        number = integer("power", power)
        if number < 0 or self.shape[0] != self.shape[1]:
            raise InvalidArgumentError(f"an operator of {self.shape} has no power {number}")
        made = LinearOperator.of(self._columns, self._columns, self._dtype, _copy, _copy)
        for _ in range(number):
            made = _composed(self, made)
        return made

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


@on_host
@collective
def _times_columns(operator: LinearOperator, x: Any) -> DistributedTensor:
    columns, ctx = operator.columns, operator.context
    with local_step(ctx, "matmat"):
        given = columns_given("X", x, operator.shape[1])
    dtype = np.result_type(operator.dtype, given.dtype)
    divided = division.division_of(operator.rows.begins)
    shape = (operator.shape[0], given.shape[1])
    words = f"matmat operator {operator.shape} with {said(given)}"
    made = created(DistributedTensor, ctx, shape, dtype, divided, blank=True, words=words)
    vectors = rows_of_columns("matmat", columns, given, dtype)
    made.local_view()[...] = applied(operator.forward, vectors, operator.rows.size).T
    return made


def _scaled(operator: LinearOperator, number: Any) -> LinearOperator:
    """Return a multiple of an operator. Not collective."""

    def scaled(step: Step, factor: Any) -> Step:
        def times(part: Array, out: Array) -> None:
            step(part, out)
            np.multiply(out, factor, out=out, casting="unsafe")

        return times

    adjoint = operator.adjoint_step
    dtype = np.result_type(operator.dtype, number)
    steps = scaled(operator.forward, number), None if adjoint is None else scaled(adjoint, np.conj(number))
    return LinearOperator.of(operator.rows, operator.columns, dtype, *steps)


@collective
def _summed(first: LinearOperator, second: LinearOperator) -> LinearOperator:
    """Return the sum of two operators of one shape. Collective."""
    _together("add", first, second, first.shape == second.shape)
    rows, columns = first.rows, first.columns

    def summed(one: Step, other: Step) -> Step:
        def times(part: Array, out: Array) -> None:
            more = np.zeros_like(out)
            other(part, more)
            one(part, out)
            out += more

        return times

    adjoint, theirs = first.adjoint_step, second.adjoint_step
    back = None
    if adjoint is not None and theirs is not None:
        back = summed(adjoint, fitted("add", second.H, rows, columns))
    dtype = np.result_type(first.dtype, second.dtype)
    return LinearOperator.of(rows, columns, dtype, summed(first.forward, fitted("add", second, columns, rows)), back)


@collective
def _composed(first: LinearOperator, second: LinearOperator) -> LinearOperator:
    """Return the product of two operators. Collective."""
    _together("matmul", first, second, first.shape[1] == second.shape[0])
    inner = first.columns

    def composed(one: Step, other: Step, size: int) -> Step:
        def times(part: Array, out: Array) -> None:
            between = np.zeros(size, out.dtype)
            one(part, between)
            other(between, out)

        return times

    back = None
    if first.adjoint_step is not None and second.adjoint_step is not None:
        back = composed(first.adjoint_step, fitted("matmul", second.H, inner, second.columns), inner.size)
    forward = composed(fitted("matmul", second, second.columns, inner), first.forward, inner.size)
    dtype = np.result_type(first.dtype, second.dtype)
    return LinearOperator.of(first.rows, second.columns, dtype, forward, back)


def _together(op: str, first: LinearOperator, second: LinearOperator, fits: bool) -> None:
    """Refuse operators that do not fit each other. Collective."""
    with local_step(first.context, op):
        refuse_other_context(f"{op}: an operator", second, first.context)
        if not fits:
            raise InvalidArgumentError(f"{op}: operators of {first.shape} and {second.shape} do not fit")
    agree(first.context, op, f"{first!r} and {second!r}")


def _copy(part: Array, out: Array) -> None:
    out[...] = part


def fitted(op: str, operator: LinearOperator, parts: Parts, outer: Parts | None = None) -> Step:
    """Return the product with an operator for vectors that may be divided in another way, and are moved then.

    Parts are those of the vectors that it is multiplied by; outer are those of the products, None for the same.
    """
    forward, rows, columns = operator.forward, operator.rows, operator.columns
    end = parts if outer is None else outer
    if rows.is_like(end) and columns.is_like(parts):
        return forward

    def step(part: Array, out: Array) -> None:
        given = parts.new(part.dtype, f"{op} operator {operator.shape} {part.dtype}")
        given.local_view()[...] = part
        made = rows.new(out.dtype, f"{op} product {operator.shape} {out.dtype}")
        forward(np.ascontiguousarray(placed(op, given, columns.begins).local_view()), made.local_view())
        out[...] = placed(op, made, end.begins).local_view()

    return step


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


def operator_of(name: str, given: Any, parts: Parts | None = None) -> LinearOperator:
    """Return what a caller passes for a matrix as an operator.

    With parts, of vectors that it is to multiply, it may also be an array, or a matrix of SciPy's, that is the same on
    every rank. Collective for such a one.
    """
    if parts is not None and (isinstance(given, np.ndarray) or is_scipys(given)):
        is_like = given.shape[:1] == (parts.length,)
        divided: Any = np.diff(parts.begins).tolist() if is_like else Partition.BLOCK
        return of_matrix(csr_array(parts.context, given, partition=divided))
    if isinstance(given, LinearOperator):
        return given
    if isinstance(given, (csr_array, csc_array)):
        return of_matrix(given)
    if isinstance(given, DistributedContainer):
        return _of_container(name, given)
    if hasattr(given, "matvec"):
        raise InvalidTypeError(
            f"{name} is an operator of SciPy's, which multiplies vectors of one rank; make one of a function of "
            "containers: dtl.sparse.linalg.LinearOperator(ctx, shape, matvec)"
        )
    raise InvalidTypeError(
        f"{name} must be a csr_array, a csc_array, a LinearOperator or a container of two dimensions, not {given!r:.80}"
        + ("" if parts is None else ", nor an array or a matrix of SciPy's")
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
