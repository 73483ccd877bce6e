"""Rows from disk: every pass against a bare loop that reads the same blocks and assigns them.

LIKEWISE_SCALE_ROWS (20 000 000 by default) says how many rows of 32 float32 numbers,
LIKEWISE_SCALE_FOLDER where they are made, LIKEWISE_SCALE_DELETE whether they are deleted after.

The job is what a user waits for: super-instances, up to 200 answers of a simulated person, labels
of all rows. The bare loop, the pass that assigns and the one that writes labels are then run in
turn, on one thread: *warm* with the file in the page cache as far as memory allows, and *cold*
after asking the system to forget its pages (left out, as is the job on all cores, if
LIKEWISE_SCALE_TURNS is 1).
"""

import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import _scale
from benchmarks._results import save

N_ROWS = int(os.environ.get("LIKEWISE_SCALE_ROWS", "20000000"))
TURNS = int(os.environ.get("LIKEWISE_SCALE_TURNS", "3"))
D = 32
K = 200
MAX_ANSWERS = 200


def open_source(kind, path):
    from likewise.scale import from_npy, from_parquet

    return from_npy(path) if kind == "npy" else from_parquet(path)


def person(source, rows):
    """Return a simulated person who sees the place around which a row was drawn."""
    away = ((source.rows(rows)[:, None, :] - _scale.places(D)) ** 2).sum(axis=2)
    place = dict(zip(rows.tolist(), away.argmin(axis=1).tolist(), strict=True))
    return lambda left, right: place[left] == place[right]


def job(source, n_jobs=None):
    """Go from rows to written labels; return the session and what it took."""
    from likewise import COBRA, run

    progress, phases = _scale.timed_phases()

    with (
        _scale.PeakMemory() as memory,
        tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder,
    ):
        start, cpu = time.perf_counter(), time.process_time()
        session = COBRA(K, random_state=0, n_jobs=n_jobs).start(source, progress=progress)
        oracle = person(source, session.strategy.partition.representatives)
        run(session, oracle, max_queries=MAX_ANSWERS)
        session.write_labels(f"{folder}/labels", progress=progress)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        manifest = json.loads(Path(folder, "labels", "_manifest.json").read_text())
        written = sum(f.stat().st_size for f in Path(folder, "labels").iterdir())
    assert sum(part["n_rows"] for part in manifest["parts"]) == source.n_rows
    return session, {
        "job wall s": round(wall, 1),
        "job CPU s": round(cpu, 1),
        **{f"{phase} s": round(phases[phase], 1) for phase in phases},
        "answers": len(session.events),
        "groups": manifest["n_groups"],
        "memory MB": round(memory.peak - memory.before),
        "labels MB": round(written / 1e6),
    }


def turns(kind, path, plain, cells, is_cold):
    """Return the median wall and CPU seconds of the bare loop, the assigning and the writing."""
    from likewise.rows.assignment import assign_block
    from likewise.rows.blocks import blocks
    from likewise.rows.passes import CountPass
    from likewise.rows.sweep import LocalSweeper
    from likewise.rows.threads import one_thread_each
    from likewise.scale import SourceSession

    def bare_loop(source):
        with one_thread_each():
            for _, block in blocks(source, 0, source.n_rows):
                assign_block(block, cells.centers, cells.kernel)

    def assign_pass(source):
        list(LocalSweeper(source).sweep(CountPass(len(cells.centers)), cells))

    def write_pass(source):
        with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
            SourceSession.from_dict(plain, X=source).write_labels(f"{folder}/labels")

    found = []
    for _ in range(1 if is_cold else TURNS):
        for function in (bare_loop, assign_pass, write_pass):
            if is_cold:
                gc.collect()  # A file that is still mapped would not be forgotten.
                _scale.forget(path)
            source = open_source(kind, path)
            start = time.perf_counter(), time.process_time()
            function(source)
            found.append((time.perf_counter() - start[0], time.process_time() - start[1]))
            del source
    return [
        [statistics.median(times) for times in zip(*found[i::3], strict=True)] for i in range(3)
    ]


def measure(kind, path):
    """Print, as a line of JSON, a row of results for each state of the page cache."""
    from likewise.rows.passes import Cells

    path = Path(path)
    session, took = job(open_source(kind, path))
    at_once = job(open_source(kind, path), n_jobs=-1)[1] if TURNS > 1 else {}
    plain = session.to_dict()
    partition = session.strategy.partition
    cells = Cells(partition.centers, partition.kernel)
    del session, partition
    rows = []
    for is_cold in (False, True) if TURNS > 1 else (False,):
        bare, assign, write = turns(kind, path, plain, cells, is_cold)
        rows.append(
            {
                "source": kind,
                "rows": N_ROWS,
                "page cache": "cold" if is_cold else "warm",
                "kernel": cells.kernel,
                "bare loop s": round(bare[0], 2),
                "bare loop CPU s": round(bare[1], 2),
                "bare rows/s": round(N_ROWS / bare[0]),
                "assign / bare throughput": round(bare[0] / assign[0], 3),
                "write / bare throughput": round(bare[0] / write[0], 3),
                "assign / bare, CPU": round(bare[1] / assign[1], 3),
                "write / bare, CPU": round(bare[1] / write[1], 3),
                **took,
                "job in bare loops": round(took["job wall s"] / bare[0], 2),
                "job in bare loops, CPU": round(took["job CPU s"] / bare[1], 2),
                "job on all cores wall s": at_once.get("job wall s", ""),
                "job on all cores memory MB": at_once.get("memory MB", ""),
            }
        )
    print(json.dumps(rows))


def main(kinds=("npy", "parquet")):
    for kind in kinds:
        path = getattr(_scale, kind)(N_ROWS, D)
        code = f"from benchmarks import scale_stream as s; s.measure({kind!r}, {str(path)!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
        )
        save(
            f"scale_stream_{N_ROWS // 1_000_000}M_{kind}", json.loads(done.stdout.splitlines()[-1])
        )
        if os.environ.get("LIKEWISE_SCALE_DELETE"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:] or ("npy", "parquet"))
