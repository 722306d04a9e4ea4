"""The hosts that a user names: as a list, or in a file of either family of launchers."""

from __future__ import annotations

import queue
import re
import shutil
import socket
import subprocess
import threading
import time
from typing import NamedTuple, Sequence

from . import UsageError

# What finding the addresses of all hosts may take.
_LOOKUP_SECONDS = 5.0

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")

# Open MPI's "a slots=2 max_slots=4", Hydra's "a:2", and a name alone, which counts once each time, as in PBS's files.
_LINE = re.compile(r"(?P<name>[\w.-]+)(:(?P<hydra>\d+)|\s+slots?\s*=\s*(?P<open>\d+))?(\s+max[_-]slots\s*=\s*\d+)?")


class Host(NamedTuple):
    """A host, and how many ranks it has room for; None where that was not said."""

    name: str
    slots: int | None = None


def parse(text: str) -> list[Host]:
    """Return the hosts of a list such as ``a:2,b:2``.

    Raises
    ------
    UsageError
        If it is no such list.
    """
    found = []
    for part in text.split(","):
        name, colon, slots = part.strip().partition(":")
        if not _NAME.fullmatch(name) or (colon and not (slots.isdecimal() and int(slots) > 0)):
            raise UsageError(
                f"--hosts takes names such as a:2,b:2, each with a number of ranks of at least 1, not {part!r}"
            )
        found.append(Host(name, int(slots) if colon else None))
    return _joined(found)


def read(path: str) -> list[Host] | None:
    """Return the hosts of a file, or None if it says more than this understands, for its launcher to read.

    Raises
    ------
    UsageError
        If there is no such file, or it names no host, or a host with no rank.
    """
    try:
        with open(path, errors="replace") as file:
            lines = [line.partition("#")[0].strip() for line in file]
    except FileNotFoundError:
        raise UsageError(f"there is no hostfile {path!r}") from None
    except OSError as error:
        raise UsageError(f"the hostfile {path!r} cannot be read: {error.strerror}") from None
    found = []
    for line in filter(None, lines):
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        slots = match["hydra"] or match["open"]
        if slots and int(slots) < 1:
            raise UsageError(f"the hostfile {path!r} has a number of ranks that is not at least 1: {line!r}")
        found.append(Host(match["name"], int(slots) if slots else None))
    if not found:
        raise UsageError(f"the hostfile {path!r} names no host")
    return _joined(found)


def _joined(hosts: Sequence[Host]) -> list[Host]:
    """Return each host once, with the sum of its numbers of ranks. A name without a number counts as one each time."""
    slots: dict[str, int | None] = {}
    for host in hosts:
        if host.name in slots:
            slots[host.name] = (slots[host.name] or 1) + (host.slots or 1)
        else:
            slots[host.name] = host.slots
    return [Host(name, count) for name, count in slots.items()]


def divide(hosts: Sequence[Host], ranks: int | None) -> list[Host]:
    """Return the hosts with a number of ranks each, as many together as ranks are asked for.

    Where numbers are said, the hosts are filled in their order. Where none is, all get the same, the first ones
    one more.

    Raises
    ------
    UsageError
        If there is not that much room.
    """
    said = any(host.slots is not None for host in hosts)
    room = sum(host.slots or 1 for host in hosts)
    if ranks is None:
        ranks = room
    if said and ranks > room:
        raise UsageError(f"{ranks} ranks, but the hosts have room for {room}: {listed(hosts)}")
    if not said:
        each, more = divmod(ranks, len(hosts))
        given = [Host(host.name, each + (place < more)) for place, host in enumerate(hosts)]
    else:
        given = []
        for host in hosts:
            given.append(Host(host.name, min(host.slots or 1, ranks)))
            ranks -= given[-1].slots or 0
    return [host for host in given if host.slots]


def listed(hosts: Sequence[Host]) -> str:
    """Return the hosts as both families of launchers take them."""
    return ",".join(host.name if host.slots is None else f"{host.name}:{host.slots}" for host in hosts)


def local(host: Host) -> bool:
    """Say whether a host is this machine, as far as its name tells."""
    own = socket.gethostname()
    return host.name in ("localhost", "127.0.0.1", own, own.partition(".")[0])


def check(hosts: Sequence[Host]) -> None:
    """Refuse hosts that have no address. Launchers report one host after the other, or only after a while.

    Raises
    ------
    UsageError
        If there are such hosts, which it names.
    """
    answers: queue.Queue[tuple[str, str]] = queue.Queue()
    others = [host.name for host in hosts if not local(host)]
    for name in others:
        threading.Thread(target=lambda name=name: answers.put((name, _failure(name))), daemon=True).start()
    failures = {name: f"no answer within {_LOOKUP_SECONDS:g} s" for name in others}
    end = time.monotonic() + _LOOKUP_SECONDS
    for _ in others:
        try:
            name, failures[name] = answers.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
    lost = [name for name in others if failures[name]]
    if lost:
        names = ", ".join(map(repr, lost))
        raise UsageError(f"host{'s' if len(lost) > 1 else ''} {names} cannot be found: {failures[lost[0]]}")


def _failure(name: str) -> str:
    """Return why a host has no address, "" if it has one, by its name or by what ssh calls so."""
    try:
        socket.getaddrinfo(name, None)
    except OSError as error:
        other = alias(name)
        return _failure(other) if other not in ("", name) else str(error.strerror or error)
    return ""


def alias(name: str) -> str:
    """Return the name that stands for a host in the user's configuration of ssh, by which launchers reach hosts.

    It is "" where there is no ssh.
    """
    program = shutil.which("ssh")
    if program is None:
        return ""
    try:
        answer = subprocess.run(
            [program, "-G", name],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LOOKUP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"^hostname (\S+)$", answer.stdout.decode(errors="replace"), re.MULTILINE)
    return match[1] if match else ""
