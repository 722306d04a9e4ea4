"""Rows and their counts made ready for the bridge."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .arguments import check_output, input_array


def are_counts(counts: Any) -> bool:
    """Say whether counts are in the form in which the bridge takes them."""
    return counts.__class__ is np.ndarray and counts.ndim == 1 and counts.dtype == np.int64


def integers(name: str, values: Any, each: str) -> Any:
    """Return integers, of which there must be some, as an array of int64."""
    if values is None:
        raise InvalidTypeError(f"{name} must be a sequence of integers, with one entry {each}, not None")
    return count_array(name, values, each)


def count_array(name: str, counts: Any, each: str = "a rank") -> Any:
    """Return counts as an array of int64, or None."""
    if counts is None:
        return None
    try:
        array = np.asarray(counts)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} of type {type(counts).__name__} are no integers: {error}") from None
    if array.ndim != 1:
        raise InvalidArgumentError(f"{name} of shape {array.shape} must be a sequence, with one entry {each}")
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidTypeError(
            f"{name} of type {type(counts).__name__} have dtype {array.dtype}; they must be integers"
        )
    if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
        raise InvalidArgumentError(f"{name} {array.max()} outside [0, 2**63)")
    return np.ascontiguousarray(array, np.int64)


def rows(name: str, value: Any, out: Any) -> np.ndarray[Any, Any]:
    """Return value as the bridge takes it, if out is as the bridge takes it."""
    array = input_array(name, value)
    if out is not None:
        check_output(out)
    return array


def exchanged(data: Any, sent: Any, expected: Any, out: Any) -> tuple[Any, Any, Any]:
    """Return the rows of an exchange and the counts of what goes and comes as the bridge takes them."""
    array = rows("send_data", data, out)
    return array, count_array("send_counts", sent), count_array("recv_counts", expected)
