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
from blocks import Block, alternate
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl
from dtl import fft, linalg

ROWS, COLUMNS, EXTENT, NUMBERS = 5_000_000, 10, 1500, 6_000_000

_DTL, _NUMPY, _OWN_ROWS = "dtl", "NumPy", "NumPy with a rank's own rows"


def cost(f: Callable[[], Any]) -> Block:
    """Return a block of the processor time of a call, its result kept until the end."""

    def block() -> float:
        start = time.process_time()
        kept = f()
        taken = time.process_time() - start
        del kept
        return taken

    return block


def compare(
    name: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    bound: float | None = None,
    other: str = _NUMPY,
    rounds: int = 3,
) -> Row:
    """Return the row of the processor times of two."""
    return at_most(name, alternate({_DTL: cost(ours), other: cost(theirs)}, rounds, slowest), _DTL, other, bound)


def tall(ctx: dtl.Context, rng: Any) -> list[Row]:
    """Return the rows of a matrix of many rows, beside what NumPy makes of each rank's own."""
    matrix, right = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=ROWS)
    part, own = matrix.local_view(), right.local_view()
    cases: dict[str, tuple[Callable[[], Any], Callable[[], Any], float | None]] = {
        f"qr of {ROWS} x {COLUMNS}": (lambda: linalg.qr(matrix), lambda: np.linalg.qr(part), 1.2),
        "svd of it": (lambda: linalg.svd(matrix, False), lambda: np.linalg.svd(part, False), None),
        "lstsq with it": (lambda: linalg.lstsq(matrix, right), lambda: np.linalg.lstsq(part, own, rcond=None), None),
        "X.T @ X of it": (lambda: dtl.tensordot(matrix, matrix, (0, 0)), lambda: part.T @ part, None),
    }
    return [compare(name, f, g, bound, _OWN_ROWS) for name, (f, g, bound) in cases.items()]


def largest(ctx: dtl.Context) -> list[Row]:
    """Compare the 20 largest singular values of 4000 x 1000 by a random projection with all, and scikit-learn's."""
    left, right = (np.linalg.qr(np.random.default_rng(k).normal(size=(n, 1000)))[0] for k, n in enumerate((4000, 1000)))
    whole = (left / np.sqrt(1.0 + np.arange(1000))) @ right.T
    a = dtl.DistributedTensor.from_numpy(ctx, whole)
    ours: dict[int, Callable[[], Any]] = {n: lambda n=n: lowrank(a, n) for n in (2, 4)}  # type: ignore[misc]
    name = "svd_lowrank of 4000 x 1000, 20 values"
    rows = [compare(name, ours[2], lambda: np.linalg.svd(whole, full_matrices=False), other="NumPy's svd", rounds=2)]
    try:
        from sklearn.utils.extmath import randomized_svd
    except ImportError:
        return rows
    for n, f in ours.items():
        theirs = lambda n=n: randomized_svd(whole, 20, n_iter=n, random_state=0)  # noqa: E731 - one line
        row = compare(f"{name}, {n} power iterations", f, theirs, other="scikit-learn")
        exact = 1 / np.sqrt(1.0 + np.arange(20))
        errors = [np.abs(s / exact - 1).max() for s in (f().S.local_view(), theirs()[1])]
        rows.append(
            row._replace(detail=row.detail + "; largest errors of the values {:.1e} and {:.1e}".format(*errors))
        )
    return rows


def lowrank(a: Any, power_iterations: int) -> Any:
    return linalg.svd_lowrank(a, 20, power_iterations=power_iterations)


def squares(ctx: dtl.Context, rng: Any) -> list[Row]:
    """Return the rows of square matrices, beside NumPy with the whole on one rank."""
    square, line = rng.normal(size=(EXTENT, EXTENT)), rng.normal(size=EXTENT)
    whole, column = (dtl.broadcast(ctx, c.gather_to(0)) for c in (square, line))
    even = whole @ whole.T + np.eye(EXTENT)
    definite = square @ square.T + dtl.eye(ctx, EXTENT)
    product = {1: 1.05, 2: 0.6}.get(ctx.size)
    return [
        compare(f"matmul of {EXTENT}", lambda: square @ square, lambda: whole @ whole, product, rounds=7),
        compare("solve", lambda: linalg.solve(square, line), lambda: np.linalg.solve(whole, column)),
        compare("inv", lambda: linalg.inv(square), lambda: np.linalg.inv(whole)),
        compare("cholesky", lambda: linalg.cholesky(definite), lambda: np.linalg.cholesky(even)),
        compare("qr of it", lambda: linalg.qr(square), lambda: np.linalg.qr(whole)),
    ]


def transforms(rng: Any) -> list[Row]:
    """Return the rows of Fourier transforms."""
    image, signal = rng.random((2048, 1024)), rng.random(1 << 21)
    numpys = np.random.default_rng(1)
    pixels, values = numpys.random((2048, 1024)), numpys.random(1 << 21)
    return [
        compare("fft2 of 2048 x 1024", lambda: fft.fft2(image), lambda: np.fft.fft2(pixels)),
        compare("fft of 2**21", lambda: fft.fft(signal), lambda: np.fft.fft(values)),
    ]


def draws(rng: Any) -> list[Row]:
    """Return the rows of random numbers: NumPy draws all of them."""
    numpys = np.random.default_rng(1)
    rows = []
    for name, arguments in (("random", ()), ("normal", (1.0, 2.0)), ("integers", (0, 1000)), ("poisson", (4.0,))):
        draw, drawn = getattr(rng, name), getattr(numpys, name)
        ours = lambda f=draw, a=arguments: f(*a, size=NUMBERS)  # noqa: E731 - one line
        theirs = lambda f=drawn, a=arguments: f(*a, size=NUMBERS)  # noqa: E731 - one line
        rows.append(compare(f"{name} of {NUMBERS} numbers", ours, theirs, 1.25))
    return rows


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=MPI.COMM_WORLD) as ctx:
        rng = dtl.random.Generator(ctx, 1)
        rows = [*tall(ctx, rng), *largest(ctx), *squares(ctx, rng), *transforms(rng), *draws(rng)]
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
