"""What a short loan of a GPU can tell: the tests with the real driver, and times beside the driver's own copy.

    python benchmarks/gpu.py [--report gpu.txt] [--mebibytes 256] [--no-tests]

It needs Python with DTL, NumPy, pytest and mpi4py, and the driver, nothing else; CuPy is measured, too, where it is
there. All that it sees goes to one file. It takes less than eight minutes: each step has a limit, and one that fails is
reported and passed over.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import dtl

_TESTS = [
    str(Path(__file__).parents[1] / "python" / "tests" / f"{name}.py")
    for name in (
        "on_a_device",
        "computing_on_a_device",
        "kernels_on_a_device",
        "axes_on_a_device",
        "indexing_on_a_device",
        "moves_on_a_device",
        "halos_on_a_device",
        "windows_on_a_device",
        "nccl_on_devices",
        "moves_by_nccl",
    )
]
_ROUNDS = 9


def main() -> int:
    """Run all, and return how many steps failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", default="gpu.txt", help="the file that is written")
    parser.add_argument("--mebibytes", type=int, default=256, help="how much the large operations work on")
    parser.add_argument("--no-tests", action="store_true", help="only measure")
    given = parser.parse_args()
    reason = dtl.backends.why_not("cuda")
    if reason is not None:
        sys.exit(f"no GPU: {reason}")
    failures = 0
    with open(given.report, "w", encoding="utf-8") as report:

        def say(text: str) -> None:
            print(text, flush=True)
            report.write(text + "\n")
            report.flush()

        say(f"# {time.strftime('%Y-%m-%d %H:%M:%S')}, {os.uname().machine}, Python {sys.version.split()[0]}\n")
        failures += _step(say, "dtl info", [sys.executable, "-m", "dtl", "info"], 30)
        for ranks in () if given.no_tests else (1, 2, 3):
            command = [
                sys.executable,
                "-m",
                "dtl",
                "run",
                "-n",
                str(ranks),
                "-m",
                "pytest",
                "--with-mpi",
                "-q",
                *_TESTS,
            ]
            failures += _step(say, f"tests on {ranks} ranks", command, 90, DTL_TEST_RANKS=str(ranks))
        say(f"\n## Times: the middle of {_ROUNDS}, and how they compare with the driver's copy of as many bytes\n")
        for line in _times(given.mebibytes << 20):
            say(line)
    return failures


def _step(say: Callable[[str], None], name: str, command: list[str], limit: float, **variables: str) -> int:
    """Run a program, and report how it ended and what it said last."""
    begun = time.monotonic()
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
            env={**os.environ, **variables},
            check=False,
        )
        code, said = str(ended.returncode), (ended.stdout + ended.stderr).strip()
    except subprocess.TimeoutExpired as error:
        code, said = f"ended after {limit:g} s", str(error.stdout or "")
    say(f"## {name}: exit code {code}, {time.monotonic() - begun:.1f} s\n\n{said[-4000:]}\n")
    return int(code != "0")


class _Driver:
    """The driver's own copy, as others call it: on the default stream of the context that a container made current."""

    def __init__(self, device: int) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        context, handle = ctypes.c_void_p(), ctypes.c_int()
        for rc in (
            self._cuda.cuDeviceGet(ctypes.byref(handle), device),
            self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle),
            self._cuda.cuCtxPushCurrent_v2(context),
        ):
            if rc:
                raise RuntimeError(f"error {rc} of the driver")

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy, and wait."""
        address = ctypes.c_ulonglong
        rc = self._cuda.cuMemcpyAsync(address(to), address(source), ctypes.c_size_t(size), ctypes.c_void_p(1))
        if rc or self._cuda.cuStreamSynchronize(ctypes.c_void_p(1)):
            raise RuntimeError(f"error {rc} of the driver")


def _middle(f: Callable[[], Any], calls: int = 1) -> float:
    """Return the middle time of a call, after one that is not counted."""
    f()
    times = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        for _ in range(calls):
            f()
        times.append((time.perf_counter() - begun) / calls)
    return sorted(times)[_ROUNDS // 2]


def _times(size: int) -> list[str]:
    """Return a table of times on this process's GPU."""
    lines = ["| what | time | of the driver's copy | bytes a second |", "|---|---|---|---|"]
    count = size // 8
    with dtl.Context(device_id=0) as ctx:
        a = dtl.DistributedVector(ctx, count, fill=1.5, placement=dtl.PLACEMENT_DEVICE)
        b, small = dtl.ones_like(a), dtl.ones(ctx, 1000, placement=dtl.PLACEMENT_DEVICE)
        view, other, little = a.device_view(), b.device_view(), small.device_view()
        host = np.ones(count)
        driver = _Driver(0)
        at = [one.__cuda_array_interface__["data"][0] for one in (view, other)]
        view.synchronize()

        def waited(f: Callable[[], Any], of: Any = view) -> Callable[[], None]:
            def call() -> None:
                f()
                of.synchronize()

            return call

        base = min(_middle(lambda: driver.copy(at[1], at[0], size)) for _ in range(3))
        # What is measured, how many bytes it reads and writes beside a copy's twice the size, and how.
        rows: list[tuple[str, float, Callable[[], Any]]] = [
            ("cuMemcpyAsync", 2, lambda: driver.copy(at[1], at[0], size)),
            ("copy", 2, waited(lambda: dtl.copy(a, b))),
            ("fill", 1, waited(lambda: dtl.fill(b, 2.5))),
            ("negative, in place", 2, waited(lambda: np.negative(a, out=a))),
            ("add, in place", 3, waited(lambda: np.add(a, b, out=b))),
            ("sum", 1, lambda: dtl.sum(a)),
            ("max", 1, lambda: dtl.max(a)),
            ("argmax", 1, lambda: dtl.argmax(a)),
            ("var", 2, lambda: dtl.var(a)),
            ("dot", 2, lambda: dtl.dot(a, b)),
            ("to_numpy", 1, lambda: view._memory.read(host)),
            ("from NumPy", 1, waited(lambda: view._memory.write(host))),
            ("sort", 1, lambda: dtl.sort(b)),
        ]
        for name, moved, f in rows:
            took = _middle(f)
            share = moved / 2 * base / took
            lines.append(
                f"| {name}, {size >> 20} MiB | {1e3 * took:.3f} ms | {share:.2f} | {moved * size / took / 1e9:.1f} GB |"
            )
        for name, f in (
            ("sum of 1000", lambda: dtl.sum(small)),
            ("add of 1000, queued", lambda: np.add(small, small, out=small)),
            ("add of 1000, waited for", waited(lambda: np.add(small, small, out=small), little)),
            ("allreduce of 1000", lambda: dtl.allreduce(ctx, little, out=little)),
        ):
            lines.append(f"| {name} | {1e6 * _middle(f, 100):.1f} µs | | |")
        lines += _rival(view, little, size)
    return lines


def _rival(view: Any, little: Any, size: int) -> list[str]:
    """Return CuPy's times on the same memory, if it is there."""
    try:
        import cupy
    except ImportError:
        return ["", "CuPy is not there."]
    large, small = cupy.from_dlpack(view), cupy.from_dlpack(little)
    lines = []
    for name, f in (("sum", large.sum), ("max", large.max), ("argmax", large.argmax), ("var", large.var)):
        lines.append(f"| CuPy: {name}, {size >> 20} MiB | {1e3 * _middle(lambda f=f: float(f())):.3f} ms | | |")  # type: ignore[misc]
    lines.append(f"| CuPy: sum of 1000 | {1e6 * _middle(lambda: float(small.sum()), 100):.1f} µs | | |")
    lines.append(
        f"| CuPy: add of 1000, queued | {1e6 * _middle(lambda: cupy.add(small, small, out=small), 100):.1f} µs | | |"
    )
    return lines


if __name__ == "__main__":
    sys.exit(main())
