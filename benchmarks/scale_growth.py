"""Time and memory against rows, super-instances and columns, with the limits beside them.

The limits are the bytes of one reading at the speed of copying memory, and the multiplications of
one assignment at the speed of a large matrix product, both measured in the same run. CPU seconds
of one thread. cobras-ts, the authors' package of COBRA's successor, is measured as far as it goes
if it can be imported; see `endtoend` for how to install it.
"""

import json
import subprocess
import sys

import numpy as np

from benchmarks import _scale
from benchmarks._results import FOLDER, save

SWEEPS = {
    "rows": [(n, 100, 32) for n in (10_000, 100_000, 1_000_000, 10_000_000)],
    "super-instances": [(200_000, k, 32) for k in (25, 100, 400, 1000, 4000)],
    "columns": [(100_000, 100, d) for d in (8, 32, 128, 768)],
}


def measure(k, path):
    """Print the CPU seconds and MB of making super-instances and writing labels, as JSON."""
    import tempfile
    import time

    from likewise import COBRA
    from likewise.scale import from_npy

    source = from_npy(path)
    with _scale.PeakMemory() as memory, tempfile.TemporaryDirectory(dir=_scale.FOLDER) as folder:
        start = time.process_time()
        session = COBRA(k, engine="sample", random_state=0).start(source)
        built = time.process_time() - start
        session.write_labels(f"{folder}/labels")
        total = time.process_time() - start
    print(json.dumps([built, total, memory.peak - memory.before]))


def measure_cobras(n_rows, d):
    """Print the CPU seconds and MB of cobras-ts with 50 questions, as JSON."""
    import time

    from benchmarks._cobras import cobras

    X = next(X for _, X in _scale.chunks(n_rows, d)).astype(np.float64)
    with _scale.PeakMemory() as memory:
        start = time.process_time()
        cobras(X, np.arange(len(X)) % 10, 50)
        seconds = time.process_time() - start
    print(json.dumps([seconds, seconds, memory.peak - memory.before]))


def in_process(call):
    code = f"from benchmarks import scale_growth as g; g.{call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{call} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def limits():
    """Return bytes per CPU second of copying, and operations per CPU second of a product."""
    import time

    from threadpoolctl import threadpool_limits

    a = np.ones((2048, 2048), dtype=np.float32)
    big = np.ones(2**26, dtype=np.float32)
    with threadpool_limits(1):
        speeds = []
        for function, work in ((lambda: a @ a, 2 * 2048**3), (big.copy, big.nbytes)):
            times = []
            for _ in range(3):
                start = time.process_time()
                function()
                times.append(time.process_time() - start)
            speeds.append(work / min(times))
    return speeds[1], speeds[0]


def main():
    read, multiply = limits()
    rows = []
    for sweep, points in SWEEPS.items():
        for n, k, d in points:
            path = _scale.npy(n, d)
            found = in_process(f"measure({k}, {str(path)!r})")
            if found is None:
                continue
            rows.append(
                {
                    "sweep": sweep,
                    "what": "likewise",
                    "rows": n,
                    "super-instances": k,
                    "columns": d,
                    "CPU s": round(found[1], 2),
                    "memory MB": round(found[2]),
                    "reading once s": round(4 * n * d / read, 4),
                    "multiplying once s": round(2 * n * k * d / multiply, 4),
                }
            )
            print(rows[-1], flush=True)
    for n in (10_000, 100_000, 1_000_000):
        found = in_process(f"measure_cobras({n}, 32)")
        if found is None:
            break
        rows.append(
            {**rows[0], "what": "cobras-ts, 50 questions", "rows": n, "super-instances": 50}
            | {"CPU s": round(found[1], 2), "memory MB": round(found[2])}
            | {"reading once s": "", "multiplying once s": ""}
        )
    save("scale_growth", rows)
    plot(rows)


def slope(points, axis):
    """Return the exponent of growth over the upper half of a sweep."""
    upper = points[len(points) // 2 :] if len(points) > 3 else points[-2:]
    x = np.log([p[axis] for p in upper])
    return float(np.polyfit(x, np.log([p["CPU s"] for p in upper]), 1)[0])


def plot(rows):
    try:
        from matplotlib import pyplot
    except ImportError:
        print('no plot: pip install "likewise[plot]"')
        return
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 7))
    for column, axis in enumerate(SWEEPS):
        ours = [r for r in rows if r["sweep"] == axis and r["what"] == "likewise"]
        theirs = [r for r in rows if r["sweep"] == axis and r["what"] != "likewise"]
        x = [r[axis] for r in ours]
        time, memory = axes[:, column]
        label = f"likewise, slope {slope(ours, axis):.2f}"
        time.loglog(x, [r["CPU s"] for r in ours], "o-", label=label)
        time.loglog(x, [r["multiplying once s"] for r in ours], "--", label="one product")
        time.loglog(x, [r["reading once s"] for r in ours], ":", label="one reading")
        memory.semilogx(x, [r["memory MB"] for r in ours], "o-", label="likewise")
        data = [4 * r["rows"] * r["columns"] / 1e6 for r in ours]
        memory.semilogx(x, data, ":", label="the data itself")
        if theirs and axis == "rows":
            where = [r["rows"] for r in theirs]
            time.loglog(where, [r["CPU s"] for r in theirs], "s-", label="cobras-ts")
            memory.semilogx(where, [r["memory MB"] for r in theirs], "s-", label="cobras-ts")
        time.set_ylabel("CPU seconds, one thread")
        memory.set_ylabel("memory, MB")
        for area in (time, memory):
            area.set_xlabel(axis)
            area.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(FOLDER / "scale_growth.png", dpi=80)


if __name__ == "__main__":
    main()
