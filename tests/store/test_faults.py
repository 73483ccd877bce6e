"""Every write, sync, rename, removal and allocation fails once, or the power goes: before or after.

`faults.c` is compiled and preloaded into a process of its own, `faulty.py`. The replay of power
cuts takes what such a process recorded: what was not synced is dropped, reordered, or cut.
"""

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from likewise.project.checking import check_file
from likewise.store import Store

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="preloads a library as Linux does"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C compiler: install gcc"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    target = tmp_path_factory.mktemp("library") / "faults.so"
    command = [COMPILER, "-O1", "-shared", "-fPIC", "-o", target, HERE / "faults.c", "-ldl"]
    subprocess.run(command, check=True)
    return target


def faulty(library, scenario, mode, folder):
    folder.mkdir()
    run = subprocess.run(
        [sys.executable, HERE / "faulty.py", scenario, mode, folder],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


SLOW = [pytest.param(mode, marks=pytest.mark.slow) for mode in ("kill", "cut", "memory")]


@pytest.mark.parametrize("mode", ["once", "always", *SLOW])
@pytest.mark.parametrize("scenario", ["session", "beginning", "export", "backup", "repair"])
def test_a_fault_at_any_call_leaves_before_or_after_and_says_which(
    library, scenario, mode, tmp_path
):
    found = faulty(library, scenario, mode, tmp_path / "folder")
    assert found["n"] > 5
    assert found["before"] > 5
    assert found["after"] > 0


@pytest.mark.parametrize("mode", ["once", "always"])
def test_a_folder_that_cannot_be_written_is_removed_or_named(library, mode, tmp_path):
    # There is nothing to do after the last write.
    assert faulty(library, "folders", mode, tmp_path / "folder")["before"] > 2


class Disk:
    """The files of a folder as they are on disk, and what was written but not synced.

    A file keeps its content when its name goes. Names are synced with the folder.
    """

    def __init__(self, names):
        self.durable = {k: bytearray(data) for k, data in enumerate(names.values())}
        self.names = dict(zip(names, self.durable, strict=True))
        self.durable_names = dict(self.names)
        self.pending: dict[int, list[tuple[int, bytes | None]]] = {k: [] for k in self.durable}
        self.pending_names = []

    def take(self, what, place, one, two):
        """Do what was recorded."""
        if what in "WT" and one not in self.names:
            self.names[one] = new = len(self.durable)
            self.durable[new], self.pending[new] = bytearray(), []
            self.pending_names.append((one, new))
        if what in "WT":
            self.pending[self.names[one]].append((place, two if what == "W" else None))
        elif what == "S" and one in self.names:
            file = self.names[one]
            for change in self.pending[file]:
                _apply(self.durable[file], *change)
            self.pending[file] = []
        elif what == "S":  # the folder
            self.durable_names, self.pending_names = dict(self.names), []
        elif what == "U":
            del self.names[one]
            self.pending_names.append((one, None))

    def after_a_power_cut(self, rng):
        """Return the files that there may be: with any of the changes that were not synced."""
        n_done = rng.randint(0, len(self.pending_names))
        names = {**self.durable_names, **dict(self.pending_names[:n_done])}
        found = {}
        for name, file in names.items():
            if file is None:
                continue
            data = bytearray(self.durable[file])
            changes = [c for c in self.pending[file] if rng.random() < rng.choice([0.1, 0.5, 0.9])]
            rng.shuffle(changes)
            for place, written in changes:
                if written is not None and rng.random() < 0.3:
                    written = written[: rng.randrange(len(written))]  # noqa: PLW2901
                _apply(data, place, written)
            found[name] = bytes(data)
        return found


def _apply(data, place, written):
    if written is None:
        data[place:] = b""
        return
    data.extend(bytes(max(0, place - len(data))))
    data[place : place + len(written)] = written


def records(path):
    """Yield what was recorded."""
    with path.open("rb") as file:
        while head := file.read(32):
            what, place, n_one, n_two = struct.unpack("4q", head)
            yield chr(what), place, os.fsdecode(file.read(n_one)), file.read(n_two)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_power_cut_at_any_moment_loses_nothing_acknowledged(library, tmp_path, seed):
    folder = tmp_path / "folder"
    n_last = faulty(library, "record", "-", folder)["n"]
    name = str(folder / "photos.likewise")
    disk = Disk({name: Path(f"{folder}.first").read_bytes()})
    rng = random.Random(seed)
    cut = tmp_path / "cut"
    cut.mkdir()
    n_saved, n_cuts, n_interrupted = 5, 0, 0
    for what, place, one, two in records(Path(f"{folder}.record")):
        if what == "A":
            n_saved = place
        else:
            disk.take(what, place, one, two)
        for _ in range(2):
            for old in cut.iterdir():
                old.unlink()
            files = disk.after_a_power_cut(rng)
            for path, data in files.items():
                (cut / Path(path).name).write_bytes(data)
            n_cuts += 1
            n_interrupted += len(files) > 1
            finding = check_file(cut / "photos.likewise")
            assert finding.is_good, finding.fault
            with Store.open(cut / "photos.likewise") as store:
                assert n_saved <= len(store.read()) <= n_saved + 1
                assert store.last == finding.n_entries
    assert n_saved == n_last
    assert n_cuts > 300
    assert n_interrupted > 100
