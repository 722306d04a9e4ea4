"""Programs that are no Python: what the interpreter would say of them, told once before any rank begins.

Of the modules that a script imports, those are looked at that it imports first, from its own folder: what comes after
``import dtl`` raises in ranks that have their tracebacks printed once anyway, and what comes after another statement
may depend on it.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import traceback
import warnings
from typing import Iterator, Sequence

#: Modules of these names are the interpreter's own, whatever lies beside the script.
_ITS_OWN = getattr(sys, "stdlib_module_names", sys.builtin_module_names)


def syntax_error(program: Sequence[str]) -> str:
    """Return what the interpreter would say of a script, or of a module that it imports; nothing if they are Python."""
    path, package = program[0], ""
    folder = os.path.dirname(os.path.realpath(path))
    if path == "-m":
        folder = os.getcwd()
        package = program[1].rpartition(".")[0]
        spec = importlib.util.find_spec(program[1]) if not package else None
        path = spec.origin or "" if spec is not None and not spec.submodule_search_locations else ""
    if not path.endswith(".py") or not os.path.isfile(path):
        return ""
    return _error_in(path, package, folder, set()) or ""


def _error_in(path: str, package: str, folder: str, seen: set[str]) -> str | None:
    """Return what is wrong with a file, or with one that it imports first: "" if nothing is, None after DTL."""
    seen.add(path)
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the ranks say it
            source = file.read()
            compile(source, path, "exec", dont_inherit=True)
            statements = ast.parse(source, path).body
    except SyntaxError as error:
        return "".join(traceback.format_exception_only(type(error), error))
    except (OSError, ValueError, MemoryError, RecursionError):  # which the ranks tell of
        return None
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name in _imported(statement, package):
                if name.partition(".")[0] == "dtl":
                    return None
                for file_name, parent in _files_of(name, folder):
                    if file_name not in seen:
                        found = _error_in(file_name, parent, folder, seen)
                        if found != "":
                            return found
        elif not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
            return None
    return ""


def _imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield the full names of the modules that a statement of a package imports, and maybe some that there are not."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name
        return
    parents = package.split(".") if package else []
    if statement.level > len(parents) and statement.level:
        return
    base = parents[: len(parents) - statement.level + 1] if statement.level else []
    whole = ".".join([*base, *([statement.module] if statement.module else [])])
    yield whole
    for alias in statement.names:
        yield f"{whole}.{alias.name}"


def _files_of(name: str, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the files below a folder that are run where a module is imported, and the package of each."""
    parts = name.split(".")
    if parts[0] in _ITS_OWN:
        return
    for depth in range(1, len(parts) + 1):
        base = os.path.join(folder, *parts[:depth])
        if os.path.isfile(os.path.join(base, "__init__.py")):
            yield os.path.join(base, "__init__.py"), ".".join(parts[:depth])
            continue
        if os.path.isfile(f"{base}.py"):
            yield f"{base}.py", ".".join(parts[: depth - 1])
        return
