"""What every test shares: a context over all ranks, and a check that there are as many as were asked for."""

from __future__ import annotations

import os
from typing import Iterator

import pytest

import dtl

RANKS = int(os.environ.get("DTL_TEST_RANKS", "1"))


def pytest_sessionstart(session: pytest.Session) -> None:
    with dtl.Context() as ctx:
        if ctx.size != RANKS:
            raise pytest.UsageError(f"DTL_TEST_RANKS asks for {RANKS} ranks, but the communicator has {ctx.size}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.testscollected == 0:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture(scope="session")
def ctx() -> Iterator[dtl.Context]:
    with dtl.Context() as context:
        yield context
