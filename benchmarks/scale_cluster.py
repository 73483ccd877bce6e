"""Two Dask workers against one process, and against Spark MLlib, on 5 million x 16 from Parquet.

Spark is needed here only: pip install --target /tmp/spark pyspark, and PYTHONPATH=/tmp/spark. The
cluster should take no more than 1.5 times the time of one process on one thread divided by the
two cores, and Spark at least 4 times as long as the cluster. The job is the same for all: train,
assign all rows, write the group of each. Engines take turns, and the best of five runs of each
counts, so that none pays for its first imports or for what else the machine does. Beside them is
what the machine itself allows: bare loops that read and assign the same rows, each process half of
them, against one process with all. LIKEWISE_SCALE_ROWS says how many rows.

python -m benchmarks.scale_cluster nospark, spark or client measures one part: the last is the
memory of a client, without a scheduler in its process, for data of three sizes.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import _scale
from benchmarks._results import save, saved
from likewise import COBRA
from likewise.rows.assignment import assign_block, fastest_kernel
from likewise.rows.blocks import blocks
from likewise.rows.threads import one_thread_each
from likewise.scale import from_dask, from_parquet

N_ROWS = int(os.environ.get("LIKEWISE_SCALE_ROWS", "5000000"))
D = 16
K = 100
N_WORKERS = 2
N_RUNS = 5
SPARK_ITERATIONS = 20
PHASES = ("sample", "train", "assign", "medians", "nearest", "score", "write")
CLIENT_ROWS = (1_000_000, 5_000_000, 10_000_000)


def start_and_write(make, n_jobs=None):
    """Return the representatives and what one run took: in all, until labels, and by phases."""
    progress, phases = _scale.timed_phases()

    with _scale.PeakMemory() as memory, tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        start, others = time.perf_counter(), cpu_of_others()
        session = COBRA(K, random_state=0, n_jobs=n_jobs).start(make(), progress=progress)
        built = time.perf_counter() - start
        session.write_labels(f"{folder}/labels", progress=progress)
        total = time.perf_counter() - start
        others = cpu_of_others() - others
    took = {"total": total, "built": built, "memory": memory.peak - memory.before, **phases}
    took["others"] = others / total
    return session.strategy.partition.representatives, took


def cpu_of_others():
    """Return the CPU seconds of all processes on this machine but this one and its children."""
    import psutil

    now = psutil.cpu_times()
    me = psutil.Process()
    own = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return now.user + now.nice + now.system - sum(t.user + t.system for t in own)


def bare_loop(path, start, stop, barrier, seconds):
    """Read rows and assign them, and put the seconds it took into a queue."""
    source = from_parquet(path)
    centers = source.rows(np.arange(K))
    kernel = fastest_kernel(D, np.float32)
    with one_thread_each():
        for _ in range(N_RUNS + 1):
            barrier.wait()
            began = time.perf_counter()
            for _, block in blocks(source, start, stop):
                assign_block(block, centers, kernel)
            seconds.put(time.perf_counter() - began)


def own_limit(path):
    """Return the time of bare loops in all processes at once, over that of one / cores."""
    source = from_parquet(path)
    half = source.n_rows // N_WORKERS // source.block_rows * source.block_rows
    taken = []
    for pieces in ([(0, N_WORKERS * half)], [(i * half, (i + 1) * half) for i in range(N_WORKERS)]):
        barrier = multiprocessing.Barrier(len(pieces))
        seconds = multiprocessing.Queue()
        loops = [
            multiprocessing.Process(target=bare_loop, args=(path, *piece, barrier, seconds))
            for piece in pieces
        ]
        for loop in loops:
            loop.start()
        runs = [max(seconds.get() for _ in loops) for _ in range(N_RUNS + 1)]
        for loop in loops:
            loop.join()
        taken.append(min(runs))
    one, at_once = taken
    return at_once / (one / N_WORKERS)


def row(engine, took, one, is_same="", limit=""):
    """Return a row of results; `one` are the seconds of one process on one thread."""
    total = took["total"]
    result = {
        "engine": engine,
        "super-instances s": round(took["built"], 2),
        "with labels s": round(total, 2),
        "over one thread / cores": round(total / (one / N_WORKERS), 2),
        "over one thread": round(total / one, 2),
        "bare loops over one / cores": limit and round(limit, 2),
        **{f"{phase} s": round(took[phase], 2) if phase in took else "" for phase in PHASES},
        "between phases s": "",
        "other work, cores": round(took["others"], 2) if "others" in took else "",
        "memory of this process MB": round(took["memory"]) if "memory" in took else "",
        "same result": is_same,
    }
    if PHASES[0] in took:
        between = total - sum(took[phase] for phase in PHASES)
        result["between phases s"] = round(between, 2)
    print(result, flush=True)
    return result


def likewise_rows(path):
    import dask.dataframe
    from distributed import Client, LocalCluster

    limit = own_limit(path)
    with (
        LocalCluster(N_WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        frame = dask.dataframe.read_parquet(path)
        engines = {
            "one process, one thread": (lambda: from_parquet(path), None),
            f"one process, {N_WORKERS} threads": (lambda: from_parquet(path), N_WORKERS),
            f"Dask, from_parquet, {N_WORKERS} workers": (
                lambda: from_parquet(path, client=client),
                None,
            ),
            f"Dask, from_dask, {N_WORKERS} workers": (
                lambda: from_dask(frame, client=client),
                None,
            ),
        }
        runs = {name: [] for name in engines}
        for _ in range(N_RUNS):
            for name, (make, n_jobs) in engines.items():
                runs[name].append(start_and_write(make, n_jobs))
                print(name, round(runs[name][-1][1]["total"], 2), flush=True)
    best = {name: min(found, key=lambda run: run[1]["total"]) for name, found in runs.items()}
    (expected, alone), *_ = best.values()
    return [
        row(name, took, alone["total"], bool(np.array_equal(found, expected)), limit)
        for name, (found, took) in best.items()
    ]


def client_memory(address, path):
    """Print, as JSON, how many MB the process of a client grows by."""
    from distributed import Client

    with Client(address) as client:
        # What is imported on the way is not what data takes.
        start_and_write(lambda: from_parquet(_scale.parquet(100_000, D), client=client))
        _, took = start_and_write(lambda: from_parquet(path, client=client))
    print(json.dumps(took["memory"]))


def client_rows():
    from distributed import LocalCluster

    rows = []
    _scale.parquet(100_000, D)
    with LocalCluster(N_WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster:
        for n_rows in CLIENT_ROWS:
            path = _scale.parquet(n_rows, D)
            call = f"client_memory({cluster.scheduler_address!r}, {str(path)!r})"
            code = f"from benchmarks import scale_cluster as s; s.{call}"
            done = subprocess.run(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
            )
            grown = json.loads(done.stdout.splitlines()[-1])
            data = 4 * n_rows * D / 1e6
            rows.append({"rows": n_rows, "data MB": round(data), "client MB": round(grown)})
    return rows


def spark_seconds(path):
    """Return the seconds of MLlib's KMeans: fitting, and in all with reading and writing."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(f"local[{N_WORKERS}]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    start = time.perf_counter()
    frame = spark.read.parquet(str(path))
    frame = VectorAssembler(inputCols=frame.columns, outputCol="features").transform(frame)
    frame = frame.select("features").cache()
    model = KMeans(k=K, maxIter=SPARK_ITERATIONS, seed=0).fit(frame)
    built = time.perf_counter() - start
    with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        model.transform(frame).select("prediction").write.parquet(f"{folder}/labels")
    total = time.perf_counter() - start
    spark.stop()
    return {"built": built, "total": total}


def main(parts=("nospark", "spark", "client")):
    path = _scale.parquet(N_ROWS, D)
    before = saved("scale_cluster")
    ours = [r for r in before if not r["engine"].startswith("Spark")]
    sparks = [r for r in before if r["engine"].startswith("Spark")]
    if "nospark" in parts:
        ours = likewise_rows(path)
        save("scale_cluster", [*ours, *in_columns_of(ours[0], sparks)])
    if "spark" in parts:
        try:
            took = spark_seconds(path)
        except ImportError:
            print("Spark is not installed: pip install --target /tmp/spark pyspark")
        else:
            engine = f"Spark MLlib KMeans, up to {SPARK_ITERATIONS} iterations, local[{N_WORKERS}]"
            save("scale_cluster", [*ours, row(engine, took, float(ours[0]["with labels s"]))])
    if "client" in parts:
        save("scale_cluster_client", client_rows())


def in_columns_of(like, rows):
    """Return rows of an earlier run with the columns of this one, compared with this one."""
    one = float(like["with labels s"])
    found = []
    for earlier in rows:
        total = float(earlier["with labels s"])
        against = {
            "over one thread / cores": round(total / (one / N_WORKERS), 2),
            "over one thread": round(total / one, 2),
        }
        found.append({**dict.fromkeys(like, ""), **earlier, **against})
    return found


if __name__ == "__main__":
    main(sys.argv[1:] or ("nospark", "spark", "client"))
