"""Rows of tables: those with given indices, and those of two tables that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.kinds import kind_of
from .._native.named_tuples import replaced
from ..algorithms.elementwise import nonzero
from ..algorithms.exchange import share
from ..algorithms.join import after, join
from ..algorithms.taking import take
from ..comm import collectives
from ..containers.base import DistributedContainer
from ..containers.indices import check_integers
from ..containers.layout import BLOCK
from ..containers.making import created, new_like
from ..containers.places.copies import to_host
from ..containers.sequences import DistributedVector
from ..exceptions import BoundsError, InvalidArgumentError
from ..runtime.agreement import local_step
from .meaning import Meaning, add_column, meaning_of, named_vectors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

Columns = Any  # of a module that imports this one


def take_rows(columns: Columns, indices: Any, fill: bool, made: Columns) -> Columns:
    """Return columns, given as empty ones, of the rows with some indices. -1 is a row without values. Collective."""
    vectors = named_vectors(columns)
    if not vectors:
        return made
    first = next(iter(vectors.values()))
    ctx, rows = first.context, first.global_size
    share(first, "take", f"allow_fill {fill}")
    kept = isinstance(indices, DistributedContainer)
    with local_step(ctx, "take"):
        here = to_host("take", indices) if kept else np.asarray(indices)
        if here.size == 0 and not kept and not isinstance(indices, np.ndarray):
            here = here.astype(np.int64)
        check_integers(here.dtype)
        if (indices if kept else here).ndim != 1:
            raise InvalidArgumentError("the indices of rows have one dimension")
        _check_rows(here, rows, fill)
    existing = indices
    if fill:
        inside = np.where(here < 0, 0, here).astype(np.int64)
        existing = inside
        if kept:
            existing = new_like(indices, np.int64)
            existing.local_view()[:] = inside

    def taken(vec: Any) -> Any:
        if fill and not rows:  # then all indices are -1
            return (
                new_like(indices, vec.dtype) if kept else created(DistributedVector, ctx, here.shape, vec.dtype, BLOCK)
            )
        return take(vec, existing)

    for name, vec in vectors.items():
        add_column(made, name, taken(vec), meaning_of(vec))
    for name, mask in columns.masks.items():
        made.masks[name] = taken(mask)
    if fill:
        some = next(iter(named_vectors(made).values()))
        _without_values(made, here == -1 if kept else (here == -1)[some.local_indices()])
    return made


def _check_rows(indices: Array, rows: int, fill: bool) -> None:
    """Refuse indices that are no rows."""
    outside = indices[(indices < (-1 if fill else 0)) | (indices >= rows)]
    if not outside.size:
        return
    why = ""
    if outside[0] < 0 and not fill:
        why = (
            ": rows are not counted from the end, and -1 is what join has for no row; allow_fill=True takes it for that"
        )
    raise BoundsError(f"index {outside[0]} outside [{-1 if fill else 0}, {rows}){why}")


def _without_values(columns: Columns, missing: Array) -> None:
    """Let some of this rank's rows have missing values in all columns. Collective."""
    ctx = next(iter(named_vectors(columns).values())).context
    if not collectives.allgather(ctx, bool(missing.any())).any():
        return
    for name, vec in named_vectors(columns).items():
        vec.local_view()[missing] = _placeholder(vec)
        if name not in columns.masks:
            columns.masks[name] = new_like(vec, np.bool_)
        columns.masks[name].local_view()[missing] = True


def _placeholder(vec: Any) -> Any:
    """Return what a vector has in place of a missing value."""
    if meaning_of(vec).texts is not None:
        return -1
    return "" if kind_of(vec.dtype).is_str else 0


def known_rows(columns: Columns, name: str) -> tuple[Any, Any]:
    """Return the indices of the rows with a value in a column, and of those without. Collective."""
    mask = columns.masks[name]
    with new_like(mask, np.bool_) as known:
        known.local_view()[:] = ~mask.local_view()
        return nonzero(known)[0], nonzero(mask)[0]


def join_known(left: Columns, right: Columns, names: tuple[str, str], how: str) -> Any:
    """Return what ``join`` returns where some values are missing, which are equal to nothing. Collective."""
    keys, rows, absent = [], [], []
    for columns, name in zip((left, right), names):
        vec = named_vectors(columns)[name]
        if name in columns.masks:
            known, none = known_rows(columns, name)
            vec = take(vec, known)
        else:
            known, none = None, created(DistributedVector, vec.context, (0,), np.int64, BLOCK)
        keys.append(vec)
        rows.append(known)
        absent.append(none)

    def of_all(side: int, found: Any) -> Any:
        return found if rows[side] is None else take(rows[side], found)

    if how in ("semi", "anti"):
        found = of_all(0, join(keys[0], keys[1], how))  # type: ignore[call-overload]
        return after(found, absent[0]) if how == "anti" else found
    pairs = [of_all(side, found) for side, found in enumerate(join(keys[0], keys[1]))]
    if how == "inner":
        return tuple(pairs)
    alone: list[list[Any]] = [[], []]
    if how != "right":
        alone[0] = [of_all(0, join(keys[0], keys[1], "anti")), absent[0]]
    if how != "left":
        alone[1] = [of_all(1, join(keys[1], keys[0], "anti")), absent[1]]
    counts = [sum(len(part) for part in parts) for parts in alone]
    return after(pairs[0], *alone[0], counts[1]), after(pairs[1], counts[0], *alone[1])


def merged_names(
    left: Columns, right: Columns, shared: str | None, suffixes: tuple[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return what the columns of two tables are called in the table of both."""
    both = [name for name in left if name in right and name != shared]
    found = []
    for columns, suffix in zip((left, right), suffixes):
        found.append({name: f"{name}{suffix}" if name in both else name for name in columns})
    if shared is not None:
        del found[1][shared]
    names = [*found[0].values(), *found[1].values()]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgumentError(f"two columns would be called {twice!r}: pass other suffixes than {suffixes}")
    return found[0], found[1]


def coalesced(mine: Columns, others: Columns, name: str, missing: Array) -> None:
    """Let some of this rank's rows have the values of another table in a column. Collective."""
    one, other = named_vectors(mine)[name], named_vectors(others)[name]
    meaning, values = meaning_of(one), other.local_view()
    if meaning.texts is not None:
        meaning, here, there = _common_texts(meaning, meaning_of(other))
        one.local_view()[:] = here[one.local_view()]
        values = there[values]
    made = new_like(one, np.promote_types(one.dtype, other.dtype))
    made.local_view()[:] = np.where(missing, values, one.local_view())
    add_column(mine, name, made, meaning)
    one.close()
    absent = [columns.masks[name].local_view() if name in columns.masks else False for columns in (mine, others)]
    mask = new_like(made, np.bool_)
    mask.local_view()[:] = np.where(missing, absent[1], absent[0])
    if name in mine.masks:
        mine.masks.pop(name).close()
    if collectives.allgather(made.context, bool(mask.local_view().any())).any():
        mine.masks[name] = mask


def _common_texts(one: Meaning, other: Meaning) -> tuple[Meaning, Array, Array]:
    """Return what codes of both mean, and the code of each of the one's and of the other's."""
    mine, others = one.texts or [], other.texts or []
    texts = mine
    if not set(others) <= set(mine):
        one = replaced(one, ordered=False)
        texts = sorted({*mine, *others})
    place = {text: number for number, text in enumerate(texts)}
    codes = [np.array([*(place[text] for text in known), -1], np.int32) for known in (mine, others)]
    return replaced(one, texts=texts), codes[0], codes[1]
