"""The notebooks of the documentation, in one shell of IPython: they run, and show what they hold."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

pytest.importorskip("IPython", reason="IPython is not installed; runs in the environments of `make setup`")
pytest.importorskip("matplotlib", reason="matplotlib is not installed; runs in the environments of `make setup`")
pytest.importorskip("pyarrow", reason="pyarrow is not installed; runs in the environments of `make setup`")

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

pytestmark = pytest.mark.jobs("starts ranks itself")

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> InteractiveShell:
    folder = str(tmp_path_factory.mktemp("ipython"))
    made = InteractiveShell(ipython_dir=folder, display_pub_class=CapturingDisplayPublisher)
    made.history_manager.enabled = False
    return made


@pytest.fixture
def fresh(shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """Yield the shell as a new kernel has it, without MPI: ranks start faster so, and the output is no other."""
    monkeypatch.setenv("DTL_BACKEND", "local")
    monkeypatch.setenv("PATH", os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]))
    monkeypatch.chdir(tmp_path)
    shell.reset(new_session=True)
    shell.execution_count = 1
    yield shell
    shell.extension_manager.unload_extension("dtl")


def lines(text: str) -> list[str]:
    """Return the lines of an output, those of ranks in one order."""
    return sorted(text.splitlines(), key=lambda line: line.partition("]")[0] if line.startswith("[rank ") else "")


def held(cell: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the text that a cell of a notebook holds, what it shows included, and the kinds of its pictures."""
    data = [output["data"] for output in cell["outputs"] if "data" in output]
    values = ["".join(shown["text/plain"]) for shown in data if "image/png" not in shown]
    text = "".join("".join(output["text"]) for output in cell["outputs"] if "text" in output)
    return lines(text) + values, [kind for shown in data for kind in shown if kind.startswith("image")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, fresh: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        capsys.readouterr()
        fresh.display_pub.outputs.clear()
        result = fresh.run_cell("".join(cell["source"]), store_history=True)
        said = capsys.readouterr()
        assert result.success, said.out + said.err
        text, _, _ = said.out.replace("\r\n", "\n").partition("Out[")
        shown = lines(text) + ([] if result.result is None else [repr(result.result)])
        pictures = [kind for output in fresh.display_pub.outputs for kind in output["data"] if kind.startswith("image")]
        assert (shown, pictures) == held(cell), "".join(cell["source"])


def test_the_page_names_all() -> None:
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert {path.stem for path in NOTEBOOKS} == set(page[page.index(":maxdepth: 1") :].split()[2:-1])
    assert len(NOTEBOOKS) == 5
