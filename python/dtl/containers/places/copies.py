"""Calls on containers on a GPU that it does not compute: they are made with copies on the host.

What a call writes is copied back, and a container that it returns lies on the GPU, too. A trace says ``(staged)``.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterable

import numpy as np

from ..._native import library
from ..._native.arguments import stored_number
from ..._native.library import bridge
from ..._native.objects import handle_of
from ...policies import Placement
from ...runtime import scheduler
from ...runtime.array_libraries import is_numpy
from ...runtime.scheduler import DEPTH, containers_in
from ...runtime.staging import Staging
from ..base import DistributedContainer
from ..interior import division_of, end_write, is_where_divided, owning_class_of, run_as
from ..making import adopt, lie_elsewhere
from ..ufunc_operands import refusal

_DEVICE = Placement.DEVICE


def on_device(values: Any) -> bool:
    """Say whether elements of a container in values are on a GPU alone."""
    return any(getattr(c, "_placement", None) is _DEVICE for c in containers_in(values))


def called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str = "") -> Any:
    """Make a call of an algorithm, with copies where containers are on a GPU that does not compute it."""
    if getattr(f, "computed_on_devices", False) or not on_device((args, kwargs)):
        return f(*args, **kwargs)
    if getattr(f, "calls_functions", False) and not _wanted_here(kwargs):
        return f(*args, **kwargs)
    try:
        given = inspect.signature(f).bind(*args, **kwargs).arguments
    except TypeError:
        return f(*args, **kwargs)  # which says what is wrong with them
    names = (*getattr(f, "written", ()), "out")
    op, written = name or f.__name__, containers_in([given.get(name) for name in names])
    result = by_host(op, f, args, kwargs, written)
    for c in (*written, *containers_in([result])):
        if getattr(c, "_placement", None) is _DEVICE:
            end_write(c, op)
            break
    return result


def computed(
    name: str,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    there: Callable[..., Any] | None = None,
    *,
    can: Callable[..., bool] | None = None,
    written: Iterable[Any] | None = None,
) -> Any:
    """Return what a function makes of containers where their elements are, or by copies on the host.

    Parameters
    ----------
    name
        The call, as traces and the ledger of slow paths have it.
    f
        The function, of elements that the host has.
    args
        Its arguments.
    there
        What computes the same of elements on a GPU, from the same arguments, or returns NotImplemented.
    can
        Instead of there: says whether f itself does so, with these arguments.
    written
        Which containers f writes, if the ranks do not agree at its end.
    """
    if scheduler.with_device_copies is None or not on_device(args):
        return f(*args)
    made = NotImplemented if there is None else there(*args)
    if can is not None and can(*args):
        made = f(*args)
    if made is not NotImplemented:
        return made
    return called(f, args, {}, name) if written is None else by_host(name, f, args, {}, written)


def _wanted_here(given: dict[str, Any]) -> bool:
    """Say whether the caller of an algorithm asks for a function of its own to be called on the host."""
    library = given.get("library")
    return is_numpy(library) or (library is None and bool(given.get("elementwise")))


def by_host(
    name: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], written: Iterable[Any] = ()
) -> Any:
    """Call a function with copies of containers on a GPU, and copy back what it writes.

    Raises
    ------
    InvalidTypeError
        If there are containers on the host, too.
    """
    given = [c for c in containers_in((args, kwargs)) if isinstance(c, DistributedContainer)]
    if not all(handle_of(c) for c in given):
        return f(*args, **kwargs)  # which says which one is closed
    there = [c for c in given if c.placement_policy is _DEVICE]
    check_placements(name, given)
    copies: dict[int, Any] = {}
    try:
        with Staging(name, logs=True) as staging:
            for c in there:
                if id(c) not in copies:
                    copies[id(c)] = _blank_like(c, None)
                    staging.bytes += _copied(c, copies[id(c)])
            originals = {id(copies[id(c)]): c for c in there}
            result = f(*_changed(args, copies), **_changed(kwargs, copies))
            for c in written:
                if id(c) in copies:
                    staging.bytes += _copied(copies[id(c)], c)
            return _Returned(there[0], originals).of(result)
    finally:
        for copied in copies.values():
            copied.close()


def check_placements(name: str, given: Iterable[Any]) -> None:
    """Refuse containers on a GPU beside others."""
    there = [c for c in given if getattr(c, "_placement", None) is _DEVICE]
    for c in given if there else ():
        if getattr(c, "_placement", _DEVICE) is not _DEVICE:
            place = f"on GPU {there[0].device_view().device_id}"
            text = (
                f"an operand is {place}, another of placement {c.placement_policy.name}; copy one first, with dtl.copy"
            )
            raise refusal(name, text)


def to_host(name: str, c: Any) -> Any:
    """Return this rank's elements for reading on the host, of which a trace says for what. Not collective."""
    if c.placement_policy is not _DEVICE:
        return c.local_view()
    with Staging(name, logs=False) as staging:
        elements = c.to_numpy()
        staging.bytes = elements.nbytes
    return elements


def here(name: str, c: Any) -> Any:
    """Return a container that the host may read: itself, or a copy of one on a GPU, which it closes. Not collective."""
    if c.placement_policy is not _DEVICE:
        return c
    with Staging(name, logs=True) as staging:
        copied = _blank_like(c, None)
        staging.bytes = _copied(c, copied)
    c.close()
    return copied


def taken(name: str, c: Any, places: Any) -> Any:
    """Return the elements of a container by their indices on the host, of which a trace says for what. Collective."""
    if c.placement_policy is not _DEVICE:
        return c.get(places)
    with Staging(name, logs=True) as staging:
        elements = c.get(places)
        staging.bytes = elements.nbytes
    return elements


def _blank_like(c: Any, beside: Any) -> Any:
    """Return a container that is laid out as one, whose elements are anything: where another's are, or on the host."""
    handle = library.container_blank_beside(
        handle_of(c), stored_number(c.dtype), 0 if beside is None else handle_of(beside)
    )
    kind: Any = owning_class_of(c)
    made = kind.__new__(kind)
    placement = Placement.HOST if beside is None else beside.placement_policy
    adopt(made, handle, c.context, c.dtype, c.ndim, division_of(c), placement)
    if not is_where_divided(c):
        lie_elsewhere(made)
    return made


def _copied(source: Any, target: Any) -> int:
    """Copy this rank's elements, and return how many bytes these are."""
    bridge.copy_part(target, np.array([handle_of(source)]))
    return int(np.prod(source.local_shape) * source.dtype.itemsize)


def _changed(value: Any, copies: dict[int, Any], depth: int = DEPTH) -> Any:
    """Return a value with copies in the place of containers."""
    if isinstance(value, DistributedContainer):
        return copies.get(id(value), value)
    if isinstance(value, dict) and depth:
        return {key: _changed(item, copies, depth - 1) for key, item in value.items()}
    if isinstance(value, (tuple, list)) and depth:
        return _as(value, [_changed(item, copies, depth - 1) for item in value])
    return value


def _as(like: Any, items: list[Any]) -> Any:
    """Return items as a list, a tuple or a tuple of names, whichever another one is."""
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


class _Returned:
    """What a call returns, with containers on the GPU in the place of those on the host."""

    def __init__(self, beside: Any, originals: dict[int, Any]) -> None:
        self._beside = beside
        self._originals = originals
        self._kept: list[Any] = []  # so that no other one gets its identity

    def of(self, value: Any, depth: int = DEPTH) -> Any:
        """Return a result as the caller gets it."""
        if isinstance(value, DistributedContainer):
            if id(value) not in self._originals:
                self._originals[id(value)] = self._moved(value)
                self._kept.append(value)
            return self._originals[id(value)]
        if isinstance(value, dict) and depth:
            return {key: self.of(item, depth - 1) for key, item in value.items()}
        if isinstance(value, (tuple, list)) and depth:
            return _as(value, [self.of(item, depth - 1) for item in value])
        return value

    def _moved(self, made: Any) -> Any:
        return moved_beside(made, self._beside)


def moved_beside(made: Any, beside: Any) -> Any:
    """Return a container with the elements of one on the host, which it closes, where another's are."""
    there = _blank_like(made, beside)
    run_as(there, made.execution_policy)
    _copied(made, there)
    made.close()
    return there
