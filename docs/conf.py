"""How Sphinx builds the documentation, with the reference from the docstrings of the installed package."""

from __future__ import annotations

import ast
import contextlib
import importlib
from pathlib import Path

import dtl

project = "DTL for Python"
author = copyright = "The DTL authors"
release = version = dtl.__version__

myst_heading_anchors = 2  # what links to a part of a page name
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"page_width": "70em"}

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False


def _find_sources() -> None:
    """Let everything public say which module has its source, where Sphinx looks for it, instead of its public one."""
    for name in dir(dtl):
        getattr(dtl, name)  # says its public module for the first and last time
    folder = Path(dtl.__file__).parent
    for path in (folder / "__init__.pyi", *folder.glob("[a-z]*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level and node.module and not node.module.startswith("_lazy"):
                module = importlib.import_module(f"dtl.{node.module}")
                for alias in node.names:
                    thing = getattr(module, alias.name)
                    while callable(thing) and thing.__module__.startswith("dtl"):
                        with contextlib.suppress(AttributeError):
                            thing.__module__ = module.__name__
                        thing = getattr(thing, "__wrapped__", None)


_find_sources()
