"""Different programs as roles of one job: with ``dtl run``, with a plain mpirun, and named by the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import job
import pytest
from job import on
from programs import clean, run, succeeded

import dtl
from dtl._cli import UsageError, command
from dtl._cli.launcher import MPICH, OPEN_MPI, Launcher
from dtl._cli.run import main

pytestmark = pytest.mark.jobs("starts ranks itself")

needs_mpi = pytest.mark.skipif(
    job.LAUNCHER is None, reason="no MPI library with a launcher here; runs in the environments of `make setup`"
)

#: What the reader and the workers do: a sum of squares.
READER = """
import sys
import dtl
with dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx{names}) as mgr:
    reader, worker = mgr.roles
    dtl.intergroup_broadcast(mgr, (reader, 0), worker, 3)
    parts = dtl.intergroup_gather(mgr, (reader, 0), worker)
    print(sys.argv[1:], mgr.roles, parts.tolist())
"""
WORKER = """
import sys
import dtl
with dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx{names}) as mgr:
    reader, worker = mgr.roles
    number = dtl.intergroup_broadcast(mgr, (reader, 0), worker)
    dtl.intergroup_gather(mgr, (reader, 0), worker, number ** 2 + mgr.role_rank(worker) * len(sys.argv[1:]))
"""


def written(folder: Path, names: str = "") -> tuple[str, str]:
    reader, worker = folder / "reader.py", folder / "worker.py"
    reader.write_text(READER.format(names=names))
    worker.write_text(WORKER.format(names=names))
    return str(reader), str(worker)


@needs_mpi
@pytest.mark.parametrize("workers", [on(2), on(3)])
@pytest.mark.parametrize(
    ("names", "roles"), [("", "('reader', 'worker')"), (", ['first', 'second']", "('first', 'second')")]
)
def test_scripts_are_roles(workers: int, names: str, roles: str, tmp_path: Path) -> None:
    reader, worker = written(tmp_path, names)
    done = job.run(1, reader, "x", ":", "-n", str(workers - 1), worker, "y")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"['x'] {roles} {[9 + rank for rank in range(workers - 1)]}\n"


@needs_mpi
def test_a_plain_mpirun(tmp_path: Path) -> None:
    assert job.LAUNCHER is not None
    reader, worker = written(tmp_path, ", ('a', 'b')")
    ended = subprocess.run(
        [job.LAUNCHER.path, "-n", "1", sys.executable, reader, ":", "-n", "1", sys.executable, worker],
        env={
            **clean(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"),
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        },
        capture_output=True,
        timeout=job.SECONDS,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "[] ('a', 'b') [9]\n"


@needs_mpi
def test_the_same_script_is_one_role(tmp_path: Path) -> None:
    script = tmp_path / "solver.py"
    script.write_text(
        "import dtl\n"
        "with dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx) as mgr:\n"
        "    print(mgr.roles, mgr.role_size('solver'), flush=True)\n"
    )
    done = job.run(1, str(script), "1", ":", "-n", "1", str(script), "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "('solver',) 2\n" * 2


@needs_mpi
def test_a_name_is_missing_on_one_rank(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(
        "import dtl\n"
        "with dtl.Context() as ctx:\n"
        "    try:\n"
        "        dtl.RoleManager.from_programs(ctx, ['a'])\n"
        "    except dtl.InvalidArgumentError as error:\n"
        "        print(error, flush=True)\n"
    )
    done = job.run(1, str(script), ":", "-n", "1", str(script))
    assert done.returncode == 0, done.stderr
    text = "from_programs: this is program 1 of the launcher's command, and names has 1"
    assert sorted(done.stdout.splitlines()) == [f"from_programs: rank 1: {text}", text]


@pytest.mark.parametrize(
    ("arguments", "variables", "role"),
    [
        (["{}"], {}, "app"),
        (["{}"], {"DTL_ROLE": "writer"}, "writer"),
        (["{}"], {"DTL_ROLE": ""}, "app"),
        (["-m", "app"], {}, "app"),
        (["-m", "dtl", "trace", "-o", "{}.json", "{}"], {}, "app"),
    ],
)
def test_the_role_of_one_process(arguments: list[str], variables: dict[str, str], role: str, tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(
        "import dtl\nwith dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx) as mgr:\n    print(mgr.roles)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = run([sys.executable, *[word.format(script) for word in arguments]], PYTHONPATH=path, **variables)
    assert f"('{role}',)\n" in succeeded(ended)


def test_no_script() -> None:
    code = "import dtl; dtl.RoleManager.from_programs(dtl.Context())"
    ended = run([sys.executable, "-c", code])
    assert ended.code == 1
    assert "no script has been started that gives the role its name; set DTL_ROLE, or pass names" in ended.err


HANG = """
import time
import dtl
with dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx) as mgr:
    {call}
"""


@needs_mpi
def test_a_hang_names_each_ranks_own_script(tmp_path: Path) -> None:
    reader, worker = tmp_path / "reader.py", tmp_path / "worker.py"
    reader.write_text(HANG.format(call="dtl.intergroup_recv(mgr, 'worker', 0)"))
    worker.write_text(HANG.format(call="mgr.role_context('worker'); ctx.barrier()"))
    words = ["-m", "dtl", "run", "-n", "1", str(reader), ":", "-n", "1", str(worker)]
    ended = run([sys.executable, *words], DTL_TIMEOUT="2")
    assert ended.code != 0
    assert "rank 0 in recv(source 1, tag 0) at reader.py:5; rank 1 in barrier() at worker.py:5" in ended.err


OPEN_MPI_5, MPICH_5 = Launcher("/bin/mpiexec", OPEN_MPI, (5, 0, 11)), Launcher("/bin/mpiexec", MPICH, (5, 0, 2))


@pytest.mark.parametrize(
    ("starter", "words"),
    [
        (OPEN_MPI_5, "-n 1 --map-by :OVERSUBSCRIBE --bind-to none a : -n 2 b : -n 1 c"),
        (MPICH_5, "-n 1 a : -n 2 b : -n 1 c"),
    ],
    ids=["Open MPI", "MPICH"],
)
def test_the_command(starter: Launcher, words: str, tmp_path: Path) -> None:
    asked = command.Job(1, ["a"], others=[(2, ["b"]), (1, ["c"])])
    assert asked.all_ranks == 4
    built = command.build(starter, asked, cores=2, environ={"HOME": str(tmp_path)}, root=False)
    assert " ".join(built.words) == "/bin/mpiexec " + words


def test_hosts_of_all_programs(tmp_path: Path) -> None:
    asked = command.Job(1, ["a"], hosts="n1,n2", others=[(2, ["b"])])
    words = command.build(OPEN_MPI_5, asked, cores=2, environ={"HOME": str(tmp_path)}, root=False).words
    while "-x" in words:  # variables that Open MPI's ranks on other hosts would not have
        at = words.index("-x")
        assert words[at + 1].startswith("DTL_")
        del words[at : at + 2]
    assert words[1:] == ["-n", "1", "--host", "n1,n2", "a", ":", "-n", "2", "--host", "n1,n2", "b"]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ([":"], "after ':' comes -n and a number of ranks"),
        ([":", "{}"], "after ':' comes -n and a number of ranks"),
        ([":", "-n"], "after ':' comes -n and a number of ranks"),
        ([":", "-n", "0", "{}"], "at least 1, not '0'"),
        ([":", "-n", "two", "{}"], "at least 1, not 'two'"),
        ([":", "-n", "2"], "there is no program to run"),
        ([":", "-n", "2", "nowhere.py"], "there is no file 'nowhere.py'"),
        ([":", "-n", "1", "{}", ":"], "after ':' comes -n and a number of ranks"),
    ],
)
def test_colons_without_a_program(more: list[str], text: str, tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text("")
    with pytest.raises(UsageError, match=text):
        main(["-n", "1", str(script), *[word.format(script) for word in more]])


def test_programs_of_a_part_know_the_whole_command(alone: dtl.Context) -> None:
    with dtl.RoleManager.from_programs(alone, ["only"]) as mgr:
        assert mgr.roles == ("only",)
