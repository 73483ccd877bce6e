"""Run by `test_faults.py` in a process of its own, with `faults.c` preloaded.

``python faulty.py SCENARIO MODE FOLDER`` does something again and again, and each time another call
of the system fails. After each, the file must be as before or as after. Prints how often which.
"""

import ctypes
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.files import whole_file
from likewise.project.checking import check_file, repair_file
from likewise.project.handover import Part, write_folder
from likewise.store import Store

OFF, ONCE, ALWAYS, KILL, CUT, RECORD, MEMORY = range(7)
MODES = {"once": ONCE, "always": ALWAYS, "kill": KILL, "cut": CUT, "memory": MEMORY}
LARGE = 3000
"""Allocations of at least so many bytes fail: those of smaller ones are Python's own."""
N_ENTRIES = 5
PICTURES = {"a/1.png": bytes(9000), "a/2.png": bytes(100), "b/3.png": bytes(20_000)}

libc = ctypes.CDLL(None)  # with `faults.c`, if that is preloaded


def arm(folder, mode, n, fd=-1):
    sizes = ctypes.c_long(n), ctypes.c_int(fd), ctypes.c_size_t(LARGE)
    libc.faults_arm(ctypes.c_char_p(os.fsencode(folder)), ctypes.c_int(mode), *sizes)


def tell(n):
    return {"do": "tell", "links": [[n, n + 1, "same"]], "by": "Ann"}


def content(path):
    """Return all that a file holds; it must be good."""
    finding = check_file(path)
    assert finding.is_good, finding.fault
    with Store.open(path) as store:
        ops = [entry.op for entry in store.read()]
        payloads = {name: store.payload(name) for name in store.payload_names}
        return store.settings, store.items, ops, payloads


class Scenario:
    """A file as it is before, something that is done with it, and what must be true then."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "photos.likewise"
        self.other = folder / "other.likewise"
        items = {str(k): "h" for k in range(200)}
        noise = random.Random(0).randbytes(20_000)
        with Store.create(self.path, items=items, payloads={"setup": noise}) as store:
            for n in range(N_ENTRIES):
                store.append(tell(n), after=n)
        self.first = self.path.read_bytes()
        self.before = content(self.path)

    def reset(self):
        for entry in self.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        self.path.write_bytes(self.first)

    def is_after(self):
        """Whether it was done; asserts that otherwise nothing was."""
        raise NotImplementedError


class Session(Scenario):
    """Answers, with a payload and items in one transaction."""

    def do(self):
        with Store.open(self.path) as store:
            payloads = {"more": random.Random(1).randbytes(30_000)}
            store.append(tell(N_ENTRIES), after=N_ENTRIES, payloads=payloads, items={"new": "h"})

    def is_after(self):
        settings, items, ops, payloads = content(self.path)
        if len(ops) == N_ENTRIES:
            assert (settings, items, ops, payloads) == self.before
            return False
        assert len(ops) == N_ENTRIES + 1
        assert items == {"new": "h"}
        assert len(payloads) == 2
        return True


class Beginning(Scenario):
    """A new session file."""

    def do(self):
        Store.create(self.other, items={"a": "1"}, payloads={"x": bytes(9000)}).close()

    def is_after(self):
        if not self.other.exists():
            return False
        assert content(self.other)[1] == {"a": "1"}
        return True


class Export(Scenario):
    """A table that replaces an older one."""

    table = b"id,group\n" + b"photo,1\n" * 4000

    def reset(self):
        super().reset()
        (self.folder / "groups.csv").write_bytes(b"old")

    def do(self):
        with whole_file(self.folder / "groups.csv") as file:
            for start in range(0, len(self.table), 5000):
                file.write(self.table[start : start + 5000])

    def is_after(self):
        found = (self.folder / "groups.csv").read_bytes()
        assert found in (b"old", self.table)
        return found != b"old"


class Folders(Scenario):
    """Copies of pictures in folders."""

    error = None

    def do(self):
        self.error = None
        listed = [Part(name, partial(bytes, data)) for name, data in PICTURES.items()]
        try:
            write_folder(listed, self.folder / "out", "copies")
        except LikewiseError as error:
            self.error = str(error)
            raise

    def is_after(self):
        there = self.folder / "out"
        if not there.exists():
            return False
        files = {str(k.relative_to(there)): k.read_bytes() for k in there.rglob("*.png")}
        if self.error is not None:  # removing failed, too
            assert f"{there} was written before" in self.error
            return False
        assert files == PICTURES
        return True


class Backup(Scenario):
    """A copy of a file in use."""

    def do(self):
        with Store.open(self.path) as store:
            store.copy_to(self.other)

    def is_after(self):
        assert content(self.path) == self.before
        if not self.other.exists():
            return False
        assert content(self.other) == self.before
        return True


class Repair(Scenario):
    """What can be read of a damaged file."""

    def reset(self):
        super().reset()
        data = bytearray(self.first)
        data[data.rindex(b"[4,5,")] ^= 1
        self.path.write_bytes(data)

    def do(self):
        tempfile.tempdir = str(self.folder)
        try:
            repair_file(self.path)
        finally:
            tempfile.tempdir = None

    def is_after(self):
        target = self.folder / "photos.repaired.likewise"
        if not target.exists():
            return False
        assert content(target)[2] == self.before[2][: N_ENTRIES - 1]
        return True


KINDS = (Session, Beginning, Export, Folders, Backup, Repair)
SCENARIOS = {kind.__name__.lower(): kind for kind in KINDS}


def fault_everywhere(scenario, mode):
    """Let the first call fail, then the second, and so on, until none is left to fail."""
    outcomes: Counter[str] = Counter()
    n = 0
    while True:
        n += 1
        scenario.reset()
        error, n_hits = None, 0
        if mode in (KILL, CUT):
            pid = os.fork()
            if not pid:
                arm(scenario.folder, mode, n)
                scenario.do()
                os._exit(0)
            n_hits = int(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0)
        else:
            arm(scenario.folder, mode, n)
            try:
                scenario.do()
            except (LikewiseError, MemoryError, OSError) as raised:
                error = raised
            finally:
                n_hits = libc.faults_disarm()
            if not isinstance(error, LikewiseError | MemoryError | None):
                raise AssertionError(f"fault {n} was not said: {error!r}") from error
        is_after = scenario.is_after()
        if not n_hits:
            assert error is None, error
            assert is_after
            return {"n": n - 1, **outcomes}
        if mode not in (KILL, CUT):
            # An error after the deed is done says so; no error means that it is done.
            says_nothing = isinstance(error, LikewiseError) and "othing was" in str(error)
            assert not (says_nothing and is_after), f"fault {n}: done, but {error}"
            assert is_after or error is not None, f"fault {n}: not done, but no error"
        outcomes["after" if is_after else "before"] += 1


def record(folder):
    """Record all that ten answers do to a folder; marks say which of them were acknowledged."""
    scenario = Scenario(folder)
    scenario.reset()
    fd = os.open(f"{folder}.record", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with Store.open(scenario.path) as store:
        arm(folder, RECORD, 0, fd)
        for n in range(N_ENTRIES, N_ENTRIES + 10):
            payloads = {f"p{n}": random.Random(n).randbytes(9000 * (n % 3))}
            store.append(tell(n), after=n, payloads=payloads)
            libc.faults_mark(ctypes.c_long(n + 1))
        libc.faults_disarm()
    Path(f"{folder}.first").write_bytes(scenario.first)
    return {"n": N_ENTRIES + 10}


if __name__ == "__main__":
    name, mode, folder = sys.argv[1:]
    where = Path(folder).resolve()
    found = (
        record(where) if name == "record" else fault_everywhere(SCENARIOS[name](where), MODES[mode])
    )
    print(json.dumps(found))
