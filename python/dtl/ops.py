"""The reduction operators, and IN_PLACE, which stands for the elements of out."""

from __future__ import annotations

import enum
from typing import Any, Callable, Final, Literal, Union

from ._numbers import OP


class Op(enum.IntEnum):
    """An operator that combines elements of the ranks.

    Functions also accept its name, such as ``"sum"``, and the NumPy function of the same meaning or its name:
    ``np.add`` and ``"add"`` are SUM.

    Notes
    -----
    SUM and PROD are defined for every dtype but bool, MIN and MAX for every dtype but complex. As in NumPy, integers
    wrap around, and if an element is NaN, so are the minimum and the maximum.

    LAND and LOR are NumPy's ``logical_and`` and ``logical_or``: every element but zero is true, and the result is 0 or
    1 in the dtype of the value. BAND, BOR and BXOR work on the bits of integers and bool.

    MINLOC and MAXLOC have two results: the minimum or maximum, and the rank that has it, which is the lowest if several
    ranks do. They work with ``allreduce`` and ``reduce``. (MPI standard, section "Predefined Reduction Operations".)

    REPLACE and NO_OP are for windows: REPLACE writes the new element, and NO_OP leaves the old one.
    """

    SUM = OP.SUM
    PROD = OP.PROD
    MIN = OP.MIN
    MAX = OP.MAX
    LAND = OP.LAND
    LOR = OP.LOR
    BAND = OP.BAND
    BOR = OP.BOR
    BXOR = OP.BXOR
    MINLOC = OP.MINLOC
    MAXLOC = OP.MAXLOC
    REPLACE = OP.REPLACE
    NO_OP = OP.NO_OP


class InPlace(enum.Enum):
    """The type of IN_PLACE."""

    IN_PLACE = 0

    def __repr__(self) -> str:
        return "dtl.IN_PLACE"


SUM = Op.SUM
PROD = Op.PROD
MIN = Op.MIN
MAX = Op.MAX
LAND = Op.LAND
LOR = Op.LOR
BAND = Op.BAND
BOR = Op.BOR
BXOR = Op.BXOR
MINLOC: Final = Op.MINLOC
MAXLOC: Final = Op.MAXLOC
REPLACE: Final = Op.REPLACE
NO_OP: Final = Op.NO_OP

#: Passed for a value, it says that this rank's elements are in out, which the result replaces.
IN_PLACE: Final = InPlace.IN_PLACE

# What functions take: an operator, its name, or NumPy's or Python's function of it.
OpLike = Union[
    Op,
    Literal[
        "sum", "prod", "min", "max", "land", "lor", "band", "bor", "bxor", "minloc", "maxloc", "replace", "no_op",
        "add", "multiply", "minimum", "maximum", "logical_and", "logical_or",
        "bitwise_and", "bitwise_or", "bitwise_xor",
    ],
    Callable[..., Any],
]  # fmt: skip
