"""CPU of client and workers of a Dask cluster against one process, 2 million x 16 from Parquet.

The best of three runs each, in turns, from making the source to the last label; the first run of
each is left out, since it imports. Workers that wait take some CPU, too; it is counted.
"""

from benchmarks import _scale
from benchmarks._results import felt, save
from benchmarks.scale_cluster import N_WORKERS, D, start_and_write
from likewise.scale import from_dask, from_parquet

N_ROWS = 2_000_000
N_RUNS = 3
AIMS = {"from_parquet": (1.4, "1.7 to 1.9 times"), "from_dask": (1.7, "2.9 times")}
"""With how it was in version 0.1.0."""


def own_cpu():
    """Return the CPU seconds of this process and of all that it has started."""
    import psutil

    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(t.user + t.system for t in times)


def cpu_of(make):
    before = own_cpu()
    start_and_write(make)
    return own_cpu() - before


def main():
    import dask.dataframe
    from distributed import Client, LocalCluster

    path = _scale.parquet(N_ROWS, D)
    alone = [cpu_of(lambda: from_parquet(path)) for _ in range(N_RUNS + 1)]
    spent = {name: [] for name in AIMS}
    with (
        LocalCluster(N_WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        frame = dask.dataframe.read_parquet(path)
        makers = {
            "from_parquet": lambda: from_parquet(path, client=client),
            "from_dask": lambda: from_dask(frame, client=client),
        }
        for _ in range(N_RUNS + 1):
            for name, make in makers.items():
                spent[name].append(cpu_of(make))
    least = min(alone[1:])
    rows = [
        felt(f"`{name}`", min(spent[name][1:]), "s", "one process", least, aim=aim, before=before)
        for name, (aim, before) in AIMS.items()
    ]
    save("cluster_cpu", rows)


if __name__ == "__main__":
    main()
