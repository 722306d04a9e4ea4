"""Runs a Python program in this process as the interpreter would: a script, a folder, a zip file, or a module."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import sys
from types import CodeType, ModuleType, TracebackType
from typing import Any, Callable, NamedTuple, Sequence

from . import UsageError


class Program(NamedTuple):
    """A program that was found, and what the interpreter would set up for it."""

    load: Callable[[], CodeType]
    name: str  # sys.argv[0]
    attributes: dict[str, Any]  # of the module __main__

    def run(self, arguments: Sequence[str]) -> None:
        """Run it to its end, or until it raises. The module ``__main__`` is its own from here on."""
        main = ModuleType("__main__")
        vars(main).update(self.attributes, __builtins__=builtins)
        sys.modules["__main__"] = main
        sys.argv[:] = [self.name, *arguments]
        try:
            exec(self.load(), vars(main))
        except BaseException:
            _begin_tracebacks_in_program()
            raise


def script(path: str) -> Program:
    """Return the program in a file, or in the ``__main__.py`` of a folder or a zip file.

    Raises
    ------
    UsageError
        If there is none.
    """
    if not os.path.exists(path):
        raise UsageError(f"there is no file {path!r}")
    # From Python 3.9 on the interpreter makes the path absolute, but not that in sys.argv.
    file = os.path.join(os.getcwd(), path) if sys.version_info >= (3, 9) else path
    if not path.endswith((".py", ".pyc")) or os.path.isdir(path):
        spec = importlib.machinery.PathFinder.find_spec("__main__", [file])
        if spec is not None:
            _put_first(file)
            return _of(spec, path, "")
        if os.path.isdir(path):
            raise UsageError(f"there is no __main__.py in {path!r}")
    _put_first(os.path.dirname(os.path.realpath(path)))
    attributes: dict[str, Any] = {"__file__": file, "__cached__": None, "__annotations__": {}}
    if path.endswith(".pyc"):
        compiled = importlib.machinery.SourcelessFileLoader("__main__", file)
        attributes["__loader__"] = compiled
        return Program(lambda: _code(compiled, "__main__"), path, attributes)
    source = importlib.machinery.SourceFileLoader("__main__", file)
    attributes["__loader__"] = source
    return Program(lambda: compile(source.get_data(file), file, "exec", dont_inherit=True), path, attributes)


def module(name: str) -> Program:
    """Return the program that a module is, or the ``__main__`` of a package.

    Raises
    ------
    UsageError
        If there is none.
    """
    _put_first(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise UsageError(f"there is no module {name!r}: {error}") from None
    if spec is None:
        raise UsageError(f"there is no module {name!r}")
    return _of(spec, spec.origin or name, spec.parent)


def _of(spec: importlib.machinery.ModuleSpec, name: str, package: str | None) -> Program:
    attributes: dict[str, Any] = {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": package,
        "__spec__": spec,
        "__annotations__": {},
    }
    return Program(lambda: _code(spec.loader, spec.name), name, attributes)


def _code(loader: Any, name: str) -> CodeType:
    code: CodeType | None = loader.get_code(name) if hasattr(loader, "get_code") else None
    if code is None:
        raise UsageError(f"there is no Python code in {name!r}")
    return code


def _put_first(folder: str) -> None:
    """Replace the folder in which imports are looked for first, unless the interpreter was told to have none."""
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _begin_tracebacks_in_program() -> None:
    """Let the traceback of what leaves the program begin in the program, as if nobody had called it."""
    shown = sys.excepthook

    def begin(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        own = where
        while own is not None and own.tb_frame.f_code is not Program.run.__code__:
            own = own.tb_next
        own = own or where
        while own is not None and own.tb_frame.f_code.co_filename == __file__:
            own = own.tb_next
        shown(kind, error.with_traceback(own), own)

    sys.excepthook = begin
