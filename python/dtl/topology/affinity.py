"""Where the ranks of a context run: their machines, CPUs and GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from .._native import library, threads
from .._native.arguments import integer
from .._native.objects import handle_of
from ..exceptions import BoundsError, InvalidTypeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEGIBLE = 4  # so many ranks side by side on one CPU still have their numbers


class Seat(NamedTuple):
    """Where one rank runs."""

    #: The number of its machine, from 0, in the order of their first ranks.
    node: int
    #: The machine's name.
    hostname: str
    #: The CPUs that the rank may run on.
    cpus: tuple[int, ...]
    #: The same in words, such as ``0-3,8``.
    cpu_list: str
    #: The CPUs that it could be bound to.
    allowed: tuple[int, ...]
    #: The first of its CPUs if it is bound to some, else -1.
    cpu: int
    #: How many GPUs it sees.
    gpus: int
    #: The number of its GPU among those, or -1.
    gpu: int
    #: The CPUs of each NUMA domain of its machine, by its number.
    domains: dict[int, tuple[int, ...]]


Seat.__module__ = "dtl.seating"


def numbers(text: str) -> tuple[int, ...]:
    """Return numbers with commas in between."""
    return tuple(map(int, text.split(","))) if text else ()


def _seat(line: str) -> Seat:
    node, hostname, words, cpus, allowed, cpu, gpus, gpu, domains = line.split("\t")
    pairs = (domain.split(":") for domain in domains.split(";") if domain)
    near = {int(number): numbers(text) for number, text in pairs}
    own, could = numbers(cpus), numbers(allowed)
    return Seat(int(node), hostname, own, words, could, int(cpu), int(gpus), int(gpu), near)


def seats_of(table: str) -> list[Seat]:
    """Return the seat of each rank from the core's description of them."""
    return [_seat(line) for line in table.splitlines()]


def at(seats: list[Seat], name: str, rank: Any) -> Seat:
    """Return the seat of a rank, which an argument of this name names."""
    number = integer(name, rank)
    if not 0 <= number < len(seats):
        raise BoundsError(f"{name} {number} outside [0, {len(seats)})")
    return seats[number]


class Row(NamedTuple):
    """The CPUs of a NUMA domain of a machine, and the ranks that may run on each."""

    name: str
    cpus: tuple[int, ...]
    ranks: dict[int, list[int]]


def rows_of(seats: list[Seat]) -> list[Row]:
    """Return the rows of a picture of all machines."""
    rows = []
    for node in range(max(seat.node for seat in seats) + 1):
        here = {rank: seat for rank, seat in enumerate(seats) if seat.node == node}
        first = next(iter(here.values()))
        for number, cpus in first.domains.items():
            ranks = {cpu: [rank for rank, seat in here.items() if cpu in seat.cpus] for cpu in cpus}
            rows.append(Row(f"{first.hostname}\nNUMA {number}", cpus, ranks))
    return rows


class ContextTopology:
    """Where the ranks of a context run, as :attr:`Context.topology`. Nothing here is collective, except ``refresh``.

    It says where they ran when the context was made, or at the last ``refresh``. ``print`` shows it as a table.
    """

    __module__ = "dtl.seating"

    def __init__(self, ctx: Any) -> None:
        self._context = ctx
        self._seats = seats_of(library.context_topology(handle_of(ctx)))

    def refresh(self) -> None:
        """Find out where all ranks are now, and how many GPUs their drivers see. Collective. Call it after ``bind``.

        Raises
        ------
        InvalidHandleError
            If the context is closed.
        CollectiveMismatchError
            If another rank makes another call.
        """
        self._seats = seats_of(library.context_find_topology(handle_of(self._context)))

    @property
    def seats(self) -> list[Seat]:
        """Where each rank runs."""
        return list(self._seats)

    @property
    def nodes(self) -> list[list[int]]:
        """The ranks on each machine."""
        count = max(seat.node for seat in self._seats) + 1
        return [[rank for rank, seat in enumerate(self._seats) if seat.node == node] for node in range(count)]

    @property
    def ranks_per_node(self) -> list[int]:
        """The number of ranks on each machine."""
        return [len(ranks) for ranks in self.nodes]

    @property
    def hostnames(self) -> list[str]:
        """The name of each machine."""
        return [self._seats[ranks[0]].hostname for ranks in self.nodes]

    @property
    def num_cpus(self) -> list[int]:
        """The number of CPUs of each machine that its first rank may use."""
        return [len(self._seats[ranks[0]].allowed) for ranks in self.nodes]

    @property
    def num_gpus(self) -> list[int]:
        """The number of GPUs that the first rank of each machine sees."""
        return [self._seats[ranks[0]].gpus for ranks in self.nodes]

    def cpus(self, rank: int) -> tuple[int, ...]:
        """Return the CPUs that a rank may run on.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(self._seats, "rank", rank).cpus

    def numa_domains(self, rank: int) -> dict[int, tuple[int, ...]]:
        """Return the CPUs of each NUMA domain of a rank's machine that the rank could use, by the domain's number.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return dict(at(self._seats, "rank", rank).domains)

    def cpu_affinity(self, rank: int) -> int:
        """Return the first CPU that a rank is bound to; -1 if it may run on all.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(self._seats, "rank", rank).cpu

    def gpu_id(self, rank: int) -> int:
        """Return the number of a rank's GPU; -1 if it sees none.

        It is the ``device_id`` of the context on that rank. Without one, the ranks of a machine take its GPUs in turn.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(self._seats, "rank", rank).gpu

    def is_local(self, rank_a: int, rank_b: int) -> bool:
        """Return whether two ranks run on one machine.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(self._seats, "rank_a", rank_a).node == at(self._seats, "rank_b", rank_b).node

    def node_id(self, rank: int) -> int:
        """Return the number of a rank's machine. Machines are numbered from 0, in the order of their first ranks.

        Raises
        ------
        BoundsError
            If there is no such rank.
        """
        return at(self._seats, "rank", rank).node

    def bind(self, to: Any = "share", *, domain: int | None = None) -> tuple[int, ...]:
        """Bind every thread of this process to some CPUs, and return these. Not collective.

        Parameters
        ----------
        to
            One of:

            - ``"share"``: as many neighbouring cores as each other rank of the machine gets; at least one.
            - ``"core"``: one core with all its hardware threads; the ranks of the machine take the cores in turn.
            - ``"numa"``: one NUMA domain; the ranks of the machine are spread evenly, with neighbouring ranks together.
            - ``"all"``: all CPUs that this process may use; it is then not bound.
            - The number of a CPU, or several numbers.
        domain
            With ``"numa"``, the number of the domain.

        Returns
        -------
        tuple of int
            The CPUs.

        Raises
        ------
        BoundsError
            If this process may not use such a CPU, or if there is no such domain.
        InvalidArgumentError
            If to is none of these, or names no CPU.
        InvalidTypeError
            If to is of another type.
        BackendError
            If the kernel refuses.

        Notes
        -----
        Threads that other libraries have started, such as those of NumPy's BLAS, are bound, too. Threads that are
        started later have the binding of the thread that starts them. The CPUs are those that the process's container
        or job has of the machine; an earlier binding by the launcher does not matter. The number of threads that DTL
        uses changes with the binding, unless the program or DTL_NUM_THREADS has set it (`set_num_threads`). The table
        of this object shows the state before; `refresh` updates it.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     cpus = ctx.topology.bind("all")
        """
        policy = _policy(to, domain)
        neighbours = self.nodes[self._seats[self._context.rank].node]
        local = neighbours.index(self._context.rank)
        bound = library.topology_bind(policy, local, len(neighbours))
        threads.rebound()
        return numbers(bound)

    def __str__(self) -> str:
        rows = [("rank", "node", "host", "CPUs", "NUMA", "GPU")]
        for rank, seat in enumerate(self._seats):
            near = [str(number) for number, cpus in seat.domains.items() if not set(cpus).isdisjoint(seat.cpus)]
            bound = seat.cpu_list if seat.cpu >= 0 else f"{seat.cpu_list} (not bound)"
            gpu = "-" if seat.gpu < 0 else str(seat.gpu)
            rows.append((str(rank), str(seat.node), seat.hostname, bound, ",".join(near), gpu))
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        nodes = len(self.nodes)
        return f"<dtl topology: {_some(len(self._seats), 'rank')} on {_some(nodes, 'node')}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which ranks may run on which CPU of each machine. Not collective: one rank draws the picture for all.

        Parameters
        ----------
        ax
            The axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes, with a row of CPUs for each NUMA domain of each machine, in the colours of their ranks.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        from .drawing import colour, label, matplotlib  # which few programs need

        pyplot, rectangle = matplotlib("topology.plot")
        rows = rows_of(self._seats)
        if ax is None:
            ax = pyplot.subplots(figsize=(8, 1 + 0.6 * len(rows)))[1]
        for y, row in enumerate(rows):
            for x, cpu in enumerate(row.cpus):
                ranks = row.ranks[cpu]
                for i, rank in enumerate(ranks):
                    part = 1 / len(ranks)
                    ax.add_patch(rectangle((x + i * part, y), part, 1, facecolor=colour(rank), edgecolor="none"))
                    if len(ranks) <= _LEGIBLE:
                        ax.text(x + (i + 0.5) * part, y + 0.6, label(rank), ha="center", va="center", clip_on=True)
                ax.add_patch(rectangle((x, y), 1, 1, facecolor="none" if ranks else "#ffffff", edgecolor="#555555"))
                ax.text(x + 0.5, y + 0.15, f"CPU {cpu}", ha="center", va="center", fontsize="x-small", clip_on=True)
        ax.set_xlim(0, max((len(row.cpus) for row in rows), default=1))
        ax.set_ylim(len(rows), 0)
        ax.set_yticks([y + 0.5 for y in range(len(rows))], [row.name for row in rows])
        ax.set_xticks([])
        ax.set_title("which ranks may run on which CPU", fontsize="small")
        return ax


def _some(n: int, thing: str) -> str:
    return f"{n} {thing}" + ("" if n == 1 else "s")


def _policy(to: Any, domain: Any) -> str:
    """Return where to bind to as the core reads it."""
    if domain is not None:
        if to != "numa":
            raise library.invalid("bind", f'domain is given with {to!r}; it goes with "numa"')
        return f"numa:{integer('domain', domain)}"
    if isinstance(to, str):
        if to not in ("share", "core", "numa", "all"):
            raise library.invalid("bind", f'{to!r} is none of "share", "core", "numa" and "all"')
        return to
    try:
        cpus = [integer("to", cpu) for cpu in (to if isinstance(to, Iterable) else [to])]
    except InvalidTypeError:
        raise InvalidTypeError(f"to must be the name of a policy or numbers of CPUs, not {to!r}") from None
    if not cpus:
        raise library.invalid("bind", "there is no CPU to bind to")
    if min(cpus) < 0:
        raise BoundsError(f"CPU {min(cpus)} is negative")
    return ",".join(map(str, cpus))
