"""Linear algebra, Fourier transforms and random numbers beside NumPy: ratios of processor time, both taking turns.

``python benchmarks/matrices.py`` on one rank, ``dtl run -n 2 benchmarks/matrices.py`` on two. A rank has one thread of
BLAS. The time of DTL is that of the slowest rank, NumPy's that of one rank that does it all; of tall matrices, each
rank's own rows.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import time
from typing import Any, Callable

import numpy as np

import dtl
from dtl import fft, linalg

ROWS, COLUMNS, EXTENT, NUMBERS = 5_000_000, 10, 1500, 6_000_000


def seconds(f: Callable[[], Any]) -> float:
    """Return the processor time of a call, its result kept until the end."""
    start = time.process_time()
    kept = f()
    taken = time.process_time() - start
    del kept
    return taken


def compare(ctx: dtl.Context, name: str, ours: Callable[[], Any], theirs: Callable[[], Any], turns: int = 3) -> None:
    """Print the best times of both, and their ratio."""
    best = [float("inf")] * 2
    for _ in range(turns):
        for k, f in enumerate((ours, theirs)):
            ctx.barrier()
            best[k] = min(best[k], seconds(f))
    mine, numpys = dtl.allreduce(ctx, np.array(best), "max")
    if ctx.rank == 0:
        print(f"{name:54}{mine * 1e3:10.1f} ms{numpys * 1e3:10.1f} ms{mine / numpys:8.2f}", flush=True)


def largest(ctx: dtl.Context) -> None:
    """Compare the 20 largest singular values of 4000 x 1000 by a random projection with all, and scikit-learn's."""
    left, right = (np.linalg.qr(np.random.default_rng(k).normal(size=(n, 1000)))[0] for k, n in enumerate((4000, 1000)))
    whole = (left / np.sqrt(1.0 + np.arange(1000))) @ right.T
    a = dtl.DistributedTensor.from_numpy(ctx, whole)
    ours: dict[str, Callable[[], Any]] = {f"{n} power iterations": lambda n=n: lowrank(a, n) for n in (2, 4)}  # type: ignore
    name, few = "svd_lowrank of 4000 x 1000, ", ours["2 power iterations"]
    compare(ctx, name + "NumPy's svd", few, lambda: np.linalg.svd(whole, full_matrices=False), 2)
    compare(ctx, name + "dtl's svd", few, lambda: linalg.svd(a, full_matrices=False), 2)
    try:
        from sklearn.utils.extmath import randomized_svd
    except ImportError:
        return
    for n, f in zip((2, 4), ours.values()):
        theirs = lambda n=n: randomized_svd(whole, 20, n_iter=n, random_state=0)  # noqa: E731 - one line
        compare(ctx, f"{name}scikit-learn's, {n} iterations", f, theirs, 5)
        exact = 1 / np.sqrt(1.0 + np.arange(20))
        errors = [np.abs(s / exact - 1).max() for s in (lowrank(a, n).S.local_view(), theirs()[1])]
        if ctx.rank == 0:
            print("    largest errors of the values: {:.1e} and {:.1e}".format(*errors))


def lowrank(a: Any, power_iterations: int) -> Any:
    return linalg.svd_lowrank(a, 20, power_iterations=power_iterations)


def main() -> None:
    with dtl.Context() as ctx:
        rng, numpys = dtl.random.Generator(ctx, 1), np.random.default_rng(1)
        tall, right = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=ROWS)
        part, own = tall.local_view(), right.local_view()
        compare(ctx, f"qr of {ROWS} x {COLUMNS}", lambda: linalg.qr(tall), lambda: np.linalg.qr(part))
        compare(ctx, "svd", lambda: linalg.svd(tall, False), lambda: np.linalg.svd(part, False), 1)
        compare(ctx, "lstsq", lambda: linalg.lstsq(tall, right), lambda: np.linalg.lstsq(part, own, rcond=None), 1)
        compare(ctx, "X.T @ X", lambda: dtl.tensordot(tall, tall, (0, 0)), lambda: part.T @ part)
        tall.close()
        largest(ctx)
        square = rng.normal(size=(EXTENT, EXTENT))
        line = rng.normal(size=EXTENT)
        whole, column = (dtl.broadcast(ctx, c.gather_to(0)) for c in (square, line))
        even = whole @ whole.T + np.eye(EXTENT)
        definite = square @ square.T + dtl.eye(ctx, EXTENT)
        compare(ctx, f"matmul of {EXTENT}", lambda: square @ square, lambda: whole @ whole, 5)
        compare(ctx, "solve", lambda: linalg.solve(square, line), lambda: np.linalg.solve(whole, column))
        compare(ctx, "inv", lambda: linalg.inv(square), lambda: np.linalg.inv(whole))
        compare(ctx, "cholesky", lambda: linalg.cholesky(definite), lambda: np.linalg.cholesky(even))
        compare(ctx, "qr of it", lambda: linalg.qr(square), lambda: np.linalg.qr(whole))
        image = rng.random((2048, 1024))
        pixels = np.random.default_rng(1).random((2048, 1024))
        compare(ctx, "fft2 of 2048 x 1024", lambda: fft.fft2(image), lambda: np.fft.fft2(pixels))
        signal, values = rng.random(1 << 21), numpys.random(1 << 21)
        compare(ctx, "fft of 2**21", lambda: fft.fft(signal), lambda: np.fft.fft(values))
        for name, arguments in (("random", ()), ("normal", (1.0, 2.0)), ("integers", (0, 1000)), ("poisson", (4.0,))):
            draw, drawn = getattr(rng, name), getattr(numpys, name)
            compare(
                ctx,
                f"{name} of {NUMBERS}",
                lambda f=draw, a=arguments: f(*a, size=NUMBERS),  # type: ignore[misc]
                lambda f=drawn, a=arguments: f(*a, size=NUMBERS),  # type: ignore[misc]
            )


if __name__ == "__main__":
    main()
