"""Put journals beside a session file that no write has left, and see what opening does.

``python tools/journals.py --cases 1000 --seed 0`` tries that many; ``--minutes 60`` goes on for an
hour. Every case opens, checks, backs up and repairs a session file with something beside it. This
is allowed: the file opens with what it had, or an error of ours refuses it and nothing is changed.
Never: another file deleted or changed, a file that grows by more than an entry, a wait, or another
error.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.project.checking import check_file, repair_file
from likewise.store import Store
from likewise.store.beside import HEAD, MAGIC

SECONDS = 180
"""A case that takes longer waits for something; it takes a tenth of a second on a quiet machine."""
N_ENTRIES = 12
KILLED = """
import os, random, sys
from likewise.store import Store
from likewise.store.database import begin
store = Store.open(sys.argv[1])
store._db.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
begin(store._db)
for k in range(int(sys.argv[2])):
    values = f"half {k}", random.Random(k).randbytes(3000)
    store._db.execute("INSERT INTO payloads VALUES (?, ?)", values)
os._exit(0)
"""


class Ground:
    """A folder with a session file, journals that kills have left, and a file to be spared."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "session.likewise"
        self.journal = folder / "session.likewise-journal"
        self.victim = folder / "todo"
        self.folder = folder
        states = []
        with Store.create(self.path, items={str(k): "h" for k in range(40)}) as store:
            for n in range(N_ENTRIES):
                states.append(self.path.read_bytes())
                store.append({"do": "tell", "links": [[n, n + 1, "same"]]}, after=n)
        self.states = [*states, self.path.read_bytes()]
        self.killed = []
        for n_pages in (1, 3, 40):
            self.path.write_bytes(self.states[-1])
            subprocess.run([sys.executable, "-c", KILLED, self.path, str(n_pages)], check=True)
            journal = self.journal.read_bytes() if self.journal.exists() else b""
            self.killed.append((self.path.read_bytes(), journal))
            self.journal.unlink(missing_ok=True)

    def clear(self) -> None:
        """Leave only the session file and the file to be spared."""
        for entry in self.folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        self.victim.write_text("precious")


def naming(ground: Ground, rng: random.Random) -> bytes:
    """Return a journal that names a file for SQLite to delete."""
    # In the current folder, four bytes are enough.
    name = os.fsencode(rng.choice([ground.victim, ground.victim.name]))
    page_size = rng.choice([4096, 4096, 512, 1024])
    size = rng.choice([len(ground.states[-1]) // 4096, 0, 1, 200_000_000])
    head = HEAD.pack(MAGIC, rng.choice([0, 0, 1, 0xFFFFFFFF]), 7, size, 512, page_size)
    start = rng.choice([
        head.ljust(512, b"\0"), b"", bytes(512), MAGIC, MAGIC[:1].ljust(8, b"\0"),
        rng.choice(ground.killed)[1],
    ])  # fmt: skip
    place = rng.choice([b"", (0x40000000 // page_size + 1).to_bytes(4)])
    signed = sum(byte - 256 * (byte > 127) for byte in name) & 0xFFFFFFFF
    return start + place + name + struct.pack(">II", len(name), signed) + MAGIC


def heads(ground: Ground, rng: random.Random) -> bytes:
    """Return a header with odd numbers, and perhaps pages behind it."""
    odd = [0, 1, 2, 11, 512, 4096, 65_536, 2**31, 2**32 - 1, 200_000_000, rng.randrange(2**32)]
    numbers = [rng.choice(odd) for _ in range(3)]
    sizes = [0, *(2**k for k in range(18))]
    if rng.random() < 0.5:  # only the sizes are odd
        numbers = [0, 7, rng.choice([len(ground.states[-1]) // 4096, 1, 100_000])]
    head = HEAD.pack(MAGIC, *numbers, rng.choice([512, *sizes]), rng.choice([4096, *sizes]))
    return head.ljust(512, b"\0") + rng.choice([b"", bytes(4104), rng.choice(ground.killed)[1]])


def flipped(ground: Ground, rng: random.Random) -> bytes:
    """Return a journal of a kill with some bytes changed or lost."""
    data = bytearray(rng.choice(ground.killed)[1])
    for _ in range(rng.choice([1, 1, 3])):
        place = rng.choice([rng.randrange(28), rng.randrange(len(data) or 1)])
        way = rng.randrange(4)
        if way == 0:
            data[place:] = b""
        elif way == 1:
            data[place:place] = rng.randbytes(rng.choice([1, 8, 512]))
        elif place < len(data):
            data[place] ^= 1 << rng.randrange(8)
    return bytes(data)


def noise(_ground: Ground, rng: random.Random) -> bytes:
    """Return bytes that are no journal."""
    return rng.choice([b"", MAGIC]) + rng.randbytes(rng.choice([0, 1, 20, 28, 600, 9000]))


CONTENTS: list[Callable[[Ground, random.Random], bytes]] = [naming, heads, flipped, noise]


def kinds(ground: Ground, rng: random.Random, beside: Path) -> None:
    """Put something beside the file that is not a regular file."""
    way = rng.randrange(6)
    if way == 0:
        os.mkfifo(beside)
    elif way == 1:
        beside.symlink_to(rng.choice([ground.victim, "/dev/zero", "/dev/full", "nowhere", beside]))
    elif way == 2:
        beside.mkdir()
    elif way == 3:
        os.link(ground.victim, beside)
    elif way == 4:
        other = ground.folder / "other"
        other.write_bytes(rng.choice(CONTENTS)(ground, rng))
        beside.symlink_to(other)
    else:
        beside.write_bytes(b"")
        beside.chmod(0)


def one_case(ground: Ground, rng: random.Random) -> str:
    """Put something beside the file and use the file in all ways; return what happened."""
    ground.clear()
    is_killed = rng.random() < 0.4
    content, own = rng.choice(ground.killed) if is_killed else (rng.choice(ground.states), b"")
    ground.path.write_bytes(content)
    beside = Path(f"{ground.path}{rng.choice(['-journal'] * 8 + ['-wal', '-shm'])}")
    is_kind = rng.random() < 0.3
    if is_kind:
        kinds(ground, rng, beside)
    elif rng.random() < 0.1:
        beside.write_bytes(own or rng.choice(ground.killed)[1])
    else:
        beside.write_bytes(rng.choice(CONTENTS)(ground, rng))
    before, size = _state(ground), ground.path.stat().st_size
    outcomes = []
    for use in (_check, _repair, _backup, _open):
        try:
            use(ground)
            outcomes.append("opened")
        except LikewiseError:
            outcomes.append("refused")
            assert _state(ground) == before, (
                f"{use.__name__} refused the file and changed something"
            )
        assert ground.victim.read_text() == "precious"
        assert ground.path.stat().st_size < size + (1 << 16), f"{use.__name__} made the file grow"
        if use in (_check, _repair):
            assert _state(ground) == before, f"{use.__name__} changed something"
    return outcomes[-1]


def _state(ground: Ground) -> dict[str, object]:
    """Return the folder with what a use must not change; repaired files and copies do not count."""
    state: dict[str, object] = {}
    for entry in sorted(ground.folder.iterdir()):
        info = entry.lstat()
        is_file = entry.is_file() and not entry.is_symlink() and os.access(entry, os.R_OK)
        state[entry.name] = info.st_mode, info.st_size, info.st_mtime_ns
        if is_file and info.st_size < 1 << 20:
            state[entry.name] = info.st_mode, entry.read_bytes(), info.st_mtime_ns
    return state


def _check(ground: Ground) -> None:
    finding = check_file(ground.path)
    if finding.is_good:
        assert finding.n_entries <= N_ENTRIES


def _repair(ground: Ground) -> None:
    target, _, _ = repair_file(ground.path)
    target.unlink()


def _backup(ground: Ground) -> None:
    copy = ground.folder / "copy.likewise"
    with Store.open(ground.path) as store:
        n = len(store.read())
        store.copy_to(copy)
    with Store.open(copy) as store:
        assert len(store.read()) == n
    copy.unlink()


def _open(ground: Ground) -> None:
    with Store.open(ground.path) as store:
        entries = store.read()
        assert [e.op["links"][0][0] for e in entries] == list(range(len(entries)))
        assert len(store.items) == 40
        assert not store.payload_names
        store.append({"do": "tell", "links": [[len(entries), 0, "same"]]}, after=len(entries))


def run(seed: int, cases: int, minutes: float = 0.0) -> Counter[str]:
    """Try a number of cases, or as many as there is time for; return what happened how often."""
    end = time.monotonic() + 60 * minutes
    outcomes: Counter[str] = Counter()

    def waits(*_: object) -> None:
        raise AssertionError(f"case {number} waits")

    handler = signal.signal(signal.SIGALRM, waits)
    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            ground = Ground(Path(folder))
            number = seed
            while number < seed + cases or time.monotonic() < end:
                signal.alarm(SECONDS)
                try:
                    outcomes[one_case(ground, random.Random(number))] += 1
                except Exception as error:
                    raise AssertionError(f"case {number}: {error!r}") from error
                number += 1
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0)
    options = parser.parse_args()
    print(dict(run(options.seed, options.cases, options.minutes)))
