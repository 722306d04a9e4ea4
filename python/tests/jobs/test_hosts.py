"""The hosts of a job: as the user names them, and as Slurm and PBS do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dtl import __main__ as dtl_command
from dtl._cli import UsageError, allocation, command, hosts, launcher, library, placement, start, supervise
from dtl._cli.command import Job
from dtl._cli.hosts import Host
from dtl._cli.launcher import MPICH, OPEN_MPI, Launcher

pytestmark = pytest.mark.alone("has nothing to do with ranks")

PROGRAM = ["python", "script.py"]
OPEN_MPI_5 = Launcher("/nowhere/bin/mpiexec", OPEN_MPI, (5, 0, 11))
MPICH_5 = Launcher("/nowhere/bin/mpiexec", MPICH, (5, 0, 2))
BOTH = pytest.mark.parametrize("starter", [OPEN_MPI_5, MPICH_5], ids=str)

# As sbatch -N 2 --ntasks-per-node 2 has them, beside others.
SLURM = {
    "SLURM_JOB_ID": "17",
    "SLURM_JOB_NODELIST": "n[1-2]",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NTASKS": "4",
    "SLURM_TASKS_PER_NODE": "2(x2)",
}


@pytest.fixture(autouse=True)
def _every_host_has_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_failure", lambda name: "unknown" if name.startswith("no") else "")


def build(starter: Launcher, job: Job, environ: dict[str, str]) -> list[str]:
    return command.build(starter, job, cores=2, environ={"HOME": "/nowhere", **environ}, root=False).words[1:]


def exported(starter: Launcher, *names: str) -> list[str]:
    """Return what is before the program: options for our variables, or the shell by whose signal Hydra ends the job."""
    if starter is MPICH_5:
        return ["sh", "-c", '"$@" || kill -s KILL $$', "sh"]
    own = ("DTL_RUN", "DTL_RUN_ADDRESSES", "DTL_RUN_SECRET", "DTL_RUN_VERSIONS")
    return [word for name in (*own, *names) for word in ("-x", name)]


def place(ranks: int, listed: str | None = None, hostfile: str | None = None, **environ: str) -> Job:
    return placement.place(Job(ranks, PROGRAM), listed, hostfile, environ)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", [Host("a")]),
        ("a:2,b:3", [Host("a", 2), Host("b", 3)]),
        ("a,b", [Host("a"), Host("b")]),
        ("a,a,b", [Host("a", 2), Host("b")]),
        ("a:2, b.example.org:1,a", [Host("a", 3), Host("b.example.org", 1)]),
    ],
)
def test_lists(text: str, found: list[Host]) -> None:
    assert hosts.parse(text) == found


@pytest.mark.parametrize("text", ["", "a:", "a:0", "a:-1", "a:x", "a,,b", ":2", "a b", "-a", "a:2:3"])
def test_bad_lists(text: str) -> None:
    with pytest.raises(
        UsageError, match="--hosts takes names such as a:2,b:2, each with a number of ranks of at least 1"
    ):
        hosts.parse(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a:2\nb:2\n", [Host("a", 2), Host("b", 2)]),
        ("# two\n\na slots=2 # there\nb slots = 2 max_slots=4\n", [Host("a", 2), Host("b", 2)]),
        ("a\na\nb\n", [Host("a", 2), Host("b")]),
        ("a\nb", [Host("a"), Host("b")]),
        ("+n0 slots=2\n", None),
        ("^a\n", None),
        ("a binding=core\n", None),
    ],
)
def test_files(text: str, found: list[Host] | None, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    assert hosts.read(str(path)) == found


def test_a_file_without_hosts(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# none\n")
    with pytest.raises(UsageError, match="names no host"):
        hosts.read(str(path))
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        hosts.read(str(tmp_path))


@pytest.mark.parametrize("line", ["a slots=0", "a:0"])
def test_a_file_with_a_host_of_no_ranks(line: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"b:2\n{line}\n")
    with pytest.raises(UsageError, match=f"has a number of ranks that is not at least 1: '{line}'$"):
        hosts.read(str(path))


@pytest.mark.parametrize(
    ("listed", "ranks", "given"),
    [
        ("a:2,b:2", None, "a:2,b:2"),
        ("a:2,b:2", 3, "a:2,b:1"),
        ("a:2,b:2", 2, "a:2"),
        ("a,b", None, "a:1,b:1"),
        ("a,b", 5, "a:3,b:2"),
        ("a,b", 1, "a:1"),
        ("a:2,b", 3, "a:2,b:1"),
    ],
)
def test_ranks_on_hosts(listed: str, ranks: int | None, given: str) -> None:
    assert hosts.listed(hosts.divide(hosts.parse(listed), ranks)) == given


def test_more_ranks_than_room() -> None:
    with pytest.raises(UsageError, match="5 ranks, but the hosts have room for 4: a:2,b:2"):
        place(5, "a:2,b:2")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("n1", ["n1"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10,12],login", ["n08", "n09", "n10", "n12", "login"]),
        ("r[1-2]n[1-2]b", ["r1n1b", "r1n2b", "r2n1b", "r2n2b"]),
        ("a-1,b[7]", ["a-1", "b7"]),
    ],
)
def test_lists_of_slurm(names: str, found: list[str]) -> None:
    assert list(allocation.expand(names)) == found


@BOTH
def test_hosts_of_the_user(starter: Launcher) -> None:
    job = place(0, "a:2,b:2")
    option = "--host" if starter is OPEN_MPI_5 else "-hosts"
    assert build(starter, job, {}) == ["-n", "4", option, "a:2,b:2", *exported(starter), *PROGRAM]
    assert job.where == "4 ranks: 2 on each of a, b"


def test_this_machine_by_name() -> None:
    """What we know of it holds there, too: more ranks than cores are not bound."""
    job = place(3, "localhost:3")
    assert build(OPEN_MPI_5, job, {}) == [
        *["-n", "3", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "--host", "localhost:3", *PROGRAM]
    ]
    assert not command.placed(job, {})
    assert command.placed(place(3, "localhost:2,b:1"), {})


@BOTH
def test_our_variables_are_there_on_other_hosts(starter: Launcher) -> None:
    words = build(starter, place(0, "a:2"), {"DTL_TIMEOUT": "5", "FOO": "1", "DTL_RANK_PROCESS": "7"})
    assert words[4:-2] == exported(starter, "DTL_TIMEOUT")


@BOTH
def test_a_file_of_either_family_is_for_both(starter: Launcher, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    option = "--host" if starter is OPEN_MPI_5 else "-hosts"
    for text in ("a:2\nb:1\n", "a slots=2\nb slots=1\n"):
        path.write_text(text)
        job = place(0, hostfile=str(path))
        assert build(starter, job, {}) == ["-n", "3", option, "a:2,b:1", *exported(starter), *PROGRAM]
        assert job.where == "3 ranks: 2 on a, 1 on b"


@BOTH
def test_a_file_that_only_the_launcher_understands(starter: Launcher, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("+n0 slots=2\n")
    option = "--hostfile" if starter is OPEN_MPI_5 else "-f"
    job = place(2, hostfile=str(path))
    assert build(starter, job, {}) == ["-n", "2", option, str(path), *exported(starter), *PROGRAM]
    with pytest.raises(UsageError, match="-n RANKS is needed"):
        place(0, hostfile=str(path))


@BOTH
@pytest.mark.parametrize(
    ("environ", "ranks", "where"),
    [
        ({}, 4, "4 ranks in Slurm's job 17: 2 on each of n1, n2"),
        ({"SLURM_NTASKS": ""}, 4, "4 ranks in Slurm's job 17: 2 on each of n1, n2"),
        (
            {"SLURM_NTASKS": "", "SLURM_TASKS_PER_NODE": "3,1"},
            4,
            "4 ranks in Slurm's job 17: 3 on n1, 1 on n2",
        ),
        ({"SLURM_NTASKS": "3"}, 3, "3 ranks in Slurm's job 17: on n1, n2"),
        (
            {"SLURM_JOB_NODELIST": "n[1-64]", "SLURM_TASKS_PER_NODE": "2(x64)", "SLURM_NTASKS": "128"},
            128,
            "128 ranks in Slurm's job 17: 2 on each of n1, n2, n3, n4 and 60 more",
        ),
    ],
)
def test_tasks_of_slurm(starter: Launcher, environ: dict[str, str], ranks: int, where: str) -> None:
    """The launcher itself learns the hosts from Slurm."""
    environ = {**SLURM, **environ}
    job = place(0, **environ)
    assert build(starter, job, environ) == ["-n", str(ranks), *exported(starter), *PROGRAM]
    assert job.where == where


def test_the_user_decides_within_slurm() -> None:
    assert place(2, **SLURM)[:1] == (2,)
    job = place(0, "a:1", **SLURM)
    assert (job.ranks, job.hosts, job.where) == (1, "a:1", "1 rank: 1 on a")
    given = placement.place(Job(3, PROGRAM, launcher_arguments=["--host", "n1"]), None, None, SLURM)
    assert (given.ranks, given.where) == (3, "")


@BOTH
@pytest.mark.parametrize("ranks", [0, 2, 3])
def test_lines_of_pbs(starter: Launcher, ranks: int, tmp_path: Path) -> None:
    path = tmp_path / "nodes"
    path.write_text("n1\nn1\nn2\n")
    environ = {"PBS_NODEFILE": str(path), "PBS_JOBID": "5.head"}
    job = place(ranks, **environ)
    option = "--host" if starter is OPEN_MPI_5 else "-hosts"
    given = {0: "n1:2,n2:1", 2: "n1:2", 3: "n1:2,n2:1"}[ranks]
    assert build(starter, job, environ) == ["-n", str(ranks or 3), option, given, *exported(starter), *PROGRAM]
    assert job.where.startswith(f"{ranks or 3} ranks in PBS's job 5.head: 2 on n1")


def test_more_ranks_than_lines_of_pbs(tmp_path: Path) -> None:
    """The launcher may know more of it."""
    path = tmp_path / "nodes"
    path.write_text("n1\n")
    job = place(3, PBS_NODEFILE=str(path))
    assert (job.ranks, job.hosts, job.where) == (3, None, "3 ranks in PBS's job: on n1")


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"SLURM_JOB_ID": "17"},
        {**SLURM, "SLURM_TASKS_PER_NODE": ""},
        {**SLURM, "SLURM_JOB_NODELIST": "n[a-b]"},
        {"PBS_NODEFILE": "/nowhere/nodes"},
        {"LSB_JOBID": "3"},
    ],
)
def test_nothing_says_how_many(environ: dict[str, str]) -> None:
    with pytest.raises(
        UsageError, match=r"^-n RANKS is needed, unless --hosts, --hostfile or an allocation of Slurm or PBS"
    ):
        place(0, **environ)
    assert place(2, **environ).ranks == 2


def test_several_programs_say_it_themselves() -> None:
    job = Job(0, PROGRAM, others=[(1, PROGRAM)])
    with pytest.raises(UsageError, match=r"^-n RANKS is needed for each of several programs$"):
        placement.place(job, None, None, SLURM)
    placed = placement.place(job._replace(ranks=2), "a:2,b:2", None, {})
    assert build(OPEN_MPI_5, placed, {}) == [
        *["-n", "2", "--host", "a:2,b:1", *exported(OPEN_MPI_5), *PROGRAM],
        *[":", "-n", "1", "--host", "a:2,b:1", *exported(OPEN_MPI_5), *PROGRAM],
    ]


def test_hosts_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^host 'nosuch' cannot be found: unknown$"):
        place(0, "a:2,nosuch:2")
    (tmp_path / "hosts").write_text("no1\nb\nno2\n")
    with pytest.raises(UsageError, match=r"^hosts 'no1', 'no2' cannot be found: unknown$"):
        place(0, hostfile=str(tmp_path / "hosts"))


def test_a_name_that_nobody_answers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_failure", lambda name: time.sleep(30))
    monkeypatch.setattr(hosts, "_LOOKUP_SECONDS", 0.1)
    with pytest.raises(UsageError, match=r"^host 'a' cannot be found: no answer within 0\.1 s$"):
        place(0, "a")


def test_a_name_of_the_domain_that_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither has the name that ssh knows it by, where ssh does not know it either."""
    monkeypatch.undo()
    with pytest.raises(UsageError, match=r"^host 'nosuch\.invalid' cannot be found: "):
        hosts.check([Host("nosuch.invalid"), Host("localhost")])
    alias = tmp_path / "ssh"
    alias.write_text("#!/bin/sh\necho 'user me'\necho 'hostname localhost'\n")
    alias.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    hosts.check([Host("nosuch.invalid")])


def test_srun_that_does_not_fit() -> None:
    """The error names what srun was told, and what this library needs."""
    found = library.find(os.environ)
    starter = launcher.find(found.path, os.environ) if found is not None else None
    if starter is None:
        pytest.skip("no MPI library with a launcher here; runs in the environments of `make setup`")
    step = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    rows = [("none", {}), ("pmix", {"PMIX_RANK": "0", "PMIX_NAMESPACE": "slurm.pmix.1.0"})]
    if starter.family == OPEN_MPI:
        rows = [("none", {}), ("pmi2", {"PMI_RANK": "0", "PMI_SIZE": "2"})]
    for kind, variables in rows:
        done = subprocess.run(
            [sys.executable, "-c", "import dtl; dtl.Context()"],
            env={**os.environ, "DTL_BACKEND": "", **step, **variables},
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        said = done.stderr.decode().splitlines()[-1]
        assert f"CommunicationError: context: Slurm's srun --mpi={kind} started 2 processes, but MPI " in said
        fits = "pmix" if starter.family == OPEN_MPI else "pmi2"
        assert f"; this library needs srun --mpi={fits}, if srun --mpi=list has it; or start it within the job" in said


@pytest.mark.parametrize("option", [["-n", "2"], ["-np", "2"], ["--ranks", "2"], ["--ranks=2"]])
def test_words_for_the_number(option: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jobs: list[Job] = []

    def kept(job: Job, *more: Any) -> command.Command:
        jobs.append(job)
        return command.Command(["true"], {})

    monkeypatch.setattr(start, "command_for", kept)
    monkeypatch.setattr(supervise, "run", lambda *args, **more: 0)
    script = tmp_path / "script.py"
    script.touch()
    assert dtl_command.main(["run", *option, str(script), "-np", "7"]) == 0
    assert (jobs[0].ranks, jobs[0].program[1:]) == (2, [str(script), "-np", "7"])


def test_the_line_says_where(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A shell takes it for a comment."""
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    monkeypatch.setattr(supervise, "run", lambda *args, **more: 0)
    monkeypatch.setattr(start.library, "find", lambda environ: start.library.Library("/nowhere/libmpi.so.12", "here"))
    monkeypatch.setattr(start.launcher, "find", lambda path, environ: MPICH_5)
    for name in allocation.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    script = tmp_path / "script.py"
    script.touch()
    assert dtl_command.main(["run", str(script)]) == 0
    shell, program = """sh -c '"$@" || kill -s KILL $$' sh""", f"{sys.executable} {script}"
    line = f"/nowhere/bin/mpiexec -n 4 {shell} {program}  # 4 ranks in Slurm's job 17: 2 on each of n1, n2\n"
    assert capsys.readouterr().err == f"dtl run: {line}"
    echoed = subprocess.run(f"echo {line}", shell=True, stdout=subprocess.PIPE, check=True, env=os.environ).stdout
    unquoted = shell.replace("'", "")
    assert echoed.decode() == f"/nowhere/bin/mpiexec -n 4 {unquoted} {program}\n"
