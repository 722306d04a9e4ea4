"""Operators and sums of sparse matrices, as SciPy has them."""

from __future__ import annotations

import operator
from typing import Any, Callable, TypeVar

import numpy as np

from .._native.arguments import flag, integer
from ..comm.reductions import allreduce
from ..containers.base import DistributedContainer
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import SUM
from ..runtime.agreement import agree, collective, local_step
from ..runtime.context import Context
from . import division, elements, elementwise, extremes, making, places, selecting
from .local_rows import Matrix
from .placing import on_host, whole_vector
from .products import transposed_product
from .rows import HasRows, Rows

Made = TypeVar("Made", bound="Operators")
Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Operator = Callable[[Any, Any], Any]

#: What numbers are divided by that are less exact than float64: of their own type.
_FLOATS: dict[np.dtype[Any], Any] = {np.dtype(kind): kind for kind in (np.float32, np.complex64)}

#: The rules of numpy.can_cast.
_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")

#: In what the elements of columns are added up that are less exact.
_DOUBLE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128)}


def _function(name: str) -> Callable[[Made], Made]:
    """Return a method that computes a function of NumPy of each stored element; of zero it makes zero."""
    ufunc = getattr(np, name)

    def function(self: Made) -> Made:
        return self._changed(name, ufunc)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return the matrix with ``numpy.{name}`` of its elements. Collective."
    return function


class Operators(HasRows):
    """Operators of matrices by rows. All of them are collective, and return a matrix that is divided as the first."""

    __slots__ = ()

    def _by_rows(self, other: Any) -> Rows | None:
        """Return what another matrix consists of by rows; None if it is none. Collective for a transposed one."""
        return other.tocsr().rows if isinstance(other, HasRows) else None

    @collective
    def _changed(self: Made, op: str, change: Callable[[Array], Array], words: str = "") -> Made:
        return self.of(elementwise.changed(self._rows, op, change, words))

    @collective
    def _combined(self: Made, op: str, other: Any, combine: Operator) -> Any:
        """Return what an operator makes of two matrices, of which zeros and zeros make zeros."""
        there = self._by_rows(other)
        if there is not None:
            return self.of(elementwise.combined(self._rows, there, op, combine))
        if elementwise.is_number(other) and other == 0:
            return self._changed(op, np.copy)
        return self._refuse(op, other)

    def _refuse(self, op: str, other: Any) -> Any:
        raise elementwise.NotSparseError(
            f"{op}: a sparse matrix and {type(other).__name__} would make a matrix that is not sparse; use "
            "matrix.toarray()"
        )

    @collective
    def _scaled(self: Made, op: str, other: Any, scale: Operator) -> Any:
        """Return what an operator makes of elements and numbers, of which zeros make zeros."""
        there = self._by_rows(other)
        if there is not None:
            if scale is operator.truediv:
                return self._refuse(op, other)
            if there.shape != self._rows.shape and there.context is self.context:
                return self._spread(op, there, scale)
            return self.of(elementwise.combined(self._rows, there, op, lambda a, b: a.multiply(b)))
        is_array, other = not elementwise.is_number(other), elementwise.one_number(self.context, op, other)
        if elementwise.is_number(other):
            is_division = scale is operator.truediv and not is_array
            widens = is_division and np.can_cast(self.dtype, np.float64)  # as SciPy does
            kind = np.float64 if widens else self.dtype

            def change(data: Array) -> Array:
                return scale(data.astype(kind, copy=False), other)

            return self.of(elementwise.changed(self._rows, op, change, f"{other!r}"))
        return self.of(elementwise.scaled(self._rows, other, op, scale))

    def _spread(self: Made, op: str, there: Rows, scale: Operator) -> Any:
        """Return the products of elements with those of a matrix of one row or column, or the other way round."""
        made: Any = self.of
        first, second = self._rows, there
        if first.shape == (1, 1) or (1 in first.shape and 1 not in second.shape):
            first, second = second, first
        (height, width), shape = first.shape, second.shape
        if shape == (1, 1):
            kind = np.result_type(first.dtype, second.dtype)  # whatever the value is, of which an old NumPy makes more
            return (made(first).astype(kind, copy=False) * made(second)[0, 0]).eliminate_zeros()
        if shape not in ((1, width), (height, 1)):
            if {first.shape, shape} == {(1, max(width, shape[1])), (max(height, shape[0]), 1)}:
                column, row = (first, second) if width == 1 else (second, first)
                return made(column) @ made(row)
            return self.of(elementwise.combined(first, second, op, scale))  # which says that they do not fit
        whole = made(second).toarray()
        products = elementwise.scaled(first, whole if shape[1] == 1 else whole[0], op, scale)
        return self.of(elementwise.without_zeros(products))

    @collective
    def _compared(self: Made, op: str, other: Any, compare: Operator) -> Any:
        there = self._by_rows(other)
        if there is not None:
            if compare in (operator.eq, operator.le, operator.ge):
                return self._refuse(op, other)
            return self.of(elementwise.combined(self._rows, there, op, compare))
        if elementwise.is_number(other):
            return self.of(elementwise.compared(self._rows, other, op, compare))
        return self._refuse(op, other)

    def __neg__(self: Made) -> Made:
        return self._changed("neg", operator.neg)

    def __abs__(self: Made) -> Made:
        return self._changed("abs", abs)

    def __add__(self, other: Any) -> Any:
        return self._combined("add", other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self._combined("add", other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._combined("subtract", other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return -self._combined("subtract", other, operator.sub)

    def __mul__(self, other: Any) -> Any:
        return self._scaled("multiply", other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self._scaled("multiply", other, operator.mul)

    def __truediv__(self, other: Any) -> Any:
        return self._scaled("divide", other, operator.truediv)

    @collective
    def __pow__(self, power: Any) -> Any:
        if not elementwise.is_number(power) or np.real(power) <= 0:
            return self._refuse("power", power)
        return self._changed("power", lambda data: data**power, f"{power!r}")

    def __lt__(self, other: Any) -> Any:
        return self._compared("less", other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compared("less_equal", other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compared("greater", other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compared("greater_equal", other, operator.ge)

    def __eq__(self, other: object) -> Any:
        return self._compared("equal", other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compared("not_equal", other, operator.ne)

    __hash__ = None  # type: ignore[assignment]

    sin, tan, arcsin, arctan = map(_function, ("sin", "tan", "arcsin", "arctan"))
    sinh, tanh, arcsinh, arctanh = map(_function, ("sinh", "tanh", "arcsinh", "arctanh"))
    sqrt, expm1, log1p, sign = map(_function, ("sqrt", "expm1", "log1p", "sign"))
    rint, floor, ceil, trunc = map(_function, ("rint", "floor", "ceil", "trunc"))
    deg2rad, rad2deg = map(_function, ("deg2rad", "rad2deg"))

    @collective
    def power(self, n: Any, dtype: Any = None) -> Any:
        """Return the matrix with its elements to a power above zero, of the type that is asked for. Collective."""
        return (self if dtype is None else self.astype(dtype)) ** n

    @collective
    def maximum(self, other: Any) -> Any:
        """Return the greater of elements of two matrices, or of a matrix and a number not above zero. Collective."""
        return self._extreme("maximum", other, lambda number: number <= 0)

    @collective
    def minimum(self, other: Any) -> Any:
        """Return the lesser of elements of two matrices, or of a matrix and a number not below zero. Collective."""
        return self._extreme("minimum", other, lambda number: number >= 0)

    @collective
    def _extreme(self: Made, name: str, other: Any, keeps_zeros: Callable[[Any], bool]) -> Any:
        there = self._by_rows(other)
        if there is not None:
            return self.of(elementwise.combined(self._rows, there, name, lambda a, b: getattr(a, name)(b)))
        if not elementwise.is_number(other) or not keeps_zeros(other):
            return self._refuse(name, other)
        made = elementwise.changed(self._rows, name, lambda data: getattr(np, name)(data, other), f"{other!r}")
        return self.of(elementwise.without_zeros(made))

    def __bool__(self) -> bool:
        raise InvalidArgumentError("a matrix is neither true nor false; ask (a != b).eliminate_zeros().nnz == 0")

    def multiply(self, other: Any) -> Any:
        """Return the products of elements: ``self * other``. Collective.

        Parameters
        ----------
        other
            A number, a matrix, a container, or an array that is the same on every rank. Its shape and that of the
            matrix spread as those of arrays do: a matrix of one row times an array of several is one of several.

        Raises
        ------
        InvalidArgumentError
            If the shapes do not fit. On every rank.
        """
        return self * other

    @collective
    def astype(self: Made, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Made:
        """Return the matrix with elements of another type. Collective.

        Parameters
        ----------
        dtype
            The type.
        casting
            Which casts are allowed, as of ``numpy.can_cast``.
        copy
            False for the matrix itself if it has this type.

        Raises
        ------
        InvalidTypeError
            If sparse matrices hold no such type, casting does not allow it, or copy is not a truth value.
        """
        wanted = making.checked_dtype(dtype)
        if not isinstance(casting, str) or casting not in _CASTING:
            raise InvalidArgumentError(f"casting {casting!r} is none of {', '.join(_CASTING)}")
        if not np.can_cast(self.dtype, wanted, casting):  # type: ignore[arg-type]
            raise InvalidTypeError(f"astype: {self.dtype} is not cast to {wanted} according to the rule {casting!r}")
        if flag("copy", copy) or wanted != self.dtype:
            return self._changed("astype", lambda data: data.astype(wanted), f"{wanted}, copy {copy}")
        agree(self.context, "astype", f"{self._rows.text()}, {wanted}, copy {copy}")
        return self

    def conj(self: Made, copy: bool = True) -> Made:
        """Return the matrix with conjugated elements. Collective.

        With ``copy=False``, it is the matrix itself if its elements are real.
        """
        if not copy and self.dtype.kind != "c":
            return self
        return self._changed("conj", lambda data: np.array(data.conj()))

    def conjugate(self: Made, copy: bool = True) -> Made:
        """Return the matrix with conjugated elements, as :meth:`conj`. Collective."""
        return self.conj(copy)

    def __round__(self: Made, ndigits: Any = 0) -> Made:
        digits = 0 if ndigits is None else ndigits
        return self._changed("round", lambda data: np.around(data, digits), f"{digits!r}")

    @property
    def real(self: Made) -> Made:
        """The matrix of the real parts of elements. Collective."""
        return self._changed("real", lambda data: np.array(data.real))

    @property
    def imag(self: Made) -> Made:
        """The matrix of the imaginary parts of elements. Collective."""
        return self._changed("imag", lambda data: np.array(data.imag))

    def copy(self: Made) -> Made:
        """Return a matrix of its own that stores the same. Collective."""
        return self._changed("copy", np.copy)

    @collective
    def eliminate_zeros(self: Made) -> Made:
        """Forget elements that are stored and zero: this matrix changes, and is returned. Collective."""
        agree(self.context, "eliminate_zeros", self._rows.text())
        self._rows = elementwise.without_zeros(self._rows)
        return self

    @collective
    def sum(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """Return the sum of all elements, or of those of each column or row. Collective.

        Parameters
        ----------
        axis
            None, or both axes, for the sum of all, 0 for one sum a column, 1 for one a row.
        dtype
            The type of the result, and of sums if it holds more than that of NumPy's; None for that.
        out
            None, which NumPy's functions pass.

        Returns
        -------
        scalar or DistributedVector
            Of the dtype of NumPy's sums, or the one that is asked for; columns of single precision are added up in
            double. With an axis, a vector that is divided as the columns or rows are.

        Raises
        ------
        InvalidArgumentError
            If the axis is none of these. On every rank.
        """
        rows = self._rows
        with local_step(rows.context, "sum"):
            along = _axis(axis)
            wanted, of = _sums_of(rows.dtype, dtype)
            extremes.no_out("sum", out)
        if along is None:
            agree(rows.context, "sum", f"{rows.text()}, {wanted}")
            own = rows.local.own.data.sum(dtype=of) + rows.local.other.data.sum(dtype=of)
            return np.asarray(allreduce(rows.context, np.array([own], of), SUM)).astype(wanted)[0]
        begins = rows.column_begins if along == 0 else rows.begins
        words = f"sum {rows.text()}, axis {along}"
        divided = division.division_of(begins)
        made = created(DistributedVector, rows.context, (int(begins[-1]),), wanted, divided, words=words)
        part = made.local_view()
        if along == 1:
            part[...] = (_row_sums(rows.local.own, of) + _row_sums(rows.local.other, of)).astype(wanted)
        else:
            wide = _DOUBLE.get(of, of)
            sums = np.zeros(len(part), wide)  # a column has up to as many elements as there are rows
            transposed_product(rows.local, rows.ghosts(), np.ones(rows.end - rows.first, wide), sums)
            part[...] = sums.astype(wanted)
        return made

    @collective
    def mean(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """Return the mean of all elements, those that are not stored among them, or of each column or row. Collective.

        Parameters, result and errors are those of :meth:`sum`; without ``dtype``, integers have means of float64.
        """
        height, width = self._rows.shape
        along = _axis(axis)
        found, count = self.sum(axis, dtype, out), {None: height * width, 0: height, 1: width}[along]
        made = found / _FLOATS.get(found.dtype, float)(count)  # NumPy before 2 lets a number widen one element
        return made if dtype is None else made.astype(dtype)

    @collective
    def max(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the greatest element, those that are not stored among them, or that of each column or row. Collective.

        Parameters
        ----------
        axis
            None for that of all, 0 for one a column, 1 for one a row.
        out
            None, which NumPy's functions pass.
        explicit
            Whether to choose from stored elements alone; a column or row that stores none has 0.

        Returns
        -------
        scalar or DistributedVector
            Of the dtype of the matrix. With an axis, a vector that is divided as the columns or rows are. NaN where an
            element is.

        Raises
        ------
        InvalidArgumentError
            If the axis is none of these, there is nothing to choose from, or elements are complex. On every rank.
        """
        return extremes.extreme(self._rows, "max", _axis(axis), out, explicit)

    @collective
    def min(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the least element, those that are not stored among them, or that of each column or row. Collective.

        Parameters, result and errors are those of :meth:`max`.
        """
        return extremes.extreme(self._rows, "min", _axis(axis), out, explicit)

    @collective
    def nanmax(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the greatest element that is not NaN, as :meth:`max`; NaN where all are. Collective."""
        return extremes.extreme(self._rows, "nanmax", _axis(axis), out, explicit)

    @collective
    def nanmin(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the least element that is not NaN, as :meth:`min`; NaN where all are. Collective."""
        return extremes.extreme(self._rows, "nanmin", _axis(axis), out, explicit)

    @collective
    def argmax(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the greatest element is, those that are not stored among them: of equal ones the first.

        Collective. The place is that in ``toarray()``, also where an element is NaN.

        Parameters
        ----------
        axis
            None for the number of that of all, counted row by row; 0 for its row in each column, 1 for its column in
            each row.
        out
            None, which NumPy's functions pass.
        explicit
            Whether to choose from stored elements alone; a column or row that stores none has 0.

        Returns
        -------
        int or DistributedVector
            With an axis, a vector of int64 that is divided as the columns or rows are.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            As of :meth:`max`. On every rank.
        """
        return places.of_extreme(self._rows, "argmax", _axis(axis), out, explicit)

    @collective
    def argmin(self, axis: int | None = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the least element is, as :meth:`argmax`. Collective."""
        return places.of_extreme(self._rows, "argmin", _axis(axis), out, explicit)

    @collective
    def count_nonzero(self, axis: int | None = None) -> Any:
        """Return how many elements are not zero: of all, or of each column or row. Collective.

        Parameters and result are those of :meth:`sum`.
        """
        return self._changed("count_nonzero", lambda data: (data != 0).astype(np.int64)).sum(axis)

    @collective
    def nonzero(self) -> tuple[DistributedVector, DistributedVector]:
        """Return the rows and the columns of elements that are not zero, of which each rank has its own. Collective."""
        return extremes.found(self._rows)[:2]

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal, which is numbered as of :meth:`diagonal`. Collective."""
        return self.diagonal(offset).sum()

    @collective
    def diagonal(self, k: int = 0) -> DistributedVector:
        """Return a diagonal as a vector, of which each rank has the elements of its rows. Collective.

        Parameters
        ----------
        k
            0 for the main diagonal, a positive number for one above it, a negative one for one below.
        """
        rows = self._rows
        with local_step(rows.context, "diagonal"):
            number = integer("k", k)
            found = np.asarray(rows.whole().diagonal(rows.first + number))
        agree(rows.context, "diagonal", f"k {number} of {rows.text()}")
        if number == 0 and rows.shape[0] == rows.shape[1]:
            made = created(DistributedVector, rows.context, (rows.shape[0],), rows.dtype, rows.divided, blank=True)
            made.local_view()[...] = found
            return made
        return DistributedVector.from_local(rows.context, found)

    @on_host
    @collective
    def __getitem__(self: Made, key: Any) -> Any:
        keys = [_whole_key(self.context, each) for each in (key if isinstance(key, tuple) else (key,))]
        key = tuple(keys) if isinstance(key, tuple) else keys[0]
        if elements.is_mask(key):
            return elements.where(self._rows, key)
        with local_step(self.context, "getitem"):
            row, column = selecting.both(key)
            every, are_single = selecting.of_ix(row, column), selecting.are_lists(row, column)
        ends = [elementwise.is_number(each) for each in (row, column)]
        if all(ends):
            return elements.element(self._rows, row, column)
        if every is None and are_single:
            made = elements.of_lists(self._rows, row, column)
            return self.of(made) if isinstance(made, Rows) else made
        row, column = (row, column) if every is None else every
        if any(ends):
            with local_step(self.context, "getitem"):
                row, column = (
                    [selecting.place(name, each, extent)] if is_one else each
                    for name, each, extent, is_one in zip(("row", "column"), (row, column), self._rows.shape, ends)
                )
        return self.of(selecting.selected(self._rows, row, column))


def _whole_key(ctx: Context, key: Any) -> Any:
    """Return a subscript, of a vector its elements on every rank. Collective for a vector."""
    return whole_vector(ctx, "getitem", key) if isinstance(key, DistributedContainer) and key.ndim == 1 else key


def _axis(axis: Any) -> int | None:
    """Return 0 or 1, or None, which also a tuple of both is."""
    if isinstance(axis, tuple):
        axes = {_axis(each) for each in axis}
        if len(axes) != len(axis) or None in axes or not axes:
            raise InvalidArgumentError(f"axis {axis!r} names no axis, or one twice")
        axis = None if len(axes) == 2 else axis[0]
    if axis is None:
        return None
    number = integer("axis", axis)
    if not -2 <= number < 2:
        raise InvalidArgumentError(f"axis {number} outside [-2, 2)")
    return number % 2


def _sums_of(dtype: np.dtype[Any], asked: Any) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the type of sums of elements of a type, and the type in which they are added up."""
    usual = np.zeros(0, dtype).sum().dtype
    wanted = usual if asked is None else making.checked_dtype(asked)
    return wanted, np.result_type(usual, wanted)


def _row_sums(rows: Matrix, dtype: Any) -> Array:
    """Return the sum of each row."""
    return np.asarray(rows.sum(axis=1, dtype=dtype)).reshape(-1)
