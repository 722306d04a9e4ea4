"""Other users of the machine and of the network: what they say to the sockets of a job changes nothing."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

import dtl
from dtl._cli import addresses, hosts, placement, reports, tracebacks
from dtl._cli.command import Job
from dtl._native import peers

pytestmark = pytest.mark.alone("has nothing to do with ranks")

NOBODY = 65534
AS_ROOT = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root may become another user; runs where the tests are root's"
)

RECORD = 128

GARBAGE = {
    "a report": b"0 joined 0".ljust(RECORD, b"\0"),
    "an end": b"0 ended 9".ljust(RECORD, b"\0"),
    "no text": bytes(range(256)),
    "a terminal's commands": b"\x1b]0;x\x07\x1b[2J".ljust(RECORD, b"!"),
    "numbers that are none": b"0 joined \xb2".ljust(RECORD, b"\0"),
    "much": bytes(1 << 20),
}


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Iterator[reports.Reports]:
    """Return what takes reports, also from other hosts, which here come through the loopback interface."""
    monkeypatch.setattr(addresses, "towards", lambda others: ["127.0.0.1"])
    monkeypatch.setattr(reports, "_STRANGER_SECONDS", 0.5)
    monkeypatch.setattr(tracebacks, "_COMING_SECONDS", 0.5)
    taken = reports.Reports([], tracebacks=4)
    yield taken
    taken.close()


def take_all(job: reports.Reports) -> None:
    while job.take(0.05):
        pass


def far(job: reports.Reports, *parts: bytes) -> socket.socket:
    """Connect as from another host, and say something."""
    host, _, port = job.addresses.rpartition(":")
    connection = socket.create_connection((host, int(port)))
    connection.settimeout(10)
    for part in parts:
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            connection.send(part)
        connection.settimeout(10)
        job.take(0.05)
    return connection


def hello(job: reports.Reports, host: str = "far") -> bytes:
    return f"{job.secret} {host}".encode().ljust(RECORD, b"\0")


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("said", GARBAGE.values(), ids=GARBAGE.keys())
def test_who_does_not_know_the_secret_is_not_heard(job: reports.Reports, said: bytes) -> None:
    with far(job, said) as stranger:
        take_all(job)
        assert is_closed(stranger)
    assert (job.states, job.lost, job.failure, job.hosts) == ({}, [], 0, {})


@pytest.mark.parametrize("place", [0, 31, 63])
def test_a_secret_that_is_nearly_right(job: reports.Reports, place: int) -> None:
    wrong = bytearray(hello(job))
    wrong[place] ^= 1
    with far(job, bytes(wrong), b"0 joined 0".ljust(RECORD, b"\0")) as stranger:
        take_all(job)
        assert is_closed(stranger)
    assert job.states == {}


def test_the_name_of_the_socket_is_no_secret(job: reports.Reports) -> None:
    names = Path("/proc/net/unix").read_text()
    assert job.name in names
    assert job.secret not in names
    assert len(job.secret) == 64
    with far(job, f"{job.name} far".encode().ljust(RECORD, b"\0")) as stranger:
        take_all(job)
        assert is_closed(stranger)


def test_who_says_nothing_is_not_waited_for(job: reports.Reports) -> None:
    with far(job) as silent, far(job, b"half") as slow:
        end = time.monotonic() + 10
        while job.take(1.0) or job._parts:
            assert time.monotonic() < end
        assert is_closed(silent)
        assert is_closed(slow)


def test_a_rank_is_heard_beside_many_strangers(job: reports.Reports) -> None:
    strangers = []
    for _ in range(reports._STRANGERS + 50):
        strangers.append(far(job))
        job.take(0.0)
        assert len(job._parts) <= reports._STRANGERS + 1
    with far(job, hello(job), b"3 joined 0".ljust(RECORD, b"\0")) as rank:
        take_all(job)
        assert rank.recv(1) == b"!"
        assert (job.states, job.hosts) == ({3: "joined"}, {3: "far"})
        for stranger in strangers:
            stranger.close()
        take_all(job)
        assert job.lost == []
    take_all(job)
    assert job.lost == [3]


def test_a_record_may_come_in_parts(job: reports.Reports) -> None:
    whole = hello(job) + b"1 starting 0".ljust(RECORD, b"\0") + b"1 ended 4".ljust(RECORD, b"\0")
    with far(job, *(whole[place : place + 50] for place in range(0, len(whole), 50))):
        take_all(job)
    assert (job.states, job.failed, job.failure) == ({1: "ended"}, 1, 4)


@pytest.mark.parametrize(
    "said", [b"x joined 0", b"0 gone 0", b"0 joined", b"-1 joined 0", b"\xff joined 0", b"0 joined 1 1"]
)
def test_what_no_rank_says_ends_only_the_connection(job: reports.Reports, said: bytes) -> None:
    with far(job, hello(job), said.ljust(RECORD, b"\0")), near(job, "", socket.SOCK_SEQPACKET) as local:
        local.send(said)
        take_all(job)
        assert is_closed(local)
    assert (job.states, job.lost, job.failure) == ({}, [], 0)


def test_the_name_of_a_host_is_printed_as_text(job: reports.Reports) -> None:
    with far(job, hello(job, "a\x1b[2Jb"), b"0 joined 0".ljust(RECORD, b"\0")):
        take_all(job)
        assert job.hosts == {0: "a?[2Jb"}


def near(job: reports.Reports, suffix: str, kind: socket.SocketKind) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.connect(f"\0{job.name}{suffix}")
    connection.settimeout(10)
    return connection


def as_nobody(act: Callable[[], None]) -> int:
    """Do something as another user, in a child; return its process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            act()
            code = 0
        finally:
            os._exit(code)
    return child


@AS_ROOT
@pytest.mark.parametrize(
    ("suffix", "kind"),
    [("", socket.SOCK_SEQPACKET), (tracebacks.SUFFIX, socket.SOCK_STREAM)],
    ids=["reports", "tracebacks"],
)
def test_another_user_of_this_machine_is_not_heard(
    job: reports.Reports, suffix: str, kind: socket.SocketKind, capfd: pytest.CaptureFixture[str]
) -> None:
    def act() -> None:
        for said in GARBAGE.values():
            with near(job, suffix, kind) as stranger:
                with contextlib.suppress(OSError):
                    stranger.send(said[:60])
                    stranger.shutdown(socket.SHUT_WR)
                assert is_closed(stranger)

    child = as_nobody(act)
    ended = (0, 0)
    while ended[0] == 0:
        job.take(0.05)
        ended = os.waitpid(child, os.WNOHANG)
    take_all(job)
    assert os.waitstatus_to_exitcode(ended[1]) == 0 if hasattr(os, "waitstatus_to_exitcode") else ended[1] == 0
    assert (job.states, job.lost, job.failure) == ({}, [], 0)
    assert capfd.readouterr().err == ""


def test_a_traceback_has_an_end(job: reports.Reports) -> None:
    """Of bytes and of seconds, after which the rank prints it by itself."""
    with near(job, tracebacks.SUFFIX, socket.SOCK_STREAM) as long, near(
        job, tracebacks.SUFFIX, socket.SOCK_STREAM
    ) as slow:
        long.setblocking(False)
        slow.send(b"Traceback")
        sent = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 1 << 24:
                with contextlib.suppress(BlockingIOError):
                    sent += long.send(bytes(1 << 16))
                job.take(0.01)
        assert 1 << 20 <= sent < 1 << 24
        end = time.monotonic() + 10
        while job.tracebacks is not None and job.tracebacks._parts:
            job.take(1.0)
            assert time.monotonic() < end
        assert is_closed(slow)


def test_a_child_of_this_user_that_is_no_rank_says_nothing(
    job: reports.Reports, capfd: pytest.CaptureFixture[str]
) -> None:
    with near(job, tracebacks.SUFFIX, socket.SOCK_STREAM) as connection:
        connection.send(b"ValueError: \x1b[2J")
        connection.shutdown(socket.SHUT_WR)
        take_all(job)
        assert is_closed(connection)
    assert capfd.readouterr().err == ""


def test_something_else_that_connects_with_launched_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")
    with dtl.Ranks(2) as pool:
        name: Any = pool._job._reports.name
        for said in (b"", b"x", b"h" + bytes(8), b"h" + (3).to_bytes(8, "little") + b"a b", bytes(100)):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(f"\0{name}-calls")
                connection.send(said)
            assert pool.run(lambda ctx: ctx.rank) == [0, 1]


def test_connections_that_have_said_nothing() -> None:
    unheard = peers.Unheard(2, 100.0)
    some = [socket.socket() for _ in range(4)]
    for connection in some:
        unheard.add(connection)
    assert unheard.late() == some[:2]
    for connection in some[:2]:
        unheard.remove(connection)
    assert unheard.late() == []
    assert 99 < (unheard.due or 0) <= 100
    for connection in some:
        connection.close()


SLURM = {"SLURM_JOB_ID": "1", "SLURM_TASKS_PER_NODE": "2(x2)"}


@pytest.mark.parametrize(
    ("job", "environ", "names"),
    [
        (Job(2, ["p"]), {}, None),
        (Job(2, ["p"], hosts="localhost:2", local=True), {}, None),
        (Job(2, ["p"], hosts="a:2,localhost:2"), {}, ["a"]),
        (Job(2, ["p"]), {**SLURM, "SLURM_JOB_NODELIST": "n[1-2]"}, ["n1", "n2"]),
        (Job(2, ["p"]), {**SLURM, "SLURM_JOB_NODELIST": "localhost,127.0.0.1"}, None),
        (Job(2, ["p"]), {"LSB_JOBID": "1"}, []),
        (Job(2, ["p"], launcher_arguments=["--host", "a"]), {}, []),
        (Job(2, ["p"], hosts="a", hostfile="f"), {}, []),
    ],
)
def test_which_other_hosts_are_listened_to(job: Job, environ: dict[str, str], names: list[str] | None) -> None:
    assert placement.others(job, environ) == names


def test_addresses_on_the_way_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "alias", lambda name: "")
    every = addresses._all()
    assert addresses.towards([]) == every
    assert addresses.towards(["127.0.0.1"]) == every  # a host that takes this address for its own
    assert addresses.towards(["no.such.host.invalid"]) == every
    if not every:
        pytest.skip("this machine has no network; runs on any that has one")
    assert addresses.towards(every[:1]) == every[:1]


def test_ranks_on_other_hosts_are_told_of_signals(job: reports.Reports) -> None:
    with far(job, hello(job), b"0 joined 0".ljust(RECORD, b"\0")) as rank, far(job) as stranger:
        assert rank.recv(1) == b"!"
        job.pass_on(10)
        assert rank.recv(1) == b"\n"
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.recv(1)
