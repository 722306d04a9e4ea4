"""How Sphinx builds the documentation, with the reference from the docstrings of the installed package."""

from __future__ import annotations

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
