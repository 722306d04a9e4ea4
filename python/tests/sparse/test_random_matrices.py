"""Chains of calls of random sparse matrices: on several ranks as SciPy has them on one.

``make test-attack`` makes many more of them.
"""

from __future__ import annotations

import random

import hypothesis
import pytest
from hypothesis import strategies as st

import dtl

pytest.importorskip("scipy.sparse", reason="SciPy is an extra; make test installs it")

from matrix_calls import chain


@hypothesis.settings(max_examples=12)
@hypothesis.given(rng=st.randoms(use_true_random=False))
def test_chains_of_calls(ctx: dtl.Context, folder: str, rng: random.Random) -> None:
    assert chain(ctx, rng, "a chain", folder) is None
