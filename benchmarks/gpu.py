"""What a short loan of a GPU can tell: times beside the driver's own and CuPy's, and the tests with the real driver.

    python benchmarks/gpu.py [--report gpu.txt] [--minutes 7.5] [--mebibytes 256] [--only driver]

It needs this repository, a driver, and a Python with DTL's wheel for it (``make wheels PYTHONS=3.12``), NumPy, pytest,
pytest-timeout and hypothesis; ranks need no MPI. CuPy, PyTorch, Numba, NCCL and compute-sanitizer are tried where they
are. Each part is a program with a limit, which is ended with all that it has started; what it says goes to the report
at once, so that nothing is lost. The parts come in the order of what they are worth, and those for which no time is
left are named.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import ctypes
import itertools
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, NoReturn

try:
    import numpy as np
    from blocks import Block, alternate

    import dtl
except ImportError as error:
    sys.exit(
        f"{sys.executable}, Python {sys.version.split()[0]}: {error}. It needs NumPy, and DTL's wheel for this Python"
    )

_TESTS = Path(__file__).resolve().parents[1] / "python" / "tests"
_FILES = (  # the longest first
    *("functions_on_a_device", "kernels_on_a_device", "operands_on_a_device", "axes_on_a_device", "on_a_device"),
    *("indexing_on_a_device", "moves_on_a_device", "halos_on_a_device", "windows_on_a_device", "computing_on_a_device"),
    *("groups_on_a_device", "files_on_a_device", "maps_on_a_device", "moved_on_a_device"),
    *("libraries_on_a_device", "nccl_on_devices", "moves_by_nccl"),
)
#: The host's tests that run with containers on a GPU, too.
_PLACED = (
    *("arrays/test_grouping", "containers/test_index_arrays", "containers/test_access", "containers/test_map"),
    *("containers/test_span", "containers/test_redistribute", "containers/test_halo"),
)
#: Those that the tests need. What else the machine has may give warnings, which the tests take for errors.
_PLUGINS = ("-p", "no:cacheprovider", "-p", "pytest_timeout", "--timeout=60")

_ROUNDS = 9

#: The programs that are running, each with all that it has started.
_running: set[subprocess.Popen[str]] = set()


class Report:
    """The file that is written, and the time that is left."""

    def __init__(self, file: Any, minutes: float) -> None:
        self._file = file
        self._end = time.monotonic() + 60 * minutes
        self._lock = threading.Lock()
        self.failures = 0
        self.descriptor: int = file.fileno()

    def say(self, text: str = "") -> None:
        """Write, so that it is there whatever comes next."""
        with self._lock:
            print(text, flush=True)
            self._file.write(text + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def left(self, limit: float) -> float:
        """Return how many seconds something has that is to have no more than a limit."""
        return min(limit, self._end - time.monotonic())

    def program(self, name: str, command: list[str], limit: float, **variables: str) -> None:
        """Run a program, and write what it says as it does."""
        limit = self.left(limit)
        if limit < 5:
            self.say(f"## {name}: no time is left\n")
            return
        self.say(f"## {name}\n")
        begun, code = time.monotonic(), _run(command, limit, self.say, variables)
        self.failures += code != 0
        self.say(f"\nExit code {code}{_ended(code)}, {time.monotonic() - begun:.1f} s\n")

    def tests(self, ranks: int, limit: float) -> None:
        """Run the files of tests, as many at once as there are processors for them."""
        at_once = max(1, min(8, (os.cpu_count() or 1) // ranks))
        self.say(f"## Tests on {ranks} rank{'s' * (ranks > 1)}, {at_once} files at once\n")
        end = time.monotonic() + self.left(limit)
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda name: self._tested(name, ranks, end), (*_FILES, *_PLACED)))
        self.say()

    def _tested(self, name: str, ranks: int, end: float) -> None:
        limit = end - time.monotonic()
        if limit < 5:
            self.say(f"{name}: no time is left")
            return
        file = _TESTS / (f"{name}.py" if name in _PLACED else f"device/{name}.py")
        tests = ["-m", "pytest", *_PLUGINS, "-q", "--color=no", "-rfEs", str(file)]
        if ranks > 1:
            tests = ["-m", "dtl", "run", "-n", str(ranks), *tests]
        variables = {"DTL_TEST_RANKS": str(ranks), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        variables["DTL_TEST_PLACES"] = "device,unified"
        lines: list[str] = []
        begun, code = time.monotonic(), _run([sys.executable, *tests], limit, lines.append, variables)
        self.failures += code != 0
        last = next((line for line in reversed(lines) if " in " in line), "")
        took = time.monotonic() - begun
        text = "" if code == 0 else "\n" + "\n".join(lines)[-6000:] + "\n"
        skipped = "\n".join(line for line in lines if line.startswith("SKIPPED"))
        self.say(f"{name}: exit code {code}{_ended(code)}, {took:.1f} s: {last}{text or ' '}{skipped}")


def _run(command: list[str], limit: float, say: Callable[[str], None], variables: dict[str, str]) -> int:
    """Run a program, without MPI, and return its exit code: -15 or -9 if it is ended, with all that it has started."""
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1", "DTL_BACKEND": "local", **variables},
            start_new_session=True,
        )
    except OSError as error:  # the other parts are worth it
        say(f"{command[0]} does not start: {error}")
        return 127
    _running.add(process)
    output: Any = process.stdout

    def read() -> None:
        for line in output:
            say(line.rstrip("\n"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for number, more in ((signal.SIGTERM, limit), (signal.SIGKILL, 5)):
        try:
            process.wait(more)
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, number)
    try:
        code = process.wait(5)
    except subprocess.TimeoutExpired:  # it is in the driver, which does not return: the other parts are worth it
        return -signal.SIGKILL
    _running.discard(process)
    reader.join(3)  # longer only if one that was started keeps the output open
    return code


def _ended(code: int) -> str:
    """Say of an exit code, a program's or that of a launcher of it, whether its time was over."""
    by_signals = [way for number in (signal.SIGTERM, signal.SIGKILL) for way in (-number, 128 + number)]
    return " (ended: its time was over)" if code in by_signals else ""


def _end_all(report: Report) -> None:
    """End what is running, and this program, when a signal asks for it: what has been said stays."""

    def end(number: int, _: Any) -> NoReturn:
        for process in tuple(_running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        os.write(report.descriptor, f"\nended by signal {number}\n".encode())
        os._exit(1)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)


def main() -> int:
    """Run all parts, or one, and return how many failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", default="gpu.txt", help="the file that is written")
    parser.add_argument("--minutes", type=float, default=7.5, help="how long all of it may take")
    parser.add_argument("--mebibytes", type=int, default=256, help="how much the large operations work on")
    parser.add_argument("--only", choices=sorted(_PARTS), help="print one part, with no limit")
    given = parser.parse_args()
    if given.only is not None:
        _PARTS[given.only](given.mebibytes << 20)
        return 0
    with open(given.report, "w", encoding="utf-8") as file:
        report = Report(file, given.minutes)
        _end_all(report)
        report.say(f"# {time.strftime('%Y-%m-%d %H:%M:%S')}, {os.uname().machine}, Python {sys.version.split()[0]}\n")
        reason = dtl.backends.why_not("cuda")
        if reason is not None and not dtl.has_hip():
            report.say(f"no GPU: {reason}")
            return 1
        _all_parts(report, given.mebibytes)
        report.say(f"{report.failures} parts failed")
    return min(report.failures, 100)


def _all_parts(report: Report, mebibytes: int) -> None:
    itself = [sys.executable, str(Path(__file__).resolve()), "--mebibytes", str(mebibytes), "--only"]
    report.program("What is there", [*itself, "machine"], 40)
    report.program("Times beside the driver's", [*itself, "driver"], 60)
    report.program("Times beside CuPy's", [*itself, "cupy"], 80)
    report.tests(1, 150)
    on_two = [sys.executable, "-m", "dtl", "run", "-n", "2", *itself[1:], "ranks"]
    report.program("Times of two ranks", on_two, 40)
    report.program("Times of two ranks by way of the host", on_two, 40, DTL_SHARED_MEMORY="0")
    report.program("Times beside NCCL's", [*itself, "nccl"], 40, NCCL_DEBUG="WARN")
    report.tests(2, 90)
    checker = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if checker is None:
        report.say("## compute-sanitizer is not there\n")
    else:
        command = [checker, "--tool", "memcheck", "--error-exitcode", "9", *itself, "kernels"]
        report.program("compute-sanitizer: memcheck", command, 60)
    report.tests(3, 90)


def _machine(_: int) -> None:
    """Print what is there."""
    for command in ([sys.executable, "-m", "dtl", "info"], ["nvidia-smi"]):
        if shutil.which(command[0]):
            sys.stdout.flush()
            subprocess.run(command, stderr=subprocess.STDOUT, timeout=30, check=False)
    from importlib import metadata

    for name in (
        *("pydtl", "numpy", "cupy-cuda12x", "cupy-cuda13x", "torch", "numba", "numba-cuda"),
        *("nvidia-nccl-cu12", "nvidia-nccl-cu13", "pytest", "pytest-timeout", "hypothesis"),
    ):
        try:
            print(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            print(name, "is not there")


class _Driver:
    """The driver's own copy and fill, as others call them, in the context that containers use."""

    def __init__(self, device: int) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        context, handle = ctypes.c_void_p(), ctypes.c_int()
        self._check(self._cuda.cuInit(0))
        self._check(self._cuda.cuDeviceGet(ctypes.byref(handle), device))
        self._check(self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle))
        self._check(self._cuda.cuCtxPushCurrent_v2(context))

    def _check(self, rc: int) -> None:
        if rc:
            raise RuntimeError(f"error {rc} of the driver")

    def pinned(self, size: int) -> int:
        """Return the address of pinned memory of the host."""
        at = ctypes.c_void_p()
        self._check(self._cuda.cuMemHostAlloc(ctypes.byref(at), ctypes.c_size_t(size), ctypes.c_uint(1)))
        return at.value or 0

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy, and wait."""
        address, stream = ctypes.c_ulonglong, ctypes.c_void_p(1)
        self._check(self._cuda.cuMemcpyAsync(address(to), address(source), ctypes.c_size_t(size), stream))
        self._check(self._cuda.cuStreamSynchronize(stream))

    def fill(self, to: int, size: int) -> None:
        """Fill with a word, and wait."""
        stream = ctypes.c_void_p(1)
        self._check(
            self._cuda.cuMemsetD32Async(ctypes.c_ulonglong(to), ctypes.c_uint(7), ctypes.c_size_t(size // 4), stream)
        )
        self._check(self._cuda.cuStreamSynchronize(stream))


def _nothing() -> None:
    """Wait for nothing."""


def _middles(*calls: Callable[[], Any], times: int = 1, settle: Callable[[], Any] = _nothing) -> list[float]:
    """Return the middle time of each of several calls, by turns, each after a call that is not counted."""

    def block(f: Callable[[], Any]) -> Block:
        def run() -> float:
            settle()
            begun = time.perf_counter()
            for _ in range(times):
                f()
            return (time.perf_counter() - begun) / times

        return run

    took = alternate({str(number): block(f) for number, f in enumerate(calls)}, _ROUNDS)
    return [statistics.median(mine) for mine in took.values()]


def _row(
    name: str,
    anchor: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    times: int = 1,
    settle: Callable[[], Any] = _nothing,
) -> None:
    """Print a row of a table: the time of a first call, for which the driver may compile, a time, and the other's."""
    try:
        begun = time.perf_counter()
        ours()
        settle()
        first = time.perf_counter() - begun
        mine, other = _middles(ours, theirs, times=times, settle=settle)
    except (dtl.DTLError, RuntimeError, TypeError, ValueError, AttributeError, MemoryError, ImportError) as error:
        print(f"| {name} | {type(error).__name__}: {error} | | | | |", flush=True)  # the other rows are worth it
        return
    unit, scale = ("ms", 1e3) if max(mine, other) > 1e-3 else ("µs", 1e6)
    print(
        f"| {name} | {1e3 * first:.1f} ms | {scale * mine:.3f} {unit} | {anchor} | {scale * other:.3f} {unit} "
        f"| {mine / other:.2f} |",
        flush=True,
    )


_HEAD = "| what | first call | time | beside | its time | time of ours / of that |\n|---|---|---|---|---|---|"


class _Some:
    """Containers on this process's GPU, with their views and addresses."""

    def __init__(self, ctx: dtl.Context, size: int) -> None:
        self.count = size // 8
        self.a = dtl.DistributedVector(ctx, self.count, fill=1.5, placement=dtl.PLACEMENT_DEVICE)
        self.b, self.small = dtl.ones_like(self.a), dtl.ones(ctx, 1000, placement=dtl.PLACEMENT_DEVICE)
        self.view, other, self.little = (one.device_view() for one in (self.a, self.b, self.small))
        self.at = [one.__cuda_array_interface__["data"][0] for one in (self.view, other)]
        self.view.synchronize()
        print(f"The middle of {_ROUNDS}, by turns, of {size >> 20} MiB.\n\n{_HEAD}", flush=True)

    def waited(self, f: Callable[[], Any]) -> Callable[[], None]:
        """Return a call that is over when the GPU has done it."""

        def call() -> None:
            f()
            self.view.synchronize()

        return call


def _by_driver(size: int) -> None:
    """Print times on this process's GPU beside those of the driver's own copies and fills."""
    if dtl.has_hip():
        print("of CUDA's driver alone")
        return
    with dtl.Context(device_id=0) as ctx:
        some, driver = _Some(ctx, size), _Driver(0)
        a, b, at, waited = some.a, some.b, some.at, some.waited
        rows = dtl.ones(ctx, (some.count // 16, 16), placement=dtl.PLACEMENT_DEVICE)

        def copied(bytes_moved: float) -> Callable[[], None]:
            """Return a copy that reads and writes as many bytes together."""
            return lambda: driver.copy(at[1], at[0], int(bytes_moved / 2))

        _row("copy", "cuMemcpyAsync", waited(lambda: dtl.copy(a, b)), copied(2 * size))
        _row("fill", "cuMemsetD32Async", waited(lambda: dtl.fill(b, 2.5)), lambda: driver.fill(at[1], size))
        _row("negative, in place", "cuMemcpyAsync", waited(lambda: np.negative(a, out=a)), copied(2 * size))
        _row(
            "add, in place",
            "cuMemcpyAsync of as many bytes",
            waited(lambda: np.add(a, b, out=b)),
            lambda: (driver.copy(at[1], at[0], size), driver.copy(at[1], at[0], size // 2)),
        )
        _row("sum", "cuMemcpyAsync of as many bytes", a.sum, copied(size))
        _row("rows of 64 of 128 bytes", "cuMemcpyAsync of as many bytes", waited(lambda: rows[:, :8]), copied(size))
        host, pinned = dtl.DistributedVector(ctx, some.count), driver.pinned(size)
        _row(
            "to the host",
            "cuMemcpyAsync to pinned memory",
            lambda: dtl.copy(a, host),
            lambda: driver.copy(pinned, at[0], size),
        )
        _row(
            "from the host",
            "cuMemcpyAsync from pinned memory",
            waited(lambda: dtl.copy(host, a)),
            lambda: driver.copy(at[0], pinned, size),
        )
        array = np.ones(some.count)
        _row("to NumPy", "NumPy's own copy", a.to_numpy, array.copy)


def _by_cupy(size: int) -> None:
    """Print times on this process's GPU beside those of CuPy."""
    try:
        import cupy
    except ImportError as error:
        print(f"CuPy is not there: {error}", flush=True)
        return
    with dtl.Context(device_id=0) as ctx:
        some = _Some(ctx, size)
        a, b, small, waited = some.a, some.b, some.small, some.waited
        large, few = cupy.from_dlpack(some.view), cupy.from_dlpack(some.little)
        wait = cupy.cuda.get_current_stream().synchronize

        def both() -> None:
            some.view.synchronize()
            wait()

        for name in ("sum", "max", "argmax", "var"):
            _row(name, "CuPy", lambda n=name: getattr(dtl, n)(a), lambda n=name: float(getattr(large, n)()))  # type: ignore[misc]
        _row("sum of 1000", "CuPy", lambda: dtl.sum(small), lambda: float(few.sum()), 50)
        _row("max of 1000", "CuPy", lambda: dtl.max(small), lambda: float(few.max()), 50)
        _row("argmax of 1000", "CuPy", lambda: dtl.argmax(small), lambda: int(few.argmax()), 50)
        _row(
            "add of 1000, queued",
            "CuPy",
            lambda: np.add(small, small, out=small),
            lambda: cupy.add(few, few, out=few),
            200,
            both,
        )
        _row("add of 1000 to a new result, queued", "CuPy", lambda: small + small, lambda: few + few, 200, both)
        _row("exp", "CuPy", waited(lambda: np.exp(a, out=b)), lambda: (cupy.exp(large), wait()))
        _row(
            "transform by a function of CuPy's",
            "CuPy",
            waited(lambda: dtl.transform(a, b, cupy.exp, library=cupy)),
            lambda: (cupy.exp(large), wait()),
        )
        _row(
            "for_each of 1000, queued",
            "CuPy",
            lambda: dtl.for_each(small, lambda x: cupy.add(x, x, out=x), library=cupy),
            lambda: cupy.add(few, few, out=few),
            50,
            both,
        )
        _row(
            "from_dlpack of a view",
            "CuPy's of its own",
            lambda: cupy.from_dlpack(some.view),
            lambda: cupy.from_dlpack(large),
            50,
        )
        for dtype in ("uint32", "uint64", "float64"):
            drawn = np.random.default_rng(1).integers(0, 2**32 - 1, min(some.count, 1 << 24)).astype(dtype)
            given = dtl.DistributedVector.from_numpy(ctx, drawn, placement=dtl.PLACEMENT_DEVICE)
            mine, theirs = dtl.empty_like(given), cupy.asarray(drawn)
            _row(
                f"copy and sort of {drawn.size} {dtype}",
                "CuPy",
                waited(lambda g=given, m=mine: (dtl.copy(g, m), dtl.sort(m))),
                lambda t=theirs: (cupy.sort(t), wait()),
            )
            given.close()
            mine.close()


def _by_nccl(_: int) -> None:
    """Print the time of an all-reduce of one rank by NCCL, beside NCCL's from CuPy, and PyTorch's."""
    if not dtl.has_nccl():
        print(dtl.backends.why_not("nccl"), flush=True)
        return
    print(_HEAD, flush=True)
    with dtl.Context(device_id=0) as ctx, ctx.with_nccl(0) as linked:
        view = dtl.ones(linked, 1000, placement=dtl.PLACEMENT_DEVICE).device_view()
        for library, beside in (("NCCL by CuPy", _nccl_of_cupy), ("torch.distributed", _nccl_of_torch)):
            try:
                theirs = beside()
            except (ImportError, AttributeError, RuntimeError, ValueError, OSError) as error:
                print(f"{library} is not there: {error}", flush=True)
                continue
            _row("allreduce of 1000 by NCCL", library, lambda: dtl.allreduce(linked, view, out=view), theirs, 50)


def _nccl_of_cupy() -> Callable[[], None]:
    import cupy
    from cupy.cuda import nccl

    own = nccl.NcclCommunicator(1, nccl.get_unique_id(), 0)
    there, stream = cupy.ones(1000), cupy.cuda.get_current_stream()

    def call() -> None:
        own.allReduce(there.data.ptr, there.data.ptr, 1000, nccl.NCCL_FLOAT64, nccl.NCCL_SUM, stream.ptr)
        stream.synchronize()

    return call


def _nccl_of_torch() -> Callable[[], None]:
    import torch

    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    there = torch.ones(1000, dtype=torch.float64, device="cuda:0")

    def call() -> None:
        torch.distributed.all_reduce(there)
        torch.cuda.current_stream().synchronize()

    return call


def _ranks(size: int) -> None:
    """Print times of several ranks on one GPU, or on one each."""
    import warnings

    warnings.filterwarnings("ignore", message="ranks .* share GPU")
    size //= 4
    with dtl.Context() as ctx:
        count, quarter = size // 4, size // 16
        a = dtl.DistributedVector(ctx, count, fill=1.5, placement=dtl.PLACEMENT_DEVICE)
        b = dtl.DistributedVector(ctx, count, fill=1.5)
        halo = dtl.Halo(dtl.ones_like(a), 1000, periodic=True)
        view, part = dtl.ones_like(a).device_view(), dtl.ones_like(b).local_view()
        there, twin = dtl.ones_like(a), dtl.ones_like(a)
        room, mine = twin.device_view(), there.device_view()
        divisions = itertools.cycle(([quarter, count - quarter], [count - quarter, quarter]))
        rows: list[tuple[str, Callable[[], Any]]] = [
            ("allreduce of an array on a GPU", lambda: dtl.allreduce(ctx, view, out=view)),
            ("allreduce on the host", lambda: dtl.allreduce(ctx, part, out=part)),
            ("exchange of a halo of 1000", halo.exchange),
            ("redistribution of half of a container on GPUs", lambda: a.redistribute(next(divisions))),
            ("redistribution on the host", lambda: b.redistribute(next(divisions))),
        ]
        for name, f in rows:
            (took,) = _middles(f, settle=ctx.barrier)
            if ctx.rank == 0:
                print(f"{name}, {size >> 20} MiB a rank: {1e3 * took:.3f} ms", flush=True)
        if os.environ.get("DTL_SHARED_MEMORY") == "0" or dtl.has_hip():
            return  # no process reaches another one's part; and the driver below is CUDA's
        driver, other = _Driver(room.device_id), (ctx.rank + 1) % ctx.size
        at = [one.__cuda_array_interface__["data"][0] for one in (mine, room)]
        with there.window() as win, win.epoch():
            took, copied = _middles(
                lambda: dtl.rma_get(win, other, 0, out=room),
                lambda: driver.copy(at[1], at[0], mine.nbytes),
                settle=ctx.barrier,
            )
        if ctx.rank == 0:
            print(f"get of another rank's part on a GPU, {mine.nbytes >> 20} MiB: {1e3 * took:.3f} ms", flush=True)
            print(
                f"cuMemcpyAsync of as much: {1e3 * copied:.3f} ms, time of ours / of that {took / copied:.2f}",
                flush=True,
            )


def _kernels(_: int) -> None:
    """Call a kernel of each kind, on few elements, for what looks at each access to memory."""
    with dtl.Context(device_id=0) as ctx:
        rng = np.random.default_rng(1)
        for dtype in ("float64", "float32", "int64", "int8", "complex128"):
            whole = (rng.normal(size=(257, 5)) * 9).astype(dtype)
            a = dtl.DistributedTensor.from_numpy(ctx, whole, placement=dtl.PLACEMENT_DEVICE)
            found = [a + a, a * 2, a == 1, a[::-2, 1:], a[[3, 1]], a.astype("complex128"), np.where(a == 0, a, 1)]
            if dtype != "complex128":
                found += [a.sum(), a.max(axis=0), a.var(axis=1), np.exp(a * 1.0), a // 2]
                line = a[:, 0]
                dtl.sort(line)
                found += [line, dtl.argsort(a[:, 1]), line.cumsum(), dtl.histogram(line, 5), line[line > 0]]
            np.testing.assert_array_equal(a.to_numpy(), whole)
            print(dtype, len(found), "results", flush=True)


_PARTS: dict[str, Callable[[int], None]] = {
    "machine": _machine,
    "driver": _by_driver,
    "cupy": _by_cupy,
    "nccl": _by_nccl,
    "ranks": _ranks,
    "kernels": _kernels,
}

if __name__ == "__main__":
    sys.exit(main())
