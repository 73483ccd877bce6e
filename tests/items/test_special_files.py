"""Input that would block, never end or fill the memory, and folders with anything in them."""

import io
import os
import re
import socket
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.items import limits, open_items
from likewise.items.limits import files_below, names_in
from likewise.items.tablefiles import read_table
from likewise.project import open_project
from likewise.project.given import read_groups
from likewise.project.known import read_known
from likewise.rows.row_files import NpyRows, ParquetRows

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")

SUFFIXES = (".csv", ".txt", ".jsonl", ".json", ".parquet", ".npy", ".npz", ".png")
"""One file name per way of reading."""


def opened_as_items(path):
    open_items(path)


def opened_as_project(path):
    open_project(path)


def read_as_features(path):
    table = path.parent / "table.csv"
    table.write_text("a\n1\n2\n3\n")
    open_items(table, features=path)


def read_as_pairs(path):
    table = path.parent / "table.csv"
    table.write_text("a\n1\n2\n3\n")
    open_items(path, items=table, pairs="auto").features()


def read_as_known(path):
    read_known(path, ["a", "b"])


def read_as_groups(path):
    read_groups(path, ["a", "b"])


def given_as_groups(path):
    table = path.parent / "table.csv"
    table.write_text("a\n1\n2\n3\n")
    open_project(table, groups=str(path))


def read_in_batches(path):
    (NpyRows if path.suffix == ".npy" else ParquetRows)(path)


def shown_from_memory(path):
    open_items([path], kind="images")


WAYS = [
    opened_as_items,
    opened_as_project,
    read_as_features,
    read_as_pairs,
    read_as_known,
    read_as_groups,
    given_as_groups,
    read_in_batches,
    shown_from_memory,
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@needs_pipes
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("way", WAYS)
def test_a_pipe_is_refused_wherever_a_file_is_read(way, suffix, tmp_path):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(InputError):  # and it does not wait for somebody to write
        way(path)


@needs_pipes
@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz", ".parquet", ".jsonl"])
def test_sockets_and_devices_are_called_what_they_are(suffix, tmp_path):
    zeros, ear, pipe = (tmp_path / f"{name}{suffix}" for name in ("zeros", "ear", "pipe"))
    zeros.symlink_to("/dev/zero")
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(ear))
        for path, kind in ((zeros, "a device"), (ear, "a socket"), (pipe, "a pipe")):
            with pytest.raises(InputError, match=f"{path.name} is {kind}, not a regular file"):
                open_items(path)


@needs_pipes
def test_a_pipe_among_pictures_is_listed_in_a_whole_sentence(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    os.mkfifo(tmp_path / "b.png")
    (problem,) = open_items(tmp_path, encoder="layout", cache=False).problems
    assert problem.message.startswith("b.png: it is a pipe, not a regular file")


def limited(code, *arguments):
    """Run a program that may use 2 GB of addresses; return what it printed."""
    head = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from likewise.errors import InputError\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


OPEN_ALL = """
from likewise.items import open_items
for path in sys.argv[1:]:
    try:
        open_items(path).features()
    except InputError as error:
        print(error)
    else:
        print("opened", path)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_bombs_and_endless_files_are_refused_in_two_gigabytes(tmp_path):
    bomb = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("X.npy", "w", force_zip64=True) as member,
    ):
        member.write(npy_head((4, 2**26)))
        for _ in range(32):
            member.write(bytes(2**26))
    assert bomb.stat().st_size < 16 << 20
    sparse = tmp_path / "sparse.csv"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    array = tmp_path / "sparse.npy"
    with array.open("wb") as file:
        head = npy_head((2**37,))
        file.write(head)
        file.truncate(len(head) + (1 << 40))
    zeros = tmp_path / "zeros.csv"
    zeros.symlink_to("/dev/zero")
    said = limited(OPEN_ALL, bomb, sparse, array, zeros).splitlines()
    assert "decompression bomb" in said[0]
    assert "MiB of memory" in said[1]
    assert "MiB of memory" in said[2]
    assert "a device" in said[3]
    assert len(said) == 4


def npy_head(shape, dtype="<f8"):
    head = io.BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, described)
    return head.getvalue()


def test_what_unpacks_to_far_more_than_its_file_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 50)
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(2**27))
    # No member is read, so it does not matter what would have been there.
    with pytest.raises(InputError, match=r"unpack to 128\.0 MiB, more than 64 times"):
        open_items(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["t.xlsx", "t.csv.zip", "t.npz"])
def test_what_is_packed_by_a_method_without_a_limit_is_refused_unread(name, method, tmp_path):
    # A kilobyte of it unpacks to gigabytes at once, whatever size is claimed.
    with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
        archive.writestr("t.csv", "a\n1\n2\n")
    with pytest.raises(InputError, match="packed by another method"):
        open_items(tmp_path / name)


def test_what_packs_well_and_is_small_is_no_bomb(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.eye(1000)[:50])
    assert open_items(tmp_path / "x.npz").n == 50


@pytest.mark.parametrize("dtype", ["<U0", "|V0"])
def test_values_without_bytes_cannot_be_billions(dtype, tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy_head((2, 2)) + bytes(32))
        archive.writestr("ids.npy", npy_head((2**40,), dtype))
    with pytest.raises(InputError, match="it is cut or damaged"):
        open_items(path)


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "a\udce9b", "no\0such", "base64"])
def test_an_encoding_that_cannot_be_used_is_an_error_that_names_it(encoding, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("ä\n1\n2\n")
    with pytest.raises(InputError, match=r"x\.csv is not|there is no encoding"):
        read_table(path, encoding=encoding)


def picture(path):
    from PIL import Image

    Image.new("RGB", (8, 8), (len(os.fsencode(path)) * 37 % 256, 80, 80)).save(path)


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "bb.png", "ccc.png"):
        picture(folder / name)
    return folder


def test_loops_of_links_do_not_keep_a_folder_from_opening(folder):
    (folder / "one.png").symlink_to(folder / "two.png")
    (folder / "two.png").symlink_to(folder / "one.png")
    (folder / "self.png").symlink_to("self.png")
    (folder / "up").symlink_to(folder, target_is_directory=True)
    items = open_items(folder, encoder="layout")
    assert items.ids == ("a.png", "bb.png", "ccc.png")
    assert sorted(problem.message for problem in items.problems) == [
        "one.png: a link that leads nowhere, left out",
        "self.png: a link that leads nowhere, left out",
        "two.png: a link that leads nowhere, left out",
        "up: a link to a folder, left out",
    ]


def test_what_is_left_out_is_said_when_a_folder_is_labeled(folder):
    (folder / "self.png").symlink_to("self.png")
    lines: list[str] = []
    options = {"encoder": "layout"}
    with closing(open_project(folder, options=options, say=lines.append).project) as project:
        assert project.items.n == 3
    assert "left out: self.png: a link that leads nowhere, left out" in lines


def test_a_folder_that_cannot_be_read_is_left_out_and_listed(folder, monkeypatch):
    locked = folder / "locked"
    locked.mkdir()
    scandir = os.scandir

    def refuse(path):
        if Path(os.fsdecode(path)).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    # The tests may run as root, who can read everything.
    monkeypatch.setattr(os, "scandir", refuse)
    left_out = []
    found = list(files_below(folder, lambda path, why: left_out.append((path, why))))
    assert len(found) == 3
    assert left_out == [(locked, "a folder that cannot be read (Permission denied)")]


@pytest.mark.skipif(sys.platform != "linux", reason="names there are any bytes")
def test_names_of_any_bytes_open_with_different_readable_ids(folder):
    raw = os.fsencode(folder)
    for name in (b"caf\xe9.png", b"caf\\xe9.png", b"two\nlines.png", b"\x1b[2J.png"):
        with open(raw + b"/" + name, "wb") as file:
            file.write((folder / "a.png").read_bytes())
    items = open_items(folder, encoder="layout")
    assert items.ids == (
        "\\x1b[2J.png",
        "a.png",
        "bb.png",
        "caf\\xe9.png",
        "caf\\xe9.png (2)",
        "ccc.png",
        "two\\x0alines.png",
    )
    assert items.problems == ()


def test_names_that_look_like_replacements_of_others_stay_apart(tmp_path):
    paths = [tmp_path / "a\x01", tmp_path / "a\\x01", tmp_path / "a\\x01 (2)"]
    assert names_in(paths, tmp_path) == ["a\\x01", "a\\x01 (2)", "a\\x01 (2) (2)"]


def test_series_behind_loops_of_links_are_left_out_and_listed(tmp_path):
    folder = tmp_path / "series"
    folder.mkdir()
    for k in range(3):
        (folder / f"{k}.csv").write_text(f"v\n{k}\n2\n5\n")
    (folder / "loop.csv").symlink_to("loop.csv")
    items = open_items(folder, series=True)
    assert items.n == 3
    assert [p.message for p in items.problems] == [
        "loop.csv was left out: a link that leads nowhere"
    ]


@pytest.mark.parametrize("option", ["id", "text", "names"])
def test_a_column_is_named_by_a_text(option, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    named: dict[str, Any] = {option: []}
    with pytest.raises(InputError, match=r"no column \[\]"):
        open_items(path, **named)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("kind", 5), ("encoding", []), ("encoding", b"utf-8"), ("delimiter", 5),
        ("delimiter", [";"]), ("features", 1.5), ("columns", True), ("show", 1.5),
        ("encoder", 5), ("encoder", [None]), ("encoder", [[]]),
    ],
)  # fmt: skip
def test_an_option_of_another_type_is_refused_by_name(option, value, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(InputError, match=rf"--{option} is a .*, got {re.escape(repr(value))}"):
        open_items(path, **{option: value})


def test_groups_are_named_by_a_text(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    named: Any = []
    with pytest.raises(InputError, match=r"groups are named by a text.*\[\]"):
        open_project(path, groups=named)
