"""The launcher's command line for a job, and what it needs in its environment."""

from __future__ import annotations

import os
import shlex
import signal
from typing import Mapping, NamedTuple, Sequence

from .._native import process
from . import allocation, reports
from .launcher import MPICH, OPEN_MPI, Launcher

_HOST_OPTIONS = {
    "host",
    "hosts",
    "H",
    "hostfile",
    "machinefile",
    "machine",
    "f",
    "default-hostfile",
    "configfile",
}

#: Options that say which processors a rank has.
_BINDING = {"bind-to", "map-by", "rank-by", "cpu-set", "cpu-list"}


#: The signals for ranks that Open MPI's launcher passes on to them. That of MPICH passes SIGUSR1 and SIGALRM on to what
#: it has started, which on several hosts is a shell.
_PASSED = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGURG)


class Job(NamedTuple):
    """What a user asked ``dtl run`` for."""

    ranks: int
    program: Sequence[str]
    prefix_output: bool = False
    hostfile: str | None = None
    hosts: str | None = None
    local: bool = False  # whether all those hosts are this machine
    where: str = ""  # the ranks' hosts in words, where the user or a resource manager has named some
    launcher_arguments: Sequence[str] = ()
    mpi: bool = False  # whether MPI is to connect the ranks
    others: Sequence[tuple[int, Sequence[str]]] = ()  # programs beside it, each on so many further ranks
    reads_nothing: bool = False  # whether no rank has anything to read
    before: Sequence[str] = ()  # what starts each program, for rank 0 to read what this process reads

    @property
    def all_ranks(self) -> int:
        """How many ranks all programs have."""
        return self.ranks + sum(ranks for ranks, _ in self.others)


class Command(NamedTuple):
    """A command as words, and the environment variables that are set for it in addition."""

    words: list[str]
    variables: dict[str, str]
    # What it gets when this process is killed. Hydra ends the ranks when mpiexec is killed; that of Open MPI has
    # to be asked.
    last_signal: signal.Signals = signal.SIGKILL
    where: str = ""
    # Open MPI's launchers keep their files in one folder, which each removes that finds it empty at its end. One that
    # is about to start then fails. This variable, if there is one, gives a launcher a folder of its own.
    folder_variable: str = ""
    # Where no launcher is needed, how many ranks each program has, and its words.
    programs: Sequence[tuple[int, Sequence[str]]] = ()
    prefix_output: bool = False  # of those
    launched: bool = False  # by a launcher of MPI
    passes: Sequence[signal.Signals] = ()  # what that passes on to the ranks

    def __str__(self) -> str:
        """Return the command as a shell takes it, with a comment that says on which hosts it starts ranks."""
        settings = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        comment = [f" # {self.where}"] if self.where else []
        return " ".join(settings + [shlex.quote(word) for word in self.words] + comment)


def build(launcher: Launcher, job: Job, cores: int, environ: Mapping[str, str], root: bool) -> Command:
    """Return the command that starts the job on a machine with this many cores for us.

    Placement is left alone where the user or a resource manager names the hosts, and what the user has set
    stays.
    """
    variables: dict[str, str] = {}
    if launcher.family == OPEN_MPI:
        variables = _open_mpi_variables(launcher, job, environ, root)
        options = _open_mpi_options(launcher, job, cores, environ)
    else:
        options = _hydra_options(job)
    before = _exported(job, environ) if launcher.family == OPEN_MPI else _watched(job, environ)
    before += job.before
    words = [launcher.path, "-n", str(job.ranks), *options, *job.launcher_arguments, *before, *job.program]
    hosts = _open_mpi_hosts(job) if launcher.family == OPEN_MPI else []  # of each program there, of the job elsewhere
    for ranks, program in job.others:
        words += [":", "-n", str(ranks), *hosts, *before, *program]
    if launcher.family != OPEN_MPI:
        return Command(words, variables, signal.SIGKILL, job.where, launched=True)
    own = launcher.version >= (5,) and not any("tmpdir_base" in name for name in environ)
    folder = "PRTE_MCA_prte_local_tmpdir_base" if own else ""
    return Command(words, variables, signal.SIGTERM, job.where, folder, launched=True, passes=_PASSED)


def without_mpi(job: Job) -> Command:
    """Return what starts the job's ranks on this machine without MPI, which is no command."""
    programs = [(job.ranks, job.program), *job.others]
    words = list(job.program)
    for ranks, program in job.others:
        words += [":", "-n", str(ranks), *program]
    number = f"{job.all_ranks} rank{'s' if job.all_ranks > 1 else ''}"
    where = f"{job.where or number}, connected without MPI"
    return Command(words, {}, where=where, programs=programs, prefix_output=job.prefix_output)


def spins(launcher: Launcher, job: Job, threads: int, environ: Mapping[str, str]) -> bool:
    """Say whether the ranks will starve each other: more than processors, and each waits without yielding."""
    return launcher.family == MPICH and job.all_ranks > threads and not placed(job, environ)


def _given(job: Job) -> set[str]:
    """Return the names of the options among the arguments for the launcher."""
    return {word.lstrip("-") for word in job.launcher_arguments if word.startswith("-")}


def named(job: Job, environ: Mapping[str, str]) -> bool:
    """Say whether the arguments for the launcher, or its parameters, name hosts."""
    return bool(_given(job) & _HOST_OPTIONS) or any(
        "hostfile" in name for name in environ if name.startswith(("OMPI_MCA_", "PRTE_MCA_"))
    )


def placed(job: Job, environ: Mapping[str, str]) -> bool:
    """Say whether somebody else decides on which hosts the ranks run."""
    return bool(
        job.hostfile
        or (job.hosts and not job.local)
        or named(job, environ)
        or any(name in environ for name in allocation.VARIABLES)
    )


def _open_mpi_variables(launcher: Launcher, job: Job, environ: Mapping[str, str], root: bool) -> dict[str, str]:
    """Return permission to run as root, and the transports of one node.

    Naming the transports keeps Open MPI from opening and measuring each that it has, most of its start-up
    time.
    """
    variables: dict[str, str] = {}
    if root:
        variables = {
            name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") if name not in environ
        }
    files = parameter_files(launcher.path, environ)
    chosen = [_sets_parameter(name, environ, job.launcher_arguments, files) for name in ("pml", "btl", "mtl")]
    if not any(chosen) and not placed(job, environ) and not _given(job) & {"tune", "am"}:
        shared_memory = "sm" if launcher.version >= (5,) else "vader"
        variables.update(OMPI_MCA_pml="ob1", OMPI_MCA_btl=f"self,{shared_memory}")
    return variables


def _open_mpi_options(launcher: Launcher, job: Job, cores: int, environ: Mapping[str, str]) -> list[str]:
    options: list[str] = []
    new = launcher.version >= (5,)
    given = _given(job)
    if job.all_ranks > cores and not placed(job, environ):
        if not given & {"map-by", "oversubscribe"}:
            options += ["--map-by", ":OVERSUBSCRIBE"] if new else ["--oversubscribe"]
        if "bind-to" not in given:
            options += ["--bind-to", "none"]
    elif job.all_ranks == 1 and not placed(job, environ) and not given & _BINDING and not _bound(environ):
        options += ["--bind-to", "none"]  # its threads have all processors, as without a launcher
    if job.prefix_output:
        options += ["--output", "tag"] if new else ["--tag-output"]
    return options + _open_mpi_hosts(job)


def _exported(job: Job, environ: Mapping[str, str]) -> list[str]:
    """Return the options that give ranks on other hosts our variables, which Hydra does by itself."""
    if not placed(job, environ):
        return []
    ours = {name for name in environ if name.startswith("DTL_")}
    ours |= {reports.VARIABLE, process.ADDRESSES, process.SECRET, process.VERSIONS}
    said = {word.partition("=")[0] for word in job.launcher_arguments}
    return [word for name in sorted(ours - said - {process.VARIABLE}) for word in ("-x", name)]


def _watched(job: Job, environ: Mapping[str, str]) -> list[str]:
    """Return what makes Hydra end a job on several hosts when a rank fails before MPI has started there.

    The others would wait for that rank in MPI. Hydra ends a job of which a process is ended by a signal.
    """
    return ["sh", "-c", '"$@" || kill -s KILL $$', "sh"] if placed(job, environ) else []


def _bound(environ: Mapping[str, str]) -> bool:
    """Say whether the environment says which processors a rank has."""
    return any("binding_policy" in name for name in environ if name.startswith(("OMPI_MCA_", "PRTE_MCA_")))


def _open_mpi_hosts(job: Job) -> list[str]:
    hostfile = ["--hostfile", job.hostfile] if job.hostfile else []
    return hostfile + (["--host", job.hosts] if job.hosts else [])


def _hydra_options(job: Job) -> list[str]:
    options: list[str] = []
    if job.prefix_output:
        options += ["-prepend-rank"]
    if job.hostfile:
        options += ["-f", job.hostfile]
    if job.hosts:
        options += ["-hosts", job.hosts]
    return options


def _sets_parameter(name: str, environ: Mapping[str, str], arguments: Sequence[str], files: Sequence[str]) -> bool:
    """Say whether a parameter is set in the environment, the launcher's arguments or a parameter file."""
    if f"OMPI_MCA_{name}" in environ or any(_names_parameter(path, name) for path in files):
        return True
    pairs = zip(arguments, arguments[1:])
    return any(option.lstrip("-") in ("mca", "gmca", "omca") and value == name for option, value in pairs)


def parameter_files(launcher: str, environ: Mapping[str, str]) -> list[str]:
    """Return the parameter files that Open MPI reads: the user's and the installation's, or those named."""
    named = environ.get("OMPI_MCA_mca_base_param_files")
    if named:
        return [path for path in named.replace(",", ":").split(":") if path]
    home = environ.get("HOME", os.path.expanduser("~"))
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(launcher)))
    # That of the system's own Open MPI, which another installation does not read.
    etc = "/etc/openmpi" if prefix == "/usr" or prefix.startswith("/usr/lib") else os.path.join(prefix, "etc")
    return [os.path.join(home, ".openmpi", "mca-params.conf"), os.path.join(etc, "openmpi-mca-params.conf")]


def _names_parameter(path: str, name: str) -> bool:
    """Say whether a parameter file has a line for the parameter."""
    try:
        with open(path, errors="replace") as file:
            return any(line.partition("=")[0].strip() == name for line in file)
    except OSError:
        return False
