"""Signal handlers on the stack for signals, where Python does not put them there.

A thread that is in a call of DTL's runs on a stack of the Go runtime, which has no room for a signal's handler. Python
installs handlers for the alternate stack from 3.10 on (python/cpython#24730). Before, the Go runtime sees to those that
were there when it started, and this module to those that come later.
"""

from __future__ import annotations

import functools
from typing import Any, Callable


def install(use_alternate_stack: Callable[[int], None]) -> None:
    """Have each handler that is set from now on run on the alternate stack."""
    import _signal  # type: ignore[import-not-found]  # which the module signal calls

    plain = _signal.signal

    @functools.wraps(plain)
    def signal(number: int, handler: Any, /) -> Any:
        earlier = plain(number, handler)
        use_alternate_stack(number)
        return earlier

    _signal.signal = signal
