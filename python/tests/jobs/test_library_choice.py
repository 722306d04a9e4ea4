"""Which MPI library is opened, when, and what is said where it cannot be, or is not the launcher's."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import alone, ranks, succeeded

import dtl
from dtl.runtime import mpi

pytestmark = pytest.mark.jobs("starts processes with other settings")

needs_mpi = pytest.mark.skipif(
    not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"
)

#: As Open MPI's launcher and as MPICH's tell a process that it is the first of two.
LAUNCHERS = {
    "Open MPI": {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"},
    "MPICH": {"PMI_SIZE": "2", "PMI_RANK": "0"},
}

every_launcher = pytest.mark.parametrize("launcher", LAUNCHERS)

#: Prints the class, the code and the text of what Context() raises.
OPEN = """
import dtl
try:
    dtl.Context()
except dtl.DTLError as error:
    print(type(error).__name__, error.code, error)
else:
    print("opened")
print("has_mpi", dtl.has_mpi(), dtl.backends.why_not("mpi"))
"""


def opened() -> str:
    """Return a program's lines that print which MPI libraries are in the process."""
    return "print([line for line in open('/proc/self/maps') if 'libmpi' in line])"


@every_launcher
def test_library_that_does_not_exist(launcher: str, tmp_path: Path) -> None:
    path = str(tmp_path / "libmpi.so")
    out = succeeded(alone(OPEN, DTL_MPI_LIB=path, **LAUNCHERS[launcher]))
    assert out.startswith("BackendUnavailableError 401 ")
    assert path in out.splitlines()[0]
    assert "DTL_MPI_LIB" in out
    assert "has_mpi False" in out


def test_file_that_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "libmpi.so"
    path.write_text("no library")
    out = succeeded(alone(OPEN, DTL_MPI_LIB=str(path), **LAUNCHERS["Open MPI"]))
    assert out.startswith("BackendUnavailableError 401 ")
    assert str(path) in out.splitlines()[0]


def test_library_that_is_no_mpi() -> None:
    out = succeeded(alone(OPEN, DTL_MPI_LIB="libm.so.6", **LAUNCHERS["Open MPI"]))
    assert out.startswith("BackendUnavailableError 401 ")
    assert "libm.so.6" in out.splitlines()[0]
    assert "has_mpi False" in out


def test_no_library_is_needed_alone(tmp_path: Path) -> None:
    """Without a launcher nothing is opened, so nothing can fail."""
    out = succeeded(
        alone("import dtl\nwith dtl.Context() as ctx:\n    print(ctx)", DTL_MPI_LIB=str(tmp_path / "no.so"))
    )
    assert out == "<dtl.Context rank 0 of 1, cpu>\n"


def test_nothing_is_opened_alone() -> None:
    code = f"import dtl\n{opened()}\nctx = dtl.Context()\ndtl.allreduce(ctx, 1.5)\n{opened()}\nprint(ctx.has_mpi)"
    assert succeeded(alone(code)) == "[]\n[]\nFalse\n"


@needs_mpi
@every_launcher
def test_launcher_and_library_that_disagree(launcher: str) -> None:
    """A process that is told it is one of two, and is alone for MPI: a silent job of one rank is a wrong answer."""
    out = succeeded(alone(OPEN, **LAUNCHERS[launcher])).splitlines()[0]
    assert out.startswith("CommunicationError 300 ")
    assert "2" in out
    assert "libmpi" in out
    assert "1" in out


@needs_mpi
def test_disagreement_ends_the_program() -> None:
    ended = alone("import dtl\ndtl.Context()\nprint('not reached')", **LAUNCHERS["Open MPI"])
    assert ended.code != 0
    assert "CommunicationError" in ended.err
    assert "not reached" not in ended.out


@needs_mpi
def test_library_named_by_its_path(tmp_path: Path) -> None:
    path = succeeded(alone("from dtl.runtime import mpi\nprint(mpi.describe()['path'])")).strip()
    assert path == mpi.describe()["path"]
    out = succeeded(alone("from dtl.runtime import mpi\nprint(mpi.describe())", DTL_MPI_LIB=path))
    assert repr(path) in out
    assert "DTL_MPI_LIB" in out
    program = "import dtl\nwith dtl.Context() as ctx:\n    print('total', dtl.allreduce(ctx, 1))"
    assert succeeded(ranks(2, program, tmp_path, DTL_MPI_LIB=path)).count("total 2") == 2


@needs_mpi
def test_one_library_in_the_process(tmp_path: Path) -> None:
    program = """
    import dtl
    with dtl.Context() as ctx:
        paths = {line.split()[-1] for line in open('/proc/self/maps') if 'libmpi' in line.rsplit('/')[-1]}
        assert len({path for path in paths if '/libmpi.so' in path or '/libmpi_abi.so' in path}) == 1, paths
        assert ctx.size == 2 and ctx.has_mpi
    """
    succeeded(ranks(2, program, tmp_path))
