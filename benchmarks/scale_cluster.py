"""Two Dask workers against one process, and against Spark MLlib, on 5 million x 16 from Parquet.

Spark is needed here only: pip install --target /tmp/spark pyspark, and PYTHONPATH=/tmp/spark. The
cluster should take no more than 1.5 times the time of one process on one thread divided by the
two cores, and Spark at least 4 times as long as the cluster. The job is the same for all: train,
assign all rows, write the group of each. The better of two runs counts, so that no engine pays for
its first imports. LIKEWISE_SCALE_ROWS says how many rows.

python -m benchmarks.scale_cluster nospark or spark measures the one or the other part.
"""

import csv
import os
import sys
import tempfile
import time

from benchmarks import _scale
from benchmarks._results import FOLDER, save
from likewise import COBRA
from likewise.scale import from_dask, from_parquet

N_ROWS = int(os.environ.get("LIKEWISE_SCALE_ROWS", "5000000"))
D = 16
K = 100
N_WORKERS = 2
SPARK_ITERATIONS = 20


def start_and_write(make, n_jobs=None):
    """Return the representatives, seconds of all but the questions, and MB of this process."""
    taken = []
    with _scale.PeakMemory() as memory:
        for _ in range(2):
            start = time.perf_counter()
            session = COBRA(K, random_state=0, n_jobs=n_jobs).start(make())
            built = time.perf_counter() - start
            with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
                session.write_labels(f"{folder}/labels")
            taken.append((time.perf_counter() - start, built))
    total, built = min(taken)
    return session.strategy.partition.representatives, (built, total, memory.peak - memory.before)


def row(engine, took, one=None, is_same=""):
    """Return a row of results; `one` are the seconds of one process on one thread."""
    built, total, memory = took
    result = {
        "engine": engine,
        "super-instances s": round(built, 2),
        "with labels s": round(total, 2),
        "over one thread / cores": round(total / ((one or total) / N_WORKERS), 2),
        "over one thread": round(total / (one or total), 2),
        "memory of this process MB": memory if memory == "" else round(memory),
        "same result": is_same,
    }
    print(result, flush=True)
    return result


def likewise_rows(path):
    one, took = start_and_write(lambda: from_parquet(path))
    total = took[1]
    rows = [row("one process, one thread", took, is_same=True)]
    found, took = start_and_write(lambda: from_parquet(path), n_jobs=N_WORKERS)
    rows.append(row(f"one process, {N_WORKERS} threads", took, total, bool((found == one).all())))
    try:
        import dask.dataframe
        from distributed import Client, LocalCluster
    except ImportError:
        print('Dask is not installed: pip install "likewise[dask]"')
        return rows
    with (
        LocalCluster(N_WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        sources = {
            "Dask, from_parquet": lambda: from_parquet(path, client=client),
            "Dask, from_dask": lambda: from_dask(dask.dataframe.read_parquet(path), client=client),
        }
        for name, make in sources.items():
            found, took = start_and_write(make)
            same = bool((found == one).all())
            rows.append(row(f"{name}, {N_WORKERS} workers", took, total, same))
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
    return built, total


def main(parts=("nospark", "spark")):
    path = _scale.parquet(N_ROWS, D)
    if "nospark" in parts:
        rows = likewise_rows(path)
        save("scale_cluster", rows)
    else:
        with (FOLDER / "scale_cluster.csv").open(newline="", encoding="utf-8") as file:
            rows = [r for r in csv.DictReader(file) if not r["engine"].startswith("Spark")]
        rows = [{k: v for k, v in r.items() if k != "machine"} for r in rows]
    if "spark" in parts:
        try:
            built, total = spark_seconds(path)
        except ImportError:
            print("Spark is not installed: pip install --target /tmp/spark pyspark")
            return
        engine = f"Spark MLlib KMeans, up to {SPARK_ITERATIONS} iterations, local[{N_WORKERS}]"
        one = float(rows[0]["with labels s"])
        save("scale_cluster", [*rows, row(engine, (built, total, ""), one)])


if __name__ == "__main__":
    main(sys.argv[1:] or ("nospark", "spark"))
