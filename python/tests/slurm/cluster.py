"""A Slurm of one node, this machine: munged, slurmctld and slurmd of a folder of their own, as root."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator

#: What is needed, and the Debian packages that have it.
PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "srun": "slurm-wlm",
    "sbatch": "slurm-wlm",
}

#: How many processors the node says it has, which is how many ranks a job may have.
PROCESSORS = 4

#: What the daemons get to start, and to end.
SECONDS = 30.0

CONFIGURATION = """\
ClusterName=dtl
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return the packages that have to be installed."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    packages = {package for program, package in PROGRAMS.items() if shutil.which(program, path=path) is None}
    plugins = list(Path("/usr/lib").glob("*/slurm-wlm/mpi_pmix*.so"))
    if not plugins or not list(Path("/usr/lib").glob("*/libpmix.so*")) + list(
        Path("/usr/lib").glob("*/pmix2/lib/libpmix.so*")
    ):
        packages.add("libpmix-dev")  # Slurm opens the library by the name without a version
    return sorted(packages)


@contextlib.contextmanager
def started() -> Iterator[dict[str, str]]:
    """Start the daemons, yield the environment of programs that use them, and end them."""
    folder = Path(tempfile.mkdtemp(prefix="dtl-slurm-"))
    environ = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "SLURM_CONF": f"{folder}/slurm.conf"}
    environ["PRTE_MCA_hwloc_default_binding_policy"] = "none"  # the machine may have fewer processors than it says
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().partition(".")[0]
        ports = [_port(), _port()]
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, controller=ports[0], daemon=ports[1], folder=folder, processors=PROCESSORS)
        )
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        munge = ["munged", "--foreground", "--force", f"--key-file={key}"]
        for option, name in (
            ("socket", "munge.socket"),
            ("pid-file", "munge.pid"),
            ("log-file", "munge.log"),
            ("seed-file", "munge.seed"),
        ):
            munge.append(f"--{option}={folder}/{name}")
        _start(daemons, munge, environ, folder)
        _until(daemons, folder, (folder / "munge.socket").exists)
        _start(daemons, ["slurmctld", "-D"], environ, folder)
        _start(daemons, ["slurmd", "-D", "-N", host], environ, folder)
        _until(daemons, folder, lambda: _idle(environ))
        yield environ
    finally:
        for daemon in reversed(daemons):
            _end(daemon)
        shutil.rmtree(folder, ignore_errors=True)


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def _start(daemons: list[Any], command: list[str], environ: dict[str, str], folder: Path) -> None:
    with open(folder / f"{command[0]}.out", "wb") as output:
        daemons.append(
            subprocess.Popen(command, env=environ, cwd=folder, stdout=output, stderr=output, start_new_session=True)
        )


def _idle(environ: dict[str, str]) -> bool:
    done = subprocess.run(
        ["sinfo", "-h", "-o", "%T"], env=environ, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout.strip() == "idle"


def _until(daemons: list[Any], folder: Path, there: Any) -> None:
    deadline = time.monotonic() + SECONDS
    while not there():
        if time.monotonic() > deadline or any(daemon.poll() is not None for daemon in daemons):
            told = "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in sorted(folder.glob("*.[ol][uo]*")))
            sys.exit(f"Slurm does not start:\n{told}")
        time.sleep(0.1)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(SECONDS)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
