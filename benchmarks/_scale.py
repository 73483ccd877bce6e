"""What the benchmarks of large data share: data on disk, and the memory of a process."""

import os
import threading
import time
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("LIKEWISE_SCALE_FOLDER", "/tmp/likewise-scale"))
"""Where the data is made; set LIKEWISE_SCALE_FOLDER to a disk with room."""

N_PLACES = 50
_STEP = 2**20


def places(d, seed=0):
    """Return the means of the mixture."""
    return 3 * np.random.default_rng(seed).standard_normal((N_PLACES, d), dtype=np.float32)


def chunks(n_rows, d, seed=0):
    """Yield rows of a mixture of Gaussians, a million at a time."""
    means = places(d, seed)
    for i, start in enumerate(range(0, n_rows, _STEP)):
        rng = np.random.default_rng([seed, i])
        n = min(_STEP, n_rows - start)
        X = rng.standard_normal((n, d), dtype=np.float32)
        X += means[rng.integers(N_PLACES, size=n)]
        yield start, X


def npy(n_rows, d):
    """Return the path of a .npy file of so many rows, made if it is not there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{n_rows}x{d}.npy"
    if not path.exists():
        new = path.with_suffix(".tmp")
        shape = (n_rows, d)
        out = np.lib.format.open_memmap(new, mode="w+", dtype=np.float32, shape=shape)
        for start, X in chunks(n_rows, d):
            out[start : start + len(X)] = X
        out.flush()
        del out
        new.rename(path)
    return path


def parquet(n_rows, d, n_files=4):
    """Return a folder of Parquet files of so many rows, made if it is not there."""
    import pyarrow
    from pyarrow import parquet as pq

    folder = FOLDER / f"{n_rows}x{d}"
    if not folder.exists():
        new = folder.with_suffix(".tmp")
        new.mkdir(parents=True)
        names = [f"x{i}" for i in range(d)]
        schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
        per_file = -(-n_rows // n_files)
        # Numbers at random hardly repeat: looking for repeats would take most of the time.
        options = {"use_dictionary": False, "compression": "none"}
        writers = [
            pq.ParquetWriter(new / f"events-{i}.parquet", schema, **options) for i in range(n_files)
        ]
        for start, X in chunks(n_rows, d):
            for i in range(start // per_file, (start + len(X) - 1) // per_file + 1):
                low, high = max(i * per_file, start), min((i + 1) * per_file, start + len(X))
                columns = [np.ascontiguousarray(c) for c in X[low - start : high - start].T]
                writers[i].write_table(pyarrow.table(columns, schema=schema))
        for writer in writers:
            writer.close()
        new.rename(folder)
    return folder


def forget(path):
    """Ask the system to drop a file, or the files of a folder, from its page cache."""
    for file in [path] if path.is_file() else path.iterdir():
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class PeakMemory:
    """The largest anonymous memory of this process, in MB: resident, but no mapped file."""

    def __init__(self):
        self._stop = threading.Event()
        self.before = self.peak = self._now()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @staticmethod
    def _now():
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

    def _watch(self):
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, self._now())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self.peak = max(self.peak, self._now())


def timed_phases():
    """Return what to call with progress, and the seconds that every phase took, as they come."""
    began, phases = {}, {}

    def progress(phase, done, n_rows):
        if done == 0:
            began[phase] = time.perf_counter()
        if done == n_rows:
            phases[phase] = time.perf_counter() - began[phase]

    return progress, phases
