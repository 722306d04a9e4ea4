"""What callers of random numbers say: parameters of distributions, and how a result is divided."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np

from ..containers.base import DistributedContainer
from ..containers.layout import BLOCK, Division, division
from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Partition, Placement, placement_of

#: A seed may be a list in so many others.
_DEEPEST = 30


def division_of(divided: dict[str, Any]) -> Division:
    """Return the division that the keywords of a call ask for."""
    if not divided:
        return BLOCK
    unknown = set(divided) - {"partition", "block_size", "grid"}
    if unknown:
        raise InvalidTypeError(f"unexpected keyword argument {min(unknown)!r}")
    return division(divided.get("partition", Partition.BLOCK), divided.get("block_size"), divided.get("grid"))


def target_of(given: dict[str, Any]) -> tuple[Division, dict[str, Any]]:
    """Return the division that the keywords of a call ask for, and the placement if it is not the host's memory."""
    if "placement" not in given:
        return division_of(given), {}
    placement = placement_of(given["placement"])
    placed = {Placement.HOST: {}, Placement.DISK: {"placement": placement}}.get(placement)
    if placed is None:
        raise InvalidArgumentError(f"placement {placement.name}: random numbers are drawn in host memory or on disk")
    return division_of({name: value for name, value in given.items() if name != "placement"}), placed


def check_seed(seed: Any, depth: int = 0) -> None:
    """Refuse lists in lists without an end, on which NumPy uses up the stack."""
    if isinstance(seed, (list, tuple)):
        if depth > _DEEPEST:
            raise InvalidArgumentError(f"seed is a list in more than {_DEEPEST} others")
        for each in seed:
            check_seed(each, depth + 1)


def parameter(value: Any) -> Any:
    """Return a parameter of a distribution: a number, or an array."""
    if value.__class__ in (float, int):
        return value
    if isinstance(value, DistributedContainer):
        raise InvalidTypeError(
            "parameters of a distribution are numbers or NumPy arrays that are the same on every rank, not containers; "
            "scale and shift what a standard distribution returns"
        )
    return np.asarray(value) if isinstance(value, (list, tuple)) or np.ndim(value) else value


def check_below_one(name: str, value: Any) -> None:
    """Refuse a parameter of 1 or more, from which NumPy before 1.22 draws without an end."""
    if np.any(by_numpy(np.greater_equal, value, 1)):
        raise InvalidArgumentError(f"{name} < 0, {name} >= 1 or {name} is NaN")


def check_outcomes(name: str, value: Any) -> None:
    """Refuse probabilities of nothing, on which NumPy before 1.22 crashes."""
    if isinstance(value, np.ndarray) and value.size == 0:
        raise InvalidArgumentError(f"{name} must have at least 1 dimension and the last must be greater than 0")


def by_numpy(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return what a function of NumPy returns, or raise what it raises as DTL's."""
    try:
        return f(*args, **options)
    except TypeError as error:
        raise InvalidTypeError(str(error)) from None
    except builtins.OverflowError as error:
        raise OverflowError(str(error)) from None
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None
