"""The examples with algorithms of their own: on any number of ranks, against scikit-learn, NumPy and Counter."""

from __future__ import annotations

import collections
import importlib.util
import math
import re
import runpy
import sys
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import job
import numpy as np
import pytest
from job import in_matrix, on
from test_examples import EXAMPLES, printed

import dtl

RANKS = pytest.mark.parametrize("ranks", [in_matrix(on(1)), on(3), in_matrix(on(4))])

pytestmark = [pytest.mark.jobs("starts ranks itself"), pytest.mark.usefixtures("without_mpi")]

needs_sklearn = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None,
    reason="scikit-learn is not installed; runs in the environments of `make setup`",
)


def run(ranks: int, folder: Path, program: str, *arguments: str) -> None:
    """Run a program on so many ranks; it fails the test by an exception."""
    (folder / "program.py").write_text(program)
    done = job.run(ranks, str(folder / "program.py"), *arguments)
    assert done.returncode == 0, done.stderr


@RANKS
def test_word_count(ranks: int) -> None:
    counts = collections.Counter(re.findall(r"[^\W\d_]+", "\n".join(topics.values()).lower()))
    first = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:10]
    head, *lines = printed(ranks, "wordcount.py").splitlines()
    assert head == f"{sum(counts.values())} words, {len(counts)} different"
    assert [(word, int(count)) for count, word in map(str.split, lines[:10])] == first
    by_length = collections.defaultdict(list)
    for word, count in counts.items():
        by_length[len(word)].append(count)
    assert lines[10:] == [
        f"{sum(times):6d}  of {length:2d} letters, each {np.mean(times):.1f} times"
        for length, times in sorted(by_length.items())
    ]


WORDS = """\
import runpy, sys
import dtl

example = runpy.run_path(sys.argv[1])
with dtl.Context() as ctx:
    for text in ([], ["one"], ["b a", "a b", "c"], ["der weiße Fuß", "ab " * 100, "x" * 40]):
        counts = example["count_words"](ctx, example["words_of"](text[ctx.rank :: ctx.size]))
        words = " ".join(text).lower().split()
        expected = sorted((-words.count(word), word) for word in set(words))
        found = example["most_frequent"](ctx, counts)
        if found != [(word, -count) for count, word in expected if ctx.is_root]:
            raise AssertionError(f"{text}: {found}")
"""


@RANKS
def test_word_count_of_texts_that_not_every_rank_has_a_part_of(ranks: int, tmp_path: Path) -> None:
    run(ranks, tmp_path, WORDS, str(EXAMPLES / "wordcount.py"))


@RANKS
def test_monte_carlo(ranks: int) -> None:
    blocks = [np.random.default_rng([2013, block]).random((2, 10_000)) for block in range(1000)]
    hits = np.array([np.count_nonzero(np.square(block).sum(axis=0) < 1) for block in blocks])
    points, estimate = printed(ranks, "montecarlo.py").splitlines()
    assert points == f"10000000 points, {hits.sum()} hits"
    told = re.fullmatch(r"pi = (\d\.\d{6}) \+- (\d\.\d{6})", estimate)
    assert told is not None
    pi, error = float(told[1]), float(told[2])
    assert pi == pytest.approx(4 * hits.sum() / 1e7, abs=1e-6)
    assert abs(pi - math.pi) < 3 * error
    # The blocks are independent, too: how far they lie apart says the same.
    assert error == pytest.approx(4 * np.std(hits / 10_000) / math.sqrt(1000), rel=0.1)


def heated(shape: tuple[int, int], steps: int, tolerance: float) -> tuple[Any, int, float]:
    """Return the plate of stencil2d.py in the end, the steps and the last change; by NumPy alone."""
    u = np.zeros((shape[0] + 2, shape[1] + 2))
    u[0] = 100
    for taken in range(1, steps + 1):
        middle = u[1:-1, 1:-1]
        new = middle + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * middle)
        change = float(np.abs(new - middle).max())
        u[1:-1, 1:-1] = new
        if taken % 100 == 0 and change <= tolerance:
            break
    return u[1:-1, 1:-1], taken, change


@RANKS
def test_stencil2d(ranks: int) -> None:
    plate, steps, change = heated((40, 60), 20_000, 1e-3)
    assert change <= 1e-3
    first, second = printed(ranks, "stencil2d.py").splitlines()
    assert first == f"{steps} steps; the last changed nothing by more than {change:.6f}"
    told = re.fullmatch(r"mean temperature (\d+\.\d{9}), in the middle (\d+\.\d{9})", second)
    assert told is not None
    assert float(told[1]) == pytest.approx(plate.mean(), abs=1e-9)
    assert told[2] == f"{plate[20, 30]:.9f}"


HEAT = """\
import runpy, sys
import numpy as np
import dtl

solve = runpy.run_path(sys.argv[1])["solve"]
with dtl.Context() as ctx:
    for expected in np.load(sys.argv[2]).values():
        plate, steps, _ = solve(ctx, expected.shape, 50, 0.0)
        mine = expected[np.ix_(plate.local_indices(0), plate.local_indices(1))]
        if steps != 50 or not np.array_equal(plate.local_view(), mine):
            raise AssertionError(f"shape {expected.shape}: here {plate.local_view()}, should be {mine}")
"""


@RANKS
def test_stencil2d_on_parts_of_any_size(ranks: int, tmp_path: Path) -> None:
    shapes = [(1, 1), (1, 6), (6, 1), (2, 2), (3, 4), (5, 7), (12, 9)]
    np.savez(tmp_path / "data.npz", *[heated(shape, 50, 0.0)[0] for shape in shapes])
    run(ranks, tmp_path, HEAT, str(EXAMPLES / "stencil2d.py"), str(tmp_path / "data.npz"))


def test_stencil2d_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("matplotlib.image", reason="not installed; runs in the environments of `make setup`")
    draw, path = runpy.run_path(str(EXAMPLES / "stencil2d.py"))["draw"], tmp_path / "plate.png"
    draw(np.arange(12.0).reshape(3, 4), str(path))
    assert capsys.readouterr().out == f"drawn: {path}\n"
    assert np.ptp(image.imread(str(path))[..., :3]) > 0.5

    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not there
    draw(np.zeros((3, 4)), str(tmp_path / "none.png"))
    assert "no picture without matplotlib" in capsys.readouterr().out
    assert not (tmp_path / "none.png").exists()


@pytest.fixture(scope="module")
def digits() -> Any:
    """Return the pictures and their digits, the first centres of kmeans.py, and what scikit-learn makes of them."""
    cluster, datasets = importlib.import_module("sklearn.cluster"), importlib.import_module("sklearn.datasets")
    pictures, shown = datasets.load_digits(return_X_y=True)
    first = pictures[np.random.default_rng(9).choice(len(pictures), 10, replace=False)]
    # Where a picture is as near to one centre as to another, scikit-learn's rounding would choose.
    nearest = np.sort([np.square(pictures - centre).sum(axis=1) for centre in first], axis=0)
    assert np.all(nearest[0] < nearest[1])
    return pictures, shown, first, cluster.KMeans(10, init=first, n_init=1, tol=0).fit(pictures)


@needs_sklearn
@RANKS
def test_kmeans(ranks: int, digits: Any) -> None:
    _, shown, _, fitted = digits
    head, *lines = printed(ranks, "kmeans.py").splitlines()
    told = re.fullmatch(r"1797 pictures, (\d+) rounds, inertia (\d+\.\d{6})", head)
    assert told is not None
    assert int(told[1]) == fitted.n_iter_
    assert float(told[2]) == pytest.approx(fitted.inertia_, abs=1e-5)
    tables = [np.bincount(shown[fitted.labels_ == group], minlength=10) for group in range(10)]
    assert lines == [f"{sum(row):5d} pictures, {max(row):4d} of them show {np.argmax(row)}" for row in tables]


KMEANS = """\
import runpy, sys
import numpy as np
import dtl

kmeans = runpy.run_path(sys.argv[1])["kmeans"]
pictures, first, centres, labels = np.load(sys.argv[2]).values()
with dtl.Context() as ctx:
    points = dtl.DistributedTensor.from_numpy(ctx, pictures)
    groups = kmeans(points, first)
    np.testing.assert_array_equal(groups.labels, labels[points.local_indices(0)])
    np.testing.assert_array_equal(groups.counts, np.bincount(labels))
    np.testing.assert_allclose(groups.centres, centres, rtol=0, atol=1e-12)
    exact = np.array([pictures[labels == group].sum(axis=0) / np.sum(labels == group) for group in range(len(first))])
    np.testing.assert_array_equal(groups.centres, exact)
"""


@needs_sklearn
@RANKS
def test_kmeans_finds_the_groups_of_scikit_learn(ranks: int, digits: Any, tmp_path: Path) -> None:
    pictures, _, first, fitted = digits
    np.savez(tmp_path / "data.npz", pictures, first, fitted.cluster_centers_, fitted.labels_)
    run(ranks, tmp_path, KMEANS, str(EXAMPLES / "kmeans.py"), str(tmp_path / "data.npz"))


def test_kmeans_leaves_an_empty_group_where_it_is(ctx: dtl.Context) -> None:
    kmeans = runpy.run_path(str(EXAMPLES / "kmeans.py"))["kmeans"]
    with dtl.DistributedTensor.from_numpy(ctx, np.array([[0.0], [1.0], [10.0]])) as points:
        groups = kmeans(points, np.array([[0.0], [30.0], [9.0]]))
    assert groups.centres.tolist() == [[0.5], [30.0], [10.0]]
    assert groups.counts.tolist() == [2, 0, 1]
    assert groups.labels.tolist() == [0, 0, 2]


@needs_sklearn
@RANKS
def test_grid_search_on_ranks_is_the_one_of_scikit_learn(ranks: int, digits: Any) -> None:
    """With one rank root fits the models itself, with three the others do."""
    models, selection = (
        importlib.import_module("sklearn.linear_model"),
        importlib.import_module("sklearn.model_selection"),
    )
    pictures, shown, *_ = digits
    search = selection.GridSearchCV(models.RidgeClassifier(), {"alpha": np.logspace(-2, 5, 8)}, cv=4)
    search.fit(pictures, shown)
    scores = selection.cross_val_score(search.best_estimator_, pictures, shown, cv=10)
    first, second = printed(ranks, "gridsearch.py").splitlines()
    assert first == f"best penalty 1000, {search.best_score_:.4f} of the digits known in 4 parts"
    assert second == f"{scores.mean():.4f} known in 10 parts, {scores.min():.4f} in the hardest"
