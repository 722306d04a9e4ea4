"""Where in the user's program a call is made."""

from __future__ import annotations

import os
import sys
from types import FrameType

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def outside(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame, from this one outwards, that is not one of DTL's own."""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def name(frame: FrameType | None) -> str:
    """Return a frame's place as ``app.py:41``; empty for none."""
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def place() -> str:
    """Return the place in the user's program from which the calling thread came to DTL; empty if there is none."""
    return name(outside(sys._getframe()))
