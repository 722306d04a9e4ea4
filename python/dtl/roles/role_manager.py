"""Roles: named groups of ranks that do different work in one job."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from types import TracebackType
from typing import Any, Callable, Sequence

import numpy as np

from .._native import library
from .._native.arguments import integer
from ..comm import collectives, objects
from ..exceptions import BoundsError, InvalidTypeError
from ..runtime.agreement import agree, check_open, collective, local_step
from ..runtime.context import Context
from . import programs
from .members import Predicate, among, check_alike, ranks_in_words, roles_in_words, seen_here


class Lines:
    """The contexts by which the ranks of roles reach each other; there are none before initialize.

    Attributes
    ----------
    whole
        The context of the manager.
    messages, passing
        Contexts of all ranks: of the program's messages, and of what intergroup collectives pass on.
    of_roles
        A context of the ranks of each role that this rank has.
    """

    def __init__(self, whole: Context, messages: Any = None, passing: Any = None) -> None:
        self.whole = whole
        self.messages = messages
        self.passing = passing
        self.of_roles: dict[str, Context] = {}


class RoleManager:
    """Assigns roles to ranks, with a context for each role, and messages between roles. A context manager.

    Name the roles with ``add_role``, or take the programs that the launcher started as roles with ``from_programs``.
    Then ``initialize``, which is collective, assigns them. A rank may have one role, several or none.

    Parameters
    ----------
    ctx
        The context. You close it yourself, and may use it for anything else.

    Raises
    ------
    InvalidTypeError
        If ctx is not a context.

    Notes
    -----
    Messages between roles use a duplicate of ctx, so they never meet other messages.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.RoleManager(ctx) as mgr:
    ...     mgr.add_role("reader", 1)
    ...     mgr.add_role("worker", lambda rank, size: rank > 0 or size == 1)
    ...     mgr.initialize()
    ...     if mgr.has_role("reader"):
    ...         dtl.intergroup_broadcast(mgr, ("reader", 0), "worker", np.arange(3.0))
    array([0., 1., 2.])
    """

    __module__ = "dtl"

    def __init__(self, ctx: Context) -> None:
        check_open(ctx)
        self._context = ctx
        self._wanted: dict[str, int | Predicate] = {}
        self._members: dict[str, tuple[int, ...]] = {}
        self._open: list[Context] = []
        self._lines = Lines(ctx)
        self._closed = False

    @classmethod
    @collective
    def from_programs(cls, ctx: Context, names: Sequence[str] | None = None) -> RoleManager:
        """Return an initialised manager whose roles are the programs of ``mpirun -n 1 a.py : -n 3 b.py``. Collective.

        Parameters
        ----------
        ctx
            The context.
        names
            The roles of the programs, in the order of the launcher's command. None takes the names of the scripts
            without ``.py``: the same script with other hosts or options then has the same role.

        Returns
        -------
        RoleManager
            A manager with the roles in the order of their first ranks. If a rank has the environment variable DTL_ROLE,
            that is its role.

        Raises
        ------
        InvalidArgumentError
            If the program of a rank has no name, because names is too short or there is no script. On every rank.
        InvalidTypeError
            If names is not a sequence of strings. On every rank.

        Notes
        -----
        The number of the program is MPI_APPNUM. (MPI standard, chapter "Process Creation and Management".)
        """
        manager = cls(ctx)
        with local_step(ctx, "from_programs"):
            mine = programs.role(names)
        agree(ctx, "from_programs")
        roles: dict[str, list[int]] = {}
        for rank, name in enumerate(objects.allgather_object(ctx, mine)):
            roles.setdefault(name, []).append(rank)
        for name, ranks in roles.items():
            manager.add_role(name, partial(among, ranks))
        manager.initialize()
        return manager

    def add_role(self, name: str, num_ranks: int | Predicate) -> None:
        """Name a role, before ``initialize``. Every rank has to name the same roles in the same order.

        Not collective: the call does not wait for other ranks.

        Parameters
        ----------
        name
            The name of the role.
        num_ranks
            The number of its ranks, at least 1: roles with a number get one rank after the other, from 0 on. Or a
            function of a rank and the number of ranks, which returns True if that rank has the role and False if not.
            Every rank calls it for all ranks, and it must return the same on every rank.

        Raises
        ------
        InvalidTypeError
            If name is not a str, or if num_ranks is neither an integer nor a function.
        InvalidArgumentError
            If name is empty or in use, if num_ranks is less than 1, or if the manager is initialised.
        InvalidHandleError
            If the manager is destroyed.
        """
        op = "add_role"
        self._check_open()
        if self._members:
            raise library.invalid(op, f"role {name!r} comes after initialize, which has given the roles")
        if not isinstance(name, str):
            raise InvalidTypeError(f"{op}: name must be a string, not {name!r} of type {type(name).__name__}")
        if not name or name in self._wanted:
            raise library.invalid(op, f"there is a role {name!r} already" if name else "a role's name cannot be empty")
        if not callable(num_ranks):
            num_ranks = integer("num_ranks", num_ranks)
            if num_ranks < 1:
                raise library.invalid(op, f"num_ranks {num_ranks} of role {name!r} is less than 1")
        self._wanted[name] = num_ranks

    @collective
    def initialize(self) -> None:
        """Assign the roles to the ranks, and make their contexts. Collective (MPI_Comm_dup, MPI_Comm_split).

        Raises
        ------
        InvalidArgumentError
            If there are no roles, if the roles need more ranks than there are, or if the manager is initialised.
        InvalidTypeError
            If a function returns neither True nor False. On every rank.
        CollectiveMismatchError
            If the ranks have named different roles, or if a function returns different results on different ranks. On
            every rank.
        InvalidHandleError
            If the manager is destroyed, or its context is closed.

        Notes
        -----
        If a function raises on a rank, the rank raises that exception, and the others a DTLError.
        """
        op = "initialize"
        self._check_open()
        if self._members:
            raise library.invalid(op, "the roles have been given already")
        with local_step(self._context, op):
            seen = seen_here(self._wanted, self._context.size)
        agree(self._context, op, roles_in_words(self._wanted))
        told = collectives.allgather(self._context, np.packbits(seen, axis=1))
        check_alike(self.roles, np.unpackbits(told, axis=2)[:, :, : self._context.size])
        members = {name: tuple(np.flatnonzero(row).tolist()) for name, row in zip(self._wanted, seen)}
        self._connect(members)
        self._members = members

    def _connect(self, members: dict[str, tuple[int, ...]]) -> None:
        """Make the contexts: of messages, of what intergroup collectives pass on, and two of each role of this rank."""
        ctx = self._context
        lines = self._lines = Lines(ctx, self._opened(ctx.dup()), self._opened(ctx.dup()))
        self._contexts: dict[str, Context] = {}
        for name, ranks in members.items():
            part = ctx.split(0 if ctx.rank in ranks else None)
            if part is not None:
                self._contexts[name] = self._opened(part)
                lines.of_roles[name] = self._opened(part.dup())

    def _opened(self, context: Context) -> Context:
        self._open.append(context)
        return context

    @property
    def initialized(self) -> bool:
        """Whether the roles have been assigned."""
        return bool(self._members) and not self._closed

    @property
    def roles(self) -> tuple[str, ...]:
        """The names of all roles, in the order in which they were added."""
        return tuple(self._wanted)

    def has_role(self, name: str) -> bool:
        """Return whether this rank has a role. Not collective. Errors are those of ``role_size``."""
        return self._context.rank in self._of("has_role", name)

    def role_size(self, name: str) -> int:
        """Return how many ranks have a role. Not collective.

        Raises
        ------
        InvalidArgumentError
            If there is no such role, or the manager is not initialised.
        InvalidHandleError
            If the manager is destroyed.
        """
        return len(self._of("role_size", name))

    def role_rank(self, name: str) -> int:
        """Return this rank's number among the ranks of a role, in [0, role_size). Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank does not have the role; otherwise as for ``role_size``.
        InvalidHandleError
            If the manager is destroyed.
        """
        ranks = self._of("role_rank", name)
        self._check_mine("role_rank", name, ranks)
        return ranks.index(self._context.rank)

    def role_context(self, name: str) -> Context:
        """Return the context of the ranks of a role that this rank has. Not collective.

        Returns
        -------
        Context
            A context with the ranks of ``role_rank``. It is closed with the manager.

        Raises
        ------
        InvalidArgumentError
            If this rank does not have the role; otherwise as for ``role_size``.
        InvalidHandleError
            If the manager is destroyed.
        """
        self._check_mine("role_context", name, self._of("role_context", name))
        return self._contexts[name]

    def _of(self, op: str, name: Any) -> tuple[int, ...]:
        """Return the ranks that have a role."""
        self._check_open()
        if not self._members:
            raise library.invalid(op, f"role {name!r} is asked for before initialize")
        if not isinstance(name, str):
            raise InvalidTypeError(f"{op}: a role's name is a string, not {name!r} of type {type(name).__name__}")
        if name not in self._members:
            raise library.invalid(op, f"there is no role {name!r}; the roles are {', '.join(map(repr, self._members))}")
        return self._members[name]

    def _one(self, op: str, what: str, name: Any, number: Any) -> int:
        """Return the rank in the whole of a rank of a role."""
        ranks = self._of(op, name)
        place = integer(what, number)
        if not 0 <= place < len(ranks):
            raise BoundsError(f"{op}: {what} {place} outside [0, {len(ranks)}) of role {name!r}")
        return ranks[place]

    def _check_mine(self, op: str, name: str, ranks: tuple[int, ...]) -> None:
        if self._context.rank not in ranks:
            raise library.invalid(
                op, f"rank {self._context.rank} has not the role {name!r}; {ranks_in_words(ranks)} has it"
            )

    def _check_open(self) -> None:
        if self._closed:
            raise library.closed("role manager")

    def destroy(self) -> None:
        """Close the contexts of the roles, and the channels between them. Collective. Destroying twice does nothing.

        Raises
        ------
        BufferError
            If requests on one of them are under way on this rank. That one stays open, and the call can be repeated.
        """
        while self._open:
            self._open[-1].close()
            self._open.pop()
        self._closed = True

    close = destroy

    def __enter__(self) -> RoleManager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.destroy()
        for context in self._open:
            context.__exit__(kind, error, where)
        self._open, self._closed = [], True

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: its contexts are this process's")

    def __repr__(self) -> str:
        state = "destroyed" if self._closed else "not initialised" if not self._members else ""
        roles = ", ".join(f"{name} on {ranks_in_words(ranks)}" for name, ranks in self._members.items())
        return f"<dtl.RoleManager rank {self._context.rank} of {self._context.size}, {state or roles}>"


# What messages between roles ask of a manager.

#: The contexts by which the ranks reach each other.
lines_of: Callable[[RoleManager], Lines] = attrgetter("_lines")

#: The rank in the whole context of one rank of a role, from (manager, op, what, name, number).
rank_of = RoleManager._one

#: The ranks of a role in the whole context, from (manager, op, name).
ranks_of = RoleManager._of
