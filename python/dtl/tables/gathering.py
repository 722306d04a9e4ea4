"""All rows of a table on one rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import gather_object
from ..runtime.agreement import local_step, root_number
from .rows import Rows, arrow


def gathered(rows: Rows, op: str, root: Any) -> Any:
    """Return a table of pyarrow with all rows on root; None elsewhere. Collective."""
    ctx = rows.context
    number = root_number(ctx, root)
    with local_step(ctx, op):
        pa = arrow()
        sink = pa.BufferOutputStream()
        if ctx.rank != number:
            with pa.ipc.new_stream(sink, rows.schema) as stream:
                stream.write_table(rows.local.unify_dictionaries())
        mine = np.frombuffer(sink.getvalue(), np.uint8)
    parts = gather_object(ctx, mine, number)
    if parts is None:
        return None
    tables = [rows.local if rank == number else pa.ipc.open_stream(part).read_all() for rank, part in enumerate(parts)]
    return pa.concat_tables(tables).unify_dictionaries()
