"""Sparse matrices whose rows are divided among the ranks of a context."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import flag
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..comm.vector_collectives import gatherv
from ..containers.base import DistributedContainer
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, PartitionLike
from ..runtime.agreement import agree, check_context, collective, local_step, refuse_other_context, root_number
from ..runtime.context import Context
from . import diagonals, division, making, selecting, semirings
from .assembly import Assembly, Structure
from .elementwise import is_number
from .local_rows import Matrix, index_type, is_scipys, scipy_sparse
from .local_rows import matrix as matrix_of
from .operators import Operators
from .placing import on_host, placed, whole_vector
from .products import product, transposed_product
from .rows import HasRows, Rows, rows_of
from .transposing import product as sparse_product
from .transposing import transposed
from .triplets import rows_of_triplets
from .writing import Saved

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class csr_array(Operators, Saved):  # noqa: N801 - SciPy's name
    """A sparse matrix whose rows are divided among the ranks of a context: rank 0 has the first ones, and so on.

    Making one is collective. Each rank's rows are matrices of SciPy's, which computes what concerns one rank. An
    element may be stored that is zero; of a place that triplets name several times, the sum is stored.

    Parameters
    ----------
    ctx
        The context.
    arg
        One of these:

        - ``(data, (rows, columns))``, triplets: three arrays of one length, or containers, of which each rank gives its
          own, for any rows. Values of one place are added up.
        - A matrix of SciPy's, or an array of two dimensions, that is the same on every rank.
        - ``(data, indices, indptr)``, the arrays of such a matrix by rows, the same on every rank.
        - A matrix of dtl.sparse, which is copied.
        - A container of two dimensions; what is not zero is stored.
        - ``(m, n)``, a shape: a matrix that stores nothing.
    shape
        The shape, of triplets; None for the smallest that has them all.
    dtype
        The type of the elements; None for that of the argument, float64 of a shape. bool, integers, float32, float64,
        complex64 and complex128.
    copy
        Of no effect, as SciPy's users may pass it: elements are always the matrix's own.
    partition
        How the rows are divided: PARTITION_BLOCK, how many rows each rank has, or "nnz" for about as many stored
        elements on each.

    Raises
    ------
    BoundsError
        If a row or column is outside the shape: also a ValueError, as SciPy's is. On every rank.
    InvalidArgumentError, InvalidTypeError
        If the argument is none of these, or has a type that SciPy does not compute with. On every rank.
    CollectiveMismatchError
        If the ranks pass different shapes, types, partitions or matrices.
    BackendUnavailableError
        If SciPy is missing or older than 1.8: ``pip install 'pydtl[sparse]'``.

    Notes
    -----
    The columns are divided as the rows are if there are as many, else by blocks: as vectors are that the matrix is
    multiplied by. Indices have 32 bits where these suffice.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     first = ctx.is_root  # one rank gives all triplets
    ...     rows, columns = ([0, 1, 1], [1, 0, 1]) if first else ([], [])
    ...     values = [2.0, 1.0, 4.0] if first else []
    ...     matrix = dtl.sparse.csr_array(ctx, (values, (rows, columns)), shape=(2, 2), dtype=np.float64)
    ...     product = matrix @ np.array([1.0, 10.0])
    ...     print(matrix.shape, matrix.nnz, product.gather_to(0) if first else [20.0, 41.0])
    (2, 2) 3 [20. 41.]
    """

    __module__ = "dtl.sparse"
    __slots__ = ("_structure",)

    #: Where values went in the last assembly.
    _structure: Structure | None

    @collective
    def __init__(
        self,
        ctx: Context,
        arg: Any,
        shape: Any = None,
        dtype: Any = None,
        copy: bool = False,
        *,
        partition: PartitionLike | str = Partition.BLOCK,
    ) -> None:
        check_context(ctx)
        flag("copy", copy)
        sparse = scipy_sparse()
        wanted = None if dtype is None else making.checked_dtype(dtype)
        extents = None if shape is None else making.checked_shape(shape)
        is_balanced = isinstance(partition, str) and partition == making.BALANCED
        asked = Partition.BLOCK if is_balanced else partition
        words = f"shape {extents}, dtype {wanted}, partition {partition}"
        if _is_shape(arg):
            extents = making.checked_shape(arg)
            found = wanted or np.dtype(np.float64)
            agree(ctx, "csr_array", f"{words}, of shape {extents}")
            begins = division.starts_of("partition", extents[0], ctx.size, asked)
            rows = sparse.csr_array((int(np.diff(begins)[ctx.rank]), extents[1]), dtype=found)
        elif isinstance(arg, HasRows):
            given = arg.tocsr().rows
            agree(ctx, "csr_array", f"{words}, of {given.text()}")
            with local_step(ctx, "csr_array"):
                refuse_other_context("csr_array: the matrix", given, ctx)
                making.fits(extents, given.shape)
                begins = division.starts_of("partition", given.shape[0], ctx.size, asked)
            rows = making.moved(ctx, given.whole().astype(wanted or given.dtype), given.begins, begins)
        elif isinstance(arg, tuple) and len(arg) != 3:
            parts = making.triplets(arg)
            agree(ctx, "csr_array", f"{words}, of triplets")
            found = making.common_dtype(ctx, parts[0], wanted)
            extents = making.shape_of(ctx, *parts[1:]) if extents is None else extents
            with local_step(ctx, "csr_array"):
                begins = division.starts_of("partition", extents[0], ctx.size, asked)
            parts = (parts[0].astype(found, copy=False), *parts[1:])
            rows = rows_of_triplets(ctx, "csr_array", parts, extents, begins)
        elif isinstance(arg, DistributedContainer):
            rows, begins = making.rows_of_container(ctx, "csr_array", arg, words, asked, wanted)
        else:
            given = making.whole(making.compressed(arg, extents) if isinstance(arg, tuple) else arg, wanted)
            making.fits(extents, given.shape)
            agree(ctx, "csr_array", f"{words}, of {given.shape}, elements {_fingerprint(given)}")
            begins = division.starts_of("partition", given.shape[0], ctx.size, asked)
            rows = given[int(begins[ctx.rank]) : int(begins[ctx.rank + 1])].copy()
        if is_balanced:
            begins, old = making.balanced(ctx, rows, begins), begins
            rows = making.moved(ctx, rows, old, begins)
        self._rows = rows_of(ctx, rows, begins)

    @classmethod
    @collective
    def from_local(cls, ctx: Context, rows: Any) -> csr_array:
        """Put the rows of all ranks one after the other. Collective.

        Parameters
        ----------
        ctx
            The context.
        rows
            This rank's rows, which are copied: a matrix of SciPy's with the columns of the whole one. As many columns
            and the same type of elements on every rank.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If it is no matrix, or of a type that SciPy does not compute with. On every rank.
        CollectiveMismatchError
            If the ranks pass different types or numbers of columns.
        """
        check_context(ctx)
        given = making.whole(rows, None, copy=True)
        agree(ctx, "from_local", f"{given.shape[1]} columns of {given.dtype}")
        return cls.of(rows_of(ctx, given, division.starts(division.counts(ctx, given.shape[0]))))

    @classmethod
    @collective
    def from_scipy(
        cls, ctx: Context, matrix: Any = None, root: int = 0, *, partition: PartitionLike | str = Partition.BLOCK
    ) -> csr_array:
        """Divide a matrix of one rank among all ranks. Collective.

        Parameters
        ----------
        ctx
            The context.
        matrix
            On root, a matrix of SciPy's. Ignored on the other ranks, which may pass None.
        root
            The rank that has the matrix; the same on every rank.
        partition
            As for the class.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        InvalidArgumentError, InvalidTypeError
            If it is no matrix, or of a type that SciPy does not compute with. On every rank.
        """
        number = root_number(ctx, root)
        agree(ctx, "from_scipy", f"root {number}, partition {partition}")
        is_balanced = isinstance(partition, str) and partition == making.BALANCED
        asked = Partition.BLOCK if is_balanced else partition
        return cls.of(rows_of(ctx, *making.rows_of_root(ctx, matrix, number, asked, is_balanced)))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows on all ranks, and of columns. Not collective."""
        return self._rows.shape

    @collective
    def balanced(self) -> csr_array:
        """Return the matrix, divided so that all ranks store about as many elements. Collective."""
        rows = self._rows
        agree(rows.context, "balanced", rows.text())
        own = rows.whole()
        begins = making.balanced(rows.context, own, rows.begins)
        return csr_array.of(rows_of(rows.context, making.moved(rows.context, own, rows.begins, begins), begins))

    @on_host
    @collective
    def permute(self, order: Any, *, partition: PartitionLike | str | None = None) -> csr_array:
        """Return the square matrix with its rows and columns in another order: ``matrix[order][:, order]``. Collective.

        Parameters
        ----------
        order
            Which row, and column, comes first, and so on: a permutation of all, as a vector or an array that is the
            same on every rank.
        partition
            How rows and columns are divided then, as for the class; None for as many a rank as before. With ``order``
            and ``sizes`` of :func:`dtl.sparse.csgraph.part_graph`, each rank has a part.

        Raises
        ------
        InvalidArgumentError
            If it is no permutation, the matrix is not square, or the partition does not fit. On every rank.
        """
        rows = self._rows
        if isinstance(order, DistributedContainer):
            order = whole_vector(rows.context, "permute", order)
        with local_step(rows.context, "permute"):
            wanted = selecting.permutation(order, rows.shape)
            begins, column_begins = rows.begins, rows.column_begins
            is_balanced = isinstance(partition, str) and partition == making.BALANCED
            if partition is not None and not is_balanced:
                begins = column_begins = division.starts_of("partition", rows.shape[0], rows.context.size, partition)
        agree(rows.context, "permute", f"{rows.text()}, {fingerprint(wanted)}, partition {partition}")
        found = csr_array.of(selecting.permuted(rows, wanted, begins, column_begins))
        return found.balanced() if is_balanced else found

    @property
    def local_rows(self) -> range:
        """The numbers of the rows that this rank has. Not collective."""
        return range(self._rows.first, self._rows.end)

    @property
    def T(self) -> csc_array:  # noqa: N802 - NumPy's name
        """The transposed matrix, which shares the elements of this one. Not collective."""
        return csc_array.of(self._rows)

    def transpose(self, axes: Any = None, copy: bool = False) -> csc_array:
        """Return the transposed matrix, which shares the elements of this one. Not collective.

        With ``copy=True``, it has its own, and the call is collective. Axes are None or (1, 0).
        """
        _check_axes(axes)
        return self.copy().T if copy else self.T

    @property
    def format(self) -> str:
        """How the matrix is stored: "csr". Not collective."""
        return "csr"

    def tocsr(self, copy: bool = False) -> csr_array:
        """Return the matrix itself, or a copy. Collective for a copy."""
        return self.copy() if copy else self

    @collective
    def tocsc(self, copy: bool = False) -> csc_array:
        """Return the matrix with its columns divided among the ranks: elements move, to a copy. Collective."""
        return csc_array.of(transposed(self._rows, "tocsc"))

    def asformat(self, format: str | None, copy: bool = False) -> csr_array | csc_array:
        """Return the matrix as "csr", as "csc", or as it is for None: :meth:`tocsr`, :meth:`tocsc`. Collective."""
        return as_format(self, format, copy)

    def todense(self) -> DistributedTensor:
        """Return the matrix as a container, as :meth:`toarray` does. Collective."""
        return self.toarray()

    @collective
    def setdiag(self, values: Any, k: int = 0) -> None:
        """Let the elements of a diagonal be others: this matrix changes. Collective.

        Parameters
        ----------
        values
            A number, or a vector or array with one number an element of the diagonal. If there are more or fewer, as
            many are set as there are of both.
        k
            0 for the main diagonal, a positive number for one above it, a negative one for one below.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If there is no such diagonal, or the values do not fit the type of the matrix. On every rank.
        """
        self._rows, self._structure = diagonals.replaced(self._rows, values, k), None

    def to_scipy(self) -> Any:
        """Return this rank's rows as a ``scipy.sparse.csr_array`` with the columns of the whole matrix. Not collective.

        On one rank, it shares the elements of the matrix. Do not change it.
        """
        return self._rows.whole()

    @collective
    def gather_to(self, root: int = 0) -> Any:
        """Return the whole matrix as a ``scipy.sparse.csr_array`` on one rank, and None on the others. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        ctx, number = self._context, root_number(self._context, root)
        agree(ctx, "gather_to", f"root {number}, {self._rows.text()}")
        own = self.to_scipy()
        if ctx.size == 1:
            return own.copy()
        indices = own.indices.astype(index_type(self.shape[1]), copy=False)  # of one type on all ranks
        arrays = (np.diff(own.indptr).astype(np.int64), indices, own.data)
        lengths, columns, data = (gatherv(ctx, each, root=number) for each in arrays)
        if ctx.rank != number:
            return None
        return matrix_of(data, columns, division.starts(lengths), self.shape)

    @collective
    def toarray(self) -> DistributedTensor:
        """Return the matrix as a container of two dimensions, divided by rows as this is. Collective."""
        made = created(
            DistributedTensor,
            self._context,
            self.shape,
            self.dtype,
            self._rows.divided,
            blank=True,
            words=f"toarray {self._rows.text()}",
        )
        self._rows.whole().toarray(out=made.local_view())
        return made

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if _multiplies(other) else _times(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _from_left(self, other)

    def dot(self, other: Any, *, semiring: str | None = None) -> Any:
        """Return the product with a vector, or a matrix: ``self @ other``. Collective.

        Parameters
        ----------
        other
            What is multiplied: a vector, a matrix of any kind, an array that is the same on every rank, or a number.
        semiring
            Of a vector, what takes the place of sums and products: "min_plus", "max_plus", "max_times", "min_times" or
            "or_and". What is not stored takes no part, and a row that stores nothing makes what is neutral, such as
            infinity of "min_plus".

        Raises
        ------
        InvalidArgumentError
            If shapes do not fit, or there is no such semiring. On every rank.
        """
        if semiring is None:
            return self * other if is_number(other) else self @ other
        return _in_semiring(self, other, semiring)

    def assemble(self) -> Assembly:
        """Return a context manager whose block puts the matrix together of what ranks add. Its end is collective.

        Entering it gives a function ``add(rows, columns, values)``: any rank calls it, as often as it wants, for any
        rows; the three spread as arrays do. At the end of the block, the matrix stores the sums of what was added, and
        forgets what it stored before. Where ranks add to the same places as in the block before, in the same order, the
        matrix keeps its arrays, values alone are exchanged, and no memory is allocated for them.

        Raises
        ------
        BoundsError, InvalidArgumentError, InvalidTypeError
            By ``add``, for wrong arguments; then the block's end raises on every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     stiffness = dtl.sparse.csr_array(ctx, (4, 4))
        ...     with stiffness.assemble() as add:
        ...         for left in range(ctx.rank, 3, ctx.size):  # elements between nodes left and left + 1
        ...             nodes = np.array([left, left + 1])
        ...             add(nodes[:, None], nodes, np.array([[1.0, -1.0], [-1.0, 1.0]]))
        ...     diagonal = stiffness.diagonal().gather_to(0)
        ...     print(diagonal if ctx.is_root else [1.0, 2.0, 2.0, 1.0])
        [1. 2. 2. 1.]
        """
        return Assembly(self._rows, getattr(self, "_structure", None), self._put)

    def _by_rows(self, other: Any) -> Rows | None:
        return super()._by_rows(csr_array(self.context, other) if is_scipys(other) else other)

    def _put(self, rows: Rows, structure: Structure) -> None:
        self._rows, self._structure = rows, structure

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<csr_array of {rows} x {columns}, {self.nnz} stored of {self.dtype}, on {self._context.size} ranks>"


def _of_elements(name: str) -> Callable[[csc_array], csc_array]:
    """Return the method of transposed matrices that computes a function of each stored element."""

    def function(self: csc_array) -> csc_array:
        made: csc_array = getattr(self.T, name)().T
        return made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the matrix with ``numpy.{name}`` of its elements. Collective."
    return function


def _along(name: str) -> Callable[..., Any]:
    """Return the method of transposed matrices that chooses from all elements, or from those of each column or row."""

    def function(self: csc_array, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        return getattr(self.T, name)(_other(axis), out, explicit=explicit)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return what :meth:`csr_array.{name}` does, of all elements, or each column or row. Collective."
    return function


class csc_array(Saved):  # noqa: N801 - SciPy's name
    """A transposed :class:`csr_array`, whose elements it shares: its columns are divided among the ranks."""

    __module__ = "dtl.sparse"
    __slots__ = ()

    def __init__(self) -> None:
        raise InvalidTypeError("a csc_array is made of a csr_array: matrix.T")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns. Not collective."""
        rows, columns = self._rows.shape
        return columns, rows

    @property
    def T(self) -> csr_array:  # noqa: N802 - NumPy's name
        """The matrix that this is the transposed one of. Not collective."""
        return csr_array.of(self._rows)

    def transpose(self, axes: Any = None, copy: bool = False) -> csr_array:
        """Return the matrix that this is the transposed one of, as :meth:`csr_array.transpose`."""
        _check_axes(axes)
        return self.copy().T if copy else self.T

    def sum(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """Return the sum of all elements, or of those of each column or row, as :meth:`csr_array.sum`. Collective."""
        return self.T.sum(_other(axis), dtype, out)

    def mean(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """Return the mean of all elements, or of those of each column or row, as :meth:`csr_array.mean`. Collective."""
        return self.T.mean(_other(axis), dtype, out)

    def diagonal(self, k: int = 0) -> DistributedVector:
        """Return a diagonal as a vector, of which each rank has the elements of its columns. Collective."""
        return self.T.diagonal(-k if isinstance(k, (int, np.integer)) else k)

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal, which is numbered as of :meth:`diagonal`. Collective."""
        return self.diagonal(offset).sum()

    max, min, nanmax, nanmin = map(_along, ("max", "min", "nanmax", "nanmin"))

    def argmax(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the greatest element is, as :meth:`csr_array.argmax`. Collective."""
        if axis is None:  # counted row by row
            return self.tocsr().argmax(None, out, explicit=explicit)
        return self.T.argmax(_other(axis), out, explicit=explicit)

    def argmin(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the least element is, as :meth:`csr_array.argmax`. Collective."""
        if axis is None:
            return self.tocsr().argmin(None, out, explicit=explicit)
        return self.T.argmin(_other(axis), out, explicit=explicit)

    def count_nonzero(self, axis: int | None = None) -> Any:
        """Return how many elements are not zero, as :meth:`csr_array.count_nonzero`. Collective."""
        return self.T.count_nonzero(_other(axis))

    def eliminate_zeros(self) -> csc_array:
        """Forget elements that are stored and zero: this matrix changes, and is returned. Collective."""
        self._rows = self.T.eliminate_zeros().rows
        return self

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Let the elements of a diagonal be others, as :meth:`csr_array.setdiag`: this matrix changes. Collective."""
        turned = self.T
        turned.setdiag(values, -k if isinstance(k, (int, np.integer)) else k)
        self._rows = turned.rows

    def nonzero(self) -> tuple[DistributedVector, DistributedVector]:
        """Return the rows and the columns of elements that are not zero, as :meth:`csr_array.nonzero`. Collective."""
        return self.tocsr().nonzero()

    def maximum(self, other: Any) -> Any:
        """Return the greater of elements, as :meth:`csr_array.maximum`. Collective."""
        return self.T.maximum(_turned(other)).T

    def minimum(self, other: Any) -> Any:
        """Return the lesser of elements, as :meth:`csr_array.minimum`. Collective."""
        return self.T.minimum(_turned(other)).T

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Return the matrix with its elements to a power above zero, as :meth:`csr_array.power`. Collective."""
        return self.T.power(n, dtype).T

    @property
    def real(self) -> csc_array:
        """The matrix of the real parts of elements. Collective."""
        return self.T.real.T

    @property
    def imag(self) -> csc_array:
        """The matrix of the imaginary parts of elements. Collective."""
        return self.T.imag.T

    sin, tan, arcsin, arctan = map(_of_elements, ("sin", "tan", "arcsin", "arctan"))
    sinh, tanh, arcsinh, arctanh = map(_of_elements, ("sinh", "tanh", "arcsinh", "arctanh"))
    sqrt, expm1, log1p, sign = map(_of_elements, ("sqrt", "expm1", "log1p", "sign"))
    rint, floor, ceil, trunc = map(_of_elements, ("rint", "floor", "ceil", "trunc"))
    deg2rad, rad2deg = map(_of_elements, ("deg2rad", "rad2deg"))

    def multiply(self, other: Any) -> Any:
        """Return the products of elements, as :meth:`csr_array.multiply`. Collective."""
        return self * other

    def dot(self, other: Any) -> Any:
        """Return the product with a vector, or a matrix: ``self @ other``; with a number, its multiple. Collective."""
        return self * other if is_number(other) else self @ other

    def toarray(self) -> DistributedTensor:
        """Return the matrix as a container of two dimensions, divided by rows: elements move. Collective."""
        return self.tocsr().toarray()

    def todense(self) -> DistributedTensor:
        """Return the matrix as a container, as :meth:`toarray` does. Collective."""
        return self.toarray()

    def gather_to(self, root: int = 0) -> Any:
        """Return the whole matrix as a ``scipy.sparse.csc_array`` on one rank, and None on the others. Collective."""
        whole = self.T.gather_to(root)
        return None if whole is None else whole.T

    @property
    def format(self) -> str:
        """How the matrix is stored: "csc". Not collective."""
        return "csc"

    def tocsc(self, copy: bool = False) -> csc_array:
        """Return the matrix itself, or a copy. Collective for a copy."""
        return self.copy() if copy else self

    def asformat(self, format: str | None, copy: bool = False) -> csr_array | csc_array:
        """Return the matrix as "csr", as "csc", or as it is for None: :meth:`tocsr`, :meth:`tocsc`. Collective."""
        return as_format(self, format, copy)

    def __getitem__(self, key: Any) -> Any:
        return self.tocsr()[key]

    def __pow__(self, power: Any) -> Any:
        return (self.T**power).T

    def __bool__(self) -> bool:
        return bool(self.T)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> csc_array:
        """Return the matrix with elements of another type, as :meth:`csr_array.astype`. Collective."""
        return self.T.astype(dtype, casting, copy).T

    def conj(self, copy: bool = True) -> csc_array:
        """Return the matrix with conjugated elements, as :meth:`csr_array.conj`. Collective."""
        return self.T.conj(copy).T

    def conjugate(self, copy: bool = True) -> csc_array:
        """Return the matrix with conjugated elements, as :meth:`csr_array.conj`. Collective."""
        return self.conj(copy)

    def __round__(self, ndigits: Any = 0) -> csc_array:
        return round(self.T, ndigits).T

    def copy(self) -> csc_array:
        """Return a matrix of its own that stores the same. Collective."""
        return self.T.copy().T

    def __neg__(self) -> csc_array:
        return (-self.T).T

    def __abs__(self) -> csc_array:
        return abs(self.T).T

    def __mul__(self, other: Any) -> Any:
        return (self.T * other).T if is_number(other) else self.tocsr() * other

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return (self.T / other).T if is_number(other) else self.tocsr() / other

    def __add__(self, other: Any) -> Any:
        return self.tocsr() + other

    def __radd__(self, other: Any) -> Any:
        return other + self.tocsr()

    def __sub__(self, other: Any) -> Any:
        return self.tocsr() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.tocsr()

    def __lt__(self, other: Any) -> Any:
        return (self.transpose() < _turned(other)).T

    def __le__(self, other: Any) -> Any:
        return (self.transpose() <= _turned(other)).T

    def __gt__(self, other: Any) -> Any:
        return (self.transpose() > _turned(other)).T

    def __ge__(self, other: Any) -> Any:
        return (self.transpose() >= _turned(other)).T

    def __eq__(self, other: object) -> Any:
        return (self.transpose() == _turned(other)).T

    def __ne__(self, other: object) -> Any:
        return (self.transpose() != _turned(other)).T

    __hash__ = None  # type: ignore[assignment]

    @collective
    def tocsr(self, copy: bool = False) -> csr_array:
        """Return the matrix by rows, divided as the columns of the other one were: elements move. Collective."""
        return csr_array.of(transposed(self._rows, "tocsr"))

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if _multiplies(other) else _times(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _from_left(self, other)

    def __repr__(self) -> str:
        return f"{self.T!r}.T"


def issparse(x: Any) -> bool:
    """Say whether a thing is a sparse matrix of this package. Not collective."""
    return isinstance(x, HasRows)


@collective
def as_format(matrix: csr_array | csc_array, format: Any, copy: bool = False) -> csr_array | csc_array:
    """Return a matrix as it is asked for. Collective."""
    if format is not None and (not isinstance(format, str) or format not in ("csr", "csc")):
        raise InvalidArgumentError(f"format {format!r} is none of 'csr' and 'csc'")
    agree(matrix.context, "asformat", f"{matrix.rows.text()} {matrix.format} as {format}, copy {bool(copy)}")
    if format is None:
        return matrix.copy() if copy else matrix
    return matrix.tocsr(copy) if format == "csr" else matrix.tocsc(copy)


def _check_axes(axes: Any) -> None:
    """Refuse axes of a transposed matrix that are not those of NumPy's functions."""
    if axes is not None and tuple(axes) not in ((1, 0), (-1, -2), (-1, 0), (1, -2)):
        raise InvalidArgumentError(f"transpose: axes {axes!r} must be None or (1, 0)")


def _other(axis: Any) -> Any:
    """Return what an axis is of the transposed matrix; what is no axis as it is, for whoever refuses it."""
    if isinstance(axis, tuple):
        return tuple(_other(each) for each in axis)
    return -1 - axis if isinstance(axis, (int, np.integer)) and -2 <= axis < 2 else axis


def _turned(other: Any) -> Any:
    """Return the transposed operand, of what is a sparse matrix."""
    return other.T if isinstance(other, HasRows) or is_scipys(other) else other


def _multiplies(other: Any) -> bool:
    """Say whether a thing has operators of its own for what it is multiplied with: an operator of dtl.sparse.linalg."""
    return getattr(type(other), "__array_ufunc__", True) is None and not isinstance(other, HasRows)


@collective
def _from_left(matrix: csr_array | csc_array, other: Any) -> Any:
    """Return the product of a vector, or of a matrix of several rows, with a sparse matrix."""
    if is_scipys(other):
        return csr_array(matrix.context, other) @ matrix
    is_matrix = np.ndim(other) == 2
    made = _times(matrix.T, (other if hasattr(other, "T") else np.asarray(other)).T if is_matrix else other)
    return made.T if is_matrix else made


@on_host
@collective
def _times(matrix: csr_array | csc_array, other: Any) -> Any:
    """Return the product with a vector or a matrix of one column or more, divided as the rows of the product."""
    other = csr_array(matrix.context, other) if is_scipys(other) else other
    if isinstance(other, HasRows):
        return csr_array.of(sparse_product(matrix.tocsr().rows, other.tocsr().rows, "matmul"))
    is_transposed = isinstance(matrix, csc_array)
    rows = matrix.rows
    made, part, out = _operands(matrix, other, "matmul", lambda of: np.result_type(rows.dtype, of))
    (transposed_product if is_transposed else product)(rows.local, rows.ghosts(), part, out)
    return made


@on_host
@collective
def _in_semiring(matrix: csr_array, other: Any, name: str) -> Any:
    """Return the product with a vector in a semiring."""
    rows = matrix.rows
    with local_step(rows.context, "dot"):
        if np.ndim(other) != 1:
            raise InvalidArgumentError(f"dot: a semiring takes a vector, not {np.shape(other)}")
        ring, _ = semirings.semiring_of(name, rows.dtype)
    made, part, out = _operands(
        matrix, other, f"dot {name}", lambda of: semirings.semiring_of(name, np.result_type(rows.dtype, of))[1]
    )
    semirings.product(ring, rows.local, rows.ghosts(), part, out)
    return made


def _operands(
    matrix: csr_array | csc_array, other: Any, op: str, dtype_of: Callable[[Any], Any]
) -> tuple[Any, Array, Array]:
    """Return the container of a product, and this rank's parts of the second factor and of it. Collective."""
    rows, ctx = matrix.rows, matrix.context
    is_transposed = isinstance(matrix, csc_array)
    inner, outer = (rows.begins, rows.column_begins) if is_transposed else (rows.column_begins, rows.begins)
    with local_step(ctx, "matmul"):
        given = other if isinstance(other, DistributedContainer) else np.asarray(other)
        if given is other and isinstance(given, DistributedContainer):
            refuse_closed(given)
            refuse_other_context(f"{op}: the container", given, ctx)
        if given.ndim not in (1, 2) or given.shape[0] != inner[-1]:
            raise InvalidArgumentError(
                f"matmul: shapes {matrix.shape} and {given.shape} not aligned: {matrix.shape[1]} (dim 1) != "
                f"{given.shape[0] if given.ndim else 1} (dim 0)"
            )
        dtype = dtype_of(making.checked_dtype(given.dtype))
    kind: Any = DistributedVector if given.ndim == 1 else DistributedTensor
    what = f"a container of {given.dtype}" if given is other else f"an array, elements {fingerprint(given)}"
    words = f"{op} {rows.text()}{'.T' * is_transposed} with {what}"
    shape = (int(outer[-1]), *given.shape[1:])
    made = created(kind, ctx, shape, dtype, division.division_of(outer), blank=True, words=words)
    part = np.ascontiguousarray(_part(given, inner, ctx), dtype)
    return made, part, made.local_view()


def _part(given: Any, begins: Array, ctx: Context) -> Array:
    """Return this rank's elements of a vector, or rows of a matrix, as the matrix has them. Collective if they move."""
    if isinstance(given, np.ndarray):
        return given[int(begins[ctx.rank]) : int(begins[ctx.rank + 1])]
    own: Array = placed("matmul", given, begins).local_view()
    return own


def _is_shape(arg: Any) -> bool:
    """Say whether an argument is a shape, and no triplets."""
    return isinstance(arg, tuple) and len(arg) == 2 and all(np.ndim(each) == 0 for each in arg)


def _fingerprint(matrix: Matrix) -> str:
    return ", ".join(fingerprint(each) for each in (matrix.data, matrix.indices, matrix.indptr))
