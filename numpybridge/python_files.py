"""Write what the package has of the shared object: the stub of ``_bridge``, and the numbers of the core.

The stub is ``_bridge.pyi`` of this folder, which has what is written in C, and after it the operations and constants of
``operations.go`` and ``constants.go``, which the module itself tells. The build runs ``python_files.py OBJECT FOLDER``.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

HEAD = "# The build writes this file, by numpybridge/python_files.py."

#: The kinds of constants that the package has without the shared object. Names of constants begin with them.
SHARED = ("OP", "PARTITION", "PLACEMENT", "STATUS")


def load(path: str) -> ModuleType:
    """Return the module that is in a shared object. It needs no NumPy before its first call."""
    loader = importlib.machinery.ExtensionFileLoader("_bridge", path)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("_bridge", loader, origin=path))
    loader.exec_module(module)
    return module


def signature(name: str, text: str) -> str:
    """Return the line of a stub for an operation that shows this text as its signature."""
    types = {None: "Any", "0": "int = 0", "None": "Any = None"}
    parameters = []
    for parameter in text.strip("()").split(", ")[1:-1]:
        word, _, default = parameter.partition("=")
        parameters.append(f"{word}: {'Handle' if word == 'owner' else types[default or None]}")
    return f"def {name}({', '.join([*parameters, '/'])}) -> Any: ..."


def stub(written: str, module: ModuleType) -> str:
    """Return the stub of a module of which the part in C is written."""
    names = sorted(vars(module))
    lines = [f"{name}: int" for name in names if type(getattr(module, name)) is int]
    for name in names:
        operation = getattr(module, name)
        if isinstance(getattr(operation, "__self__", None), bytes):  # the table of its parameters
            lines.append(signature(name, operation.__text_signature__))
    return "\n".join([HEAD, written, *lines, ""])


def numbers(module: ModuleType) -> str:
    """Return a module with the numbers that the package has without the shared object, in a class for each kind."""
    lines = [HEAD, '"""The numbers of operators, partitions, placements and failures, which are the core\'s."""', ""]
    lines += ["from typing import Final", ""]
    for kind in SHARED:
        lines += ["", f"class {kind}:"]
        begin = f"{kind}_"
        found = {name[len(begin) :]: value for name, value in vars(module).items() if name.startswith(begin)}
        lines += [f"    {name}: Final = {value}" for name, value in found.items()] + [""]
    return "\n".join(lines)


if __name__ == "__main__":
    made, folder = load(sys.argv[1]), Path(sys.argv[2])
    written = Path(__file__).with_name("_bridge.pyi").read_text(encoding="utf-8")
    (folder / "_bridge.pyi").write_text(stub(written, made), encoding="utf-8")
    (folder / "_numbers.py").write_text(numbers(made), encoding="utf-8")
