"""Files elsewhere: on a web server, and in a store of fsspec's."""

from __future__ import annotations

import http.server
import importlib.util
import os
import re
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest
from divisions import assert_holds, vector
from test_files import tensor, write

import dtl
from dtl.io import remote

fsspec = pytest.importorskip("fsspec", reason="needs fsspec; runs where the extra remote is")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")
csv = pytest.importorskip("pyarrow.csv", reason="needs pyarrow; runs where the extra io is")
h5py = pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")

needs_aiohttp = pytest.mark.skipif(
    importlib.util.find_spec("aiohttp") is None, reason="needs aiohttp; runs where the extra remote is"
)


class Handler(http.server.SimpleHTTPRequestHandler):
    """A web server that sends ranges of files, or, below /whole, files only."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(True)

    def do_HEAD(self) -> None:
        self._send(False)

    def _send(self, body: bool) -> None:
        path = Path(self.directory, self.path.partition("?")[0].replace("/whole", "").lstrip("/"))
        if not path.is_file():
            self.send_error(500 if "broken" in self.path else 404)
            return
        data = path.read_bytes()
        size, ranges = len(data), "/whole" not in self.path
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if ranges else None
        if asked:
            data = data[int(asked[1]) : int(asked[2]) + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {asked[1]}-{int(asked[1]) + len(data) - 1}/{size}")
        else:
            self.send_response(200)
        if ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)


@pytest.fixture
def web(ctx: dtl.Context, folder: str, neighbours: list[int]) -> Iterator[str]:
    """The address of a web server of the folder, which the first rank runs."""
    server, host = None, "127.0.0.1" if len(neighbours) == ctx.size else socket.gethostname()
    if ctx.is_root:

        def handler(*args: Any) -> Handler:
            return Handler(*args, directory=folder)

        server = http.server.ThreadingHTTPServer((host, 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = dtl.broadcast_object(ctx, f"http://{host}:{server.server_port}" if server else None)
    yield str(address)
    ctx.barrier()
    if server is not None:
        server.shutdown()
        server.server_close()


def table(rows: int) -> Any:
    words = np.array(["fig", "plum", "a\nb"])[np.arange(rows) % 3]
    return pa.table({"n": np.arange(rows), "word": words})


@needs_aiohttp
@pytest.mark.parametrize("server", ["", "/whole"])
def test_arrays_of_a_web_server(ctx: dtl.Context, folder: str, web: str, server: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(remote, "_REQUEST", 600)
    elements = np.arange(120.0).reshape(20, 6)

    def make(_: str) -> None:
        np.save(f"{folder}/a.npy", elements)
        np.save(f"{folder}/f.npy", np.asfortranarray(elements))
        np.savez(f"{folder}/a.npz", x=elements)
        np.savez_compressed(f"{folder}/c.npz", x=elements)
        elements.tofile(f"{folder}/a.bin")
        with h5py.File(f"{folder}/a.h5", "w") as file:
            file["x"] = elements
            file.create_dataset("packed", data=elements, chunks=(3, 2), compression="gzip")

    write(ctx, "", make)
    ways: Any = ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size)})
    for number, (name, more) in enumerate(
        (
            ("a.npy", {}),
            ("a.npy?key=1", {}),
            ("f.npy", {}),
            ("a.npz", {"name": "x"}),
            ("c.npz", {"name": "x"}),
            ("a.bin", {"dtype": float, "shape": (20, 6)}),
            ("a.h5", {"name": "x"}),
            ("a.h5", {"name": "packed"}),
        )
    ):
        with dtl.load(ctx, f"{web}{server}/{name}", **more, **ways[number % 3]) as made:
            assert_holds(made, elements)


@needs_aiohttp
def test_tables_of_a_web_server(ctx: dtl.Context, folder: str, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_BLOCK", 300)
    known = table(50)

    def make(_: str) -> None:
        parquet.write_table(known, f"{folder}/a.parquet", row_group_size=7)
        csv.write_csv(known, f"{folder}/a.csv")

    write(ctx, "", make)
    for read, name in ((dtl.Columns.read_parquet, "a.parquet"), (dtl.Columns.read_csv, "a.csv")):
        with read(ctx, f"{web}/{name}") as columns:  # type: ignore[operator]
            assert columns.local_text("word").tolist() == known["word"].to_pylist()[_mine(columns["n"])]
            assert_holds(columns["n"], np.arange(50))


def _mine(vec: Any) -> slice:
    return slice(vec.local_offset, vec.local_offset + vec.local_size)


@needs_aiohttp
def test_what_a_web_server_has_not(ctx: dtl.Context, folder: str, web: str) -> None:
    write(ctx, f"{folder}/cut.npy", lambda path: np.save(path, np.arange(100)))
    write(ctx, f"{folder}/cut.npy", lambda path: os.truncate(path, 900))
    with pytest.raises(dtl.FileNotFoundError, match=r"cannot read 'http.*none\.npy'"):
        dtl.load(ctx, f"{web}/none.npy")
    with pytest.raises(dtl.FileNotFoundError, match=r"none\.csv"):
        dtl.Columns.read_csv(ctx, f"{web}/none.csv")
    with pytest.raises(dtl.FileError, match="cut short: it has 900 bytes of 928"):
        dtl.load(ctx, f"{web}/cut.npy")
    with pytest.raises(dtl.FileError, match=r"broken\.npy"):
        dtl.load(ctx, f"{web}/broken.npy")
    with pytest.raises(dtl.FileError, match="cannot read 'http:"):
        dtl.load(ctx, "http://127.0.0.1:1/a.npy")
    with vector(ctx, np.arange(5)) as vec, pytest.raises(dtl.FileError, match="cannot write 'http"):
        dtl.save(vec, f"{web}/new.npy")


def of_root(ctx: dtl.Context, path: str) -> None:
    """Copy a file of the first rank's memory to that of every rank."""
    store = fsspec.filesystem("memory")
    files = {name: store.cat_file(name) for name in store.find(path)} if ctx.is_root else None
    for name, data in dtl.broadcast_object(ctx, files).items():
        store.pipe_file(name, data)


@pytest.mark.parametrize("name", ["a.npy", "b.bin", "c.npz", "d.h5", "e.zarr", "f.parquet", "g.arrow", "h.csv"])
def test_saved_and_loaded(ctx: dtl.Context, name: str) -> None:
    """The first rank has it in its memory, and in no file."""
    if name.endswith("zarr"):
        pytest.importorskip("zarr", "3", reason="needs zarr 3; runs where the extra io is, from Python 3.11 on")
    path, elements = f"memory://folder/{name}", np.arange(57) * 3
    with vector(ctx, elements, "cyclic") as vec:
        for _ in range(2):  # also in place of an old one
            dtl.save({"data": vec} if name[0] == "c" else vec, path)
    of_root(ctx, f"/folder/{name}")
    more: dict[str, Any] = {"dtype": int} if name[0] == "b" else {"name": "data"} if name[0] not in "ae" else {}
    with dtl.load(ctx, path, **more) as again:
        assert_holds(again, elements)
    assert not [left for left in os.listdir("/tmp") if left.startswith("dtl-upload-")] or ctx.size > 1
    with pytest.raises(dtl.FileNotFoundError):
        dtl.load(ctx, f"memory://none/{name}", **more)


@pytest.mark.parametrize("what", ["no store", "a store and more", "a file"])
def test_what_is_not_replaced(ctx: dtl.Context, what: str) -> None:
    """A folder elsewhere is removed only if all of it is a Zarr store."""
    pytest.importorskip("zarr", "3", reason="needs zarr 3; runs where the extra io is, from Python 3.11 on")
    store, path = fsspec.filesystem("memory"), f"/{what.replace(' ', '-')}/a#b.zarr"
    with vector(ctx, np.arange(5)) as vec:
        if what == "a store and more":
            dtl.save({"x": vec}, f"memory:/{path}", format="zarr")
        if ctx.is_root:
            store.pipe_file(path if what == "a file" else f"{path}/notes.txt", b"precious")
        before = {name: store.cat_file(name) for name in store.find("/")}
        for data in (vec, {"x": vec}):
            with pytest.raises(dtl.FileError, match=r"a#b\.zarr' is (not replaced|no folder)"):
                dtl.save(data, f"memory:/{path}", format="zarr")
            assert {name: store.cat_file(name) for name in store.find("/")} == before


def test_tensors_and_patterns(ctx: dtl.Context) -> None:
    elements = np.arange(60.0).reshape(12, 5)
    for number, part in enumerate(np.split(elements, 3)):
        with tensor(ctx, part, grid=(1, ctx.size)) as made:
            dtl.save(made, f"memory://parts/{number}.npy")
    of_root(ctx, "/parts")
    with dtl.load(ctx, "memory://parts/*.npy") as made:
        assert_holds(made, elements)
    with pytest.raises(dtl.FileNotFoundError, match="no file is called"):
        dtl.load(ctx, "memory://parts/*.none", format="npy")


def test_refusals(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with vector(ctx, np.arange(5)) as vec:
        with pytest.raises(dtl.InvalidArgumentError, match="append is not for files elsewhere"):
            dtl.save(vec, "memory://a.npy", append=True)
        with pytest.raises(dtl.InvalidArgumentError, match="is a URL"):
            dtl.checkpoint("memory://all", {"x": vec})
        with pytest.raises(dtl.FileError, match="nonsense"):
            dtl.save(vec, "nonsense://a.npy")
        with pytest.raises(dtl.FileError, match="nonsense"):
            dtl.load(ctx, "nonsense://a.npy")
        monkeypatch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(dtl.BackendUnavailableError, match="pip install"):
            dtl.load(ctx, "memory://a.npy")
