"""Where the ranks of the world run."""

from __future__ import annotations

from .._native import library
from .affinity import Seat, at, seats_of

_world: list[Seat] = []


def _world_seats() -> list[Seat]:
    """Return the seats of the world, which never change, or of this process alone, whose may."""
    global _world
    if not _world:
        seats = seats_of(library.topology_of_world())
        if len(seats) == 1:
            return seats
        _world = seats
    return _world


class Topology:
    """Where the ranks of the world run. Nothing here is collective: each function answers at once, on any rank.

    The ranks of the world exchanged their places when they opened their first context (``dtl.Context()``). The
    functions return these places, even if ranks have been bound to other processors since. In a process without such a
    context, rank 0 is this process, and there are no others. For the ranks of a context, and their NUMA domains, see
    :attr:`Context.topology`.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     all(dtl.Topology.is_local(rank, rank) for rank in range(ctx.size))
    True
    >>> dtl.Topology.num_cpus() >= 1
    True
    """

    __module__ = "dtl"

    @staticmethod
    def num_cpus() -> int:
        """Return how many CPUs (hardware threads) of its machine this process may use. Not collective.

        These are the CPUs that the process could be bound to: those that its container or job has of the machine,
        whether or not the process is bound to some of them now.
        """
        number: int = library.topology_processors()
        return number

    @staticmethod
    def num_gpus() -> int:
        """Return how many GPUs this process sees. Not collective. The first call starts their drivers."""
        number: int = library.topology_devices()
        return number

    @staticmethod
    def cpu_affinity(rank: int) -> int:
        """Return the first CPU that a rank is bound to; -1 if it may run on all. Not collective.

        Parameters
        ----------
        rank
            A rank of the world.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(_world_seats(), "rank", rank).cpu

    @staticmethod
    def gpu_id(rank: int) -> int:
        """Return the number of a rank's GPU, among those that the rank sees; -1 if it sees none. Not collective.

        It is the ``device_id`` of the rank's first context of the world. Without a ``device_id``, the ranks of a
        machine take its GPUs in turn. A rank sees the GPUs that its machine lists and that CUDA_VISIBLE_DEVICES or
        HIP_VISIBLE_DEVICES allow; the call starts no driver.

        Parameters
        ----------
        rank
            A rank of the world.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(_world_seats(), "rank", rank).gpu

    @staticmethod
    def is_local(rank_a: int, rank_b: int) -> bool:
        """Return whether two ranks run on one machine. Not collective.

        Parameters
        ----------
        rank_a, rank_b
            Ranks of the world.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        seats = _world_seats()
        return at(seats, "rank_a", rank_a).node == at(seats, "rank_b", rank_b).node

    @staticmethod
    def node_id(rank: int) -> int:
        """Return the number of a rank's machine; machines are in the order of their first ranks. Not collective.

        Two ranks are on one machine if its name and its running kernel are the same.

        Parameters
        ----------
        rank
            A rank of the world.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(_world_seats(), "rank", rank).node
