"""Arguments of NumPy's functions that every rank needs whole: edges, tables, axes, extents, counts, and places."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Iterable

import numpy as np

from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError

#: Parameters of NumPy's functions that every rank needs whole: a container that is given there is gathered.
SMALL = {
    "digitize": "bins",
    "histogram": "bins",
    "histogram2d": "bins",
    "histogramdd": "bins",
    "interp": "xp fp",
    "quantile": "q",
    "nanquantile": "q",
    "percentile": "q",
    "nanpercentile": "q",
    "repeat": "repeats",
    "tile": "reps",
    "pad": "pad_width",
    "roll": "shift",
    "reshape": "shape newshape",
    "resize": "new_shape",
    "broadcast_to": "shape",
    "moveaxis": "source destination",
    "transpose": "axes",
    "split": "indices_or_sections",
    "array_split": "indices_or_sections",
    "hsplit": "indices_or_sections",
    "vsplit": "indices_or_sections",
    "dsplit": "indices_or_sections",
    "ravel_multi_index": "dims",
    "unravel_index": "shape",
    "polyval": "p",
    "matrix_rank": "tol rtol",
    "pinv": "rcond rtol",
    "is_busday": "holidays",
    "busday_offset": "holidays",
    "busday_count": "holidays",
}


def whole(value: Any) -> Any:
    """Return an argument with arrays in place of the containers in it. Collective if there are any."""
    if isinstance(value, DistributedContainer):
        places: Any = np.unravel_index(np.arange(value.size), value.shape)
        return np.asarray(value.get(places if len(value.shape) > 1 else places[0])).reshape(value.shape)
    if isinstance(value, (list, tuple)) and any(isinstance(each, DistributedContainer) for each in value):
        return type(value)([whole(each) for each in value])
    return value


@functools.lru_cache(maxsize=None)
def _positions(func: Callable[..., Any]) -> dict[str, int]:
    """Return the parameters that are wanted whole, and at which positions the function has them."""
    names = SMALL.get(func.__name__, "").split()
    if not names:
        return {}
    try:
        every = list(inspect.signature(func).parameters)
    except ValueError:  # functions in C, of which NumPy before 2.4 does not say them: those of indices have it second
        every = ["", *names]
    return {name: every.index(name) if name in every else len(every) for name in names}


def taken_whole(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call of NumPy's function, where those that every rank needs whole are arrays.

    Collective if containers are given there.
    """
    positions = _positions(func)
    if not positions:
        return args, kwargs
    places = positions.values()
    small = [each for place, each in enumerate(args) if place in places]
    small += [kwargs[name] for name in positions if name in kwargs]
    if has_containers(small):
        _check_contexts(func, (*args, *kwargs.values()))
    args = tuple(whole(each) if place in places else each for place, each in enumerate(args))
    return args, {name: whole(each) if name in positions else each for name, each in kwargs.items()}


def _check_contexts(func: Callable[..., Any], values: tuple[Any, ...]) -> None:
    """Refuse containers of several contexts: other ranks may not come to the call that makes arrays of them."""
    contexts = {id(value.context) for value in values if isinstance(value, DistributedContainer)}
    if len(contexts) > 1:
        raise InvalidArgumentError(f"np.{func.__name__}: the containers are of different contexts")


def has_containers(values: Iterable[Any]) -> bool:
    """Say whether there is a container among values, or in a list of them."""
    return any(
        isinstance(value, DistributedContainer) or (isinstance(value, (list, tuple)) and has_containers(value))
        for value in values
    )
