"""The ufuncs of NumPy that do what operators do."""

from __future__ import annotations

import numpy as np

from ..ops import BAND, BOR, BXOR, LAND, LOR, MAX, MIN, PROD, SUM

UFUNCS: dict[int, np.ufunc] = {
    SUM: np.add,
    PROD: np.multiply,
    MIN: np.minimum,
    MAX: np.maximum,
    LAND: np.logical_and,
    LOR: np.logical_or,
    BAND: np.bitwise_and,
    BOR: np.bitwise_or,
    BXOR: np.bitwise_xor,
}
