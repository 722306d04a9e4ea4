"""The reduction operators."""

from __future__ import annotations

import enum


class Op(enum.IntEnum):
    """An operator that combines the ranks' elements. Functions also take its name, such as ``"sum"``.

    Notes
    -----
    SUM and PROD are defined for every dtype but bool, MIN and MAX for every dtype but complex.
    Integers wrap around as NumPy's do. (MPI standard, section "Predefined Reduction Operations".)
    """

    SUM = 0
    PROD = 1
    MIN = 2
    MAX = 3


SUM = Op.SUM
PROD = Op.PROD
MIN = Op.MIN
MAX = Op.MAX
