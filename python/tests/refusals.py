"""How a refusal is checked: the class, the code, and a text that names the value and the bound."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import dtl

ARGUMENT, TYPE, BOUNDS = dtl.InvalidArgumentError, dtl.InvalidTypeError, dtl.BoundsError


def refused(
    call: Callable[[], Any], error: type[dtl.DTLError], code: int | None, *texts: str, op: str | None = None
) -> dtl.DTLError:
    """Check that a call raises exactly this class with this code, and that its text has each of the texts."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert code is None or caught.value.code == code
    for text in texts:
        assert text in str(caught.value)
    if op is not None:
        assert caught.value.op == op
        assert str(caught.value).startswith(op + ": ")
    return caught.value
