"""The seats of ranks, as the core describes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._native.arguments import integer
from ..exceptions import BoundsError


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
