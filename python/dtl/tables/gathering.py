"""All rows of a table on one rank."""

from __future__ import annotations

from typing import Any

from ..runtime.agreement import agree, root_number
from .exchange import gathered_to
from .rows import Rows


def gathered(rows: Rows, op: str, root: Any) -> Any:
    """Return a table of pyarrow with all rows on root; None elsewhere. Collective."""
    number = root_number(rows.context, root)
    agree(rows.context, op, f"root {number}")
    whole = gathered_to(rows.context, op, rows.local, number, "all rows to one rank")
    return None if whole is None else whole.unify_dictionaries()
