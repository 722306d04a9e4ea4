"""What every test shares: contexts, the number of ranks asked for, and what keeps the ranks together.

The suite runs as ``python -m pytest`` on one rank, and as ``mpirun -n N python -m pytest --with-mpi`` on more, with
N in DTL_TEST_RANKS. Every rank collects the same tests in the same order. A test that needs no particular number of
ranks uses ``ctx`` and holds on any; ``alone`` marks the others, ``jobs`` those that start programs of their own, of
which several may run at once, ``few`` those that do not depend on the number of ranks, which run on one and on two,
and ``mpi(min_size=...)`` of pytest-mpi those that need partners. Other runs leave them out. A rank that waits for one
that has failed is ended by pytest-timeout, and the launcher ends the others.

One rank runs every case of every table. Several ranks run, of a test with several parameters, as many cases as it
takes for each value of each parameter to be in one, and other cases on another number of ranks; and so do tests that
start programs. Of four such cases and more, two ranks run one half, and three the other. With
``DTL_TEST_TABLES=halves``, as in ``make test``, they share also fewer cases, and tests of one, of the folders that test
what is computed, and not how ranks meet. With ``DTL_TEST_TABLES=whole``, as in ``make test-matrix``, they run all.
Tests and cases with the mark ``matrix`` run only then: what they test, others test on another number of ranks or in
another way.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import re
import shutil
import socket
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Iterator

import destructors
import hypothesis
import numpy as np
import pytest
from places import PLACES
from time_limit import pytest_timeout_set_timer

import dtl
from dtl._cli import processes

__all__ = ["pytest_timeout_set_timer"]

#: The folders of tests, some of which import from others.
sys.path[1:1] = [
    str(Path(__file__).with_name(name))
    for name in ("arrays", "comm", "containers", "device", "files", "jobs", "sparse", "tables")
]

#: Each launcher says how many ranks it started. The communicator must agree.
_LAUNCHED = next(
    (os.environ[name] for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "DTL_LOCAL_SIZE") if name in os.environ), "1"
)
RANK = processes.rank_in(os.environ) or 0
RANKS = int(os.environ.get("DTL_TEST_RANKS") or _LAUNCHED)
#: Whether ranks are connected without MPI.
LOCAL = "DTL_LOCAL_SIZE" in os.environ or os.environ.get("DTL_BACKEND") == "local"
MATRIX = os.environ.get("DTL_TEST_TABLES") == "whole"
WHOLE = RANKS == 1 or MATRIX

#: Of so many cases of a test, and of more, two ranks run one half and three the other.
_DIVIDED = 4

#: The folders of tests of which two ranks run one half and three the other, whatever number of cases they have.
_HALVED = ("arrays", "files", "sparse", "tables") if os.environ.get("DTL_TEST_TABLES") == "halves" else ()

# Ranks draw the same examples: nothing may depend on time, on a database, or on what failed on one rank only.
hypothesis.settings.register_profile(
    "ranks",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40 if WHOLE else 20,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("ranks")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone(reason): runs in the run on one rank only, for the reason given")
    config.addinivalue_line("markers", "few(reason): the same on any number of ranks; runs in those on one and two")
    config.addinivalue_line("markers", "jobs(reason): starts programs of its own; runs in the run on one rank only")
    config.addinivalue_line("markers", "matrix(reason): runs with DTL_TEST_TABLES=whole, as in make test-matrix")
    config.addinivalue_line("filterwarnings", "ignore:ranks .* share GPU:RuntimeWarning")  # as they may with a real one
    config.addinivalue_line("markers", "mpi(min_size): of pytest-mpi, which need not be there")
    if RANK > 0:
        config.option.reportchars = "fE"
    # pytest tidies the folder that it shares with other runs of the user: two ranks that do it at once fail.
    if RANKS > 1 and config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="dtl-tests-")
        config.add_cleanup(functools.partial(shutil.rmtree, config.option.basetemp, ignore_errors=True))


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Let the first rank alone show how far the tests are; each shows its failures."""
    if RANK == 0 or report.failed or hasattr(report, "wasxfail"):
        return None
    return report.outcome if report.skipped or report.when == "call" else "", "", ""


def pytest_sessionstart(session: pytest.Session) -> None:
    destructors.watch()
    with dtl.Context() as ctx:
        if ctx.size != RANKS:
            raise pytest.UsageError(f"{RANKS} ranks were asked for, but the communicator has {ctx.size}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.testscollected == 0:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def _mpi4py_fits() -> bool:
    """Say whether mpi4py has a build for the MPI library in use; for the standard ABI of MPI 5 it may have none.

    Where other than MPI connects the ranks, it would start an MPI of its own.
    """
    if LOCAL or os.environ.get("DTL_BACKEND", "mpi") != "mpi":
        return False
    try:
        importlib.import_module("mpi4py.MPI")
    except ImportError:
        return False
    return True


def _leave_to_us(items: list[pytest.Item]) -> None:
    """Skip what needs more ranks, and take the marks for it away, of modules too: pytest-mpi would ask mpi4py."""
    least = [max((mark.kwargs.get("min_size", 1) for mark in item.iter_markers("mpi")), default=1) for item in items]
    for item, ranks in zip(items, least):
        for node in item.listchain():
            node.own_markers = [mark for mark in node.own_markers if mark.name != "mpi"]
        if ranks > RANKS:
            item.add_marker(pytest.mark.skip(reason=f"needs {ranks} ranks"))


@pytest.hookimpl(hookwrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Leave out cases of which every choice is made in another one, too; which, every rank draws alike.

    Here pytest has not yet made a test of each case, which takes it seconds. Where it keeps no list of them under this
    name, all cases run.
    """
    yield
    cases: list[Any] = getattr(metafunc, "_calls", [])
    if not cases or MATRIX or (RANKS == 1 and not any(metafunc.definition.iter_markers("jobs"))):
        return
    cases[:] = [case for case in cases if not any(mark.name == "matrix" for mark in case.marks)]
    are_divided = RANKS in (2, 3) and not LOCAL and _is_on_two_and_three(metafunc.definition)
    ranks = "2 or 3" if are_divided else RANKS
    made: set[tuple[int, str]] = set()
    kept = []

    def drawn(case: Any) -> int:
        name = f"{metafunc.definition.nodeid}[{case.id}]"
        return zlib.crc32(f"{ranks} ranks: {re.sub('0x[0-9a-f]+', '', name)}".encode())  # no rank's addresses

    for case in sorted(cases, key=lambda case: (_is_skipped(case), drawn(case))):
        choices = set(enumerate(getattr(case, "_idlist", [case.id])))  # its row of each of the test's tables
        if not choices <= made:
            made |= choices
            kept.append(id(case))
    if are_divided and len(kept) >= (2 if metafunc.definition.path.parent.name in _HALVED else _DIVIDED):
        kept = kept[(RANKS + _half(metafunc.definition)) % 2 :: 2]
        _divided.add(metafunc.definition.nodeid)
    cases[:] = [case for case in cases if id(case) in kept]


#: The tests of whose cases this number of ranks has some.
_divided: set[str] = set()


def _half(item: Any) -> int:
    """Say which half of its cases two ranks run: those of one case, one of two tests."""
    name: str = item.nodeid
    return zlib.crc32(name.partition("[")[0].encode()) % 2


def _is_of_others(item: pytest.Item) -> bool:
    """Say whether a test of one case is for three ranks if there are two, and for two if there are three."""
    return (
        RANKS in (2, 3)
        and not LOCAL
        and item.path.parent.name in _HALVED
        and item.nodeid.partition("[")[0] not in _divided
        and _is_on_two_and_three(item)
        and (RANKS + _half(item)) % 2 == 1
    )


def _is_skipped(case: Any) -> bool:
    """Say whether a case is left out wherever it would run here."""
    return any(mark.name == "skip" or (mark.name == "skipif" and mark.args[0] is True) for mark in case.marks)


def _is_on_two_and_three(definition: Any) -> bool:
    """Say whether a test runs on two ranks and on three."""
    return not any(
        mark.name in ("few", "alone", "jobs") or (mark.name == "mpi" and mark.kwargs.get("min_size", 1) > 2)
        for mark in definition.iter_markers()
    )


def _runs_elsewhere(item: pytest.Item) -> bool:
    """Say whether a test is of other runs. Its mark has the reason."""
    elsewhere = {"alone": RANKS > 1, "jobs": RANKS > 1, "few": RANKS > 2 and not WHOLE, "matrix": not MATRIX}
    if PLACES != ("host",) and item.path.parent.name != "device" and "place" not in getattr(item, "fixturenames", ()):
        return True  # the host's alone
    if _is_of_others(item):
        return True
    marks = [mark for mark in item.iter_markers() if elsewhere.get(mark.name)]
    for mark in marks:
        assert mark.args, f"{item.nodeid}: its mark {mark.name} has no reason"
    return bool(marks)


#: What a file has whose tests are all marked.
_ALL = re.compile(r"^pytestmark = [^=]*?pytest\.mark\.(alone|jobs)\(", re.MULTILINE)


@functools.lru_cache(maxsize=None)
def _has_nothing(path: Path, marks: str) -> bool:
    """Say whether this run has no test of a file: by its text, for to import all files takes seconds."""
    text = path.read_text(encoding="utf-8")
    everywhere = _ALL.search(text)
    if marks == "jobs":
        return "mark.jobs" not in text
    return everywhere is not None and (RANKS > 1 or (everywhere[1], marks) == ("jobs", "not jobs"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of which this run has nothing, unless they are asked for by name."""
    return (collection_path.suffix == ".py" and _has_nothing(collection_path, config.option.markexpr)) or None


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no garbage be looked for among thousands of tests while they are made."""
    gc.disable()
    yield
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    elsewhere = {item for item in items if _runs_elsewhere(item)}
    config.hook.pytest_deselected(items=list(elsewhere))
    items[:] = [item for item in items if item not in elsewhere]
    if RANKS > 1 and not _mpi4py_fits():
        _leave_to_us(items)


@pytest.fixture(scope="session")
def ctx() -> Iterator[dtl.Context]:
    """All ranks."""
    with dtl.Context() as context:
        yield context


@pytest.fixture(scope="session")
def neighbours(ctx: dtl.Context) -> list[int]:
    """The ranks of this rank's node, itself among them. A node has a hostname, unless DTL_NODES_OF pretends it."""
    pretended = int(os.environ.get("DTL_NODES_OF", "0"))
    mine = ctx.rank // pretended if pretended else socket.gethostname()
    return [rank for rank, node in enumerate(dtl.allgather_object(ctx, mine)) if node == mine]


@pytest.fixture(scope="session")
def mpi() -> Any:
    """mpi4py's MPI, for tests with the mark ``mpi``: the import initialises MPI, so not in a run on one rank."""
    if LOCAL:
        pytest.skip("the ranks are connected without MPI; runs where MPI connects them")
    try:
        return importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        pytest.skip(f"{error}; runs with Open MPI, and with MPICH's own ABI")


@pytest.fixture
def alone() -> Iterator[dtl.Context]:
    """This process alone, however many ranks there are: for calls of which one rank's failure is nobody else's."""
    with dtl.Environment() as environment, environment.make_cpu_context() as context:
        yield context


@pytest.fixture
def without_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect ranks without MPI in programs that it has no say in: they start in two thirds of the time.

    ``make test-matrix`` runs them with both.
    """
    if not MATRIX:
        monkeypatch.setenv("DTL_BACKEND", "local")


@pytest.fixture
def folder(ctx: dtl.Context) -> Iterator[str]:
    """An empty folder, the same on every rank."""
    made = tempfile.mkdtemp(prefix="dtl-files-") if ctx.is_root else None
    path: str = dtl.broadcast_object(ctx, made)
    yield path
    ctx.barrier()
    if ctx.is_root:
        shutil.rmtree(path)


@pytest.fixture
def scratch(folder: str) -> str:
    """An empty folder in the other one, for the files of what is on disk."""
    made = f"{folder}/scratch"
    os.makedirs(made, exist_ok=True)
    return made


@pytest.fixture
def disk(scratch: str) -> Iterator[dtl.Context]:
    """A context that has its files in the scratch folder."""
    with dtl.Context(scratch=scratch) as context:
        yield context


@pytest.fixture(autouse=True, scope="module")
def _what_is_old_stays() -> None:
    """Every collection that a test asks for would look at thousands of tests, and at pytest's reports of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _in_step(ctx: dtl.Context) -> Iterator[None]:
    """Let no rank start a test before all have ended the one before, so that a failure stays where it is.

    Ranks that still wait in the test for one that failed get an error when that one comes to the barrier, which
    repeats it until they are there too.
    """
    yield
    offences, destructors.offences[:] = destructors.offences[:], []
    while True:
        try:
            ctx.barrier()
            break
        except dtl.DTLError as error:
            if type(error) is dtl.CommunicationError:  # the communicator is of no use any more
                raise
    assert not offences


@pytest.fixture(params=["size", "base", "container"])
def win(request: pytest.FixtureRequest, ctx: dtl.Context) -> Any:
    """A window of 256 bytes a rank, of each kind."""
    if request.param == "size":
        made = dtl.Window(ctx, size=256)
    elif request.param == "base":
        made = dtl.Window(ctx, base=np.zeros(32))
    else:
        made = dtl.DistributedVector(ctx, 32 * ctx.size).window()
    with made:
        yield made
