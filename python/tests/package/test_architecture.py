"""The drawing in docs is of the sources as they are; functions and files that it and CONTRIBUTING name exist."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "architecture.md"

pytestmark = [
    pytest.mark.alone("the sources are the same on every rank"),
    pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here; runs in a clone"),
]

FILE = re.compile(r"[\w/]+\.(?:py|go|c)")


def drawing() -> Any:
    """Return docs/architecture.py as a module."""
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps() -> list[str]:
    """Return the steps on the paths of calls, each as one line."""
    paths = PAGE.read_text(encoding="utf-8").split("## The path of a call")[1]
    return [re.sub(r"\s+", " ", step) for step in re.findall(r"^\d+\. (?:.+\n)(?:   .+\n)*", paths, re.M)]


def functions(file: str) -> set[str]:
    """Return the functions that a file defines, methods with their types."""
    source = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".go"):
        found = re.findall(r"^func (?:\(\w* ?\*?(\w+)(?:\[\w+\])?\) )?(\w+)", source, re.M)
        return {f"{of}.{name}" if of else name for of, name in found}
    if file.endswith(".c"):
        return set(re.findall(r"^[a-zA-Z].*?\b(\w+)\([^;]*\) \{$", source, re.M))
    return set(defined(ast.parse(source), ""))


def defined(tree: ast.AST, within: str) -> list[str]:
    names = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            names.append(within + node.name)
        elif isinstance(node, ast.ClassDef):
            names += defined(node, f"{within}{node.name}.")
    return names


def missing(step: str) -> list[str]:
    """Return what a step names that is not there: files, and functions that none of its files defines."""
    named = re.findall(r"`([^`]+)`", step)
    files = [name for name in named if FILE.fullmatch(name)]
    gone = [file for file in files if not (ROOT / file).exists()]
    there = set().union(*(functions(file) for file in files if file not in gone)) if files else set()
    return gone + [name for name in named if name not in files and name not in there and not name.startswith("MPI_")]


def gone(text: str) -> list[str]:
    """Return what files and folders of a paragraph are not there; a name alone is in one of its folders."""
    named = re.findall(r"`([\w./*-]+)`", text)
    paths = [name for name in named if "/" in name]
    folders = {path if (ROOT / path).is_dir() else str(Path(path).parent) for path in paths}
    alone = [name for name in named if re.fullmatch(r"\w+\.(go|c|h|pyi?|md)", name)]
    lost = [path for path in paths if not any(ROOT.glob(path.rstrip("/")))]
    return lost + [name for name in alone if not any((ROOT / folder / name).exists() for folder in folders)]


ROOMS = [
    "A dtype", "A collective", "A container", "An algorithm", "A partition", "A backend", "A format of files",
    "Hang reporting", "The shared-memory fast path", "The order of asynchronous calls",
]  # fmt: skip


def test_contributing_names_rooms_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    changes = text.split("## Where to make a change")[1].split("## Rules")[0].strip().split("\n\n")
    titles = [(re.match(r"\*\*(.+?)\.?\*\*", change), change) for change in changes]
    rooms = {title[1]: change for title, change in titles if title}
    assert set(ROOMS) <= set(rooms)
    assert [name for change in changes for name in gone(change)] == []
    assert all(re.search(r"`[\w./*-]+/", rooms[room]) for room in ROOMS)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("`core/dtype/dtype.go` and `dtype_test.go`", []),
        ("`core/dtype/gone.go`", ["core/dtype/gone.go"]),
        ("`core/kernel` with `wait.go`", ["wait.go"]),
        ("`numpybridge/fast*.c`, `numpybridge/none*.c`", ["numpybridge/none*.c"]),
    ],
)
def test_files_that_are_gone_are_found(text: str, want: list[str]) -> None:
    assert gone(text) == want


def test_drawing_is_of_the_sources() -> None:
    module = drawing()
    assert module.DRAWING.read_text(encoding="utf-8") == module.draw(), "run: python docs/architecture.py"


def test_drawing_has_what_imports_say() -> None:
    module = drawing()
    graph = module.packages()
    assert graph["core/comm"] >= {"core/backend", "core/memory", "core/status"}
    assert "numpybridge" in graph["pydtl"]
    assert "dtl._native" in graph["dtl.comm"]
    assert module.direct({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
    height = module.floors(graph)
    assert all(height[package] > height[name] for package, names in graph.items() for name in names)


def test_steps_name_functions_that_exist() -> None:
    assert len(steps()) > 20
    assert [problem for step in steps() for problem in missing(step)] == []


@pytest.mark.parametrize(
    ("step", "want"),
    [
        ("`core/status/status.go`: `New` makes an error, `Error.Unwrap` has its cause.", []),
        ("`core/status/status.go`: `Old`", ["Old"]),
        ("`core/status/gone.go`: `New`", ["core/status/gone.go", "New"]),
        ("`numpybridge/call.c`: `perform`, with `MPI_Send`", []),
        ("`python/dtl/exceptions.py`: `DTLError.nothing`", ["DTLError.nothing"]),
        ("no file: `New`", ["New"]),
    ],
)
def test_missing_functions_are_found(step: str, want: list[str]) -> None:
    assert missing(step) == want
