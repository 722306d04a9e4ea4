"""Roles asked for wrongly: a clear error, on every rank where one rank cannot go on, and no hang."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl
from dtl.roles.role_manager import lines_of

MISMATCH = dtl.CollectiveMismatchError


@pytest.fixture
def roles(ctx: dtl.Context) -> Iterator[dtl.RoleManager]:
    """Not initialised."""
    with dtl.RoleManager(ctx) as mgr:
        yield mgr


@pytest.fixture
def given(roles: dtl.RoleManager) -> dtl.RoleManager:
    """Initialised: lead on rank 0, all, and none."""
    roles.add_role("lead", 1)
    roles.add_role("all", lambda rank, size: True)
    roles.add_role("none", lambda rank, size: False)
    roles.initialize()
    return roles


def test_a_role_that_is_there_already(roles: dtl.RoleManager) -> None:
    roles.add_role("there", 1)
    refused(lambda: roles.add_role("there", 1), ARGUMENT, 100, "there is a role 'there' already")
    for number in (0, "worker"):
        with pytest.raises(ARGUMENT):
            roles.add_role("a", number)
    assert roles.roles == ("there",)


@pytest.mark.parametrize("ask", ["has_role", "role_size", "role_rank", "role_context"])
def test_asked_before_initialize(roles: dtl.RoleManager, ask: str) -> None:
    roles.add_role("lead", 1)
    refused(lambda: getattr(roles, ask)("lead"), ARGUMENT, 100, "role 'lead' is asked for before initialize", op=ask)


@pytest.mark.parametrize("ask", ["has_role", "role_size", "role_rank", "role_context"])
def test_unknown_roles(given: dtl.RoleManager, ask: str) -> None:
    refused(lambda: getattr(given, ask)("Lead"), ARGUMENT, 100, "no role 'Lead'", "'lead', 'all', 'none'", op=ask)


@pytest.mark.parametrize("ask", ["role_rank", "role_context"])
def test_roles_of_others(given: dtl.RoleManager, ctx: dtl.Context, ask: str) -> None:
    refused(lambda: getattr(given, ask)("none"), ARGUMENT, 100, f"rank {ctx.rank} has not the role 'none'", op=ask)
    if ctx.rank > 0:
        refused(lambda: getattr(given, ask)("lead"), ARGUMENT, 100, "has not the role 'lead'; rank 0 has it", op=ask)


def test_after_initialize(given: dtl.RoleManager) -> None:
    refused(lambda: given.add_role("late", 1), ARGUMENT, 100, "comes after initialize", op="add_role")
    refused(given.initialize, ARGUMENT, 100, "have been given already", op="initialize")


def test_no_roles(roles: dtl.RoleManager) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="there are no roles"):
        roles.initialize()
    roles.add_role("all", lambda rank, size: True)  # and it is not spoilt
    roles.initialize()
    assert roles.has_role("all")


def test_more_ranks_in_roles_than_there_are(roles: dtl.RoleManager, ctx: dtl.Context) -> None:
    roles.add_role("a", 1)
    roles.add_role("b", ctx.size)
    with pytest.raises(dtl.InvalidArgumentError, match=f"need {ctx.size + 1} ranks, and there are {ctx.size}"):
        roles.initialize()


Naming = Callable[[dtl.RoleManager, int], None]


def names(roles: dtl.RoleManager, rank: int) -> None:
    roles.add_role("a" if rank else "b", 1)


def counts(roles: dtl.RoleManager, rank: int) -> None:
    roles.add_role("a", 2 if rank else 1)


def order(roles: dtl.RoleManager, rank: int) -> None:
    for name in "ab" if rank else "ba":
        roles.add_role(name, 1)


def more(roles: dtl.RoleManager, rank: int) -> None:
    roles.add_role("a", 1)
    if rank:
        roles.add_role("b", 1)


def kinds(roles: dtl.RoleManager, rank: int) -> None:
    roles.add_role("a", (lambda rank, size: rank == 0) if rank else 1)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", [names, counts, order, more, kinds])
def test_ranks_that_name_other_roles(roles: dtl.RoleManager, ctx: dtl.Context, name: Naming) -> None:
    name(roles, ctx.rank)
    with pytest.raises(MISMATCH, match="roles 'a'") as caught:
        roles.initialize()
    assert "rank 0" in str(caught.value)
    assert "rank 1" in str(caught.value) or "ranks 1-" in str(caught.value)
    assert not roles.initialized


@pytest.mark.mpi(min_size=2)
def test_predicates_that_disagree(roles: dtl.RoleManager, ctx: dtl.Context) -> None:
    roles.add_role("fine", lambda rank, size: rank == 0)
    roles.add_role("mine", lambda rank, size: ctx.rank == 1 and rank == 0)
    refused(
        roles.initialize,
        MISMATCH,
        301,
        "the predicate of role 'mine' says on rank 1 that rank 0 has the role",
        "and on rank" + ("s 0, 2" if ctx.size > 2 else " 0"),
    )
    assert not roles.initialized


def test_a_predicate_that_raises(roles: dtl.RoleManager, ctx: dtl.Context) -> None:
    last = ctx.size - 1
    roles.add_role("bad", lambda rank, size: 1 // (ctx.rank - last) > 0)
    with pytest.raises(ZeroDivisionError if ctx.rank == last else dtl.InvalidArgumentError, match="division"):
        roles.initialize()
    assert not roles.initialized


@pytest.mark.parametrize("predicate", [lambda: True, lambda rank: True, int.bit_length, lambda r, n: np.ones(2)])
def test_predicates_of_other_signatures(roles: dtl.RoleManager, predicate: Any) -> None:
    roles.add_role("bad", predicate)
    with pytest.raises((TypeError, ValueError)):
        roles.initialize()


@pytest.mark.parametrize("said", ["x", float("nan"), None, 1, np.int8(0), np.array(True), []])
def test_a_predicate_that_says_neither_yes_nor_no(roles: dtl.RoleManager, ctx: dtl.Context, said: Any) -> None:
    last = ctx.size - 1
    roles.add_role("odd", lambda rank, size: said if ctx.rank == last else np.bool_(True))
    text = f"initialize: the predicate of role 'odd' must say True or False of rank 0, not {said!r}"
    error = refused(roles.initialize, TYPE, 101, text)
    assert type(said).__name__ in str(error)
    assert not roles.initialized


@pytest.mark.parametrize(
    ("role", "rank", "error", "code", "text"),
    [
        ("lead", 1, BOUNDS, 103, "_rank 1 outside [0, 1) of role 'lead'"),
        ("lead", -1, BOUNDS, 103, "_rank -1 outside [0, 1) of role 'lead'"),
        ("all", 2**62, BOUNDS, 103, "outside [0, "),
        ("all", 2**80, ARGUMENT, 100, "outside"),
        ("none", 0, BOUNDS, 103, "outside [0, 0) of role 'none'"),
        ("all", 0.5, TYPE, 101, "must be an integer"),
        ("all", None, TYPE, 101, "must be an integer"),
        ("nobody", 0, ARGUMENT, 100, "there is no role 'nobody'"),
        (None, 0, TYPE, 101, "a role's name is a string"),
    ],
)
def test_partners_that_are_not_there(
    given: dtl.RoleManager, role: Any, rank: Any, error: Any, code: int, text: str
) -> None:
    refused(lambda: dtl.intergroup_send(given, role, rank, 1), error, code, text)
    refused(lambda: dtl.intergroup_recv(given, role, rank), error, code, text)
    if "_rank" not in text:
        refused(lambda: dtl.intergroup_broadcast(given, (role, rank), "all", 1), error, code, text)
        refused(lambda: dtl.intergroup_gather(given, (role, rank), "all", 1), error, code, text)


def test_bad_messages(given: dtl.RoleManager) -> None:
    rank = given.role_rank("all")
    with pytest.raises(dtl.BoundsError, match="tag -5"):
        dtl.intergroup_send(given, "all", rank, 1, tag=-5)
    with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
        dtl.intergroup_send(given, "all", rank, object())
    request = dtl.isend(lines_of(given).messages, np.ones(3), rank)
    for wrong in ({"dtype": np.int32}, {"count": 4}, {"out": np.ones(2)}):
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.intergroup_recv(given, "all", rank, **wrong)
    assert dtl.intergroup_recv(given, "all", rank, count=3).tolist() == [1, 1, 1]  # it has stayed there
    request.wait()


@pytest.mark.parametrize("call", [dtl.intergroup_broadcast, dtl.intergroup_gather])
def test_who_has_no_part(given: dtl.RoleManager, ctx: dtl.Context, call: Any) -> None:
    refused(lambda: call(given, ("lead", 0), "none", 1), ARGUMENT, 100, "no rank has the role 'none'")
    if ctx.rank > 0:
        refused(lambda: call(given, ("lead", 0), "lead", 1), ARGUMENT, 100, "is neither root, rank 0 of 'lead', nor")


CALLS: dict[str, Callable[[Any], Any]] = {
    "send": lambda mgr: dtl.intergroup_send(mgr, "all", 0, 1),
    "recv": lambda mgr: dtl.intergroup_recv(mgr, "all", 0),
    "broadcast": lambda mgr: dtl.intergroup_broadcast(mgr, ("all", 0), "all", 1),
    "gather": lambda mgr: dtl.intergroup_gather(mgr, ("all", 0), "all", 1),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("what", [None, 1, "mgr"])
def test_no_manager(name: str, what: Any) -> None:
    refused(lambda: CALLS[name](what), TYPE, 101, "mgr must be a dtl.RoleManager")


@pytest.mark.parametrize("name", CALLS)
def test_calls_before_initialize(roles: dtl.RoleManager, name: str) -> None:
    roles.add_role("all", 1)
    refused(lambda: CALLS[name](roles), ARGUMENT, 100, "asked for before initialize")


@pytest.mark.parametrize("begun", [True, False], ids=["initialised", "not initialised"])
def test_destroyed_managers(ctx: dtl.Context, begun: bool) -> None:
    mgr = dtl.RoleManager(ctx)
    mgr.add_role("all", lambda rank, size: True)
    if begun:
        mgr.initialize()
    mgr.destroy()
    mgr.destroy()
    mgr.close()
    assert not mgr.initialized
    uses = [lambda: mgr.add_role("b", 1), mgr.initialize, lambda: mgr.has_role("all"), lambda: mgr.role_context("all")]
    for use in [*uses, *(lambda call=call: call(mgr) for call in CALLS.values())]:
        refused(use, dtl.InvalidHandleError, 102, "the role manager is closed")


def test_a_closed_context(ctx: dtl.Context) -> None:
    own = ctx.dup()
    own.close()
    refused(lambda: dtl.RoleManager(own), dtl.InvalidHandleError, 102, "the context is closed")


def test_destroyed_while_a_request_is_active(ctx: dtl.Context) -> None:
    mgr = dtl.RoleManager(ctx)
    mgr.add_role("all", lambda rank, size: True)
    mgr.initialize()
    part = mgr.role_context("all")
    request = dtl.irecv(part, part.rank)
    refused(mgr.destroy, dtl.BufferError, 106, "1 request is active")
    dtl.send(part, 5, part.rank)
    assert request.wait() == 5
    mgr.destroy()
    assert not mgr.initialized


@pytest.mark.parametrize("names", ["ab", [1], [None], 7, {"a": 1}.items()])
def test_names_of_programs_that_are_none(ctx: dtl.Context, names: Any) -> None:
    with pytest.raises(TypeError):
        dtl.RoleManager.from_programs(ctx, names)


@pytest.mark.parametrize("names", [3, 2.5, "solver", [1], object])
def test_one_rank_whose_names_of_programs_are_none(ctx: dtl.Context, names: Any) -> None:
    """All hear of it, in the same words."""
    given = names if ctx.rank == ctx.size - 1 else ["solver"]
    text = f"names must be a sequence of strings, not {names!r}"
    refused(lambda: dtl.RoleManager.from_programs(ctx, given), TYPE, 101, text)


@pytest.mark.parametrize("names", [[], [""]])
def test_programs_without_a_name(ctx: dtl.Context, names: Any) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="program 0"):
        dtl.RoleManager.from_programs(ctx, names)


def test_programs_with_a_name(ctx: dtl.Context) -> None:
    with dtl.RoleManager.from_programs(ctx, ["solver", "unused"]) as mgr:
        assert mgr.roles == ("solver",)
        assert mgr.role_size("solver") == ctx.size
