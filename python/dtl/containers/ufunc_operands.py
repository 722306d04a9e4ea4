"""Operands of NumPy's ufuncs: which containers, numbers and arrays they are, and of which dtypes the results."""

from __future__ import annotations

import builtins
import datetime
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Sequence

import numpy as np

from .._native.arguments import stored_number
from .._native.kinds import carrier, kind_of
from ..exceptions import DTLError, InvalidArgumentError, InvalidTypeError, OverflowError
from .base import DistributedContainer
from .interior import is_laid_out_as, layout_of

#: What results were of, by what :func:`_kinds` returns, and how many of these are kept.
known_results: dict[Any, list[np.dtype[Any]]] = {}

_MOST_KNOWN = 1000

#: Numbers of which the value has no effect on the dtype of a result; before NumPy 2 that of any has.
WEAK: tuple[type, ...] = (
    (bool, float, complex, np.float64, np.float32) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else (bool,)
)

#: Up to which number integers go with every type of integers, and have no effect on the dtype either.
LEAST_MAXIMUM = 127 if len(WEAK) > 1 else -1


def refusal(name: str, text: str, kind: type[DTLError] = InvalidTypeError) -> DTLError:
    """Return the error of a function of NumPy that does not take what it is given."""
    error = kind(f"{name}: {text}")
    error.op = name
    return error


@contextmanager
def tried_by_numpy(name: str) -> Iterator[None]:
    """Make NumPy's refusals of a try with one element those of a call, which are the same on every rank."""
    try:
        with np.errstate(all="ignore"):
            yield
    except builtins.OverflowError as error:
        raise refusal(name, str(error), OverflowError) from None
    except TypeError as error:
        raise refusal(name, str(error)) from None
    except ValueError as error:
        raise refusal(name, str(error), InvalidArgumentError) from None


def check_classes(name: str, kinds: Iterable[type]) -> None:
    """Refuse arrays of classes in which operators or functions mean something else, such as matrices.

    By NumPy's protocol, these are subclasses that have a priority, or that say themselves what functions do with them.
    """
    for kind in kinds:
        if kind is not np.ndarray and issubclass(kind, np.ndarray) and _redefines(kind):
            raise refusal(
                name,
                f"an operand is of type {kind.__name__}, of which operators and functions do something else than of "
                "arrays and containers; np.asarray(x) has its elements, and np.ma.filled(x) those of a masked array",
            )


def _redefines(kind: Any) -> bool:
    """Say whether a subclass of arrays changes what operators or functions do."""
    priority = kind.__array_priority__  # that of arrays themselves is 0, and a property
    if priority is not np.ndarray.__array_priority__ and priority > 0:
        return True
    same = kind.__array_ufunc__ is np.ndarray.__array_ufunc__
    return not (same and kind.__array_function__ is np.ndarray.__array_function__)


def scalar_of(value: Any) -> Any:
    """Return NumPy's scalar in place of an array without dimensions of ``dtl.array_api``, which every rank has."""
    return value.__dtl_scalar__() if hasattr(value, "__dtl_scalar__") else value


def operand(name: str, value: Any, moved: bool = False) -> Any:
    """Return an operand that ufuncs take: a container, a number, or an array, which every rank passes alike."""
    if isinstance(value, (DistributedContainer, bool, int, float, complex)):
        return value
    value = scalar_of(value)
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise refusal(name, f"an operand is no array: {error}", InvalidArgumentError) from None
    check_classes(name, (type(value),))
    if moved and isinstance(value, (str, bytes)):
        value = np.asarray(value)[()]
    elif moved and isinstance(value, datetime.timedelta):
        value = np.timedelta64(value)
    elif moved and isinstance(value, datetime.date):
        value = np.datetime64(value)
    if isinstance(value, (np.generic, np.ndarray)) and not np.ma.is_masked(value) and _goes_along(value.dtype, moved):
        return np.asarray(value) if value.ndim else value
    if isinstance(value, np.ndarray):
        what = "has masked elements" if np.ma.is_masked(value) else f"holds {value.dtype}"
        raise refusal(name, f"an operand of type {type(value).__name__} {what}; containers go with numbers only")
    raise refusal(
        name,
        f"an operand is of type {type(value).__name__}: operands are containers, numbers, and NumPy arrays of numbers "
        "that are the same on every rank",
    )


def moves(operands: Iterable[Any]) -> bool:
    """Say whether an operand is a container of elements that are moved, such as dates: then others may be, too."""
    return any([isinstance(value, DistributedContainer) and kind_of(value.dtype).is_moved for value in operands])


def _goes_along(dtype: np.dtype[Any], moved: bool) -> bool:
    """Say whether elements go with those of containers: numbers, and what containers hold beside them."""
    return kind_of(dtype).is_number or (moved and (kind_of(dtype).is_listed or carrier(dtype) is not None))


def are_alike(one: Any, other: Any) -> bool:
    """Say whether the local parts of two containers correspond element by element."""
    return layout_of(one) is layout_of(other) or (bool(is_laid_out_as(one, other)) and one.context is other.context)


def check_alike(name: str, one: Any, other: Any) -> None:
    """Refuse containers whose local parts do not correspond element by element."""
    if one is other or are_alike(one, other):
        return
    text = f"the containers are divided differently: {one!r} and {other!r}; redistribute one of them first"
    raise refusal(name, text, InvalidArgumentError)


def result_dtypes(
    name: str, ufunc: np.ufunc, inputs: Iterable[Any], outputs: Sequence[Any], options: dict[str, Any], count: int
) -> list[np.dtype[Any]]:
    """Return the element types of the results, from a try with count ones for each container: 1, or 0 if all are empty.

    So a scalar that NumPy refuses, and a result that may not be cast to its output, raise on every rank alike, also
    where a rank has no element, and before anything is written.
    """
    outs = [out for out in outputs if out is not None]
    key = None if options or not count or len(outs) not in (0, len(outputs)) else _kinds(ufunc, (*inputs, *outs))
    known = None if key is None else known_results.get(key)
    if known is not None:
        return known

    def sample(value: Any) -> Any:
        spreads = isinstance(value, DistributedContainer) or (value.__class__ is np.ndarray and value.ndim > 0)
        return np.ones(count, value.dtype) if spreads else value

    with tried_by_numpy(name):
        tried = ufunc(*map(sample, inputs), out=tuple(map(sample, outputs)), **options)
    dtypes = [np.asarray(result).dtype for result in (tried if isinstance(tried, tuple) else (tried,))]
    for dtype in dtypes:
        try:
            stored_number(dtype)
        except InvalidArgumentError:
            text = f"the result is of {dtype}, which no container holds; dtype= chooses another"
            raise refusal(name, text) from None
    if key is not None:
        if len(known_results) >= _MOST_KNOWN:
            known_results.clear()
        known_results[key] = dtypes
    return dtypes


def _kinds(ufunc: np.ufunc, inputs: Iterable[Any]) -> Any:
    """Return all that the dtypes of a ufunc's results depend on, or None where values of numbers are part of it."""
    key: list[Any] = [ufunc]
    for value in inputs:
        if isinstance(value, DistributedContainer) or (value.__class__ is np.ndarray and value.ndim):
            key.append(value.dtype)
        elif value.__class__ in WEAK or (value.__class__ is int and 0 <= value <= LEAST_MAXIMUM):
            key.append(value.__class__)
        else:
            return None
    return tuple(key)
