"""No number in a file leads to an allocation that the file cannot fill, with 2 GB of memory."""

import base64
import json
import os
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.core.arrays import deflated
from likewise.project import open_project
from likewise.store import SETUP, schema
from likewise.store.packing import unpack

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")

LIMITED = """
import resource, sys
from likewise.cli import main
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
main(sys.argv[1:])
"""


def limited(*arguments):
    """Run a command in a process with 2 GB of addresses, and for at most a minute."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "points.npy", np.random.default_rng(0).normal(size=(60, 3)))
    opened = open_project(tmp_path / "points.npy", options={"cache": False})
    opened.project.close()
    return opened.path


def replaced(path, data):
    """Put another set-up into a file, with checksums that fit."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE payloads SET data = ? WHERE name = ?", (data, SETUP))
        schema.sign_content(db)


def setup_of(path):
    with closing(sqlite3.connect(path)) as db:
        (data,) = db.execute("SELECT data FROM payloads WHERE name = ?", (SETUP,)).fetchone()
    return json.loads(zlib.decompress(data))


def bomb(size):
    """Return zeros, compressed a thousandfold; nobody comes to the checksum at the end."""
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * ((size >> 20) - 1)


def array_of(size):
    text = base64.b64encode(bomb(size)).decode()
    return {"base64": text, "dtype": "<f8", "shape": [size >> 3]}


def inside(plain, name, value):
    """Yield a set-up with one of its arrays replaced by another."""
    plain["strategy"]["partition"][name] = value
    return deflated(json.dumps(plain).encode())


BOMBS = {
    "payload": lambda plain: bomb(4 << 30),
    "points": lambda plain: inside(plain, "points", array_of(4 << 30)),
    "assignment": lambda plain: inside(plain, "assignment", array_of(4 << 30)),
    "shape": lambda plain: inside(
        plain, "points", {"base64": "eJwDAAAAAAE=", "dtype": "<f8", "shape": [1 << 40, 1 << 20]}
    ),
}


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    np.save(folder / "points.npy", np.random.default_rng(0).normal(size=(60, 3)))
    opened = open_project(folder / "points.npy", options={"cache": False})
    opened.project.close()
    plain = setup_of(opened.path)
    return {name: make(json.loads(json.dumps(plain))) for name, make in BOMBS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_two_gigabytes(path, bombs, name, tmp_path):
    replaced(path, bombs[name])
    for command in (["check"], ["check", "--repair"], ["export", "-o", tmp_path / "out.csv"]):
        result = limited(*command, path)
        assert result.returncode == 1, result.stderr
        assert "Traceback" not in result.stderr
        assert "bytes" in result.stderr or "damaged" in result.stderr


@pytest.mark.slow
def test_a_good_file_is_good_in_two_gigabytes(path):
    result = limited("check", path)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_bomb_is_refused_by_its_sizes_not_by_unpacking_it(monkeypatch):
    packed = base64.b64encode(bomb(1 << 20)).decode()
    plain = {"a": {"base64": packed, "dtype": "<f8", "shape": [1 << 25]}}
    monkeypatch.setattr("likewise.core.arrays.zlib", None)
    with pytest.raises(Exception, match="cannot hold an array"):
        unpack(json.dumps(plain).encode())


def test_a_file_that_is_longer_than_the_disk_is_refused_uncopied(path):
    good = path.read_bytes()
    damaged = bytearray(good)
    damaged[good.rindex(b"points.npy")] ^= 1
    for data in (good, damaged):
        path.write_bytes(data)
        os.truncate(path, 1 << 43)  # it takes no room on the disk
        for command in (["check"], ["check", "--repair"]):
            result = CliRunner().invoke(main, [*command, str(path)])
            assert result.exit_code == 1
            assert "8192.0 GiB, and a copy of it" in result.output
            assert "TMPDIR" in result.output


def test_a_device_is_refused_by_its_kind():
    for command in (["check"], ["check", "--repair"], ["backup"], ["export", "-o", "x.csv"]):
        more = ["copy.likewise"] if command == ["backup"] else []
        result = CliRunner().invoke(main, [*command, "/dev/zero", *more])
        assert result.exit_code != 0
        assert "/dev/zero" in result.output.splitlines()[-1]
        assert "not a regular file" in result.output or "no such file" in result.output
