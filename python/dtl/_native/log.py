"""What DTL says to Python's ``logging``: the loggers ``dtl.context``, ``dtl.slow_paths``, ``dtl.checkpoint`` and so on.

A program that does not import ``logging`` does not pay for it: DTL does not import it either, unless DTL_LOG asks.
"""

from __future__ import annotations

import sys
from typing import Any

from . import variables

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40

_LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR}

#: How often a text that is said again and again, as of a loop, is said: the first, the tenth, the hundredth time ...
_TEN = 10

#: The rank that the texts name; None before there is any other.
state: dict[str, Any] = {"rank": None, "silent": False}

_times: dict[Any, int] = {}


def configure() -> None:
    """Print log messages from the level on that the environment variable DTL_LOG names."""
    text = variables.value("DTL_LOG")
    if text is None or "shown" in state:
        return
    state["shown"] = True
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("dtl")
    logger.addHandler(handler)
    logger.setLevel(_LEVELS[text])


def heard(subject: str, level: int) -> Any:
    """Return the logger of a subject if somebody hears it at a level, else None."""
    logging = sys.modules.get("logging")
    if logging is None or not hasattr(logging, "getLogger"):
        return None
    if not state["silent"]:
        state["silent"] = True
        logging.getLogger("dtl").addHandler(logging.NullHandler())
    logger = logging.getLogger(f"dtl.{subject}")
    return logger if logger.isEnabledFor(level) else None


def say(subject: str, level: int, text: str, *values: Any) -> None:
    """Say a text, with values in it as of ``%``, if somebody hears it."""
    logger = heard(subject, level)
    if logger is not None:
        if state["rank"] is not None:
            text = f"rank {state['rank']}: {text}"
        logger.log(level, text, *values)


def say_rarely(subject: str, level: int, key: Any, text: str, *values: Any) -> None:
    """Say what happens again and again at the first time, the tenth, and so on."""
    if heard(subject, level) is None:
        return
    times = _times[key] = _times.get(key, 0) + 1
    if times == 1:
        say(subject, level, text, *values)
    elif times == _TEN ** (len(str(times)) - 1):
        say(subject, level, f"{text} (%d times)", *values, times)


def size(nbytes: int) -> str:
    """Return a number of bytes in words."""
    number = float(nbytes)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"
