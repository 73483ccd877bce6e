"""Two Dask workers against one process, and against Spark MLlib, on 5 million x 16 from Parquet.

Spark is needed here only: pip install --target /tmp/spark pyspark, and PYTHONPATH=/tmp/spark. The
cluster should take no more than 1.5 times the time of one process divided by the cores.
LIKEWISE_SCALE_ROWS says how many rows.
"""

import os
import tempfile
import time

from benchmarks import _scale
from benchmarks._results import save
from likewise import COBRA
from likewise.scale import from_dask, from_parquet

N_ROWS = int(os.environ.get("LIKEWISE_SCALE_ROWS", "5000000"))
D = 16
K = 100
N_WORKERS = 2


def start_and_write(source):
    """Return the seconds of everything but the questions."""
    start = time.perf_counter()
    session = COBRA(K, random_state=0).start(source)
    built = time.perf_counter() - start
    with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        session.write_labels(f"{folder}/labels")
    return session.strategy.partition, built, time.perf_counter() - start


def spark_seconds(path, k=K, iterations=10):
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
    model = KMeans(k=k, maxIter=iterations, seed=0).fit(frame)
    built = time.perf_counter() - start
    with tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        model.transform(frame).select("prediction").write.parquet(f"{folder}/labels")
    total = time.perf_counter() - start
    spark.stop()
    return built, total


def main():
    save("scale_cluster", measure(_scale.parquet(N_ROWS, D)))


def measure(path):
    one, built, total = start_and_write(from_parquet(path))
    rows = [
        {
            "engine": "one process, one thread",
            "super-instances s": round(built, 1),
            "with labels s": round(total, 1),
            "over one process / cores": N_WORKERS * 1.0,
            "same result": True,
        }
    ]
    print(rows[-1], flush=True)
    try:
        import dask.dataframe
        from distributed import Client, LocalCluster
    except ImportError:
        print('Dask is not installed: pip install "likewise[dask]"')
    else:
        with (
            LocalCluster(N_WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            sources = {
                "Dask, from_parquet": lambda: from_parquet(path, client=client),
                "Dask, from_dask": lambda: from_dask(
                    dask.dataframe.read_parquet(path), client=client
                ),
            }
            for name, source in sources.items():
                found, own_built, own_total = start_and_write(source())
                rows.append(
                    {
                        "engine": f"{name}, {N_WORKERS} workers",
                        "super-instances s": round(own_built, 1),
                        "with labels s": round(own_total, 1),
                        "over one process / cores": round(own_total / (total / N_WORKERS), 2),
                        "same result": bool((found.representatives == one.representatives).all()),
                    }
                )
                print(rows[-1], flush=True)
    try:
        own_built, own_total = spark_seconds(path)
    except ImportError:
        print("Spark is not installed: pip install --target /tmp/spark pyspark")
    else:
        rows.append(
            {
                "engine": f"Spark MLlib KMeans, 10 iterations, local[{N_WORKERS}]",
                "super-instances s": round(own_built, 1),
                "with labels s": round(own_total, 1),
                "over one process / cores": round(own_total / (total / N_WORKERS), 2),
                "same result": "",
            }
        )
    return rows


if __name__ == "__main__":
    main()
