"""Libraries that make arrays of whatever they are given: a part of a container must not pass for the whole."""

from __future__ import annotations

from types import FrameType
from typing import Any

from ..exceptions import DTLError, InvalidTypeError

#: Packages that call ``to_numpy`` of any object that has it, and draw or tabulate the result as the whole.
_TAKE_ANYTHING = frozenset(
    (
        *(
            "altair",
            "bokeh",
            "holoviews",
            "hvplot",
            "matplotlib",
            "mpl_toolkits",
            "plotly",
            "_plotly_utils",
            "plotnine",
        ),
        *("narwhals", "pandas", "polars", "pyqtgraph", "seaborn", "sklearn", "statsmodels", "vispy", "xarray"),
    )
)


class PartForWholeError(DTLError, TypeError):
    """A library took a container for an array. It is no ValueError, which matplotlib replaces by one that says less."""

    code = InvalidTypeError.code


def check_caller(of: Any, frame: FrameType) -> None:
    """Refuse a call of ``to_numpy`` from a library that does not know that it gets this rank's part."""
    library = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    if library in _TAKE_ANYTHING:
        error = PartForWholeError(
            f"{library} asks for all elements of a {type(of).__name__}, and to_numpy() has only this rank's, on any "
            "number of ranks: pass local_view() for this rank's part, or what gather_to(root) returns on one rank"
        )
        error.op = "to_numpy"
        raise error
