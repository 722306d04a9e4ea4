"""Notebooks as pages of the site: an extension of Sphinx that reads them as Markdown, with their outputs."""

from __future__ import annotations

import json
from typing import Any, Iterator

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx


class NotebookParser(MystParser):  # type: ignore[misc,unused-ignore]
    """Reads a notebook."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Read the cells as the Markdown that they come to."""
        super().parse("\n\n".join(_blocks(json.loads(inputstring))), document)


def _blocks(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield text
            continue
        if text.startswith("!"):
            yield _fence("console", "\n".join("$ " + line[1:] for line in text.splitlines()))
        else:
            yield _fence("python", text)
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                yield f"![](data:image/png;base64,{''.join(data['image/png']).strip()})"
            elif "text/plain" in data:
                yield _fence("text", "".join(data["text/plain"]))
            else:
                yield _fence("text", "".join(output["text"]))


def _fence(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx read notebooks."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
