"""What the stub names is what the package has: by name, by completion and by ``from dtl import *``."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dtl
from dtl import _lazy

pytestmark = pytest.mark.alone("the names are the same on every rank")

STUB = Path(dtl.__file__).with_suffix(".pyi")

#: What the reference names by the path of a module.
BY_PATH = {
    "backends": ["available", "chosen", "count", "name", "registered", "why_not"],
    "exceptions": ["DTLError", "BoundsError"],
    "fft": ["fft", "fftfreq", "irfftn"],
    "linalg": ["LinAlgError", "QRResult", "qr", "solve", "svd", "trace"],
    "nccl": ["Mode", "Operation"],
    "observe": ["Collector", "SECONDS", "snapshot", "start", "stop"],
    "ops": ["Op"],
    "ordered": ["Unique"],
    "plotting": ["plot_partition"],
    "policies": ["Partition", "Placement", "Execution"],
    "random": ["Generator"],
    "redistribution": ["Traffic"],
    "sparse": ["csc_array", "csr_array"],
    "sparse.linalg": ["LinearOperator", "cg", "gmres"],
    "seating": ["ContextTopology", "Seat"],
    "tracing": ["Record", "Trace", "table"],
}


def imported() -> list[tuple[str, str]]:
    """Return the names that the stub imports from the package, each with its module, as Python's parser reads them."""
    names = []
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                assert alias.asname == alias.name, f"{alias.name} is not exported"
                names.append((alias.name, "." + (node.module or alias.name)))
    return names


def test_the_stub_is_read_as_python_reads_it() -> None:
    assert list(_lazy.names_of(str(STUB)).items()) == imported()


def test_each_name_stands_once() -> None:
    names = [name for name, _ in imported()]
    assert len(names) == len(set(names)) > 200
    assert dir(dtl) == sorted([*names, "__version__", "version_info"])
    assert set(dir(dtl)) - set(dtl.__all__) == {name for name in names if hasattr(builtins, name)}


@pytest.mark.parametrize(("name", "home"), imported())
def test_each_name_is_there(name: str, home: str) -> None:
    module = importlib.import_module(home, "dtl")
    assert getattr(dtl, name) is (module if home == f".{name}" else getattr(module, name))


def test_star_import() -> None:
    code = (
        "import builtins; from dtl import *; import dtl; assert all_of is dtl.all_of and observe is dtl.observe; "
        "assert sum is builtins.sum and MemoryError is builtins.MemoryError is not dtl.MemoryError"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_modules_are_importable_by_path() -> None:
    assert {name for name, home in imported() if home == f".{name}"} <= set(BY_PATH)
    for module, names in BY_PATH.items():
        for name in names:
            assert hasattr(importlib.import_module(f"dtl.{module}"), name)


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in BY_PATH for name in BY_PATH[module]])
def test_public_paths_by_module(module: str, name: str) -> None:
    check_path(getattr(importlib.import_module(f"dtl.{module}"), name), f"dtl.{module}")


@pytest.mark.parametrize("name", [name for name, home in imported() if home != f".{name}"])
def test_public_paths(name: str) -> None:
    check_path(getattr(dtl, name), "dtl")


def check_path(thing: Any, module: str) -> None:
    """Check that what pickles, help and tracebacks show of a thing is where programs import it from."""
    if not callable(thing):
        return
    where = inspect.unwrap(thing).__module__
    assert where == thing.__module__
    assert where in {module, "dtl", *(f"dtl.{public}" for public in BY_PATH)}
    assert pickle.loads(pickle.dumps(thing)) == thing  # a bound method is another one each time
    assert getattr(sys.modules[where], thing.__name__) is thing


def test_values_are_pickled_by_public_paths() -> None:
    """Also where nobody has asked for their classes by name."""
    code = "import dtl, pickle; print(pickle.dumps(dtl.Context().topology.seats, 0))"
    out = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout.decode()
    assert "dtl.seating" in out
    assert "affinity" not in out


@pytest.mark.parametrize("name", ["nothing", "nothing_vector"])
def test_what_is_not_there(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(dtl, name)
    assert str(caught.value) == f"module 'dtl' has no attribute {name!r}"
