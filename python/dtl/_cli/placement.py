"""On which hosts the ranks of a job run, and how many there are where only the hosts say so."""

from __future__ import annotations

from typing import Mapping, Sequence

from .._native.named_tuples import replaced
from . import ArgumentsError, allocation, command, hosts
from .hosts import Host

#: Of more hosts than these only the first ones are named.
_NAMED = 4


def place(job: command.Job, listed: str | None, hostfile: str | None, environ: Mapping[str, str]) -> command.Job:
    """Return the job with its hosts: those that the user names, or those of a resource manager; and with its ranks.

    A job of 0 ranks gets as many as its hosts have room for.

    Raises
    ------
    UsageError
        If hosts cannot be found, or have too little room; or if nothing says how many ranks there are.
    """
    if hostfile is not None:
        found = hosts.read(hostfile)
        if found is None or listed is not None:  # the launcher knows what both together mean, and what else a file says
            return replaced(_counted(job), hostfile=hostfile, hosts=listed, where=f"on hosts of {hostfile}")
    elif listed is not None:
        found = hosts.parse(listed)
    else:
        given = None if command.named(job, environ) else allocation.find(environ)
        return _counted(job) if given is None else _in(job, given)
    hosts.check(found)
    return _on(job, found, "")


def others(job: command.Job, environ: Mapping[str, str]) -> list[str] | None:
    """Return the other hosts on which the job's ranks may run, none where that is not known; None if there are none."""
    if not command.placed(job, environ):
        return None
    if command.named(job, environ) or (job.hosts and job.hostfile):
        return []
    if job.hosts:
        found = hosts.parse(job.hosts)
    elif job.hostfile:
        found = hosts.read(job.hostfile) or []
    else:
        given = allocation.find(environ)
        found = [] if given is None else given.hosts
    if found and all(map(hosts.local, found)):
        return None
    return [host.name for host in found if not hosts.local(host)]


def _in(job: command.Job, given: allocation.Allocation) -> command.Job:
    """Return the job in an allocation."""
    ranks = _ranks(job, given.ranks)
    if ranks is not None and ranks <= given.ranks and not given.told:
        return _on(job, given.hosts, f" in {given.name}")
    job = _counted(job, ranks or 0)
    exact = ranks == sum(host.slots or 1 for host in given.hosts)
    where = _spread(given.hosts) if exact else f"on {_names(given.hosts)}"
    return replaced(job, where=f"{_number(job)} in {given.name}: {where}")


def _on(job: command.Job, found: Sequence[Host], within: str) -> command.Job:
    """Return the job on these hosts."""
    given = hosts.divide(found, _ranks(job, None))
    ranks = sum(host.slots or 0 for host in given)
    job = replaced(_counted(job, ranks), hosts=hosts.listed(given), local=all(map(hosts.local, given)))
    return replaced(job, where=f"{_number(job)}{within}: {_spread(given)}")


def _ranks(job: command.Job, otherwise: int | None) -> int | None:
    """Return how many ranks the user asks for; for several programs, each says so."""
    if job.ranks:
        return job.all_ranks
    return None if job.others else otherwise


def _counted(job: command.Job, ranks: int = 0) -> command.Job:
    """Return the job with a number of ranks, which somebody has to have said."""
    if not job.ranks and (job.others or not ranks):
        raise ArgumentsError(
            "-n RANKS is needed, unless --hosts, --hostfile or an allocation of Slurm or PBS says how many"
            if not job.others
            else "-n RANKS is needed for each of several programs"
        )
    return replaced(job, ranks=job.ranks or ranks)


def _number(job: command.Job) -> str:
    return f"{job.all_ranks} rank{'s' if job.all_ranks > 1 else ''}"


def _spread(given: Sequence[Host]) -> str:
    """Return in words how many ranks are on which hosts."""
    by_count: dict[int, list[Host]] = {}
    for host in given:
        by_count.setdefault(host.slots or 1, []).append(host)
    return ", ".join(
        f"{count} on {'each of ' if len(some) > 1 else ''}{_names(some)}" for count, some in by_count.items()
    )


def _names(given: Sequence[Host]) -> str:
    names = [host.name for host in given]
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return ", ".join(names)
