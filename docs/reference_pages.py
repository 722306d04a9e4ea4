"""A page for each public object of the reference, and links from the guide to them.

``reference/index.rst`` says in which order and under which headings objects stand, and what of each is described, by
autodoc's directives; of functions, it names the modules (``public_functions.py``). Sphinx reads a table of links in
their place, and each directive on a page of its own.
"""

from __future__ import annotations

import importlib
import inspect
import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from public_functions import expanded
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

_INDEX = "reference/index"
_FOLDER = "reference/api"
_BLOCK = re.compile(
    r"^\.\. auto(class|function)::[ ](\S+)\n((?:   .*\n)*)(?:\n(?=\.\. auto(?:class|function)::))?", re.MULTILINE
)

#: What in the text of a page may name an object: dtl.sort, dtl.sort(vec), Context.split().
_NAME = re.compile(r"(?:dtl\.)?([A-Za-z_][\w.]*)(?:\(.*\))?$")

#: Names of one word that mean something else more often, unless dtl stands before them.
_WHOLE = re.compile(r"dtl\.|[A-Z]\w*\.|Distributed")


def _write(app: Sphinx) -> None:
    """Write the pages that have changed, and remove those of objects that are no more."""
    folder = Path(app.srcdir) / _FOLDER
    folder.mkdir(exist_ok=True)
    text = expanded((Path(app.srcdir) / f"{_INDEX}.rst").read_text(encoding="utf-8"))
    kept = set()
    module = "dtl"
    for line in re.finditer(rf"^\.\. currentmodule:: (\S+)|{_BLOCK.pattern}", text, re.MULTILINE):
        if line[1]:
            module = line[1]
            continue
        kind, name, options = line[2], line[3], line[4]
        full = name if name.startswith("dtl.") else f"{module}.{name}"
        page = (
            f":orphan:\n\n{full}\n{'=' * len(full)}\n\n.. currentmodule:: {module}\n\n.. auto{kind}:: {name}\n{options}"
        )
        path = folder / f"{full}.rst"
        kept.add(path)
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")
    for path in set(folder.glob("*.rst")) - kept:
        path.unlink()


def _list(app: Sphinx, document: str, source: list[str]) -> None:
    """Put links in the place of the descriptions, with their first sentences."""
    if document != _INDEX:
        return
    module = "dtl"
    lines = []
    for part in re.split(r"^(\.\. currentmodule:: \S+\n)", expanded(source[0]), flags=re.MULTILINE):
        if part.startswith(".. currentmodule:: "):
            module = part.split()[-1]
        lines.append(_BLOCK.sub(lambda found, of=module: _line(of, *found.group(1, 2)), part))
    source[0] = "".join(lines)


def _always_read(*_: Any) -> list[str]:
    """Have the index read each time: what it lists is in other files."""
    return [_INDEX]


def _line(module: str, kind: str, name: str) -> str:
    full = name if name.startswith("dtl.") else f"{module}.{name}"
    home, _, last = full.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(home), last)) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return f"* :{'class' if kind == 'class' else 'func'}:`{name}`: {first}\n"


class Links(SphinxPostTransform):
    """Makes what names a public object in the guide a link to its page."""

    default_priority = 20

    def run(self, **kwargs: Any) -> None:
        """Look at all literals that are no links yet, and at no heading."""
        if self.env.docname.startswith("reference/"):
            return
        objects = self.env.domains["py"].objects
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            found = _NAME.match(text)
            if (
                found is None
                or not _WHOLE.match(text)
                or not isinstance(literal.parent, (nodes.paragraph, nodes.entry))
            ):
                continue
            entry = objects.get(f"dtl.{found[1]}")
            if entry is not None and entry.docname != self.env.docname:
                link = make_refnode(
                    self.app.builder, self.env.docname, entry.docname, entry.node_id, literal.deepcopy()
                )
                literal.replace_self(link)


#: The site's contents beside a page: by its folder, and by what the theme asks for.
_contents: dict[tuple[str, str], str] = {}


def _keep_contents(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Make the contents once for all pages of a folder that are not listed there: none is marked as the current one."""
    folder, made = posixpath.dirname(page), context.get("toctree")
    if made is not None and f"{folder}/".startswith((f"{_FOLDER}/", "_modules/")):

        def toctree(**options: Any) -> str:
            key = folder, repr(options)
            if key not in _contents:
                _contents[key] = made(**options)
            return _contents[key]

        context["toctree"] = toctree


def setup(app: Sphinx) -> dict[str, bool]:
    """Add it to Sphinx."""
    app.connect("builder-inited", _write)
    app.connect("env-get-outdated", _always_read)
    app.connect("source-read", _list)
    app.connect("html-page-context", _keep_contents, priority=400)  # before the theme's
    app.add_post_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
