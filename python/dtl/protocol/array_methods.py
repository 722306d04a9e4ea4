"""Methods of containers with NumPy's names, which call the functions of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np

from .._lazy import late
from .._native.arguments import integer
from .._native.keywords import check_sort_kind
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective
from .small_arguments import whole

if TYPE_CHECKING:
    from ..containers.operators import Transposed
    from ..containers.types import Owned

_argpartition = late(".algorithms.indexing_routines", "argpartition")
_check_places = late(".algorithms.indexing_routines", "check_places")
_choose = late(".algorithms.indexing_routines", "choose")
_compress = late(".algorithms.indexing_routines", "compress")
_real = late(".algorithms.numpy_functions", "real")
_imag = late(".algorithms.numpy_functions", "imag")
_argsort = late(".algorithms.numpy_functions", "argsort")
_sort = late(".algorithms.sort", "sort")
_sorted_copy = late(".algorithms.numpy_functions", "sort")
_fill = late(".algorithms.fill", "fill")
_repeat = late(".algorithms.taking", "repeat")
_take = late(".algorithms.taking", "take")
_swapaxes = late(".algorithms.manipulation", "swapaxes")
_diagonal = late(".linalg.numpy_functions", "diagonal")
_trace = late(".linalg.numpy_functions", "trace")
_written = late(".algorithms.output", "written")
_searchsorted = late(".algorithms.numpy_functions", "searchsorted")


class ArrayMethods:
    """NumPy's methods of arrays. All are collective, except for those that work on each element alone."""

    shape: Any
    ndim: Any
    global_size: Any

    if TYPE_CHECKING:
        real = imag = Transposed()
    else:

        @property
        def real(self) -> Any:
            """The real parts, as a copy. Not collective."""
            return _real(self)

        @property
        def imag(self) -> Any:
            """The imaginary parts, as a copy. Not collective."""
            return _imag(self)

    @overload
    def conj(self: Owned, out: Any = ..., /) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def conj(self, out: Any = ..., /) -> Any: ...
    def conj(self, out: Any = None, /) -> Any:
        """Return the complex conjugates, in ``out`` where that is a container. Not collective."""
        return np.conjugate(self, out=out)  # type: ignore[call-overload]  # a container has NumPy's protocol of ufuncs

    conjugate = conj

    @collective
    def item(self, *index: Any) -> Any:
        """Return an element as a Python number: the only one, or the one with a given index. Collective.

        Parameters
        ----------
        index
            Nothing if there is only one element; an index in C order; or one index for each dimension.

        Raises
        ------
        InvalidArgumentError
            If there is no index, and the container has not exactly one element.
        BoundsError
            If the index is out of range. On every rank.
        """
        if not index:
            if self.global_size != 1:
                raise InvalidArgumentError(f"item: one of {self.global_size} elements; say its index")
            index = (0,)
        if len(index) == 1 and not isinstance(index[0], tuple):
            return _take(self, index[0]).item()
        of: Any = self
        return of[index[0] if len(index) == 1 else index].item()

    def fill(self, value: Any) -> None:
        """Set every element to a value. Collective; see :func:`dtl.fill`."""
        _fill(self, value)

    def sort(
        self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
    ) -> None:
        """Sort in place along a dimension. Collective; see :func:`dtl.sort`.

        The parameters are those of ``ndarray.sort``. Any kind is stable, whether it is asked for or not.
        """
        of: Any = self
        axis = integer("axis", axis)
        if order is None and (self.ndim == 1 or axis in (-1, self.ndim - 1)):
            check_sort_kind(kind, stable, descending)
            _sort(self, bool(descending), axis=axis)
        else:
            of[...] = _sorted_copy(self, axis, kind, order, stable=stable, descending=descending)

    @overload
    def argsort(  # type: ignore[misc]  # a mixin of it
        self: Owned, axis: int = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ..., descending: Any = ...
    ) -> Owned: ...
    @overload
    def argsort(
        self, axis: int | None = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ..., descending: Any = ...
    ) -> Any: ...
    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
    ) -> Any:
        """Return the indices that sort along a dimension; None for all. Collective; see :func:`dtl.argsort`."""
        return _argsort(self, axis, kind, order, stable=stable, descending=descending)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Return where values belong in this container, which is sorted, or which indices sort. Collective.

        See :func:`dtl.searchsorted`.
        """
        return _searchsorted(self, v, side, sorter)

    @collective
    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Put some elements in their sorted places, with smaller ones before and larger ones behind. Collective.

        As ``ndarray.partition``. All elements are sorted, which is one of the orders that this allows.
        """
        _check_places(self, kth, axis, kind)
        self.sort(axis, order=order)

    @overload
    def argpartition(self: Owned, kth: Any, axis: int = ..., kind: str = ..., order: Any = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def argpartition(self, kth: Any, axis: int | None = ..., kind: str = ..., order: Any = ...) -> Any: ...
    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
        """Return the indices in an order as :meth:`partition` makes it. Collective."""
        return _argpartition(self, kth, axis, kind, order)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """Return what lies along a dimension where a condition is true. Collective; as ``ndarray.compress``."""
        return _compress(condition, self, axis, out)

    def choose(self, choices: Any, *more: Any, out: Any = None, mode: Any = "raise") -> Any:
        """Return for each element the element of the choice of that number. Collective; as ``ndarray.choose``.

        The choices are a sequence, or the arguments.
        """
        return _choose(self, (choices, *more) if more else choices, out, mode)

    def tolist(self) -> NoReturn:
        """Raise an error on any number of ranks, because the elements are divided among them.

        Use ``local_view().tolist()`` for this rank's elements, or ``gather_to(root).tolist()`` for all on one rank.
        """
        raise InvalidTypeError(
            "a container does not become a list by itself, on any number of ranks: local_view().tolist() has this "
            "rank's elements, and gather_to(root).tolist() on one rank the whole"
        )

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Return a container with each element, or row, repeated. Collective; see :func:`dtl.repeat`."""
        return _repeat(self, whole(repeats), axis)

    @overload
    def swapaxes(self: Owned, axis1: int, axis2: int) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def swapaxes(self, axis1: int, axis2: int) -> Any: ...
    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Return a copy with two dimensions exchanged. Collective; see :func:`dtl.permute_dims`."""
        return _swapaxes(self, axis1, axis2)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return a copy of the diagonal of two dimensions. Collective; as ``ndarray.diagonal``.

        :func:`dtl.linalg.diagonal` is of the last two.
        """
        return _diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
        """Return the sum of the diagonal of two dimensions. Collective; as ``ndarray.trace``.

        :func:`dtl.linalg.trace` is of the last two.
        """
        made = _trace(self, offset, axis1, axis2, dtype)
        return made if out is None else _written("trace", made, out)
