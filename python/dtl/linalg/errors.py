"""The error of matrices that have no solution."""

from __future__ import annotations

import numpy as np

from .._numbers import STATUS
from ..exceptions import InvalidArgumentError, know


class LinAlgError(InvalidArgumentError, np.linalg.LinAlgError):
    """A matrix that is singular, not positive definite, of the wrong shape, or whose decomposition does not converge.

    It is a :class:`numpy.linalg.LinAlgError`, too.
    """

    __module__ = "dtl.linalg"
    code = STATUS.LINEAR_ALGEBRA


know(LinAlgError)
