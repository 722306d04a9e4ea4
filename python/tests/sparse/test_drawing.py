"""Pictures of sparse matrices: what is counted in each cell."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import drawn
from refusals import ARGUMENT, TYPE, refused

import dtl

pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is an extra; make test installs it")


@pytest.mark.parametrize(("shape", "cells"), [((20, 30), 7), ((5, 3), 256), ((0, 4), 2)], ids=str)
def test_cells_have_the_elements(ctx: dtl.Context, shape: tuple[int, int], cells: int) -> None:
    a = drawn(shape)
    ax = dtl.sparse.spy(dtl.sparse.csr_array(ctx, a, partition="nnz"), cells=cells)
    if not ctx.is_root:
        assert ax is None
        return
    extents = [max(min(extent, cells), 1) for extent in shape]
    want = np.zeros(extents)
    for i, j in zip(*a.nonzero()):
        want[i * extents[0] // shape[0], j * extents[1] // shape[1]] += 1
    np.testing.assert_allclose(np.expm1(ax.images[0].get_array()), want, atol=1e-9)
    assert ax.get_title() == f"{shape[0]} x {shape[1]}, {a.nnz} stored"
    pyplot.close("all")


def test_pictures_that_there_are_not(ctx: dtl.Context) -> None:
    refused(lambda: dtl.sparse.spy(dtl.sparse.eye_array(ctx, 3), cells=0), ARGUMENT, None, "cells 0")
    refused(lambda: dtl.sparse.spy(np.eye(3)), TYPE, None, "ndarray")
