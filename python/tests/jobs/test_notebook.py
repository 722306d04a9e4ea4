"""``%load_ext dtl``, ``%%ranks`` and ``%ranks``, in a shell of IPython and in a kernel of Jupyter."""

from __future__ import annotations

import base64
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import pytest
from job import on
from programs import until

pytest.importorskip("IPython", reason="IPython is not installed; runs in the environments of `make setup`")

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

import dtl
from dtl._cli import processes

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.filterwarnings("ignore:.*waits without yielding:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:IPython"),
]

SECONDS = 60
PNG = b"\x89PNG\r\n"


class Ran(NamedTuple):
    """What running a cell came to."""

    value: Any
    error: BaseException | None
    out: str
    err: str
    shown: list[dict[str, Any]]


class Notebook:
    """A shell of IPython, one cell after the other."""

    def __init__(self, shell: InteractiveShell, capture: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capture = capture

    def run(self, cell: str) -> Ran:
        self.shell.display_pub.outputs.clear()
        self._capture.readouterr()
        result = self.shell.run_cell(cell, silent=False, store_history=False)
        said = self._capture.readouterr()
        shown = [output["data"] for output in self.shell.display_pub.outputs]
        return Ran(result.result, result.error_in_exec or result.error_before_exec, said.out, said.err, shown)

    def value(self, cell: str) -> Any:
        """Return what a cell shows at its end, as text."""
        ran = self.run(cell)
        assert ran.error is None, ran.out + ran.err
        return repr(ran.value)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """Yield a shell whose ranks stay from one test to the next, unless one ends them."""
    folder = str(tmp_path_factory.mktemp("ipython"))
    made = InteractiveShell(ipython_dir=folder, display_pub_class=CapturingDisplayPublisher)
    made.history_manager.enabled = False
    made.extension_manager.load_extension("dtl")
    yield made
    made.extension_manager.unload_extension("dtl")
    assert not [child for child in processes.descendants(os.getpid()) if processes.alive(child)]


@pytest.fixture
def notebook(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> Notebook:
    made = Notebook(shell, capsys)
    if made.value("%ranks") != "<dtl.Ranks 2>":
        made.run("%ranks close")
    return made


@pytest.mark.parametrize("ranks", [on(1), on(3)])
def test_cells(notebook: Notebook, ranks: int) -> None:
    notebook.run("%ranks close")
    first = notebook.run(f"%%ranks {ranks}\nvec = dtl.DistributedVector(ctx, 10, dtype='int64')\nprint('made')")
    assert first.value is None
    assert sorted(first.out.splitlines()) == [f"[rank {rank}] made" for rank in range(ranks)]
    assert notebook.value("%%ranks\ndtl.iota(vec)\nint(vec.sum())") == "45"
    by_rank = [f"[rank {rank}] {rank}" for rank in range(ranks)]
    assert notebook.value("%%ranks\nctx.rank") == ("\n".join(by_rank) if ranks > 1 else "0")
    assert notebook.run("%%ranks\nctx.rank;  # quiet").value is None
    assert notebook.value("%%ranks\nNone") == "None"


def test_a_value_of_one_rank(notebook: Notebook) -> None:
    assert notebook.value("%%ranks 2\n'a\\nb' if ctx.is_root else None") == "[rank 0] 'a\\nb'"


def test_variables_go_and_come(notebook: Notebook) -> None:
    notebook.run("a, b = [1, 2], 'text'")
    assert notebook.run("%%ranks 2 -i a,b -o total -o b\ntotal = dtl.allreduce(ctx, sum(a))\nb += '!'").error is None
    assert notebook.value("total, b, a") == "(6, 'text!', [1, 2])"
    assert notebook.value("pool = %ranks\npool.run(lambda ctx: total)") == "[6, 6]"  # of the ranks' own


def test_ranks_are_changed_and_ended(notebook: Notebook) -> None:
    notebook.run("%ranks close")
    assert notebook.value("%ranks 2") == "<dtl.Ranks 2>"
    assert notebook.value("%%ranks\nx = ctx.size\nx") == "2"
    refused = notebook.run("%%ranks 1\n1")
    assert "there are 2 ranks, which hold variables; %ranks 1 starts others" in str(refused.error)
    assert notebook.value("%ranks 1") == "<dtl.Ranks 1>"
    assert "name 'x' is not defined" in notebook.run("%%ranks\nx").out
    assert notebook.run("%ranks close").value is None
    assert notebook.value("%ranks") == "None"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%ranks none\n1", "'none' is not a number of ranks of at least 1"),
        ("%%ranks 0\n1", "'0' is not a number of ranks of at least 1"),
        ("%%ranks --what\n1", "unrecognized arguments: --what"),
        ("%%ranks 'a\n1", "No closing quotation"),
        ("%%ranks -i nothing\n1", "the notebook has no variable 'nothing'"),
        ("%%ranks\n%time 1", "ranks run Python, without commands that begin with % or !"),
        ("%%ranks\n1 +", "SyntaxError: invalid syntax"),
        ("%ranks none", "'none' is not a number of ranks of at least 1"),
    ],
)
def test_mistakes(notebook: Notebook, cell: str, said: str) -> None:
    notebook.run("%ranks close")
    ran = notebook.run(cell)
    assert type(ran.error).__name__ == "UsageError"
    assert said in str(ran.error)
    assert notebook.run("%ranks").value is None  # and nothing was started


def test_errors(notebook: Notebook) -> None:
    ran = notebook.run("%%ranks 2\n\nx = 1\ndef fail():\n    return x / 0\nfail()")
    assert isinstance(ran.error, ZeroDivisionError)
    assert ran.out.count("Traceback") == 1
    assert ran.out.startswith("ranks 0, 1 raised:\nTraceback (most recent call last):\n")
    assert "line 6, in <module>\n    fail()\n" in ran.out  # as the notebook counts lines
    assert "line 5, in fail\n    return x / 0\n" in ran.out
    assert "launching" not in ran.out
    one = notebook.run("%%ranks\nif ctx.is_root:\n    raise KeyError('a')\nctx.barrier()")
    assert isinstance(one.error, KeyError)
    assert one.out.startswith("rank 0 raised:\n")
    assert "rank 1 raised:\n" in one.out
    assert notebook.value("%%ranks\ndtl.allreduce(ctx, x)") == "2"  # the ranks are there, and what they hold
    missing = notebook.run("%%ranks -o nothing\n1")
    assert "name 'nothing' is not defined on rank 0" in missing.out


def test_a_rank_that_dies(notebook: Notebook) -> None:
    ran = notebook.run("%%ranks 2\nimport os\nif ctx.rank:\n    os._exit(1)\nctx.barrier()")
    assert isinstance(ran.error, dtl.BackendError)
    again = notebook.run("%%ranks\nctx.size")
    assert repr(again.value) == "2"
    assert again.err == "dtl: these are new ranks; what the earlier ones held is gone\n"


PICTURES = """%%ranks 2
import matplotlib.pyplot as plt
{when}
    plt.plot([1, 2])
    plt.title({title})
    {show}
"""


@pytest.mark.parametrize(
    ("when", "title", "pictures", "labels"),
    [
        ("if True:", "'same'", 1, []),
        ("if ctx.is_root:", "'one'", 1, []),
        ("if True:", "ctx.rank", 2, ["[rank 0]", "[rank 1]"]),
    ],
    ids=["the same on all", "on one", "one each"],
)
def test_figures(notebook: Notebook, when: str, title: str, pictures: int, labels: list[str]) -> None:
    for show in ("plt.show()", "pass"):
        ran = notebook.run(PICTURES.format(when=when, title=title, show=show))
        assert ran.error is None, ran.out
        assert ran.out.split("\n")[:-1] == labels
        assert len(ran.shown) == pictures
        assert all(base64.b64decode(data["image/png"]).startswith(PNG) for data in ran.shown)
        assert "UserWarning" not in ran.err


def test_what_objects_show(notebook: Notebook) -> None:
    ran = notebook.run(
        "%%ranks 2\n"
        "class Page:\n    def _repr_html_(self): return '<b>page</b>'\n"
        "    def _repr_png_(self): return b'png' if ctx.is_root else None\n"
        "    def __repr__(self): return 'Page()'\n"
        "display(Page())\nfrom IPython.display import display, HTML\ndisplay(HTML('<i>html</i>'))\nPage"
    )
    assert ran.error is None
    html = [data["text/html"] for data in ran.shown]
    assert html == ["<b>page</b>", "<i>html</i>", "<b>page</b>"]
    assert ran.shown[0]["image/png"] == base64.b64encode(b"png").decode()
    assert ran.out == "[rank 0]\n[rank 1]\n" or ran.out.splitlines()[:2] == ["[rank 0]", "[rank 1]"]
    assert repr(ran.value) == "<class '__main__.Page'>"


WAITS = {
    "all compute": "time.sleep(60)",
    "one computes": "if ctx.is_root:\n    time.sleep(60)\nctx.barrier()",
    "many short calls": "while True:\n    dtl.allreduce(ctx, 1)",
}


@pytest.mark.parametrize("waits", WAITS.values(), ids=WAITS)
def test_an_interrupt_ends_the_cell_alone(notebook: Notebook, waits: str) -> None:
    notebook.run("%%ranks 2\nimport time\nvec = dtl.DistributedVector(ctx, 4, fill=1.0)")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    ran = notebook.run("%%ranks\n" + waits)
    timer.join()
    assert isinstance(ran.error, KeyboardInterrupt)
    assert "KeyboardInterrupt" in ran.out
    assert "worker.py" not in ran.out
    assert notebook.value("%%ranks\nfloat(vec.sum())") == "4.0"  # also the context is what it was


def test_ranks_that_wait_for_each_other_are_interrupted(notebook: Notebook) -> None:
    notebook.run("%%ranks 2\nx = 1")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    ran = notebook.run("%%ranks\ndtl.recv(ctx, 1 - ctx.rank)")
    timer.join()
    assert isinstance(ran.error, KeyboardInterrupt)
    assert ran.out.startswith("ranks 0, 1 raised:\n") or "rank 0 raised:\n" in ran.out
    assert notebook.value("%%ranks\ndtl.allreduce(ctx, x)") == "2"  # on another context


def test_in_a_kernel(tmp_path: Path) -> None:
    """With the kernel's own way to interrupt, show and end."""
    manager_of = pytest.importorskip("jupyter_client.manager", reason="runs in the environments of `make setup`")
    pytest.importorskip("ipykernel", reason="runs in the environments of `make setup`")
    spec = pytest.importorskip("jupyter_client.kernelspec").KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
    )
    manager = manager_of.KernelManager(connection_file=str(tmp_path / "kernel.json"))
    manager._kernel_spec = spec
    before = processes.descendants(os.getpid())
    manager.start_kernel(cwd=str(tmp_path))
    kernel = manager.client()
    kernel.start_channels()

    def run(cell: str, interrupt: bool = False) -> tuple[str, list[str]]:
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            said.extend(content.get("text", "").splitlines())
            said.extend(filter(None, [content.get("data", {}).get("text/plain"), content.get("ename")]))
            if interrupt and "[rank 0] begun" in content.get("text", ""):
                manager.interrupt_kernel()

        reply = kernel.execute_interactive(cell, timeout=SECONDS, output_hook=hear)
        return reply["content"]["status"], said

    try:
        kernel.wait_for_ready(timeout=SECONDS)
        assert run("%load_ext dtl")[0] == "ok"
        status, said = run("%%ranks 2\nimport time\nx = ctx.size\nprint('made')\nx")
        assert status == "ok"
        assert sorted(said) == ["2", "[rank 0] made", "[rank 1] made"]
        status, said = run("%%ranks\nprint('begun')\ntime.sleep(60)", interrupt=True)
        assert (status, "KeyboardInterrupt" in said) == ("error", True)
        assert run("%%ranks\nx") == ("ok", ["2"])
        children = [each for each in processes.descendants(os.getpid()) if each not in before]
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel()
    assert len(children) > 2
    assert until(lambda: not any(map(processes.alive, children)), SECONDS)


def test_the_guide(notebook: Notebook) -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs/guide/notebooks.md").read_text(encoding="utf-8")
    cells = re.findall(r"which test_notebook.py runs -->\n```python\n(.*?)```", guide, re.DOTALL)
    assert len(cells) == 3
    ran = [notebook.run(cell.replace("1_000_000", "1_000").replace("ranks 4", "ranks 2")) for cell in cells]
    assert [each.error for each in ran] == [None] * 3
    assert {f"[rank {rank}] holds 500" for rank in range(2)} <= set(ran[1].out.splitlines())
    assert repr(ran[1].value) == "499.5"
    assert [kind for data in ran[2].shown for kind in data] == ["text/plain", "image/png"]
