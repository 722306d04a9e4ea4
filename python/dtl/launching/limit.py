"""How long something may take."""

from __future__ import annotations

import math
import time
from typing import NamedTuple


class Limit(NamedTuple):
    """How many seconds something may take, None for any, and when they are over."""

    seconds: float | None
    end: float

    @classmethod
    def of(cls, seconds: float | None) -> Limit:
        """Return the limit that begins now."""
        return cls(seconds, math.inf if seconds is None else time.monotonic() + seconds)

    def left(self) -> float | None:
        """Return how many seconds are left, None for any number."""
        return None if self.seconds is None else max(self.end - time.monotonic(), 0.0)
