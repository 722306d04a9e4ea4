"""Eigenvalues and eigenvectors, which rank 0 computes of the whole matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algorithms.exchange import share
from ..containers.base import check_container
from ..containers.layout import BLOCK, REPLICATED
from ..exceptions import InvalidArgumentError
from ..runtime.scheduler import algorithm
from . import stacks
from .matrix_arguments import check_matrix, gathered, inexact, of_root, real

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class EighResult(NamedTuple):
    """What ``eigh`` returns."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """What ``eig`` returns."""

    eigenvalues: Any
    eigenvectors: Any


EighResult.__module__ = EigResult.__module__ = "dtl.linalg"


@algorithm
def eigh(a: Any, UPLO: Any = "L") -> EighResult:  # noqa: N803 - NumPy's name
    """Return the eigenvalues and eigenvectors of a Hermitian matrix. Collective.

    Parameters
    ----------
    a
        A container of shape (n, n), divided in any way.
    UPLO
        Which triangle of a is read: ``"L"`` or ``"U"``.

    Returns
    -------
    EighResult of containers
        The eigenvalues in ascending order, on every rank (PARTITION_REPLICATED), and the eigenvectors as columns,
        divided by blocks of rows. The largest entry of each eigenvector is real and positive.

    Raises
    ------
    InvalidTypeError
        If a is no container. On every rank.
    LinAlgError
        If a is not square, or the computation does not converge. On every rank.
    InvalidArgumentError
        If UPLO is another. On every rank.
    MemoryError
        If rank 0 has not the memory for a, its eigenvectors and what is in between. On every rank.

    Notes
    -----
    Rank 0 has the whole, and computes alone. Of the covariances of a tall matrix, ``svd`` of that matrix gives the
    eigenvectors with no more than a triangle on rank 0.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[2.0, 1.0], [1.0, 2.0]]))
    ...     values, vectors = dtl.linalg.eigh(a)
    ...     print(np.round(values.local_view(), 6), vectors.shape)
    [1. 3.] (2, 2)
    """
    _check_triangle(UPLO)
    if stacks.is_stack(a):
        pairs = stacks.each("eigh", UPLO, (a,), lambda x: stacks.oriented(*np.linalg.eigh(x, UPLO)), square=True)
        return EighResult(*pairs)
    check_matrix("a", a, square=True)
    share(a, "eigh", f"UPLO {UPLO}")
    dtype = inexact(a.dtype)
    whole = gathered(a, "eigh", 4)
    compute: Any = lambda: stacks.oriented(*np.linalg.eigh(whole.astype(dtype, copy=False), UPLO))  # noqa: E731 - one line
    of_values = a.shape[:1], real(dtype), REPLICATED
    return EighResult(*of_root(a, "eigh", compute, of_values, (a.shape, dtype, BLOCK)))


@algorithm
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803 - NumPy's name
    """Return the eigenvalues of a Hermitian matrix, in ascending order, on every rank. Collective.

    Parameters and errors are those of :func:`eigh`. Rank 0 has the whole matrix, and computes alone.
    """
    _check_triangle(UPLO)
    if stacks.is_stack(a):
        return stacks.each("eigvalsh", UPLO, (a,), lambda x: np.linalg.eigvalsh(x, UPLO), square=True)
    check_matrix("a", a, square=True)
    share(a, "eigvalsh", f"UPLO {UPLO}")
    dtype = inexact(a.dtype)
    whole = gathered(a, "eigvalsh", 3)
    compute: Any = lambda: (np.linalg.eigvalsh(whole.astype(dtype, copy=False), UPLO),)  # noqa: E731 - one line
    return of_root(a, "eigvalsh", compute, (a.shape[:1], real(dtype), REPLICATED))[0]


@algorithm
def eig(a: Any) -> EigResult:
    """Return the eigenvalues and eigenvectors of a square matrix, as complex numbers. Collective.

    Parameters, result and errors are those of :func:`eigh`, but that the eigenvalues come in no order, and all is
    complex, also where NumPy's is real. Rank 0 has the whole matrix, and computes alone.
    """
    wide = _complex(a)

    def both(x: Array) -> tuple[Array, Array]:
        values, vectors = np.linalg.eig(x)
        return stacks.oriented(values.astype(wide), vectors.astype(wide))

    if stacks.is_stack(a):
        return EigResult(*stacks.each("eig", "", (a,), both, square=True))
    check_matrix("a", a, square=True)
    share(a, "eig")
    dtype = inexact(a.dtype)
    whole = gathered(a, "eig", 5)
    of_values = a.shape[:1], wide, REPLICATED
    return EigResult(
        *of_root(a, "eig", lambda: both(whole.astype(dtype, copy=False)), of_values, (a.shape, wide, BLOCK))
    )


@algorithm
def eigvals(a: Any) -> Any:
    """Return the eigenvalues of a square matrix, as complex numbers, on every rank. Collective.

    Parameters and errors are those of :func:`eig`. Rank 0 has the whole matrix, and computes alone.
    """
    wide = _complex(a)
    if stacks.is_stack(a):
        return stacks.each("eigvals", "", (a,), lambda x: np.linalg.eigvals(x).astype(wide), square=True)
    check_matrix("a", a, square=True)
    share(a, "eigvals")
    dtype = inexact(a.dtype)
    whole = gathered(a, "eigvals", 3)
    compute: Any = lambda: (np.linalg.eigvals(whole.astype(dtype, copy=False)).astype(wide),)  # noqa: E731 - one line
    return of_root(a, "eigvals", compute, (a.shape[:1], wide, REPLICATED))[0]


def _complex(a: Any) -> np.dtype[Any]:
    """Return the dtype of eigenvalues of matrices that are not Hermitian."""
    check_container("a", a)
    return np.dtype(np.result_type(real(inexact(a.dtype)), np.complex64))


def _check_triangle(which: Any) -> None:
    if which not in ("L", "U", "l", "u"):
        raise InvalidArgumentError("UPLO argument must be 'L' or 'U'")
