"""Where ranks run: what they tell each other, what made-up machines give, and binding."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, Iterator

import pytest
from programs import alone as program
from programs import ranks, run, succeeded
from refusals import refused

import dtl
from dtl._native import library
from dtl.seating import ContextTopology, Seat
from dtl.topology import affinity

#: Two machines, of which the first has two domains of two cores; its ranks are bound, but one.
MADE_UP = (
    "0\tnorth\t0\t0\t0,1,2,3\t0\t2\t0\t0:0,1;1:2,3\n"
    "1\tsouth-of-it\t0-1\t0,1\t0,1\t-1\t0\t-1\t0:0,1\n"
    "0\tnorth\t2-3\t2,3\t0,1,2,3\t2\t2\t1\t0:0,1;1:2,3\n"
    "0\tnorth\t0-3\t0,1,2,3\t0,1,2,3\t-1\t2\t0\t0:0,1;1:2,3\n"
)


@pytest.fixture
def made_up(alone: dtl.Context) -> ContextTopology:
    topology = ContextTopology(alone)
    topology._seats = affinity.seats_of(MADE_UP)
    return topology


@pytest.fixture
def unbound() -> Iterator[set[int]]:
    """The processors of this process, to which it is bound again afterwards."""
    before = os.sched_getaffinity(0)
    yield before
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), before)


def test_made_up_machines(made_up: ContextTopology) -> None:
    assert made_up.nodes == [[0, 2, 3], [1]]
    assert made_up.ranks_per_node == [3, 1]
    assert made_up.hostnames == ["north", "south-of-it"]
    assert made_up.num_cpus == [4, 2]
    assert made_up.num_gpus == [2, 0]
    assert [made_up.cpus(rank) for rank in range(4)] == [(0,), (0, 1), (2, 3), (0, 1, 2, 3)]
    assert [made_up.cpu_affinity(rank) for rank in range(4)] == [0, -1, 2, -1]
    assert [made_up.gpu_id(rank) for rank in range(4)] == [0, -1, 1, 0]
    assert [made_up.node_id(rank) for rank in range(4)] == [0, 1, 0, 0]
    assert made_up.is_local(0, 3)
    assert not made_up.is_local(0, 1)
    assert made_up.numa_domains(3) == {0: (0, 1), 1: (2, 3)}
    assert made_up.seats[1] == Seat(1, "south-of-it", (0, 1), "0-1", (0, 1), -1, 0, -1, {0: (0, 1)})


def test_table_of_made_up_machines(made_up: ContextTopology) -> None:
    assert str(made_up).splitlines() == [
        "rank  node  host         CPUs             NUMA  GPU",
        "0     0     north        0                0     0",
        "1     1     south-of-it  0-1 (not bound)  0     -",
        "2     0     north        2-3              1     1",
        "3     0     north        0-3 (not bound)  0,1   0",
    ]
    assert repr(made_up) == "<dtl topology: 4 ranks on 2 nodes>"


def test_rows_of_the_picture(made_up: ContextTopology) -> None:
    rows = affinity.rows_of(made_up.seats)
    assert [row.name for row in rows] == ["north\nNUMA 0", "north\nNUMA 1", "south-of-it\nNUMA 0"]
    assert [row.ranks for row in rows] == [{0: [0, 3], 1: [3]}, {2: [2, 3], 3: [2, 3]}, {0: [1], 1: [1]}]


@pytest.mark.alone("draws a picture")
def test_picture(made_up: ContextTopology, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ax = made_up.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == [row.name for row in affinity.rows_of(made_up.seats)]
    assert len([patch for patch in ax.patches if patch.get_edgecolor()[3] == 0]) == 9, "one a rank on a CPU"
    again = made_up.plot(ax)
    assert again is ax
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"topology\.plot needs matplotlib"):
        made_up.plot()


def test_ranks_of_this_run(ctx: dtl.Context) -> None:
    topology = ctx.topology
    assert topology is ctx.topology, "found out once"
    everyone = list(range(ctx.size))
    hosts = dtl.allgather_object(ctx, os.uname().nodename)
    assert topology.hostnames == list(dict.fromkeys(hosts))
    assert topology.nodes == [[rank for rank in everyone if hosts[rank] == host] for host in topology.hostnames]
    if "DTL_NODES_OF" not in os.environ:  # which a topology does not pretend
        with ctx.split_by_node() as node:
            assert topology.ranks_per_node[topology.hostnames.index(os.uname().nodename)] == node.size
    masks = dtl.allgather_object(ctx, tuple(sorted(os.sched_getaffinity(0))))
    assert [topology.cpus(rank) for rank in everyone] == masks
    for rank in everyone:
        assert set(masks[rank]) <= {cpu for near in topology.numa_domains(rank).values() for cpu in near}
        assert [topology.is_local(rank, other) for other in everyone] == [host == hosts[rank] for host in hosts]
        assert topology.gpu_id(rank) == (-1 if dtl.Topology.num_gpus() == 0 else rank % dtl.Topology.num_gpus())
    assert len(str(topology).splitlines()) == ctx.size + 1


def test_world(ctx: dtl.Context) -> None:
    """The static functions answer on any rank, for any rank, without the others."""
    world, everyone = dtl.Topology, range(ctx.size)
    hosts = dtl.allgather_object(ctx, os.uname().nodename)
    if ctx.is_root:
        numbers = list(dict.fromkeys(hosts))
        assert [world.node_id(rank) for rank in everyone] == [numbers.index(host) for host in hosts]
        assert all(world.is_local(a, b) == (hosts[a] == hosts[b]) for a in everyone for b in everyone)
        assert world.num_cpus() >= len(os.sched_getaffinity(0))
        assert world.num_gpus() >= 0
        for rank in everyone:
            cpus = ctx.topology.cpus(rank) if ctx.size == 1 else None
            assert world.cpu_affinity(rank) == -1 or cpus is None or world.cpu_affinity(rank) == cpus[0]
    for call in (world.node_id, world.cpu_affinity, world.gpu_id):
        for rank in (-1, ctx.size, 2**40):
            refused(partial(call, rank), dtl.BoundsError, 103, f"rank {rank} outside [0, {ctx.size})")
        refused(partial(call, "0"), dtl.InvalidTypeError, 101, "rank must be an integer")
    refused(lambda: world.is_local(0, ctx.size), dtl.BoundsError, 103, f"rank_b {ctx.size} outside")
    ctx.barrier()
    if ctx.is_root:
        ctx.topology.cpus(0)  # found out before: needs nobody


def test_parts_have_their_own(ctx: dtl.Context) -> None:
    with ctx.split(ctx.rank % 2) as part:
        assert sorted(rank for node in part.topology.nodes for rank in node) == list(range(part.size))
        hosts = dtl.allgather_object(part, os.uname().nodename)
        assert len(part.topology.nodes) == len(set(hosts))
        assert part.topology.cpus(part.rank) == tuple(sorted(os.sched_getaffinity(0)))


def test_ranks_that_are_none(ctx: dtl.Context) -> None:
    topology = ctx.topology
    for call in (topology.cpus, topology.numa_domains, topology.cpu_affinity, topology.gpu_id, topology.node_id):
        refused(partial(call, ctx.size), dtl.BoundsError, 103, f"rank {ctx.size} outside [0, {ctx.size})")
        refused(partial(call, -1), dtl.BoundsError, 103, "rank -1 outside")
    refused(lambda: topology.is_local(0, 99), dtl.BoundsError, 103, "rank_b 99 outside")


def test_closed_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as known, ctx.dup() as unknown:
        topology = known.topology
    assert known.topology is topology
    assert sorted(rank for node in topology.nodes for rank in node) == list(range(ctx.size))
    with pytest.raises(dtl.InvalidHandleError):
        topology.refresh()
    with pytest.raises(dtl.InvalidHandleError):
        _ = unknown.topology


def test_ranks_that_call_something_else(ctx: dtl.Context) -> None:
    if ctx.size > 1:
        with ctx.dup() as twin, pytest.raises(dtl.CollectiveMismatchError, match="topology"):
            twin.topology.refresh() if ctx.is_root else twin.barrier()


def test_any_rank_asks_alone(ctx: dtl.Context) -> None:
    """A property does not communicate, so that a debugger and a rank's own branch may look at it."""
    with ctx.dup() as twin, ctx.split(0, key=-ctx.rank) as turned:
        if ctx.rank == ctx.size - 1:
            assert sorted(rank for node in twin.topology.nodes for rank in node) == list(range(ctx.size))
            assert [turned.topology.cpus(rank) for rank in range(ctx.size)] == [
                twin.topology.cpus(ctx.size - 1 - rank) for rank in range(ctx.size)
            ]
        ctx.barrier()


class TestBind:
    def masks(self) -> set[frozenset[int]]:
        """Return the processors of all threads of this process."""
        return {frozenset(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")}

    def test_every_thread(self, ctx: dtl.Context, unbound: set[int]) -> None:
        topology, one = ctx.topology, max(unbound)  # which the launcher may have made another on each rank
        ones = dtl.allgather_object(ctx, one)
        assert topology.bind(one) == (one,)
        assert self.masks() == {frozenset([one])}
        topology.refresh()
        assert [topology.cpus(rank) for rank in range(ctx.size)] == [(each,) for each in ones]
        if dtl.Topology.num_cpus() > 1:
            assert [topology.cpu_affinity(rank) for rank in range(ctx.size)] == ones
            assert "not bound" not in str(topology)
        everything = topology.bind("all")
        assert len(everything) == dtl.Topology.num_cpus()
        assert self.masks() == {frozenset(everything)}
        topology.refresh()
        assert all(topology.cpu_affinity(rank) == -1 for rank in range(ctx.size))

    def test_contexts_made_since(self, ctx: dtl.Context, unbound: set[int]) -> None:
        one = max(unbound)
        ones = dtl.allgather_object(ctx, one)
        with ctx.dup() as before:
            if ctx.is_root:
                before.topology.bind(one)  # which one rank alone does
            with ctx.dup() as after, ctx.split_by_node() as node:
                assert after.topology.cpus(0) == (ones[0],)
                assert set(node.topology.cpus(node.rank)) == os.sched_getaffinity(0)
                if ctx.size > 1:
                    assert after.topology.cpus(1) == before.topology.cpus(1)
            assert set(before.topology.cpus(0)) >= {ones[0]}
            if ctx.is_root:
                before.topology.bind("all")

    def test_policies(self, ctx: dtl.Context, unbound: set[int]) -> None:
        topology = ctx.topology
        cores = dtl.allgather_object(ctx, topology.bind("core"))
        if ctx.size <= 2 <= dtl.Topology.num_cpus() and len(cores[0]) < dtl.Topology.num_cpus():
            assert len(set(cores)) == ctx.size
        shares = dtl.allgather_object(ctx, topology.bind())
        everything = set(topology.bind("all"))
        assert set().union(*shares) == everything or ctx.size > len(everything)
        domains = topology.numa_domains(ctx.rank)
        assert topology.bind("numa") in domains.values()
        number = max(domains)
        assert topology.bind("numa", domain=number) == domains[number]
        assert topology.bind(everything) == tuple(sorted(everything))

    def test_threads_follow(self, unbound: set[int]) -> None:
        code = """
            import dtl
            with dtl.Context() as ctx:
                before = dtl.get_num_threads()
                cpus = ctx.topology.bind("all")
                ctx.topology.bind(cpus[0])
                print(dtl.get_num_threads() == (1 if len(cpus) > 1 else before))
                dtl.set_num_threads(3)
                ctx.topology.bind("all")
                print(dtl.get_num_threads())
        """
        assert succeeded(program(code)) == "True\n3\n"

    def test_refusals(self, ctx: dtl.Context, unbound: set[int]) -> None:
        bind = ctx.topology.bind
        nowhere = max(bind("all")) + 1
        for to, error, code, text in (
            (nowhere, dtl.BoundsError, 103, f"CPU {nowhere} is none of those that this process may use, "),
            ([0, nowhere], dtl.BoundsError, 103, f"CPU {nowhere} is none"),
            (-1, dtl.BoundsError, 103, "CPU -1"),
            ([], dtl.InvalidArgumentError, 100, "no CPU to bind to"),
            ("socket", dtl.InvalidArgumentError, 100, "'socket' is none of"),
            ("", dtl.InvalidArgumentError, 100, "'' is none of"),
            (2**62, dtl.InvalidArgumentError, 100, str(2**62)),
            (2**70, dtl.InvalidArgumentError, 100, str(2**70)),
            (1.5, dtl.InvalidTypeError, 101, "not 1.5"),
            (None, dtl.InvalidTypeError, 101, "not None"),
            (["0"], dtl.InvalidTypeError, 101, "not ['0']"),
        ):
            refused(partial(bind, to), error, code, text)
        refused(lambda: bind("numa", domain=999), dtl.BoundsError, 103, "NUMA domain 999 is none of those")
        refused(lambda: bind("numa", domain=-1), dtl.BoundsError, 103, "NUMA domain -1 is none of those")
        refused(lambda: bind("core", domain=0), dtl.InvalidArgumentError, 100, "it goes with")
        assert self.masks() == {frozenset(bind("all"))}, "nothing was bound"


@pytest.mark.jobs("starts processes")
class TestLaunched:
    def test_without_a_context(self) -> None:
        code = """
            import dtl
            print(dtl.Topology.node_id(0), dtl.Topology.is_local(0, 0), dtl.Topology.num_cpus() > 0)
            try:
                dtl.Topology.node_id(1)
            except dtl.BoundsError as error:
                print(error)
        """
        assert succeeded(program(code)) == "0 True True\nrank 1 outside [0, 1)\n"

    def test_bound_by_the_launcher(self, tmp_path: Path) -> None:
        """Two ranks that mpirun binds show their masks, in both ways, on both ranks."""
        if len(os.sched_getaffinity(0)) < 2:
            pytest.skip("one processor; runs where there are two")
        script = tmp_path / "shows.py"
        script.write_text(
            "import dtl, os\n"
            "with dtl.Context() as ctx:\n"
            "    mine = tuple(sorted(os.sched_getaffinity(0)))\n"
            "    masks = dtl.allgather_object(ctx, mine)\n"
            "    assert [ctx.topology.cpus(rank) for rank in range(2)] == masks\n"
            "    assert [dtl.Topology.cpu_affinity(rank) for rank in range(2)] == [mask[0] for mask in masks]\n"
            "    assert len(set(masks)) == 2 and dtl.Topology.num_cpus() > len(mine)\n"
            "    if ctx.is_root: print('shown')\n"
        )
        mpirun = Path(sys.executable).parent / "mpirun"
        if not mpirun.exists():
            pytest.skip("no MPI library with a launcher here; runs in the environments of `make setup`")
        command = [str(mpirun), "-n", "2", *_binding(), sys.executable, str(script)]
        # Where the tests run as root, Open MPI's launcher wants to be told twice; MPICH's knows nothing of it.
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        assert succeeded(run(command, **root)).count("shown") == 1

    def test_world_that_was_bound_since(self, tmp_path: Path) -> None:
        """The world is as it was when it was opened; a context's own can be found out again."""
        code = """
            import dtl
            with dtl.Context() as ctx:
                first = [dtl.Topology.cpu_affinity(rank) for rank in range(2)]
                cpu = ctx.topology.bind("core")[0]
                ctx.topology.refresh()
                bound = dtl.allgather_object(ctx, cpu)
                if dtl.Topology.num_cpus() > 1:
                    assert [ctx.topology.cpu_affinity(rank) for rank in range(2)] == bound
                assert [dtl.Topology.cpu_affinity(rank) for rank in range(2)] == first
                if ctx.is_root:
                    print(ctx.topology)
        """
        out = succeeded(ranks(2, code, tmp_path))
        assert os.uname().nodename in out


def _binding() -> list[str]:
    """Return the launcher's option that binds each rank to a core."""
    text = run([str(Path(sys.executable).parent / "mpirun"), "--version"]).out
    return (
        ["--bind-to", "core", "--oversubscribe"]
        if "Open MPI" in text or "prte" in text.lower()
        else ["-bind-to", "core"]
    )


def test_seats_are_read_as_the_core_writes_them(ctx: dtl.Context) -> None:
    seats: list[Any] = affinity.seats_of(library.topology_of_world())
    assert seats[ctx.rank].hostname == os.uname().nodename
    assert set(seats[0].cpus) <= set(seats[0].allowed)
