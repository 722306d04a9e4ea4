"""Which ranks have which roles: as one rank sees it, and whether all see the same."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np

from .._native.library import invalid
from ..exceptions import CollectiveMismatchError, InvalidTypeError

#: What says of each rank whether it has a role, given its number and how many ranks there are.
Predicate = Callable[[int, int], Any]

_OP = "initialize"


def seen_here(wanted: Mapping[str, int | Predicate], size: int) -> np.ndarray[Any, Any]:
    """Return for each role and each rank whether the rank has the role, as this rank sees it."""
    if not wanted:
        raise invalid(_OP, "there are no roles; add_role names them")
    counted = sum(want for want in wanted.values() if isinstance(want, int))
    if counted > size:
        raise invalid(_OP, f"the roles need {counted} ranks, and there are {size}")
    seen, first = np.zeros((len(wanted), size), np.uint8), 0
    for row, (name, want) in zip(seen, wanted.items()):
        if isinstance(want, int):
            row[first : first + want] = 1
            first += want
        else:
            row[:] = [_answer(name, rank, want(rank, size)) for rank in range(size)]
    return seen


def among(ranks: Sequence[int], rank: int, size: int) -> bool:
    """Say whether a rank is one of some: a predicate, with these given."""
    return rank in ranks


def _answer(name: str, rank: int, said: Any) -> bool:
    if not isinstance(said, (bool, np.bool_)):
        raise InvalidTypeError(
            f"{_OP}: the predicate of role {name!r} must say True or False of rank {rank}, "
            f"not {said!r} of type {type(said).__name__}"
        )
    return bool(said)


def check_alike(names: Sequence[str], told: np.ndarray[Any, Any]) -> None:
    """Refuse predicates that say different things on different ranks; told is by rank, role, and rank asked about."""
    differ = np.argwhere((told != told[0]).any(axis=0))
    if not len(differ):
        return
    role, rank = differ[0].tolist()
    yes, no = (np.flatnonzero(told[:, role, rank] == answer).tolist() for answer in (1, 0))
    raise CollectiveMismatchError(
        f"{_OP}: the predicate of role {names[role]!r} says on {ranks_in_words(yes)} that rank {rank} has the role, "
        f"and on {ranks_in_words(no)} that it has not"
    )


def roles_in_words(wanted: Mapping[str, int | Predicate]) -> str:
    """Return the roles as the error of ranks that name different ones shows them."""
    counts = {name: str(want) if isinstance(want, int) else "a predicate" for name, want in wanted.items()}
    return "roles " + ", ".join(f"{name!r}: {count}" for name, count in counts.items())


def ranks_in_words(numbers: Sequence[int]) -> str:
    """Return ranks as ``rank 1`` or ``ranks 1, 2``."""
    if not numbers:
        return "no rank"
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
