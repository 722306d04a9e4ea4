"""A simulated host: the first process of its namespaces, which runs what others ask for, and what stands for ssh.

``host.py serve NAME FOLDER`` is that process. ``host.py ssh FOLDER [options] HOST COMMAND`` has it run a command, with
the host's environment, in the folder ``/``, and with the caller's standard input and output.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Sequence

#: What a host sends once it can run commands.
READY = b"ready"

#: The options of ssh that launchers use, and how many words each takes.
_SSH_OPTIONS = {"-x": 1, "-q": 1, "-n": 1, "-T": 1, "-f": 1, "-l": 2, "-p": 2, "-o": 2}


def connect(folder: Path, name: str) -> socket.socket:
    """Return a connection to a host, which it has accepted."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(folder / f"{name}.socket"))
        if connection.recv(len(READY)) != READY:
            raise OSError(f"host {name} is ending")
    except OSError:
        connection.close()
        raise
    return connection


def begin(connection: socket.socket, words: Sequence[str], files: Sequence[int], **options: Any) -> None:
    """Have a host start a command with these files as its first ones; options are cwd, environ and with_caller."""
    request = json.dumps({"words": list(words), **options}).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
    connection.sendmsg([len(request).to_bytes(4, "little")], rights)
    connection.sendall(request)


def result(connection: socket.socket) -> int:
    """Return the exit code of the command, as a shell counts; that of ssh where the host is gone."""
    with contextlib.suppress(OSError):
        code = connection.recv(4)
        if len(code) == 4:
            return int.from_bytes(code, "little")
    return 255


def serve(name: str, folder: Path) -> None:
    """Make this process's namespaces a host, and run commands until it is killed."""
    socket.sethostname(name)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2g", "tmpfs", "/dev/shm"], check=True)
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)  # which shows this network
    subprocess.run(["mount", "--bind", str(folder / "hosts"), "/etc/hosts"], check=True)
    with contextlib.suppress(FileNotFoundError):  # its addresses take a second to be there
        Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    own = folder / name
    own.mkdir()
    os.environ["TMPDIR"] = str(own)
    os.chdir("/")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(folder / f"{name}.socket"))
    listener.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: whoever made the host ends it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets whoever ends
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            for signum in (signal.SIGINT, signal.SIGCHLD):
                signal.signal(signum, signal.SIG_DFL)
            os._exit(_serve_one(connection))
        connection.close()


def _serve_one(connection: socket.socket) -> int:
    """Run one command. Where it ends with its caller, and that goes, so does all that it has started."""
    connection.sendall(READY)
    rights = array.array("i")
    length, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(3 * rights.itemsize))
    if not ancillary:
        return 0  # the caller only wanted to know whether the host is there
    rights.frombytes(ancillary[0][2])
    size, text = int.from_bytes(length, "little"), b""
    while len(text) < size:
        text += connection.recv(size - len(text))
    request = json.loads(text)
    environ = {**os.environ, **request.get("environ", {})}
    child = subprocess.Popen(
        request["words"],
        stdin=rights[0],
        stdout=rights[1],
        stderr=rights[2],
        cwd=request.get("cwd", "/"),
        env=environ,
        start_new_session=True,
    )
    for file in rights:
        os.close(file)
    if request.get("with_caller"):
        threading.Thread(target=_end_with, args=(connection, child), daemon=True).start()
    code = child.wait()
    with contextlib.suppress(OSError):
        connection.sendall((128 - code if code < 0 else code).to_bytes(4, "little"))
    return 0


def _end_with(connection: socket.socket, child: subprocess.Popen[bytes]) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        selector.select()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def ssh(folder: Path, words: Sequence[str]) -> int:
    """Run a command as ssh would, and return its exit code."""
    rest = list(words)
    while rest and rest[0] in _SSH_OPTIONS:
        rest = rest[_SSH_OPTIONS[rest[0]] :]
    if not rest:
        print("ssh: names no host", file=sys.stderr)
        return 255
    name, *command = rest
    try:
        connection = connect(folder, name)
    except OSError as error:
        print(f"ssh: connect to host {name}: {error.strerror or error}", file=sys.stderr)
        return 255
    with connection:
        begin(connection, ["sh", "-c", " ".join(command)], [0, 1, 2])
        code = result(connection)
    if (folder / f"{name}.cut").exists():
        signal.pause()  # a connection to a host without power does not end
    return code


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(ssh(Path(sys.argv[2]), sys.argv[3:]))
