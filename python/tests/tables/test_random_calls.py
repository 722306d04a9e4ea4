"""Chains of calls of random tables: on several ranks as on one, and as pandas and Polars have them.

``make test-attack`` makes many more of them.
"""

from __future__ import annotations

import random
from typing import Iterator

import hypothesis
import pytest
from hypothesis import strategies as st

import dtl

pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pytest.importorskip("pandas", "3", reason="compared with pandas 3; runs with Python 3.11 and later")
pytest.importorskip("polars", "2", reason="compared with Polars 2; runs with Python 3.10 and later")

from table_calls import chain


@hypothesis.settings(max_examples=25)
@hypothesis.given(rng=st.randoms(use_true_random=False))
def test_chains_of_calls(ctx: dtl.Context, alone: dtl.Context, folder: str, rng: random.Random) -> None:
    assert chain(ctx, alone, rng, "a chain", (f"{folder}/of-all", f"{folder}/of-{ctx.rank}")) is None


@pytest.fixture(scope="module")
def alone(ctx: dtl.Context) -> Iterator[dtl.Context]:
    with ctx.split(ctx.rank) as one:
        yield one
