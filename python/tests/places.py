"""Where the containers of tests are: on the host, and in the programs of test_devices.py on a GPU.

A test with the parameter ``place`` runs on the host with all others, and again in those programs, which name its file
and set DTL_TEST_PLACES.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Iterator

import pytest

import dtl

PLACES = tuple(os.environ.get("DTL_TEST_PLACES", "host").split(","))

everywhere = pytest.mark.parametrize("place", PLACES)


@contextmanager
def stays(place: str = "device") -> Iterator[None]:
    """Check that nothing that is on a GPU goes through the host."""
    with dtl.trace() as trace:
        yield
    assert place == "host" or not [record.operation for record in trace.records if "staged" in record.operation]
