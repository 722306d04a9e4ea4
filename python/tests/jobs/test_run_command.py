"""The command line that ``dtl run`` builds for each launcher, and how it finds library and launcher."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dtl._cli import UsageError, command, cores, launcher, library, start
from dtl._cli.command import Command, Job
from dtl._cli.launcher import INTEL, MPICH, OPEN_MPI, Launcher

pytestmark = pytest.mark.alone("has nothing to do with ranks")

PROGRAM = ["python", "script.py", "-n", "7"]
# What gives ranks on other hosts our variables.
EXPORTED = ["-x", "DTL_RUN", "-x", "DTL_RUN_ADDRESSES", "-x", "DTL_RUN_SECRET", "-x", "DTL_RUN_VERSIONS"]
OPEN_MPI_5 = Launcher("/nowhere/bin/mpiexec", OPEN_MPI, (5, 0, 11))
OPEN_MPI_4 = Launcher("/nowhere/bin/mpiexec", OPEN_MPI, (4, 1, 8))
MPICH_5 = Launcher("/nowhere/bin/mpiexec", MPICH, (5, 0, 2))
INTEL_2021 = Launcher("/nowhere/bin/mpiexec", INTEL, (2021, 18, 1))
ALL = pytest.mark.parametrize("starter", [OPEN_MPI_5, OPEN_MPI_4, MPICH_5, INTEL_2021], ids=str)
OPEN = pytest.mark.parametrize("starter", [OPEN_MPI_5, OPEN_MPI_4], ids=str)

BANNERS = {
    OPEN_MPI: "mpiexec (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
    MPICH: "HYDRA build details:\n    Version:                                 5.0.2\n",
    INTEL: "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n",
}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose home has no parameter files."""
    return {"HOME": str(tmp_path)}


def build(starter: Launcher, environ: dict[str, str], ranks: int = 2, **asked: Any) -> Command:
    job = Job(ranks, PROGRAM)._replace(**asked)
    return command.build(starter, job, cores=2, environ=environ, root=False)


@pytest.mark.parametrize(
    ("starter", "ranks", "options"),
    [
        (OPEN_MPI_5, 1, ["--bind-to", "none"]),
        (OPEN_MPI_4, 1, ["--bind-to", "none"]),
        (MPICH_5, 1, []),
        (OPEN_MPI_5, 2, []),
        (OPEN_MPI_4, 2, []),
        (OPEN_MPI_5, 3, ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]),
        (OPEN_MPI_4, 3, ["--oversubscribe", "--bind-to", "none"]),
        (MPICH_5, 3, []),
        (INTEL_2021, 3, []),
    ],
)
def test_processors_of_the_ranks(starter: Launcher, ranks: int, options: list[str], home: dict[str, str]) -> None:
    words = build(starter, home, ranks).words
    assert words == ["/nowhere/bin/mpiexec", "-n", str(ranks), *options, *PROGRAM]


@pytest.mark.parametrize(
    ("starter", "options"),
    [
        (OPEN_MPI_5, ["--output", "tag", "--hostfile", "hosts", "--host", "a,b"]),
        (OPEN_MPI_4, ["--tag-output", "--hostfile", "hosts", "--host", "a,b"]),
        (MPICH_5, ["-prepend-rank", "-f", "hosts", "-hosts", "a,b"]),
        (INTEL_2021, ["-prepend-rank", "-f", "hosts", "-hosts", "a,b"]),
    ],
)
def test_what_is_asked_for(starter: Launcher, options: list[str], home: dict[str, str]) -> None:
    built = build(
        starter,
        home,
        ranks=9,  # more than cores here, but the hosts are named: their slots are not ours to judge
        prefix_output=True,
        hostfile="hosts",
        hosts="a,b",
        launcher_arguments=["--verbose"],
    )
    exported = EXPORTED if starter.family == OPEN_MPI else ["sh", "-c", '"$@" || kill -s KILL $$', "sh"]
    assert built.words == ["/nowhere/bin/mpiexec", "-n", "9", *options, "--verbose", *exported, *PROGRAM]
    assert built.variables == {}


@pytest.mark.parametrize(
    ("starter", "transports"), [(OPEN_MPI_5, "self,sm"), (OPEN_MPI_4, "self,vader"), (MPICH_5, None)]
)
def test_transports_of_one_node(starter: Launcher, transports: str | None, home: dict[str, str]) -> None:
    chosen = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": transports} if transports else {}
    assert build(starter, home).variables == chosen


@OPEN
@pytest.mark.parametrize("name", ["OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl"])
def test_transports_in_the_environment_stay(starter: Launcher, name: str, home: dict[str, str]) -> None:
    assert build(starter, {**home, name: "ucx"}).variables == {}


@OPEN
@pytest.mark.parametrize("arguments", [["--mca", "pml", "ucx"], ["-mca", "btl", "self,tcp"], ["--tune", "file"]])
def test_transports_among_the_arguments_stay(starter: Launcher, arguments: list[str], home: dict[str, str]) -> None:
    assert build(starter, home, launcher_arguments=arguments).variables == {}


@OPEN
def test_transports_in_a_parameter_file_stay(starter: Launcher, tmp_path: Path, home: dict[str, str]) -> None:
    file = tmp_path / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("# pml = ucx\nrmaps_base_verbose = 1\n")
    assert build(starter, home).variables != {}
    file.write_text("pml = ucx\n")
    assert build(starter, home).variables == {}


def test_named_parameter_files_replace_the_others(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "OMPI_MCA_mca_base_param_files": "/a.conf:/b.conf"}
    assert command.parameter_files("/nowhere/bin/mpiexec", environ) == ["/a.conf", "/b.conf"]


def test_parameter_files_are_those_of_the_installation(home: dict[str, str]) -> None:
    files = {path: command.parameter_files(f"{path}/bin/mpiexec", home)[1] for path in ("/usr", "/usr/local", "/opt/a")}
    assert files == {
        "/usr": "/etc/openmpi/openmpi-mca-params.conf",
        "/usr/local": "/usr/local/etc/openmpi-mca-params.conf",
        "/opt/a": "/opt/a/etc/openmpi-mca-params.conf",
    }


@OPEN
@pytest.mark.parametrize(
    "placed",
    [{"SLURM_JOB_ID": "7"}, {"PBS_NODEFILE": "nodes"}, {"PRTE_MCA_prte_default_hostfile": "hosts"}],
    ids=lambda variables: next(iter(variables)),
)
def test_an_allocation_places_the_ranks(starter: Launcher, placed: dict[str, str], home: dict[str, str]) -> None:
    built = build(starter, {**home, **placed}, ranks=9)
    assert (built.words, built.variables) == (["/nowhere/bin/mpiexec", "-n", "9", *EXPORTED, *PROGRAM], {})


@OPEN
@pytest.mark.parametrize("given", [["--map-by", "slot", "--bind-to", "core"], ["--host", "a"]])
def test_placement_among_the_arguments_stays(starter: Launcher, given: list[str], home: dict[str, str]) -> None:
    words = build(starter, home, ranks=9, launcher_arguments=given).words
    exported = EXPORTED if "--host" in given else []
    assert words == ["/nowhere/bin/mpiexec", "-n", "9", *given, *exported, *PROGRAM]


@OPEN
@pytest.mark.parametrize("given", [["--bind-to", "core"], ["--map-by", "slot"]])
def test_a_lone_rank_is_bound_where_the_user_says_so(starter: Launcher, given: list[str], home: dict[str, str]) -> None:
    words = build(starter, home, ranks=1, launcher_arguments=given).words
    assert words == ["/nowhere/bin/mpiexec", "-n", "1", *given, *PROGRAM]
    policy = {"PRTE_MCA_hwloc_default_binding_policy": "core"}
    assert build(starter, {**home, **policy}, ranks=1).words == ["/nowhere/bin/mpiexec", "-n", "1", *PROGRAM]


@pytest.mark.parametrize("set_already", [{}, {"OMPI_ALLOW_RUN_AS_ROOT": "0"}])
def test_root_is_allowed_unless_the_user_decides(set_already: dict[str, str], home: dict[str, str]) -> None:
    environ = {**home, **set_already}
    built = command.build(OPEN_MPI_5, Job(1, PROGRAM), cores=2, environ=environ, root=True)
    allowed = {name for name in built.variables if "ROOT" in name}
    assert allowed == {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"} - set(set_already)
    assert not any("ROOT" in name for name in build(OPEN_MPI_5, home).variables)
    assert command.build(MPICH_5, Job(1, PROGRAM), cores=2, environ=environ, root=True).variables == {}


@ALL
def test_who_spins(starter: Launcher, home: dict[str, str]) -> None:
    assert command.spins(starter, Job(3, PROGRAM), 2, home) == (starter.family == MPICH)
    assert not command.spins(starter, Job(2, PROGRAM), 2, home)


def test_a_shell_can_take_the_command() -> None:
    built = Command(["mpiexec", "a b.py", "*"], {"X": "1 2"})
    assert str(built) == "X='1 2' mpiexec 'a b.py' '*'"


def test_cores_of_this_machine() -> None:
    assert 1 <= cores.physical_cores() <= len(cores.hardware_threads()) <= (os.cpu_count() or 1)


def install(prefix: Path, name: str, banner: str, starter: str = "mpiexec") -> str:
    """Put an empty library and a launcher that only knows its version under a prefix; return the library."""
    path = prefix / "lib" / name
    for folder in (path.parent, prefix / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
    path.touch()
    program = prefix / "bin" / starter
    program.write_text(f"#!/bin/sh\ncat <<'end'\n{banner}end\n")
    program.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("libmpi.so.40", OPEN_MPI, (5, 0, 11)),
        ("libmpi.so.12", MPICH, (5, 0, 2)),
        ("libmpi.so.12", INTEL, (2021, 18, 1)),
        ("libmpi_abi.so.1", MPICH, (5, 0, 2)),
    ],
)
def test_launcher_beside_the_library(name: str, family: str, version: tuple[int, ...], tmp_path: Path) -> None:
    path = install(tmp_path, name, BANNERS[family])
    found = launcher.find(path, {"PATH": ""})
    assert found == Launcher(str(tmp_path / "bin" / "mpiexec"), family, version)


def test_launcher_of_another_family_does_not_count(tmp_path: Path) -> None:
    path = install(tmp_path / "own", "libmpi.so.12", BANNERS[OPEN_MPI])
    assert launcher.find(path, {"PATH": ""}) is None
    install(tmp_path / "other", "unused", BANNERS[MPICH])
    found = launcher.find(path, {"PATH": str(tmp_path / "other" / "bin")})
    assert found is not None
    assert found.path == str(tmp_path / "other" / "bin" / "mpiexec")


def test_several_mpi_under_one_prefix(tmp_path: Path) -> None:
    install(tmp_path, "libmpi.so.40", BANNERS[OPEN_MPI])
    path = install(tmp_path, "triple/mpich/lib/libmpi.so.12", BANNERS[MPICH], starter="mpiexec.mpich")
    found = launcher.find(path, {"PATH": ""})
    assert found is not None
    assert (found.family, os.path.basename(found.path)) == (MPICH, "mpiexec.mpich")


def test_library_of_the_python_environment_comes_before_the_search_path(tmp_path: Path) -> None:
    own = install(tmp_path / "own", "libmpi.so.12", "")
    other = install(tmp_path / "other", "libmpi.so.40", "")
    environ = {"LD_LIBRARY_PATH": os.path.dirname(other)}
    found = library.find(environ, prefix=str(tmp_path / "own"))
    assert found == library.Library(own, "the Python environment")
    found = library.find(environ, prefix=str(tmp_path))
    assert found == library.Library(other, "the default search path")


def test_named_library_comes_first(tmp_path: Path) -> None:
    own = install(tmp_path / "own", "libmpi.so.12", "")
    named = install(tmp_path / "named", "libmpi.so.40", "")
    found = library.find({"DTL_MPI_LIB": named}, prefix=str(tmp_path / "own"))
    assert found == library.Library(named, "DTL_MPI_LIB")
    by_name = {"DTL_MPI_LIB": os.path.basename(own), "LD_LIBRARY_PATH": os.path.dirname(own)}
    assert library.find(by_name, prefix=str(tmp_path)) == library.Library(own, "DTL_MPI_LIB")


def test_named_library_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"DTL_MPI_LIB is '/nowhere/libmpi\.so', and there is no such library"):
        library.find({"DTL_MPI_LIB": "/nowhere/libmpi.so"})


def test_a_launcher_gets_a_folder_of_its_own(home: dict[str, str]) -> None:
    """Launchers that share one, as Open MPI's do, keep each other from starting now and then."""
    built = build(OPEN_MPI_5, home)
    with start.environment(built, home) as environ:
        path = environ["PRTE_MCA_prte_local_tmpdir_base"]
        assert environ == {**home, **built.variables, "PRTE_MCA_prte_local_tmpdir_base": path}
        assert Path(path).is_dir()
        (Path(path) / "left").touch()
    assert not Path(path).exists()


@pytest.mark.parametrize("starter", [OPEN_MPI_4, MPICH_5, INTEL_2021], ids=str)
def test_other_launchers_get_none(starter: Launcher, home: dict[str, str]) -> None:
    built = build(starter, home)
    with start.environment(built, home) as environ:
        assert environ == {**home, **built.variables}


def test_a_folder_that_the_user_chose_stays(home: dict[str, str]) -> None:
    chosen = {**home, "PRTE_MCA_prte_tmpdir_base": "/scratch"}
    built = build(OPEN_MPI_5, chosen)
    with start.environment(built, chosen) as environ:
        assert environ == {**chosen, **built.variables}
