"""How Sphinx builds the documentation, with the reference from the docstrings of the installed package."""

from __future__ import annotations

import ast
import contextlib
import importlib
import sys
from pathlib import Path

import dtl

sys.path.insert(0, str(Path(__file__).parent))

import coverage
import pictures

project = "DTL for Python"
author = copyright = "The DTL authors"
release = version = dtl.__version__

myst_heading_anchors = 2  # what links to a part of a page name
myst_enable_extensions = ["colon_fence", "deflist"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "notebooks",
    "reference_pages",
]
exclude_patterns = ["_build", "pictures"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"DTL for Python {release}"
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

#: A type such as bytes is not the attribute of that name, of which there are two.
suppress_warnings = ["ref.python"]

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
pictures.draw()
coverage.write()
