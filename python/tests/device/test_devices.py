"""Containers on GPUs, with a driver that these tests compile: on_a_device.py, and programs where there is no GPU."""

from __future__ import annotations

import contextlib
import fcntl
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
from older_numpy import VERSION
from programs import Ended, alone, ranks, run, succeeded, until

import dtl

# Longer than what each program has, so that one that is too slow fails its test, and not the process of all tests.
pytestmark = [pytest.mark.jobs("starts programs that load a driver"), pytest.mark.timeout(600)]

HERE = Path(__file__).parent
GPU = HERE.parents[2] / "backends" / "internal" / "gpu"
DRIVER = GPU / "gputest" / "driver"
NCCL = GPU / "gputest" / "nccl" / "nccl.c"

#: What is run with the driver: three programs, since Python, MPI and the driver start in each.
ON_A_DEVICE = {
    "computing": ("", "memory_", "computing_", "kernels_", "functions_", "operands_", "axes_", "users_", "matrices_"),
    "moving": ("indexing_", "moves_", "halos_"),
    "keeping": ("failing_", "moved_", "maps_", "files_", "groups_", "windows_"),
}

#: Where tests with the parameter ``place`` have their containers in these programs.
ON_GPUS = {"DTL_TEST_PLACES": "device,unified"}

#: The host's files with tests that have the parameter ``place``, by the program that runs those tests, too.
PLACED = {
    "computing": ("span",),
    "moving": ("redistribute", "access", "index_arrays", "halo"),
    "keeping": ("map", "grouping"),
}


def of_host(*names: str) -> list[str]:
    """Return files of the host's tests."""
    return [str(path) for name in names for path in HERE.parent.glob(f"*/test_{name}.py")]


def on_a_device(group: str) -> list[str]:
    """Return the files of a program. Where nothing is shared, subscripts move as redistributions do."""
    if group == "staged":
        return [*on_a_device("moving")[:3], *of_host("redistribute", "halo")]
    return [*(str(HERE / f"{name}on_a_device.py") for name in ON_A_DEVICE[group]), *of_host(*PLACED[group])]


def compiled(folder: Path, *sources: Path, soname: str = "libcuda.so.1") -> str:
    """Compile a library, and return the folder that it is in."""
    command = [compiler(), "-g", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-Wall", "-Werror"]
    command += [
        f"-I{DRIVER / ('hip' if 'rccl' in soname else 'cuda')}",
        f"-Wl,-soname,{soname}",
        *map(str, sources),
        "-ldl",
        "-lm",
    ]
    succeeded(run([*command, "-o", str(folder / soname)], 300))  # on a busy machine, minutes
    return str(folder)


def compiler() -> str:
    """Return the C compiler; skip the test where there is none."""
    found = shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler; runs where the extension can be built")
    return found


#: Whether programs have a driver with AddressSanitizer: ``make test-asan``.
SANITIZED = bool(os.environ.get("DTL_TEST_ASAN"))


def sanitized() -> dict[str, str]:
    """Return what a program needs for such a driver."""
    if not SANITIZED:
        return {}
    library = succeeded(run([compiler(), "-print-file-name=libasan.so"])).strip()
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0"}


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all processes that share the tests."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextlib.contextmanager
def first(folder: Path) -> Iterator[Path | None]:
    """Lend a folder to fill to the process that comes first, and None to the others, when the folder is there."""
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            yield None
        else:
            filled = Path(tempfile.mkdtemp(dir=folder.parent))
            yield filled
            filled.rename(folder)


def driver_of(shared: Path, name: str, soname: str, vendor: str = "cuda", defines: str = "") -> str:
    """Return the folder of a driver, which is compiled once."""
    with first(shared / name) as folder:
        if folder is not None:
            make = ["make", "-s", "-C", str(DRIVER), f"CC={compiler()}", f"VENDOR={vendor}", f"DEFINES={defines}"]
            make.append(f"SANITIZE={'address' if SANITIZED else ''}")
            succeeded(run([*make, f"OUT={folder / soname}"], 300, MAKEFLAGS=""))  # of the kernels, if nobody has them
    return str(shared / name)


def with_nccl(driver: str, soname: str) -> str:
    """Return a folder with a driver and its NCCL."""
    both = Path(f"{driver}-and-nccl")
    with first(both) as folder:
        if folder is not None:
            (library,) = Path(driver).iterdir()
            compiled(folder, NCCL, Path(shutil.copy2(library, folder)), soname=soname)
    return str(both)


@pytest.fixture(scope="session")
def driver(shared: Path) -> str:
    return driver_of(shared, "cuda", "libcuda.so.1")


@pytest.fixture(scope="session")
def old(shared: Path) -> str:
    """Return the folder of a driver that lends no memory to other processes."""
    return driver_of(shared, "old", "libcuda.so.1", defines="-DcuIpcOpenMemHandle_v2=fake_nothing")


@pytest.fixture(scope="session")
def hip(shared: Path) -> str:
    return driver_of(shared, "hip", "libamdhip64.so.6", "hip")


@pytest.fixture(scope="session")
def nccl(driver: str) -> str:
    return with_nccl(driver, "libnccl.so.2")


@pytest.fixture(scope="session")
def rccl(hip: str) -> str:
    return with_nccl(hip, "librccl.so.1")


#: What is run with NCCL, too.
BY_NCCL = [str(HERE / "nccl_on_devices.py"), str(HERE / "moves_by_nccl.py")]


#: Of numbers of ranks and suites, those that ``make test`` has no time for.
MATRIX = pytest.mark.matrix("runs the same tests on another number of ranks")


@pytest.mark.parametrize("count", [3, *(pytest.param(count, marks=MATRIX) for count in (1, 2, 4))])
def test_nccl(nccl: str, tmp_path: Path, count: int) -> None:
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *BY_NCCL]
    variables = {
        "LD_LIBRARY_PATH": nccl,
        "DTL_FAKE_GPU_COUNT": str(count + 1),
        "DTL_FAKE_NCCL_FOLDER": str(tmp_path),
        "DTL_TEST_RANKS": str(count),
        **ON_GPUS,
    }
    if count == 2:
        tests.append("--with-mpi")
    elif count > 2:
        variables["DTL_BACKEND"] = "local"
    if count > 1:
        tests = ["-m", "dtl", "run", "-n", str(count), *tests]
    ended = run([sys.executable, *tests], 150, **variables, **sanitized())
    assert "passed" in succeeded(ended)
    assert "skipped" not in ended.out or VERSION < "2.0.0", ended.out  # an old NumPy has not all


@pytest.mark.matrix("runs the tests of NCCL with RCCL")
def test_nccl_of_amd(rccl: str, tmp_path: Path) -> None:
    """The same tests with RCCL, but for those of each call that fails, which ``make test-hip`` has, too."""
    tests = ["-m", "dtl", "run", "-n", "2", "-m", "pytest", "-q", "-p", "no:cacheprovider", *BY_NCCL]
    if not os.environ.get("DTL_TEST_HIP"):
        tests += ["-k", "not whichever"]
    variables = {"LD_LIBRARY_PATH": rccl, "DTL_FAKE_GPU_COUNT": "3", "DTL_FAKE_NCCL_FOLDER": str(tmp_path), **ON_GPUS}
    ended = run([sys.executable, *tests], 300, DTL_BACKEND="local", DTL_TEST_RANKS="2", **variables)
    assert "passed" in succeeded(ended)
    assert "skipped" not in ended.out or VERSION < "2.0.0", ended.out  # an old NumPy has not all


def test_nccl_that_cannot_be_used(nccl: str, tmp_path: Path) -> None:
    program = """
        import dtl
        assert dtl.has_cuda() and not dtl.has_nccl()
        with dtl.Context() as ctx:
            try:
                ctx.with_nccl(0)
            except dtl.BackendUnavailableError as error:
                assert dtl.backends.why_not("nccl") in str(error)
                print(error)
    """
    said = succeeded(alone(program, LD_LIBRARY_PATH=nccl, DTL_NCCL_LIB=str(tmp_path / "libabsent.so")))
    assert "with_nccl: DTL_NCCL_LIB: cannot open" in said, said
    source = tmp_path / "old.c"
    source.write_text("int ncclGetVersion(int *version) { *version = 2408; return 0; }")
    compiled(tmp_path, source, soname="libnccl.so.2")
    said = succeeded(alone(program, LD_LIBRARY_PATH=nccl, DTL_NCCL_LIB=str(tmp_path / "libnccl.so.2")))
    assert "libnccl.so.2), which is too old: it has no ncclGetUniqueId" in said, said
    said = succeeded(alone(program, LD_LIBRARY_PATH=nccl, DTL_FAKE_NCCL_FAIL="ncclGetVersion:1:3"))
    assert "ncclGetVersion failed: error 3 (internal error)" in said, said


def test_info_names_nccl(nccl: str) -> None:
    ended = run([sys.executable, "-m", "dtl", "info"], LD_LIBRARY_PATH=nccl)
    assert f"NCCL:          2.27.3 in {nccl}/libnccl.so.2\n" in succeeded(ended)
    assert "no nccl:" not in ended.out


#: An MPI that reaches memory of GPUs: any, where the processor reaches it, as a network's adapter does.
REACHED = {"DTL_FAKE_GPU_REACHED": "1", "DTL_GPU_AWARE": "1", "DTL_BACKEND": "mpi"}

#: What is run with it.
REACHING = [str(HERE / name) for name in ("moves_on_a_device.py", "halos_on_a_device.py", "messages_on_devices.py")]
REACHING += of_host("redistribute", "halo")


#: The ranks of each program; on the first number, ``make test`` runs those of them that have most to compute.
COUNTS = {
    "computing": (2, 1, 3, 4),
    "moving": (3, 1, 2, 4),
    "keeping": (2, 1, 3, 4),
    "staged": (2, 3, 4),  # processes that share no memory lend each other none either
    "reached": (3,),
}

#: Those that ``make test`` does not run: of both ways through the host and MPI, it has programs of a few moves.
IN_MATRIX = ("staged", "reached")


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param(name, count, marks=() if count == counts[0] and name not in IN_MATRIX else MATRIX)
        for name, counts in COUNTS.items()
        for count in counts
    ],
)
def test_containers_on_devices(driver: str, count: int, name: str) -> None:
    """Each rank has a GPU of its own; of four ranks, two share each."""
    files = REACHING if name == "reached" else on_a_device(name)
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    gpus = 2 if count == 4 else count
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": str(gpus), "DTL_TEST_RANKS": str(count), **ON_GPUS}
    if name not in ON_A_DEVICE:
        variables["DTL_SHARED_MEMORY"] = "0"
    if name == "reached":
        variables.update(REACHED)
    if count == 2:  # without MPI, whose ranks take more of a processor to wait
        variables["DTL_BACKEND"] = "local"
    elif count > 2:
        tests.append("--with-mpi")
    if count > 1:
        tests = ["-m", "dtl", "run", "-n", str(count), *tests]
    ended = run([sys.executable, *tests], 300, **variables, **sanitized())
    assert "passed" in succeeded(ended)
    assert "skipped" not in ended.out or VERSION < "2.0.0", ended.out  # an old NumPy has not all


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=MATRIX)])
def test_containers_on_devices_of_amd(hip: str, count: int) -> None:
    """The same tests with HIP's driver: where DTL_TEST_HIP is set, all of them (``make test-hip``)."""
    files = [str(HERE / f"{name}on_a_device.py") for name in (("", "memory_") if count == 1 else ("halos_",))]
    if os.environ.get("DTL_TEST_HIP"):
        files = [file for group in ON_A_DEVICE for file in on_a_device(group)]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    if count > 1:
        tests = ["-m", "dtl", "run", "-n", str(count), *tests]
    variables = {"LD_LIBRARY_PATH": hip, "DTL_FAKE_GPU_COUNT": str(count), "DTL_TEST_RANKS": str(count), **ON_GPUS}
    ended = run([sys.executable, *tests], 500, DTL_BACKEND="local", **variables, **sanitized())
    assert "passed" in succeeded(ended)
    assert "skipped" not in ended.out or VERSION < "2.0.0", ended.out  # an old NumPy has not all


def test_info_names_devices_of_amd(hip: str) -> None:
    ended = run([sys.executable, "-m", "dtl", "info"], LD_LIBRARY_PATH=hip, DTL_FAKE_GPU_COUNT="2")
    assert "GPUs:          0: Fake GPU 0, 1: Fake GPU 1\n" in succeeded(ended)
    assert f"GPU driver:    ROCm runtime, HIP 6.2, in {hip}/libamdhip64.so.6\n" in ended.out
    assert "no hip:" not in ended.out
    assert "no cuda:" in ended.out


def test_a_chip_without_kernels(hip: str) -> None:
    program = """
        import dtl
        assert dtl.has_hip() and not dtl.has_cuda() and not dtl.placement_available(dtl.PLACEMENT_DEVICE)
        with dtl.Context() as ctx:
            try:
                dtl.DistributedVector(ctx, 3, placement=dtl.PLACEMENT_DEVICE)
            except dtl.BackendUnavailableError as error:
                print(error)
    """
    said = succeeded(alone(program, LD_LIBRARY_PATH=hip, DTL_FAKE_GPU_ARCH="gfx1030"))
    assert "it is a gfx1030, and this version of DTL has kernels for gfx90a, gfx942, gfx1100" in said, said


#: Prints how many bytes of a redistribution go through the host, on each rank; the last one's FAIL fails.
LENDING = """
    import ctypes, os
    import numpy as np
    import dtl
    driver = ctypes.CDLL("libcuda.so.1")
    driver.fake_outstanding.restype = ctypes.c_long
    with dtl.Context() as ctx:
        for n in range(2):
            with dtl.DistributedVector(ctx, 900, np.float64, placement="device") as vec:
                vec[...] = np.arange(900.0)
                if ctx.rank == ctx.size - 1 and n == 0:
                    driver.fake_fail(os.environ.get("FAIL", "").encode())
                before = driver.fake_outstanding(7)
                vec.redistribute("cyclic")
                copied = driver.fake_outstanding(7) - before
                driver.fake_fail(b"")
                assert (vec.to_numpy() == vec.local_indices()).all()
            with dtl.DistributedVector(ctx, 90, np.float64, fill=ctx.rank, placement="device") as vec:
                halo = dtl.Halo(vec, 1, periodic=True)
                halo.exchange()
                halo.close()
            told = dtl.gather_object(ctx, copied, root=0)
            if ctx.rank == 0:
                print(told)
"""


@pytest.mark.parametrize("gpus", [pytest.param(1, marks=MATRIX), 3])
def test_memory_that_processes_lend(driver: str, old: str, tmp_path: Path, gpus: int) -> None:
    """On one GPU, and on several. If one rank cannot, or has an old driver, elements go through the host on all."""
    nothing, all_but_own = "[0, 0, 0]\n" * 2, "[1600, 1600, 1600]\n" * 2
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": str(gpus), "DTL_BACKEND": "local"}
    assert succeeded(ranks(3, LENDING, tmp_path, **variables)) == nothing
    assert succeeded(ranks(3, LENDING, tmp_path, DTL_SHARED_MEMORY="0", **variables)) == all_but_own
    for symbol in ("cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2"):
        assert succeeded(ranks(3, LENDING, tmp_path, FAIL=f"{symbol}:1:201", **variables)) == all_but_own
    variables["LD_LIBRARY_PATH"] = old
    assert succeeded(ranks(3, LENDING, tmp_path, **variables)) == all_but_own
    said = succeeded(run([sys.executable, "-m", "dtl", "info"], LD_LIBRARY_PATH=old))
    assert "goes through the host: NVIDIA driver lacks cuIpcGetMemHandle or" in said


def test_messages_between_devices(driver: str, tmp_path: Path) -> None:
    """Nothing is on the host if MPI reaches the memory, where no ranks share any of the host's, and where some do."""
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": "2", **REACHED}
    nothing, all_but_own = "[0, 0, 0]\n" * 2, "[1600, 1600, 1600]\n" * 2
    for apart in ({"DTL_SHARED_MEMORY": "0"}, {"DTL_NODES_OF": "2"}):
        assert succeeded(ranks(3, LENDING, tmp_path, **apart, **variables)) == nothing
        assert succeeded(ranks(3, LENDING, tmp_path, **apart, **{**variables, "DTL_GPU_AWARE": "0"})) == all_but_own
        assert succeeded(ranks(3, LENDING, tmp_path, **apart, **{**variables, "DTL_GPU_AWARE": ""})) == all_but_own


@pytest.mark.skipif(not os.environ.get("DTL_TEST_AWARE"), reason="no MPI here knows of GPUs; runs in make test-aware")
@pytest.mark.parametrize("count", [2, 3])
def test_an_mpi_that_was_built_for_cuda(driver: str, count: int) -> None:
    """Without what it does otherwise: it ends the process if the driver fails, and copies by way of the host."""
    library = os.environ["DTL_TEST_AWARE"]
    files = [*REACHING, str(HERE / "indexing_on_a_device.py")]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--with-mpi", *files]
    tests += ["-k", "not fail and not rank_leaves and not on_the_host"]
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": str(count), "DTL_TEST_RANKS": str(count)}
    variables.update(DTL_SHARED_MEMORY="0", DTL_MPI_LIB=library, MPI4PY_LIBMPI=library)
    ended = run([sys.executable, "-m", "dtl", "run", "-n", str(count), *tests], 500, **variables)
    assert "passed" in succeeded(ended)
    assert "skipped" not in ended.out or VERSION < "2.0.0", ended.out  # an old NumPy has not all


def test_info_says_whether_mpi_knows_of_devices(driver: str) -> None:
    def line(**variables: str) -> str:
        said = succeeded(run([sys.executable, "-m", "dtl", "info"], LD_LIBRARY_PATH=driver, **variables))
        return next(line for line in said.splitlines() if line.startswith("GPUs by MPI:"))

    assert line(DTL_GPU_AWARE="1").endswith("moves between machines goes from GPU to GPU, as MPI reaches their memory")
    assert line(DTL_GPU_AWARE="0").endswith("goes through the host: DTL_GPU_AWARE is 0")
    assert line().endswith("says that it does not know of GPUs")
    assert line(DTL_GPU_AWARE="yes").endswith("DTL_GPU_AWARE is 'yes'; it must be '0' or '1'")


@pytest.mark.parametrize("variables", [{"DTL_SHARED_MEMORY": "0"}, {"DTL_NODES_OF": "2"}, {"OLD": "1"}])
def test_windows_that_cannot_be(driver: str, old: str, tmp_path: Path, variables: dict[str, str]) -> None:
    """Ranks that share no memory, or whose driver lends none, reach no GPU of another rank. All say so, and go on."""
    program = """
        import os
        import dtl
        with dtl.Context() as ctx, dtl.DistributedVector(ctx, 7, fill=1, placement="device") as vec:
            for call in (vec.window, lambda: vec.remote(3), lambda: dtl.Window(ctx, base=vec.local_view())):
                try:
                    call()
                except dtl.DTLError as error:
                    kind, text = type(error).__name__, str(error)
                else:
                    raise AssertionError("no error")
                told = dtl.allgather_object(ctx, (kind, "copy the elements to a container" in text))
                assert told == [(kind, True)] * ctx.size, text
            host = dtl.DistributedVector(ctx, 7)
            dtl.copy(vec, host)
            with host.window() as win, win.epoch():
                dtl.rma_put(win, ctx.rank, 0, vec.local_view())
            assert vec.sum() == host.sum() == 7
            if ctx.rank == 0:
                print(kind)
    """
    folder = old if "OLD" in variables else driver
    said = succeeded(ranks(3, program, tmp_path, LD_LIBRARY_PATH=folder, **variables))
    assert said == ("InvalidArgumentError\n" if "OLD" in variables else "BackendUnavailableError\n")


def test_ranks_that_share_a_device(driver: str, tmp_path: Path) -> None:
    """The first of them says so, once."""
    program = """
        import dtl, warnings
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with dtl.Context() as ctx:
                for placement in (dtl.PLACEMENT_DEVICE, dtl.PLACEMENT_UNIFIED):
                    dtl.DistributedVector(ctx, 5, placement=placement)
                with ctx.dup() as twin:
                    dtl.DistributedVector(twin, 5, placement=dtl.PLACEMENT_DEVICE)
                texts = dtl.gather_object(ctx, [(str(one.message), one.filename == __file__) for one in said], root=0)
        if ctx.rank == 0:
            print(texts)
    """
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": "2", "DTL_BACKEND": "local"}
    said = succeeded(ranks(3, program, tmp_path, **variables))
    assert said.count("ranks 0, 2 share GPU 0 (Fake GPU 0)") == 1, said
    assert said.count("True") == 1, said  # rank 1 has a GPU of its own


def test_ranks_on_instances_of_a_device(nccl: str, tmp_path: Path) -> None:
    """Parts of a GPU are GPUs by themselves, but not for an NCCL that goes by where a GPU is in the machine."""
    program = """
        import os, warnings
        os.environ["DTL_FAKE_GPU_INSTANCE"] = str(os.getpid() % 256)
        import dtl
        with warnings.catch_warnings(record=True) as said, dtl.Context() as ctx:
            warnings.simplefilter("always")
            dtl.DistributedVector(ctx, 5, placement=dtl.PLACEMENT_DEVICE)
            try:
                ctx.with_nccl(0).close()
                told = "linked"
            except dtl.BackendError as error:
                told = str(error)
            texts = dtl.gather_object(ctx, (told, [str(one.message) for one in said]), root=0)
        if ctx.rank == 0:
            print(texts)
    """
    variables = {"LD_LIBRARY_PATH": nccl, "DTL_BACKEND": "local", "DTL_FAKE_NCCL_FOLDER": str(tmp_path)}
    said = succeeded(ranks(2, program, tmp_path, **variables))
    assert said.count("Duplicate GPU detected") == 2, said
    assert said.count("[]") == 2, said
    said = succeeded(ranks(2, program, tmp_path, DTL_FAKE_NCCL_VERSION="23000", **variables))
    assert said == "[('linked', []), ('linked', [])]\n"


#: Makes calls after one of the last rank's GPU has failed for good, and prints which of them the ranks heard of.
BROKEN = """
    import ctypes, os
    import numpy as np
    import dtl
    driver = ctypes.CDLL("libcuda.so.1")
    with dtl.Context() as ctx:
        whole = np.arange(24.0)
        vec, to = (dtl.DistributedVector.from_numpy(ctx, whole, placement="device") for _ in range(2))
        both = dtl.DistributedVector.from_numpy(ctx, whole, placement="unified")
        halo, host = dtl.Halo(to, 1), dtl.DistributedVector(ctx, 4, fill=2)
        if ctx.rank == ctx.size - 1:
            driver.fake_fail(os.environ["FAIL"].encode())
        for call in (
            lambda: np.add(vec, 1, out=to),
            vec.sum,
            lambda: dtl.fill(vec, 3),
            lambda: dtl.copy(vec, to),
            lambda: dtl.sort(vec),
            halo.exchange,
            lambda: vec.redistribute("cyclic"),
            lambda: dtl.ones(ctx, 1000, placement="device"),
            lambda: both.sum(),
            lambda: vec.gather_to(0),
            lambda: dtl.allreduce(ctx, vec.local_view()),
            vec.window,
        ):
            try:
                call()
                told = ""
            except dtl.BackendError as error:
                told = str(error)
            except dtl.InvalidArgumentError as error:
                told = str(error)
            all_told = dtl.gather_object(ctx, told, root=0)
            if ctx.rank == 0:
                print([bool(one) for one in all_told], "can use the GPU no more" in all_told[-1])
        assert host.sum() == 8
        for one in (halo, vec, to, both):
            one.close()
"""


def test_a_device_that_has_failed(driver: str, tmp_path: Path) -> None:
    """As after a wrong address in a kernel: every call says so, a collective one on all ranks, and the program ends."""
    variables = {"LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": "2", "DTL_BACKEND": "local"}
    said = succeeded(ranks(2, BROKEN, tmp_path, FAIL="cuLaunchKernel:1:700+", **variables))
    assert said == "[False, True] True\n" + 11 * "[True, True] True\n"


#: What every placement that is not there does, for the reason that is printed.
REFUSED = """
    import dtl
    why = dtl.backends.why_not("cuda")
    assert not dtl.has_cuda() and not dtl.has_nccl() and "cuda" not in dtl.backends.available()
    assert why in dtl.backends.why_not("nccl")
    assert dtl.placement_available(dtl.PLACEMENT_DEVICE_PREFERRED)
    assert dtl.trim() == 0
    with dtl.Context() as ctx:
        for placement in (dtl.PLACEMENT_DEVICE, dtl.PLACEMENT_UNIFIED):
            assert not dtl.placement_available(placement)
        for call in (
            lambda: dtl.DistributedVector(ctx, 3, placement=dtl.PLACEMENT_DEVICE),
            lambda: dtl.DistributedTensor(ctx, (3, 2), placement=dtl.PLACEMENT_UNIFIED),
            lambda: dtl.DistributedArray.from_numpy(ctx, [1.0], placement=dtl.PLACEMENT_DEVICE),
            lambda: dtl.Context(device_id=0),
            lambda: ctx.with_cuda(0),
            lambda: ctx.with_nccl(0),
        ):
            try:
                call()
            except dtl.BackendUnavailableError as error:
                assert why in str(error), error
            else:
                raise AssertionError("no error")
        with dtl.DistributedVector(ctx, 3, placement=dtl.PLACEMENT_DEVICE_PREFERRED, fill=1) as vec:
            assert vec.placement_policy is dtl.PLACEMENT_HOST and vec.local_view().sum() == 3
    print(why)
"""

OLD = """
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuGetErrorString(int code, const char **text) { return 1; }
"""


def refused(**variables: str) -> str:
    return succeeded(alone(REFUSED, **variables))


def test_no_device(driver: str) -> None:
    assert "but it sees no device" in refused(LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_COUNT="0")


def test_an_old_driver(tmp_path: Path) -> None:
    source = tmp_path / "driver.c"
    source.write_text(OLD)
    said = refused(LD_LIBRARY_PATH=compiled(tmp_path, source))
    assert "NVIDIA driver found" in said
    assert "which is too old: it has no cuDeviceGet" in said


def test_a_driver_that_does_not_start(driver: str) -> None:
    said = refused(LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_FAIL="cuInit:1:719")
    assert "cuInit failed: error 719 (unspecified launch failure)" in said


def test_devices_that_cannot_be_used(driver: str) -> None:
    program = """
        import dtl
        assert dtl.has_cuda()
        with dtl.Context() as ctx:
            assert not dtl.placement_available(dtl.PLACEMENT_UNIFIED)
            for placement in (dtl.PLACEMENT_UNIFIED, dtl.PLACEMENT_DEVICE):
                try:
                    dtl.DistributedVector(ctx, 3, placement=placement)
                except dtl.BackendUnavailableError as error:
                    print(error)
    """
    without: Ended = alone(program, LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_MANAGED="0")
    assert succeeded(without) == "vector: GPU 0 (Fake GPU 0) has no managed memory\n"
    never = "cuDevicePrimaryCtxRetain:{0}:101"
    failing = ",".join(never.format(n) for n in range(1, 6))
    closed = succeeded(alone(program, LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_FAIL=failing))
    assert closed.count("GPU 0 cannot be used: error 101 (invalid device ordinal)") == 2


def test_a_program_without_devices_starts_no_driver(driver: str) -> None:
    program = """
        import dtl
        with dtl.Context() as ctx, dtl.DistributedVector(ctx, 3, fill=1) as vec:
            vec.sum(), vec.local_view(), dtl.trim()
        print(any("libcuda" in line for line in open("/proc/self/maps")))
    """
    assert succeeded(alone(program, LD_LIBRARY_PATH=driver)) == "False\n"


def test_info_names_the_devices(driver: str) -> None:
    ended = run([sys.executable, "-m", "dtl", "info"], LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_COUNT="2")
    assert "GPUs:          0: Fake GPU 0, 1: Fake GPU 1\n" in succeeded(ended)
    assert f"GPU driver:    NVIDIA driver, CUDA 12.9, in {driver}/libcuda.so.1\n" in ended.out
    assert "processes of one machine move goes from GPU to GPU" in ended.out
    assert dtl.has_cuda() or "no cuda:" not in ended.out


GPU_REPORT = HERE.parents[2] / "benchmarks" / "gpu.py"


@pytest.mark.parametrize("part", ["driver", "cupy", "nccl", "kernels", "ranks"])
def test_parts_of_the_report_of_a_gpu(driver: str, part: str) -> None:
    """They work at once when there is a real one for some minutes."""
    start = ["-m", "dtl", "run", "-n", "2"] if part == "ranks" else []
    command = [sys.executable, *start, str(GPU_REPORT), "--mebibytes", "1", "--only", part]
    said = succeeded(run(command, 150, LD_LIBRARY_PATH=driver, DTL_BACKEND="local" if start else ""))
    assert "Error" not in said, said


def test_a_report_ends_in_time(driver: str, tmp_path: Path) -> None:
    """What has begun is ended, and what has no time is named; and it says why there is no GPU."""
    command = [sys.executable, str(GPU_REPORT), "--report", str(tmp_path / "gpu.txt"), "--minutes", "0.09"]
    ended = run(command, 60, LD_LIBRARY_PATH=driver)
    said = (tmp_path / "gpu.txt").read_text()
    assert said == ended.out
    assert "## What is there\n" in said
    assert "on_a_device: no time is left" in said
    ended = run(command, 60, LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_COUNT="0")
    assert ended.code == 1
    assert "but it sees no device" in (tmp_path / "gpu.txt").read_text()


def test_a_report_by_another_python() -> None:
    """It says what is missing, in a line."""
    ended = run([sys.executable, "-S", str(GPU_REPORT)], 60)
    assert ended.code == 1
    assert "It needs NumPy, and DTL's wheel for this Python" in ended.err
    assert "Traceback" not in ended.err


def test_a_report_that_is_ended(driver: str, tmp_path: Path) -> None:
    """What has been said is in the file, and nothing that it has started goes on."""
    report = tmp_path / "gpu.txt"
    variables = {**os.environ, "LD_LIBRARY_PATH": driver, "DTL_FAKE_GPU_COUNT": "1"}
    command = [sys.executable, str(GPU_REPORT), "--report", str(report), "--mebibytes", "1"]
    with subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, cwd=tmp_path) as process:
        assert until(lambda: report.exists() and "## Tests on 1 rank" in report.read_text(), 60)
        children = Path(f"/proc/{process.pid}/task").glob
        assert until(lambda: any(each.read_text() for each in children("*/children")), 20)  # it runs tests
        process.terminate()
        assert process.wait(120) == 1  # it has each line on the disk, which may have much to write for other tests
    said = report.read_text()
    assert "## Times beside the driver's\n" in said
    assert said.endswith("ended by signal 15\n")
    assert until(lambda: not any(str(tmp_path) in text for text in working_folders()))


def working_folders() -> list[str]:
    """Return where all processes work."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(process / "cwd"))
    return found


EXAMPLES = HERE.parents[2] / "examples"


@pytest.mark.parametrize("count", [pytest.param(1, marks=MATRIX), 3])
@pytest.mark.parametrize("name", ["gpu_heat.py", "gpu_kmeans.py"])
def test_examples_on_host_and_device(driver: str, count: int, name: str) -> None:
    """They print what NumPy says, wherever the elements are."""
    example = runpy.run_path(str(EXAMPLES / name))
    want = heated(example) if name == "gpu_heat.py" else grouped(example)
    for placement in ("host", "device"):
        command = [str(EXAMPLES / name), placement]
        if count > 1:
            command = ["-m", "dtl", "run", "-n", str(count), *command]
        ended = run(
            [sys.executable, *command], LD_LIBRARY_PATH=driver, DTL_FAKE_GPU_COUNT=str(count), DTL_BACKEND="local"
        )
        assert succeeded(ended) == want


def heated(example: dict[str, Any]) -> str:
    """Return what the heat of the ring is by NumPy."""
    u = np.zeros(example["POINTS"])
    u[100:150] = 100.0
    for _ in range(example["STEPS"]):
        u = u + example["RATE"] * ((np.roll(u, 1) + np.roll(u, -1)) - 2 * u)
    return f"hottest {u.max():.12f}, at {(u > 1).sum()} points more than 1 degree\n"


def grouped(example: dict[str, Any]) -> str:
    """Return what the groups of the points are by NumPy."""
    given, centres, moved = example["points"]().T, None, example["FIRST"]
    rounds = 0
    while centres is None or not np.array_equal(moved, centres):
        rounds, centres = rounds + 1, moved
        labels = np.argmin([((given - centre) ** 2).sum(1) for centre in centres], 0)
        moved = np.array([given[labels == k].mean(0) for k in range(len(centres))])
    lines = [f"{(labels == k).sum()} points around {x:.9f}, {y:.9f}\n" for k, (x, y) in enumerate(centres)]
    return f"{rounds} rounds\n{''.join(lines)}"
