"""What stands in several files: versions, Pythons, what was measured, and hashes of what builds a release."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import dtl

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ".github/workflows/release.yml"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("CITATION.cff", r"^version: (.*)$"), ("packaging/conda-forge/recipe.yaml", r"^  version: (\d.*)$")],
)
def test_version(name: str, pattern: str) -> None:
    assert re.findall(pattern, text(name), re.MULTILINE) == [dtl.__version__]


def test_pythons() -> None:
    classified = re.findall(r"Programming Language :: Python :: (3\.\d+)", text("pyproject.toml"))
    built = re.findall(r'^build = "cp3\{(.*)\}-manylinux_\*"$', text("pyproject.toml"), re.MULTILINE)
    run = re.findall(r"^ +python: \[(.*)\]$", text(RELEASE), re.MULTILINE)
    assert [f"3.{minor}" for minor in built[0].split(",")] == classified
    assert run[0].replace('"', "").split(", ") == classified


def test_all_that_builds_a_release_is_pinned_by_hashes() -> None:
    pinned = re.split(r"^(?=[a-z])", text("packaging/requirements.txt"), flags=re.MULTILINE)[1:]
    assert len(pinned) > 20
    for requirement in pinned:
        assert re.match(r"[\w.-]+==\S+ \\\n +--hash=sha256:[0-9a-f]{64}", requirement), requirement
    wanted = re.findall(r"^([a-z][\w-]*)", text("packaging/requirements.in"), re.MULTILINE)
    assert set(wanted) <= {requirement.split("==")[0] for requirement in pinned}
    installs = re.findall(
        r"pip install (?!--require-hashes -r packaging/requirements\.txt)(.*)$", text(RELEASE), re.MULTILINE
    )
    assert installs == ["--only-binary :all: --find-links dist pydtl"]


def test_the_readme_says_what_was_measured() -> None:
    """``python docs/measurements.py`` brings it up to date."""
    pytest.importorskip("matplotlib", reason="not installed; runs in the environments of `make setup`")
    measurements = runpy.run_path(str(ROOT / "docs" / "measurements.py"))
    assert measurements["readme"]() == text("README.md")
