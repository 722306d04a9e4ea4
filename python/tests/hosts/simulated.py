"""Two hosts on this machine: namespaces of Linux with a network, hostname, processes, mounts and /dev/shm of their own.

The second host's clock since its start shows another time than the first one's, as those of two machines do.

``simulated.py COMMAND`` runs a command on the first of them, in this folder and with this environment, in which
launchers find what stands for ssh:

    python python/tests/hosts/simulated.py python -m dtl run --hosts nodeA:2,nodeB:2 program.py

The link between them is as fast as memory; ``simulated.py --rate 1gbit COMMAND`` makes it as slow as Ethernet.

The hosts end with this process, whatever ends it, and with them all that runs there and is in their /dev/shm. Their
network has no other members, so that several such pairs may be there at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Sequence

import host

NAMES = ("nodeA", "nodeB")

_AHEAD = "1000000"  # seconds by which the second host started before the first one

_PREFIX = "dtl-hosts-"
_SECONDS = 20.0  # for a host to start
_PR_SET_PDEATHSIG = 1  # of Linux's prctl


class MissingError(Exception):
    """The machine lacks something that hosts need."""


class Command:
    """A command that runs on a host, and is ended with all its processes there by close."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def wait(self, seconds: float | None = None) -> int:
        """Return its exit code.

        Raises
        ------
        TimeoutError
            If it has not ended within so many seconds; it goes on.
        """
        self._connection.settimeout(seconds)
        try:
            code = self._connection.recv(4)
        except socket.timeout:
            raise TimeoutError(f"still running after {seconds:g} s") from None
        except OSError:
            code = b""
        return int.from_bytes(code, "little") if len(code) == 4 else 255

    def close(self) -> None:
        """End it, if it runs."""
        self._connection.close()


class Hosts:
    """The hosts, from ``make`` on."""

    def __init__(self, folder: Path, variables: dict[str, str], rate: str) -> None:
        self._folder, self._variables, self._rate = folder, variables, rate
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self.agent = folder / "ssh"

    @property
    def environ(self) -> dict[str, str]:
        """What launchers read to use what stands for ssh."""
        return {
            "PRTE_MCA_plm_ssh_agent": str(self.agent),
            "OMPI_MCA_plm_rsh_agent": str(self.agent),
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": str(self.agent),
        }

    def start(self) -> None:
        """Make the hosts and the network between them."""
        lines = [f"10.0.0.{number} {name}\n" for number, name in enumerate(NAMES, 1)]
        (self._folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(lines))
        program = os.path.abspath(host.__file__)
        self.agent.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{program}" ssh "{self._folder}" "$@"\n')
        self.agent.chmod(0o755)
        for name in NAMES:
            self._holders[name] = self._holder(name, program)
        first, second = (self._process(name) for name in NAMES)
        pair = ["type", "veth", "peer", "name", "eth0", "netns", str(second)]
        subprocess.run(["ip", "link", "add", "name", "eth0", "netns", str(first), *pair], check=True)
        for number, name in enumerate(NAMES, 1):
            self._shell(name, f"ip addr add 10.0.0.{number}/24 dev eth0 && ip link set eth0 up")
            if self._rate:  # what waits for the link is kept, as a network card keeps it
                self._shell(name, f"tc qdisc add dev eth0 root tbf rate {self._rate} burst 128kb latency 400ms")
        for name in NAMES:  # some libraries look once which networks are up
            self._shell(name, "until grep -q up /sys/class/net/eth0/operstate; do sleep 0.02; done")

    def _shell(self, name: str, line: str) -> None:
        if self.run(name, ["sh", "-c", line], _SECONDS) != 0:
            raise MissingError(f"host {name} gets no network")

    def _holder(self, name: str, program: str) -> subprocess.Popen[bytes]:
        """Start a host's first process, by one that ends it at its own end, which comes with ours."""
        prctl = ctypes.CDLL(None).prctl
        namespaces = ["--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc"]
        if name != NAMES[0]:
            namespaces += ["--time", "--monotonic", _AHEAD, "--boottime", _AHEAD]
        return subprocess.Popen(
            ["unshare", *namespaces, sys.executable, program, "serve", name, str(self._folder)],
            stdin=subprocess.DEVNULL,
            env={**os.environ, **self._variables},
            start_new_session=True,
            preexec_fn=lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0),  # noqa: PLW1509  # takes no lock
        )

    def _process(self, name: str) -> int:
        """Wait for a host, and return the number of its first process here."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end and self._holders[name].poll() is None:
            with contextlib.suppress(OSError), host.connect(self._folder, name) as connection:
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                return int(struct.unpack("3i", credentials)[0])
            time.sleep(0.02)
        raise MissingError(f"host {name} does not start; may this user make namespaces here?")

    def begin(self, name: str, words: Sequence[str], **options: Any) -> Command:
        """Start a command on a host; options are cwd, environ, and files for its input, output and errors."""
        files = options.pop("files", [0, 1, 2])
        connection = host.connect(self._folder, name)
        host.begin(connection, words, files, with_caller=True, **options)
        return Command(connection)

    def run(self, name: str, words: Sequence[str], seconds: float | None = None, **options: Any) -> int:
        """Run a command on a host and return its exit code."""
        with contextlib.closing(self.begin(name, words, **options)) as command:
            return command.wait(seconds)

    def cut(self, name: str) -> None:
        """Take a host's power: nothing goes out from it any more, not even that its connections end."""
        (self._folder / f"{name}.cut").touch()
        self.run(name, ["ip", "link", "set", "eth0", "down"])
        self.kill(name)

    def kill(self, name: str) -> None:
        """End all processes of a host at once. Its kernel tells the other host that their connections end."""
        holder = self._holders[name]
        holder.kill()
        holder.wait()

    def close(self) -> None:
        """End the hosts, with all that runs there."""
        for name in self._holders:
            self.kill(name)


def missing() -> str:
    """Return what this machine lacks, "" if nothing."""
    if not sys.platform.startswith("linux"):
        return "hosts are simulated by namespaces of Linux, and this is another system"
    if os.geteuid() != 0:
        return "only root may make namespaces with a network between them: run this as root"
    for program, package in {"unshare": "util-linux", "ip": "iproute2", "tc": "iproute2"}.items():
        if shutil.which(program) is None:
            return f"{program} is not there: apt-get install --no-install-recommends {package}"
    return ""


@contextlib.contextmanager
def made(*, rate: str = "", **variables: str) -> Iterator[Hosts]:
    """Make hosts, which are there while the block runs, with this environment and the variables in theirs.

    Their link has this rate, such as ``"1gbit"``, or that of memory.

    Raises
    ------
    MissingError
        If that cannot be done here.
    """
    lack = missing()
    if lack:
        raise MissingError(lack)
    _tidy()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    hosts = Hosts(folder, variables, rate)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            hosts.start()
            yield hosts
        finally:
            hosts.close()
            shutil.rmtree(folder, ignore_errors=True)


def _tidy() -> None:
    """Remove the folders of hosts whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(_PREFIX + "*"):
        with contextlib.suppress(OSError), open(folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _terminated(signum: int, frame: Any) -> None:
    sys.exit(128 + signum)


def heed_signals() -> None:
    """Let a signal that ends this process end it by an exception, so that what it made is ended and removed."""
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, _terminated)


def main() -> int:
    rate, words = "", sys.argv[1:]
    if words[:1] == ["--rate"]:
        rate, words = "".join(words[1:2]), words[2:]
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    heed_signals()
    try:
        with made(rate=rate) as hosts:
            return hosts.run(NAMES[0], words, cwd=os.getcwd(), environ=hosts.environ)
    except MissingError as error:
        print(f"hosts: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
