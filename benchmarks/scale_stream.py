"""Rows from disk: every pass against a bare loop that reads the same blocks and assigns them.

LIKEWISE_SCALE_ROWS (20 000 000 by default) says how many rows of 32 float32 numbers,
LIKEWISE_SCALE_FOLDER where they are made. Times are CPU seconds of one thread.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks import _scale
from benchmarks._results import save

N_ROWS = int(os.environ.get("LIKEWISE_SCALE_ROWS", "20000000"))
TURNS = int(os.environ.get("LIKEWISE_SCALE_TURNS", "3"))
D = 32
K = 200


def measure(kind, path):
    """Print, as JSON, the seconds of every phase and of the bare loop, and the memory."""
    from likewise import COBRA
    from likewise.scale import from_npy, from_parquet
    from likewise.superinstances.assignment import assign_block, one_thread_each
    from likewise.superinstances.passes import AssignPass, Cells
    from likewise.superinstances.sweep import LocalSweeper, blocks

    source = from_npy(path) if kind == "npy" else from_parquet(path)
    seconds, wall, began = {}, {}, {}

    def progress(phase, done, n_rows):
        now = time.process_time(), time.perf_counter()
        if done == 0:
            began[phase] = now
        if done == n_rows:
            seconds[phase] = now[0] - began[phase][0]
            wall[phase] = now[1] - began[phase][1]

    with _scale.PeakMemory() as memory, tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        session = COBRA(K, random_state=0).start(source, progress=progress)
        session.write_labels(f"{folder}/labels", progress=progress)
        written = sum(f.stat().st_size for f in _scale.Path(folder, "labels").iterdir())
    partition = session.strategy.partition

    def bare_loop():
        with one_thread_each():
            for _, block in blocks(source, 0, source.n_rows):
                assign_block(block, partition.centers, partition.kernel)

    def assign_pass():
        list(LocalSweeper(source).sweep(AssignPass(Cells(partition.centers, partition.kernel))))

    def write_pass():
        with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
            session.write_labels(f"{folder}/labels")

    # In turn, several times, since the machine is shared: the medians are compared.
    turns = [[cpu_seconds(f) for f in (bare_loop, assign_pass, write_pass)] for _ in range(TURNS)]
    bare, assign, write = (statistics.median(times) for times in zip(*turns, strict=True))
    print(
        json.dumps(
            {
                "seconds": seconds,
                "wall": wall,
                "bare": bare,
                "assign": assign,
                "write": write,
                "memory": memory.peak - memory.before,
                "kernel": partition.kernel,
                "labels": written / 1e6,
            }
        )
    )


def cpu_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def main(kinds=("npy", "parquet")):
    rows = []
    for kind in kinds:
        path = getattr(_scale, kind)(N_ROWS, D)
        code = f"from benchmarks import scale_stream as s; s.measure({kind!r}, {str(path)!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
        )
        found = json.loads(done.stdout.splitlines()[-1])
        bare = found["bare"]
        cpu = found["seconds"]
        rows.append(
            {
                "source": kind,
                "rows": N_ROWS,
                "kernel": found["kernel"],
                "bare rows/CPU s": round(N_ROWS / bare),
                **{f"{phase} CPU s": round(cpu[phase], 1) for phase in cpu},
                "assign / bare throughput": round(bare / found["assign"], 3),
                "write / bare throughput": round(bare / found["write"], 3),
                "all passes in bare loops": round(sum(cpu.values()) / bare, 2),
                "all passes wall s": round(sum(found["wall"].values()), 1),
                "memory MB": round(found["memory"]),
                "labels MB": round(found["labels"]),
            }
        )
        if os.environ.get("LIKEWISE_SCALE_DELETE"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    save(f"scale_stream_{'_'.join(kinds)}_{N_ROWS // 1_000_000}M", rows)


if __name__ == "__main__":
    main()
