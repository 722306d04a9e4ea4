"""What a rank does with a cell of a notebook: run it in its ``__main__``, and show its last value and its pictures."""

from __future__ import annotations

import ast
import base64
import io
import linecache
import os
import sys
from typing import Any, Callable, Dict, Mapping, Sequence

from . import transport

#: What is shown: for each MIME type, text or, of pictures, base64.
Bundle = Dict[str, Any]

# The backend of matplotlib that shows figures here.
_BACKEND = "module://dtl.launching.figures"

# What objects show themselves by, as IPython asks them.
_METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_latex_": "text/latex",
}

_show: Callable[[bytes], None] = lambda body: None  # noqa: E731 - what a rank's worker has put here


def show_with(show: Callable[[bytes], None]) -> None:
    """Have what cells show sent by a function."""
    global _show
    _show = show


def run(
    ctx: Any, source: str, name: str, variables: Mapping[str, Any], wanted: Sequence[str]
) -> tuple[Bundle | None, dict[str, Any]]:
    """Run a cell.

    Parameters
    ----------
    ctx
        The context, which the cell knows by this name.
    source, name
        The text of the cell, and what tracebacks call it.
    variables
        What to set before it.
    wanted
        The variables to return, of rank 0.

    Returns
    -------
    tuple
        What the cell's last expression shows, None for None or where a semicolon follows; and the variables.
    """
    main = vars(sys.modules["__main__"])
    main.setdefault("dtl", sys.modules[__name__.partition(".")[0]])
    main.setdefault("display", display)
    main.update(variables, ctx=ctx)
    _prepare(source)
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec", dont_inherit=True), main)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), main)
            shown = None if value is None or _silenced(source, last) else _bundle(value)
        else:
            shown = None
        return shown, {each: _found(main, each) for each in wanted} if ctx.rank == 0 else {}
    finally:
        show_figures()


def display(*values: Any, **options: Any) -> None:
    """Show objects in the notebook, as IPython's function of that name does."""
    for value in values:
        _show(transport.pack(_bundle(value)))


def show_figures() -> None:
    """Show the figures that pyplot has open, and close them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        for number in pyplot.get_fignums():
            display(pyplot.figure(number))
            pyplot.close(number)


def _found(main: Mapping[str, Any], name: str) -> Any:
    if name not in main:
        raise NameError(f"name {name!r} is not defined on rank 0")
    return main[name]


def _silenced(source: str, last: ast.Expr) -> bool:
    """Say whether a semicolon follows the last expression."""
    lines = source.encode().splitlines()
    return lines[(last.end_lineno or 0) - 1][last.end_col_offset or 0 :].lstrip().startswith(b";")


def _prepare(source: str) -> None:
    """Have what matplotlib and IPython show come here, also where the notebook has told the process otherwise."""
    if os.environ.get("MPLBACKEND") != _BACKEND:
        os.environ["MPLBACKEND"] = _BACKEND
        if "matplotlib" in sys.modules:
            sys.modules["matplotlib"].use(_BACKEND)
    if "IPython" in source:
        try:
            import IPython.core.display_functions
            import IPython.display
        except ImportError:
            return  # the cell finds that out itself
        IPython.display.display = IPython.core.display_functions.display = display


def _bundle(value: Any) -> Bundle:
    """Return what an object shows."""
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        return {"text/plain": repr(value), "image/png": _picture(value)}
    own = getattr(value, "_repr_mimebundle_", None)
    if callable(own) and not isinstance(value, type):
        found = own()
        shown: Bundle = dict(found[0] if isinstance(found, tuple) else found)
        return {"text/plain": repr(value), **{kind: _text(data) for kind, data in shown.items()}}
    bundle: Bundle = {"text/plain": repr(value)}
    for method, kind in _METHODS.items():
        made = getattr(value, method, None)
        data = made() if callable(made) and not isinstance(value, type) else None
        if data is not None:
            bundle[kind] = _text(data[0] if isinstance(data, tuple) else data)
    return bundle


def _text(data: Any) -> Any:
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data


def _picture(figure: Any) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", bbox_inches="tight")
    return base64.b64encode(stream.getvalue()).decode()
