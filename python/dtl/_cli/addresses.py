"""The addresses of this host by which other hosts reach it."""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import queue
import socket
import struct
import threading
import time
from typing import Sequence

from . import hosts

# What finding the ways to all hosts may take.
_SECONDS = 2.0

_ANY_PORT = 9  # nothing is sent there

_SIOCGIFADDR = 0x8915  # of Linux's ioctl: an interface's address


def towards(others: Sequence[str]) -> list[str]:
    """Return the addresses that this host has on the ways to others.

    Where it is not known which others there are, or how one of them is reached, these are all addresses of this host
    but those of a network of its own.
    """
    answers: queue.Queue[str] = queue.Queue()
    for name in others:
        threading.Thread(target=lambda name=name: answers.put(_towards(name)), daemon=True).start()
    found: dict[str, None] = {}
    end = time.monotonic() + _SECONDS
    for _ in others:
        try:
            address = answers.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            address = ""
        if not address:
            return _all()
        found[address] = None
    return list(found) or _all()


def _towards(name: str) -> str:
    """Return the address on the way to a host, "" where there is none, or only one that it would take for itself."""
    for known in (name, hosts.alias(name)):
        with contextlib.suppress(OSError, UnicodeError):
            family, kind, _, _, address = socket.getaddrinfo(known, _ANY_PORT, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as way:
                way.connect(address)
                own = str(way.getsockname()[0])
            where = ipaddress.ip_address(own.partition("%")[0])
            return "" if where.is_loopback or where.is_link_local else own
    return ""


def _all() -> list[str]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # it has none
                answer = fcntl.ioctl(any_socket, _SIOCGIFADDR, struct.pack("256s", name.encode()))
                found.append(socket.inet_ntoa(answer[20:24]))
    return [address for address in found if not address.startswith("127.")]
