"""What calls of a table would send between ranks, found out without sending it."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from .._native import log
from ..comm.collectives import allgather
from ..exceptions import InvalidArgumentError
from ..runtime.context import Context
from .moves import Move, explained
from .rows import HasRows

#: What has effects beside its result, or no result of rows.
_REFUSED = ("save", "show", "info")


class Moves:
    """What a call of a table sends between ranks, as ``Table.explain`` says it.

    Attributes
    ----------
    moves
        What is sent, in the order in which it is, and how many bytes all ranks together send to others; None if that
        depends on what is not known before.
    """

    def __init__(self, call: str, moves: list[Move]) -> None:
        self._call = call
        self.moves = moves

    @property
    def bytes(self) -> int:
        """The bytes of all moves for which they are known."""
        return sum(move.bytes or 0 for move in self.moves)

    def __iter__(self) -> Iterator[Move]:
        return iter(self.moves)

    def __len__(self) -> int:
        return len(self.moves)

    def __repr__(self) -> str:
        return f"<Moves of {self._call}: {self.bytes} bytes>"

    def __str__(self) -> str:
        if not self.moves:
            return f"{self._call}: no row moves"
        lines = [f"{self._call}: {log.size(self.bytes)} between ranks"]
        for what, nbytes in self.moves:
            lines.append(f"    {'?' if nbytes is None else log.size(nbytes):>8}  {what}")
        return "\n".join(lines)


class Explained:
    """A table, or columns or groups of it, whose calls are explained, as ``Table.explain`` returns it."""

    __slots__ = ("_context", "_of")

    def __init__(self, ctx: Context, of: Any) -> None:
        self._context = ctx
        self._of = of

    def __repr__(self) -> str:
        return f"<explained calls of a {type(self._of).__name__}>"

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._of) if not name.startswith("_") and name not in _REFUSED]

    def __getattr__(self, name: str) -> Any:
        if name in _REFUSED:
            raise InvalidArgumentError(f"{name} is not explained, because it writes something")
        made = getattr(self._of, name)
        return (
            (lambda *args, **words: self._explain(name, lambda: made(*args, **words)))
            if callable(made)
            else (self._further(made))
        )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (str, list)):
            return Explained(self._context, self._of[key])
        return self._explain("rows", lambda: self._of[key])

    def _explain(self, name: str, call: Callable[[], Any]) -> Any:
        result: Any = None
        with explained() as plan:
            result = call()
        further = self._further(result)
        return further if isinstance(further, Explained) else Moves(name, _of_all(self._context, plan.moves))

    def _further(self, made: Any) -> Any:
        """Return what has calls that end a call, such as groups, with these explained."""
        ends = isinstance(made, HasRows) or not hasattr(made, "_rows")
        return made if ends else Explained(self._context, made)


def _of_all(ctx: Any, moves: list[Move]) -> list[Move]:
    """Return the moves, each once, with the bytes of all ranks. Collective."""
    known = {move.what: 0 for move in moves if move.bytes is not None}
    for what, nbytes in moves:
        if nbytes is not None:
            known[what] += nbytes
    sums = allgather(ctx, np.array([0, *known.values()], np.int64)).reshape(ctx.size, -1).sum(axis=0).tolist()[1:]
    whole: dict[str, int | None] = dict(zip(known, sums))
    return [Move(what, whole.get(what)) for what in dict.fromkeys(move.what for move in moves)]
