"""Kinds of elements and places of containers are objects: few lines outside their packages ask which one it is."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

import pytest

import dtl
from dtl.containers.places import device, host

pytestmark = pytest.mark.alone("the sources are the same on every rank")

ROOT = Path(dtl.__file__).parent

#: How many lines outside of kinds and places ask for the kind of elements by letters, dtypes or carriers, for the place
#: of a container, and the object of a kind what it is. They only get fewer. Those of ARGUED are not among them.
LIMITS = {"kind": 8, "place": 23, "object": 176}

#: Why lines ask that are no decision of a function, and how many of a file do.
ARGUED: dict[str, dict[str, dict[str, int]]] = {
    "an argument may be an array on a GPU, of any library, and nothing but a look at it says so": {
        "place": {
            "algorithms/creation.py": 1,
            "algorithms/device_functions.py": 1,  # what a user's function returns
            "comm/aware_mpi.py": 1,
            "comm/collective_arguments.py": 2,
            "comm/nccl_collectives.py": 3,
            "comm/point_to_point.py": 2,
            "comm/staging.py": 1,
            "containers/owning.py": 1,
            "rma/access.py": 2,
            "rma/device_buffers.py": 1,
            "rma/window.py": 1,
            "runtime/device_array.py": 1,
            "runtime/staging.py": 1,
        },
    },
    "an argument says where, and no container is there yet": {
        "place": {
            "containers/map/distributed_map.py": 1,
            "containers/sequences.py": 1,
            "io/files.py": 1,
            "rma/window.py": 1,
            "runtime/backends.py": 1,
        },
    },
    "arguments are looked at before they are elements, and kinds are made of these modules": {
        "kind": {
            "_native/arguments.py": 5,
            "_native/foreign_arrays.py": 3,
            "_native/named_types.py": 3,
            "_native/values.py": 1,
        },
    },
    "the container is the object that is asked, and keeps the answer": {
        "kind": {"containers/base.py": 2, "containers/interior.py": 2, "runtime/scheduler.py": 1},
        "place": {"containers/base.py": 2, "containers/owning.py": 8},
    },
    "managed memory starts with zeros": {"place": {"containers/making.py": 1}},
    "integers that the host has are counted; a GPU sorts its own": {"place": {"algorithms/ordered.py": 1}},
    "what is larger than memory is sorted in pieces if the core knows the order": {
        "object": {"algorithms/external.py": 1, "algorithms/sort.py": 1},
    },
    "a format has a number for each letter": {"kind": {"runtime/device_array.py": 1}},
}

#: What is asked for the kind: of NumPy's letters, of the type as which the core moves elements, of single dtypes.
_KIND_CALLS = {"is_widened", "_is_moved", "iscomplexobj", "issubdtype"}
_KIND_NAMES = {"_carrier", "carrier_of", "carrier", "_HALF", "float16", "hasobject"}

#: What is asked for the place.
_PLACE_CALLS = {"is_on_device", "on_device", "_on_device"}
_PLACE_NAMES = {"_DEVICE", "_HOST", "DEVICE", "HOST", "UNIFIED"}

#: Packages that have kinds of their own, of messages between processes, of events, of columns, of SciPy's matrices; and
#: the answers.
_ELSEWHERE = {"launching", "_cli", "monitoring", "executor", "tables", "sparse", "kinds", "places"}
_OTHER_KINDS = {"message", "hello", "each", "handle", "self", "record", "parser", "one", "other"}


def name_of(node: ast.AST) -> str:
    """Return the last name of an expression such as a.b or a.b(c)."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_letter(node: ast.AST) -> bool:
    """Say whether an expression is the ``kind`` of a dtype."""
    if isinstance(node, ast.Name):
        return node.id == "kind"
    return isinstance(node, ast.Attribute) and node.attr == "kind" and name_of(node.value) not in _OTHER_KINDS


def is_of_dtype(node: ast.Attribute) -> bool:
    """Say whether an expression is the names of the fields of a dtype."""
    return node.attr == "names" and name_of(node.value).endswith("dtype")


def is_place(sides: list[ast.expr]) -> bool:
    """Say whether the module that a container's place is, is compared with one of the two."""
    names = {name_of(side) for side in sides}
    return "place_of" in names and not names.isdisjoint({"host", "device"})


def are_letters(node: ast.AST) -> bool:
    """Say whether an expression is a text of NumPy's letters of kinds."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not set(node.value) - set("biufcmMSUVOT")


def conditions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that decide something by themselves: what is compared is not."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield node.test
        elif isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand


def subscript_of(node: ast.Subscript) -> ast.AST:
    """Return what is between the brackets, which Python 3.8 wraps."""
    return node.slice.value if type(node.slice).__name__ == "Index" else node.slice


def asked_in(node: ast.AST) -> Iterator[str]:
    """Yield what an expression asks for by itself."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        letters = any(map(is_letter, sides)) and any(are_letters(side) or is_letter(side) for side in sides[1:])
        names = any(isinstance(side, ast.Attribute) and is_of_dtype(side) for side in sides)
        if letters or names or any(name_of(side) in _KIND_NAMES for side in sides):
            yield "kind"
        if any(name_of(side) in (*_PLACE_NAMES, "with_device_copies") for side in sides) or is_place(sides):
            yield "place"
    elif isinstance(node, (ast.Subscript, ast.Call)):
        given = node.args if isinstance(node, ast.Call) else [subscript_of(node)]
        called = name_of(node) if isinstance(node, ast.Call) else ""
        if called in _KIND_CALLS or any(isinstance(each, ast.Attribute) and is_letter(each) for each in given):
            yield "kind"
        if called in _PLACE_CALLS:
            yield "place"
    elif isinstance(node, ast.Attribute) and node.attr.startswith(("is_", "has_")) and name_of(node.value) == "kind_of":
        yield "object"


def questions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield what is asked for, with the lines."""
    for node in ast.walk(tree):
        yield from ((what, getattr(node, "lineno", 0)) for what in asked_in(node))
    for node in conditions(tree):
        if name_of(node) == "with_device_copies" and not isinstance(node, ast.Call):
            yield "place", getattr(node, "lineno", 0)


def lines_that_ask() -> dict[str, list[str]]:
    """Return the lines that ask for the kind, and those that ask for the place, with their files."""
    found: dict[str, list[str]] = {what: [] for what in LIMITS}
    for path in sorted(ROOT.rglob("*.py")):
        if _ELSEWHERE.isdisjoint(path.relative_to(ROOT).parts):
            source = path.read_text(encoding="utf-8")
            lines = source.splitlines()
            for what, line in sorted(set(questions(ast.parse(source)))):
                found[what].append(f"{path.relative_to(ROOT)}:{line}: {lines[line - 1].strip()}")
    return found


def test_questions_are_seen() -> None:
    asked = 'if c.dtype.kind in "mM" and c._carrier is None:\n    x = c.placement_policy is Placement.DEVICE\n'
    assert sorted(set(questions(ast.parse(asked)))) == [("kind", 1), ("place", 2)]
    assert set(questions(ast.parse("if with_device_copies and not is_widened(c):\n    table[c.dtype.kind]"))) == {
        ("place", 1),
        ("kind", 1),
        ("kind", 2),
    }
    assert set(questions(ast.parse("place_of(c) is device\nplace_of(c) is place_of(d)\nschema.names == names"))) == {
        ("place", 1)
    }
    assert set(questions(ast.parse('message.kind == channel.HELLO\nf(kind)\nkind == "sum"'))) == set()


def argued(what: str) -> dict[str, int]:
    """Return how many lines of each file are argued for."""
    found: dict[str, int] = {}
    for files in ARGUED.values():
        for name, count in files.get(what, {}).items():
            found[name] = found.get(name, 0) + count
    return found


@pytest.mark.parametrize("what", sorted(LIMITS))
def test_few_lines_ask(what: str) -> None:
    found, expected = lines_that_ask()[what], argued(what)
    counts = Counter(line.partition(":")[0] for line in found)
    assert not [name for name, count in expected.items() if counts[name] < count], "less is to be argued for"
    left = [line for line in found if counts[line.partition(":")[0]] > expected.get(line.partition(":")[0], 0)]
    assert sum((counts - Counter(expected)).values()) <= LIMITS[what], "\n".join(left)  # whoever has fewer lowers it


def test_goal() -> None:
    assert LIMITS["kind"] + LIMITS["place"] <= 40


def test_places_have_the_same_verbs() -> None:
    def verbs(module: Any) -> dict[str, list[str]]:
        own = {name: f for name, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__}
        return {name: list(inspect.signature(f).parameters) for name, f in own.items()}

    there = verbs(device)
    assert len(verbs(host)) > 5
    assert {name: there.get(name) for name in verbs(host)} == verbs(host)


if __name__ == "__main__":
    for what, lines in lines_that_ask().items():
        print(*lines, f"{len(lines)} lines ask for the {what}", sep="\n")
