"""Imports point one way: through the packages in the order of ORDER, and from file to file without a circle."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from programs import alone, succeeded

import dtl
from dtl import _lazy

pytestmark = pytest.mark.alone("the sources are the same on every rank")

ROOT = Path(dtl.__file__).parent

#: The packages and modules of dtl. One imports those before it, and those of its own row.
ORDER = [
    ["_numbers"],
    ["exceptions", "ops", "policies", "_lazy"],
    ["_native"],
    ["futures"],
    ["topology"],
    ["runtime"],
    ["comm"],
    ["containers"],
    ["rma"],
    ["algorithms"],
    ["random"],
    ["linalg", "fft"],
    ["asynchronous"],
    ["io"],
    ["tables"],
    ["sparse"],
    ["roles"],
    ["monitoring"],
    ["plotting"],
    ["array_standard"],
    ["protocol"],
    ["backends", "nccl", "observe", "ordered", "redistribution", "seating", "tracing"],  # names of modules elsewhere
    ["__init__"],
    ["_cli", "__main__"],
    ["launching"],  # starts ranks as dtl run does
    ["executor"],  # sends functions as launched ranks get them
]

PLACE = {name: place for place, row in enumerate(ORDER) for name in row}

#: Classes that Python 3.8 cannot subscript.
GENERIC = {"tuple", "list", "dict", "set", "frozenset", "type", "deque", "defaultdict", "OrderedDict", "Counter"}

FILES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}


def module_of(parts: list[str]) -> str | None:
    """Return the file that an import names, if it is one of dtl's."""
    name = ".".join(parts)
    return next((known for known in (name, f"{name}.__init__".lstrip(".")) if known in FILES), None)


def imports(tree: ast.AST, module: str, types: bool = False) -> Iterator[tuple[str, int]]:
    """Yield what a module imports of dtl while it runs, also in functions, or for types alone, with the lines."""
    if not types and isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.dump(tree.test):
        for node in tree.orelse:
            yield from imports(node, module)
        return
    if isinstance(tree, (ast.Import, ast.ImportFrom)):
        for alias in tree.names:
            if isinstance(tree, ast.Import):
                names = [alias.name.split(".")]
            else:
                base = ["dtl", *module.split(".")][: -tree.level] if tree.level else []
                base += tree.module.split(".") if tree.module else []
                names = [[*base, alias.name], base]
            of_dtl = [module_of(name[1:]) for name in names if name[:1] == ["dtl"]]
            if of_dtl[1:] == ["__init__"] and of_dtl[0]:  # a module beside this one, and nothing that the package has
                del of_dtl[1]
            yield from ((found, tree.lineno) for found in of_dtl if found)
        return
    for node in ast.iter_child_nodes(tree):
        yield from imports(node, module, types)


def edges(types: bool = False) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, path in FILES.items():
        of = {name for name, _ in imports(ast.parse(path.read_text(encoding="utf-8")), module, types)}
        found[module] = of - {module}
    return found


EDGES = edges()

#: How many files the largest circle has in which calls by name count as imports. It only gets smaller.
LARGEST_CIRCLE = 0

#: How many reads of other objects' private names there are. It only gets smaller.
PRIVATE_READS = 55

#: What other packages document under a name with an underscore, or have no other name for.
OTHER_PACKAGES = {
    *("_replace", "_fields"),  # named tuples
    *("_getframe", "_current_frames", "_exit", "_args_from_interpreter_flags"),  # sys, os, subprocess
    *("_handleof", "_sizeof", "_addressof"),  # mpi4py
    *("_render_traceback_", "_parent"),  # IPython, fsspec
}


def named(text: str) -> set[str]:
    """Return the modules that a text such as ``.algorithms.sort`` names, by which a call of one is late.

    The name of a package stands for the modules of its stub, from which the package takes what it has.
    """
    found = module_of(text[1:].split("."))
    if found is None or not found.endswith(".__init__"):
        return {found} if found else set()
    package = found[: -len(".__init__")]
    stub = FILES[found].with_suffix(".pyi")
    homes = set(_lazy.names_of(str(stub)).values()) if stub.exists() else set()
    return {found} | {each for home in homes if (each := module_of([*package.split("."), *home[1:].split(".")]))}


def calls_by_name(tree: ast.AST) -> set[str]:
    """Return the modules that a module names in texts, such as those of late calls."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    matches = (re.match(r"(\.[a-z]\w*)+(?= |$)", text) for text in texts)
    return {each for match in matches if match for each in named(match[0])}


def all_edges() -> dict[str, set[str]]:
    """Return what each module imports or calls by name."""
    named_in = {name: calls_by_name(ast.parse(path.read_text(encoding="utf-8"))) for name, path in FILES.items()}
    return {module: EDGES[module] | named_in[module] - {module} for module in FILES}


def largest_circle(graph: dict[str, set[str]]) -> set[str]:
    """Return the largest set of modules each of which leads to each other one: Tarjan's algorithm."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    largest: set[str] = set()

    def visit(module: str) -> None:
        nonlocal largest
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph.get(module, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            at = stack.index(module)
            component = set(stack[at:])
            del stack[at:]
            if len(component) > max(len(largest), 1):
                largest = component

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return largest


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports; none if there is no circle."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module not in done:
            for other in sorted(graph.get(module, ())):
                if found := visit(other, [*path, module]):
                    return found
            done.add(module)
        return []

    return next((found for module in sorted(graph) if (found := visit(module, []))), [])


def test_there_are_imports() -> None:
    assert EDGES["runtime.context"] >= {"runtime.backends", "_native.library"}
    assert "runtime.live" in EDGES["runtime.environment"]  # in a function
    assert "containers.base" not in EDGES["containers.types"]  # for type checkers alone
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    assert "containers.base" in edges(types=True)["containers.types"]


def test_every_package_has_its_place() -> None:
    assert {module.split(".")[0] for module in FILES} == set(PLACE)


def test_imports_follow_the_order() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in EDGES.items()
        for other in others
        if PLACE[other.split(".")[0]] > PLACE[module.split(".")[0]]
    ]
    assert wrong == []


def test_no_circle_of_imports() -> None:
    assert circle(EDGES) == []


def test_no_circle_of_imports_for_types() -> None:
    assert circle(edges(types=True)) == []


def test_calls_by_name_are_seen() -> None:
    assert named(".algorithms.sort") == {"algorithms.sort"}
    assert "linalg.products" in named(".linalg")
    assert calls_by_name(ast.parse('f = late(".rma.window", "Window")\ng = {".io.npy save": 1}\n". not"')) == {
        "rma.window",
        "io.npy",
    }
    assert largest_circle({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b", "c"}
    assert largest_circle({"a": {"b"}, "b": set()}) == set()


def test_circle_of_calls_by_name() -> None:
    assert len(largest_circle(all_edges())) == LARGEST_CIRCLE  # whoever makes it smaller lowers the limit


def test_methods_come_when_the_first_module_of_containers_is_imported() -> None:
    """Whatever is imported meanwhile imports containers.owning, which is not through: the methods must not need it."""
    needed, left = set(), ["protocol.methods"]
    while left:
        module = left.pop()
        if module not in needed:
            needed.add(module)
            left += EDGES[module]
    assert "containers.base" in needed
    assert "containers.owning" not in needed


@pytest.mark.parametrize("first", ["DistributedVector", "sum", "DistributedSpan", "linalg.qr", "load"])
def test_any_name_can_be_the_first(first: str) -> None:
    code = f"import dtl; dtl.{first}; dtl.DistributedVector.sum; dtl.DistributedTensor.__getitem__"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def private_reads(tree: ast.AST) -> int:
    """Return how often a module reads or sets a private name of an object that is not its own self, class or base."""
    own = ("self", "cls", "super")
    names = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and not (isinstance(node.value, ast.Name) and node.value.id in own)
        and not (isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super")
    ]
    return sum(re.fullmatch("_[a-z].*", name) is not None and name not in OTHER_PACKAGES for name in names)


def test_reads_of_private_names() -> None:
    assert private_reads(ast.parse("a._b = super()._c + self._d + kind()._e + row._replace() + late('._f')")) == 2
    found = sum(private_reads(ast.parse(path.read_text(encoding="utf-8"))) for path in FILES.values())
    assert found <= PRIVATE_READS, (
        f"{found} reads of other objects' private names, {PRIVATE_READS} at most: ask a container by the functions of "
        "dtl/containers/interior.py and making.py, and any native object by those of dtl/_native/objects.py"
    )


def subscripts(tree: ast.AST) -> Iterator[int]:
    """Yield the lines where a class such as tuple is subscripted while the program runs: not in annotations."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.dump(tree.test):
        return
    if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name) and tree.value.id in GENERIC:
        yield tree.lineno
    for field, value in ast.iter_fields(tree):
        if field not in ("annotation", "returns"):
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, ast.AST):
                    yield from subscripts(node)


def test_python_3_8_can_run_it() -> None:
    source = "def f(x: list[int]) -> tuple[int]:\n  y: dict[str, int] = {}\nF = tuple[int]"
    assert list(subscripts(ast.parse(source))) == [3]
    found = {name: list(subscripts(ast.parse(path.read_text(encoding="utf-8")))) for name, path in FILES.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_only_the_lazy_loader_imports_by_name() -> None:
    """Besides what imports libraries that the user names."""
    by_name = {module for module, path in FILES.items() if "import_module" in path.read_text(encoding="utf-8")}
    assert by_name == {"_lazy", "runtime.array_libraries"}


def test_few_files_beside_the_packages() -> None:
    assert len([path for path in ROOT.iterdir() if path.suffix in (".py", ".pyi", ".typed")]) <= 18


def test_late_calls_lead_somewhere() -> None:
    call = re.compile(r'late\(\s*"(\.[\w.]+)",\s*"(\w+)"')
    late = {found for path in FILES.values() for found in call.findall(path.read_text(encoding="utf-8"))}
    assert len(late) > 40
    for home, name in sorted(late):
        assert callable(getattr(importlib.import_module(f"dtl{home}"), name)), (home, name)


def test_an_import_takes_few_modules() -> None:
    """Each is six file-system calls; 300 of them are the limit, which ``benchmarks/start.py`` counts."""
    there = "import numpy, sys; there = {*sys.modules, *sys.builtin_module_names}"
    imported = succeeded(alone(f"{there}; import dtl; print(*{{*sys.modules}} - there)")).split()
    old = sys.version_info < (3, 9)  # of typing with its two modules, and of dtl._native.signals
    assert len(imported) <= 41 + 4 * old, sorted(imported)


@pytest.mark.parametrize(
    ("words", "numpy"), [(["-m", "dtl", "run", "-n", "1", "-m", "this"], False), (["-c", "import dtl"], True)]
)
def test_ranks_are_started_before_numpy_is_imported(words: list[str], numpy: bool, tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", *words]
    env = {**os.environ, "TMPDIR": str(tmp_path)}  # where no job has left anything that dtl run would remove
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, encoding="utf-8", timeout=60, env=env)
    assert ("numpy._core" in done.stderr or "numpy.core" in done.stderr) == numpy


@pytest.mark.jobs("starts a process for each module with public names")
def test_every_public_name_can_be_the_first() -> None:
    """What a program imports first decides the order of the modules behind it. The Go library is in no process yet."""
    said = succeeded(alone(FIRST))
    assert said == ""


#: Prints the first names of modules that cannot be imported before any other.
FIRST = """
    import os
    import numpy
    import dtl
    from dtl import _lazy

    homes = _lazy.names_of(os.path.join(os.path.dirname(dtl.__file__), "__init__.pyi"))
    assert homes
    for name in {home: name for name, home in homes.items()}.values():
        if os.fork() == 0:
            try:
                getattr(dtl, name)
            except ImportError as error:
                print(name, error, flush=True)
            os._exit(0)
        os.wait()
"""


def test_late_methods_are_the_functions() -> None:
    names = ("sum", "prod", "min", "max", "argmin", "argmax", "all", "any", "mean", "var", "std")
    for name in names:
        assert getattr(dtl.DistributedVector, name) is getattr(dtl, name)
        assert inspect.getattr_static(dtl.DistributedVector, name) is getattr(dtl, name)
