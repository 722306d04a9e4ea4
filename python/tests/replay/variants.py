"""The ways in which the arrays of a call are given as containers."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from calls import Call

import dtl

#: The partitions that take turns; of "explicit", every other rank has nothing.
PARTITIONS = ("cyclic", "explicit", "replicated", "block_cyclic", "hash", "grid")

#: Names of the ways: all arrays in blocks; the first alone; the last alone; all, each divided in another way. And the
#: way of those that are placed on disk: all arrays.
WAYS = ("blocks", "first", "last", "turns")
ON_DISK = "disk"

#: Functions that write to their first argument, which has to be a container.
_WRITING = {"copyto", "put", "putmask", "place", "put_along_axis", "fill_diagonal"}


def count(value: Any) -> int:
    """Return how many arrays there are that can be containers."""
    if isinstance(value, np.ndarray):
        return int(value.ndim > 0)
    if isinstance(value, (list, tuple)):
        return sum(map(count, value))
    return sum(map(count, value.values())) if isinstance(value, dict) else 0


def ways(call: Call, on_disk: bool = False) -> list[str]:
    """Return the ways that differ for a call."""
    arrays = count(call.args) + count(call.kwargs)
    if call.kind == "method" and not count(call.args[0]):
        return []
    if on_disk:
        return [ON_DISK] if arrays else []
    if arrays < 2 or call.kind == "method" or call.name.rpartition(":")[2].rpartition(".")[2] in _WRITING | {"at"}:
        return [*WAYS[:1], *(["first"] if arrays > 1 else []), "turns"] if arrays else []
    return list(WAYS)


def given(ctx: dtl.Context, call: Call, way: str, turn: int) -> Call:
    """Return a call with containers. Collective."""
    arrays = count(call.args) + count(call.kwargs)
    chosen = {"first": {0}, "last": {arrays - 1}}.get(way, set(range(arrays)))
    position = iter(range(arrays))

    written = call.kwargs.get("out")
    written = written if isinstance(written, tuple) else (written,)

    def made(array: Any) -> Any:
        number = next(position)
        if number not in chosen and not any(array is out for out in written):
            return array.copy()
        if way == ON_DISK:
            return container(ctx, array, way)
        name = "block" if way in ("blocks", "last") else PARTITIONS[(turn + number) % len(PARTITIONS)]
        return container(ctx, array, name)

    return Call(call.kind, call.name, mapped(call.args, made), mapped(call.kwargs, made))


def container(ctx: dtl.Context, array: Any, name: str) -> Any:
    """Return a container of an array, or the array if containers do not have its dtype. Collective."""
    if name == ON_DISK:
        return dtl.asarray(ctx, array, placement="disk")
    if name == "grid":
        if array.ndim == 1:
            return dtl.asarray(ctx, array)
        grid = [1] * (array.ndim - 1) + [ctx.size]
        return dtl.asarray(ctx, array, grid=grid)
    if name == "explicit":
        if array.ndim > 1:
            return dtl.asarray(ctx, array, partition="cyclic")
        sizes = [0] * ctx.size
        sizes[-1] = len(array)
        return dtl.asarray(ctx, array, partition=sizes)
    return dtl.asarray(ctx, array, partition=name, **({"block_size": 2} if name == "block_cyclic" else {}))


def mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    """Return a value with f(array) in place of each array with dimensions."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(each, f) for each in value)
    if type(value) is dict:
        return {key: mapped(each, f) for key, each in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value
