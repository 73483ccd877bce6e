"""Millions of rows from Parquet: sample, 60 answers and the label of every row, here and by Dask.

10 float32 columns, a mixture of 20 Gaussians. CPU is that of the process and of all that it
started, so on the cluster that of the client and its two workers; memory is the largest sum of what
they held themselves (unique set size). Workers that wait take CPU, too; how much is measured, and
taken off, since it depends on how long other work lets them wait. Workers are started twice: as
Dask does by default (not for 100 million), and with the settings of the allocator that
docs/scale.md recommends. Dask's threads in this process do the same without a cluster, which shows
what workers and scheduler cost. The number of rows in millions may follow:
``python -m benchmarks.large_rows 1 10 100``. Files are made in batches, and deleted afterwards.
"""

import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks import _scale
from benchmarks._results import save
from likewise import COBRA, LabelOracle, Likewise
from likewise.rows import ParquetRows
from likewise.rows.label_files import write_labels

D, N_WORKERS, N_FILES = 10, 2, 20
BLOCK = str(2**28)
WAYS = {
    f"Dask, {N_WORKERS} workers": {},
    f"Dask, {N_WORKERS} workers, allocator set": {
        "MALLOC_TRIM_THRESHOLD_": BLOCK,
        "MALLOC_MMAP_THRESHOLD_": BLOCK,
    },
}
MODELS = {
    "Likewise, 60 choices": lambda: Likewise(60, questions="choices", random_state=0),
    "COBRA, 50 super-instances": lambda: COBRA(50, random_state=0),
}


def family():
    import psutil

    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def cpu():
    """Return the CPU seconds of this process and of all that it has started."""
    times = [process.cpu_times() for process in family()]
    return sum(t.user + t.system for t in times)


class Watch:
    """The largest memory of this process and of all that it has started, beyond that before."""

    def __enter__(self):
        self.before = self.peak = self._now()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _now(self):
        return sum(process.memory_full_info().uss for process in family())

    def _look(self):
        while not self._done.wait(0.25):
            self.peak = max(self.peak, self._now())

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()


def here(folder, make, truth, out):
    rows = ParquetRows(folder)
    model = make().fit(rows, oracle=truth)
    predict = model._predictor()
    write_labels(rows, lambda _, block: predict(block), out)
    return model


def by_dask(folder, make, truth, out, *, is_first_file=False):
    import dask.dataframe

    frame = dask.dataframe.read_parquet(folder)
    if is_first_file:
        frame = frame.partitions[:1]
    model = make().fit(frame, oracle=None if is_first_file else truth)
    model.predict(frame).to_frame().to_parquet(out, write_index=False)
    return model


def idle_rate():
    """Return the CPU seconds per second that workers and client take while nothing is done."""
    before, began = cpu(), time.perf_counter()
    time.sleep(5)
    return (cpu() - before) / (time.perf_counter() - began)


def measured(run, *args):
    before, began = cpu(), time.perf_counter()
    with Watch() as watch:
        model = run(*args)
    spent, took = cpu() - before, time.perf_counter() - began
    return model, spent, took, (watch.peak - watch.before) / 2**20


def labels_in(folder, column="label"):
    from pyarrow import parquet

    files = sorted(Path(folder).glob("*.parquet"), key=lambda p: (len(p.name), p.name))
    return np.concatenate([parquet.read_table(f, columns=[column])[column] for f in files])


def on_cluster(environment, *args):
    import dask
    from distributed import Client, LocalCluster

    out = args[-1]
    workers = {"n_workers": N_WORKERS, "threads_per_worker": 1, "dashboard_address": ":0"}
    defaults = dask.config.get("distributed.nanny.pre-spawn-environ")
    changed = {"distributed.nanny.pre-spawn-environ": {**defaults, **environment}}
    with dask.config.set(changed), LocalCluster(**workers) as cluster, Client(cluster):
        by_dask(*args, is_first_file=True)  # imports
        shutil.rmtree(out)
        idle = idle_rate()
        return measured(by_dask, *args), idle


def in_threads(*args):
    import dask

    with dask.config.set(scheduler="threads", num_workers=N_WORKERS):
        by_dask(*args, is_first_file=True)  # imports
        shutil.rmtree(args[-1])
        return measured(by_dask, *args)


def main(millions=(1, 10)):
    results = []
    for million in millions:
        n = int(million * 1_000_000)
        folder = _scale.parquet(n, D, n_files=max(N_FILES, int(million)))
        out = Path(folder).with_name(f"labels-{n}")
        rows = ParquetRows(folder)
        for name, make in MODELS.items():
            # Who answers knows the sample beforehand, so that this is not measured.
            numbers = make().start(rows).row_numbers
            places = cdist(rows.take(numbers), _scale.places(D)).argmin(axis=1)
            truth = LabelOracle(dict(zip(numbers.tolist(), places.tolist(), strict=True)))
            alone = measured(here, folder, make, truth, out)
            labels = labels_in(out)
            shutil.rmtree(out)
            report(results, n, name, "one process", alone, 0, alone[1], "the same")
            threads = in_threads(folder, make, truth, out)
            same = "the same" if (labels_in(out) == labels).all() else "others"
            shutil.rmtree(out)
            report(results, n, name, f"Dask, {N_WORKERS} threads", threads, 0, alone[1], same)
            for way, environment in list(WAYS.items())[-1 if million >= 100 else 0 :]:
                together, idle = on_cluster(environment, folder, make, truth, out)
                same = "the same" if (labels_in(out) == labels).all() else "others"
                shutil.rmtree(out)
                report(results, n, name, way, together, idle, alone[1], same)
            save("large_rows", results)
        shutil.rmtree(folder)


def report(results, n, name, way, run, idle, alone, same):
    model, spent, took, memory = run
    working = spent - idle * took
    results.append(
        {
            "rows": n,
            "method": name,
            "way": way,
            "CPU s": f"{spent:.1f}",
            "without what idle workers take": f"{working:.1f}",
            "over one process": f"{working / alone:.2f}",
            "seconds": f"{took:.1f}",
            "peak MB": f"{memory:.0f}",
            "questions": model.n_queries_,
            "labels": same,
        }
    )
    print(results[-1], flush=True)


if __name__ == "__main__":
    main([float(x) for x in sys.argv[1:]] or (1, 10))
