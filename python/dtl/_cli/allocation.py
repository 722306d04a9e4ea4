"""What a resource manager has given to the job that this process runs in: so many tasks, on which hosts."""

from __future__ import annotations

import re
from typing import Iterator, Mapping, NamedTuple

from . import UsageError, hosts
from .hosts import Host

#: A resource manager that gave us hosts says so in one of these; the launcher then places the ranks itself.
VARIABLES = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "FLUX_URI", "COBALT_JOBID")


class Allocation(NamedTuple):
    """Hosts of a resource manager. Their slots are the tasks that the user asked it for."""

    name: str
    ranks: int
    hosts: list[Host]
    told: bool  # whether the launchers of all families learn it by themselves


def find(environ: Mapping[str, str]) -> Allocation | None:
    """Return the allocation of Slurm or PBS that this process is in; None if there is none, or it says too little."""
    return _slurm(environ) or _pbs(environ)


def _slurm(environ: Mapping[str, str]) -> Allocation | None:
    """Return what sbatch and salloc say.

    See sbatch(1), "Output environment variables": SLURM_NTASKS is there where a number of tasks was asked for, and
    SLURM_TASKS_PER_NODE is a list such as ``2(x3),1``.
    """
    job = environ.get("SLURM_JOB_ID")
    names = environ.get("SLURM_JOB_NODELIST")
    if not job or not names:
        return None
    counts = list(_per_node(environ.get("SLURM_TASKS_PER_NODE", "")))
    try:
        nodes = list(expand(names))
    except ValueError:  # no list as Slurm writes it
        return None
    if len(counts) != len(nodes):
        return None
    ranks = environ.get("SLURM_NTASKS", "")
    given = [Host(name, count) for name, count in zip(nodes, counts)]
    return Allocation(f"Slurm's job {job}", int(ranks) if ranks.isdecimal() else sum(counts), given, told=True)


def _per_node(text: str) -> Iterator[int]:
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            return
        yield from [int(match[1])] * int(match[2] or 1)


def expand(names: str) -> Iterator[str]:
    """Yield the hosts of a list as Slurm writes it: ``n[01-03,7],m1-[1-2]b``."""
    for part in re.findall(r"(?:[^,\[]|\[[^]]*\])+", names):
        yield from _expanded(part)


def _expanded(part: str) -> Iterator[str]:
    match = re.search(r"\[([^]]*)\]", part)
    if match is None:
        yield part
        return
    for piece in match[1].split(","):
        first, _, last = piece.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield from _expanded(f"{part[: match.start()]}{number:0{len(first)}d}{part[match.end() :]}")


def _pbs(environ: Mapping[str, str]) -> Allocation | None:
    """Return what PBS and Torque say: their file has a line for each rank, of the host that it belongs on."""
    path = environ.get("PBS_NODEFILE")
    if not path:
        return None
    try:
        found = hosts.read(path)
    except UsageError:  # on another host than the first there is no file
        return None
    if not found:
        return None
    given = [Host(host.name, host.slots or 1) for host in found]
    job = environ.get("PBS_JOBID", "")
    return Allocation(f"PBS's job {job}".rstrip(), sum(host.slots or 1 for host in given), given, told=False)
