"""Sends of which MPI says that they failed, although the message may be on its way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from job import LAUNCHER
from programs import run, succeeded

from dtl._cli import launcher, library

# An MPI library whose next MPI_Test fails in the process that has made a file.
SHIM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int PMPI_Test(void *request, int *flag, void *status);
int MPI_Test(void *request, int *flag, void *status) {
    char armed[4096];
    snprintf(armed, sizeof armed, "%s.%d", getenv("ARMED"), (int)getpid());
    return unlink(armed) == 0 ? 16 : PMPI_Test(request, flag, status);
}
"""

PROGRAM = """
import os
import numpy as np
import dtl

with dtl.Context() as ctx:
    for value in (5.0, np.ones(3), np.ones(10_000)):
        ctx.barrier()  # rank 1 has looked for more of the message before
        if ctx.rank == 0:
            open(os.environ["ARMED"] + "." + str(os.getpid()), "w").close()
            try:
                dtl.send(ctx, value, 1, tag=1)
                print("sent", flush=True)
            except dtl.CommunicationError as error:
                print(error, flush=True)
            dtl.send(ctx, 0, 1, tag=2)
        else:
            try:
                dtl.recv(ctx, 0, tag=1)
            except dtl.CommunicationError as error:
                assert "gave the message up" in str(error), error
            dtl.recv(ctx, 0, tag=2)
            assert dtl.iprobe(ctx, 0, tag=1) is None
    ctx.barrier()
"""


@pytest.mark.jobs("starts ranks")
@pytest.mark.skipif(
    LAUNCHER is None, reason="no MPI library with a launcher here; runs in the environments of `make setup`"
)
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler; runs where the package is built")
def test_message_is_not_sent_again(tmp_path: Path) -> None:
    found = library.find(os.environ)
    assert found is not None
    assert LAUNCHER is not None
    path = found.path
    source, shim, program = tmp_path / "shim.c", tmp_path / "libmpi.so", tmp_path / "program.py"
    source.write_text(SHIM)
    program.write_text(PROGRAM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, path, f"-Wl,-rpath,{Path(path).parent}"], check=True)
    root = ["--allow-run-as-root"] if LAUNCHER.family == launcher.OPEN_MPI else []
    ended = run(
        [LAUNCHER.path, "-n", "2", *root, sys.executable, str(program)],
        DTL_MPI_LIB=str(shim),
        ARMED=str(tmp_path / "armed"),
    )
    assert [line[:6] for line in succeeded(ended).splitlines()] == ["send: "] * 3
