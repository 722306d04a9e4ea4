"""The programs of examples/first_hour, with little data, on any number of ranks: against NumPy and pandas."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import job
import numpy as np
import pytest
from job import on

pytestmark = [pytest.mark.jobs("starts ranks itself"), pytest.mark.usefixtures("without_mpi")]

ROOT = Path(__file__).resolve().parents[3]
MISSING = "not installed; runs in the environments of `make setup`"
FOLDER = ROOT / "examples" / "first_hour"
RANKS = pytest.mark.parametrize("ranks", [on(1), on(3)])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ten-thousandth of the data."""
    for package in ("h5py", "pyarrow"):
        pytest.importorskip(package, reason=MISSING)
    folder = tmp_path_factory.mktemp("first_hour")
    runpy.run_path(str(FOLDER / "make_data.py"))["write"](folder, 10_000)
    return folder


def numbers(ranks: int, name: str, *arguments: object) -> Any:
    """Return the numbers that a program prints: alone, in this process, which has imported most of what it needs."""
    given = [str(FOLDER / name), *map(str, arguments)]
    if ranks > 1:
        done = job.run(ranks, *given)
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    else:
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as shown:
            patch.setattr(sys, "argv", given)
            runpy.run_path(given[0], run_name="__main__")
        printed = shown.getvalue()
    return np.array([float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", printed)])


@RANKS
def test_values(ranks: int, data: Path) -> None:
    h5py: Any = pytest.importorskip("h5py")
    with h5py.File(data / "values.h5") as file:
        x = file["values"][:]
    expected = [x.mean(), x.std(), *np.quantile(x, [0.01, 0.5, 0.99])]
    np.testing.assert_allclose(numbers(ranks, "values.py", data / "values.h5"), expected, atol=1e-5)


@RANKS
def test_groups(ranks: int, data: Path) -> None:
    pandas: Any = pytest.importorskip("pandas", reason=MISSING)
    price = pandas.read_parquet(data / "sales.parquet").groupby("city")["price"]
    expected = np.stack([price.count(), price.mean(), price.std()], axis=1)
    found = numbers(ranks, "groups.py", data / "sales.parquet").reshape(-1, 3)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@RANKS
def test_heat(ranks: int, tmp_path: Path) -> None:
    image: Any = pytest.importorskip("matplotlib.image", reason=MISSING)
    u = np.zeros((22, 22))
    u[6:11, 6:11] = 100
    for _ in range(30):
        u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    plate = u[1:-1, 1:-1]
    found = numbers(ranks, "heat.py", 20, 30, tmp_path / "plate.png")
    np.testing.assert_allclose(found, [plate.mean(), plate.max()], atol=1e-5)
    assert np.ptp(image.imread(str(tmp_path / "plate.png"))[..., :3]) > 0.5


@RANKS
def test_regression(ranks: int, data: Path) -> None:
    h5py: Any = pytest.importorskip("h5py")
    with h5py.File(data / "points.h5") as file:
        points, y = file["X"][:], file["y"][:]
    coefficients = np.linalg.lstsq(points, y, rcond=None)[0]
    variances = np.linalg.eigvalsh(np.cov(points, rowvar=False))[::-1]
    found = numbers(ranks, "regression.py", data / "points.h5")
    np.testing.assert_allclose(found, [*coefficients, *variances], atol=1e-4)


@RANKS
def test_sweep(ranks: int) -> None:
    pytest.importorskip("tqdm", reason=MISSING)
    angles = []
    for force in np.linspace(0.9, 1.1, 5):
        angle = speed = 0.0
        for step in range(200):
            speed += 0.05 * (force * np.cos(step / 30) - np.sin(angle) - speed / 2)
            angle += 0.05 * speed
        angles.append(angle)
    np.testing.assert_allclose(numbers(ranks, "sweep.py", 5, 20), [np.mean(angles), max(angles)], atol=1e-5)


def test_lines_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    lines_of_code = runpy.run_path(str(ROOT / "benchmarks" / "first_hour.py"))["lines_of_code"]
    path = tmp_path / "program.py"
    path.write_text(
        '"""Doc\n\nmore"""\n\n# why\nimport sys  # x\n\n\ndef f(a,\n      b):\n    """Doc."""\n    return """a\nb"""\n'
    )
    assert lines_of_code(path) == 5
