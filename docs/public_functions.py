"""The public functions of a module, as ``dtl/__init__.pyi`` has them, for ``reference/index.rst``.

A line ``.. autofunctions:: comm.collectives`` stands for a directive for each public function of that module, in the
order in which the module has them, but for those that have a directive of their own in the page.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python/dtl"

_LINE = re.compile(r"^\.\. autofunctions:: (.+)\n", re.MULTILINE)
_NAMED = re.compile(r"^\.\. autofunction:: (\w+)$", re.MULTILINE)


def expanded(page: str) -> str:
    """Return the text of a page with a directive for each public function of the modules that it names."""
    named = set(_NAMED.findall(page))
    public = _public()

    def directives(line: re.Match[str]) -> str:
        names = [name for module in line[1].split() for name in _functions(module) if name in public[module] - named]
        return "".join(f".. autofunction:: {name}\n" for name in names)

    return _LINE.sub(directives, page)


def _public() -> dict[str, set[str]]:
    """Return the names that the package exports, by the module that has them."""
    names: dict[str, set[str]] = {}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return names


def _functions(module: str) -> list[str]:
    """Return the functions of a module, each once, also those of which an object of a class is made."""
    body = ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")).body
    return list(dict.fromkeys(node.name for node in body if isinstance(node, ast.FunctionDef)))
