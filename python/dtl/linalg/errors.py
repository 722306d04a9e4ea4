"""The error of matrices that have no solution."""

from __future__ import annotations

import numpy as np

from ..exceptions import InvalidArgumentError


class LinAlgError(InvalidArgumentError, np.linalg.LinAlgError):
    """A matrix that is singular, not positive definite, of the wrong shape, or whose decomposition does not converge.

    It is a :class:`numpy.linalg.LinAlgError`, too.
    """

    __module__ = "dtl.linalg"
