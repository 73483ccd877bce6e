"""Time and memory against rows, super-instances and columns, with the limits beside them.

The limits are the bytes of one reading at the speed of copying memory, and the multiplications of
one assignment at the speed of a large matrix product, both measured in the same run. CPU seconds
of one thread. cobras-ts, the authors' package of COBRA's successor, is asked 50 questions about the
same rows if it can be imported; see `endtoend` for how to install it. Hundred million rows are
taken from the results of `scale_stream` if they are there.

python -m benchmarks.scale_growth plot draws the picture of the results that are there.
"""

import json
import subprocess
import sys

import numpy as np

from benchmarks import _scale
from benchmarks._results import FOLDER, save, saved

PICTURE = FOLDER.parents[1] / "docs" / "pictures" / "scale-growth.png"
FROM_PARQUET = "likewise, from Parquet"
SWEEPS = {
    "rows": [(n, 200, 32) for n in (10_000, 100_000, 1_000_000, 10_000_000)],
    "super-instances": [(100_000, k, 32) for k in (25, 100, 400, 1000, 4000)],
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

    from threadpoolctl import threadpool_limits

    from benchmarks._cobras import cobras

    X = next(X for _, X in _scale.chunks(n_rows, d)).astype(np.float64)
    places = _scale.places(d).astype(np.float64)
    # The person sees the place around which a row was drawn.
    half_norms = 0.5 * (places**2).sum(axis=1)
    labels = np.concatenate(
        [
            (X[i : i + 10_000] @ places.T - half_norms).argmax(axis=1)
            for i in range(0, n_rows, 10_000)
        ]
    )
    with threadpool_limits(1), _scale.PeakMemory() as memory:
        start = time.process_time()
        cobras(X, labels, 50)
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


def row(sweep, what, n, k, d, seconds, memory, speeds):
    """Return a row of results; `speeds` are those of reading and of multiplying."""
    found = {
        "sweep": sweep,
        "what": what,
        "rows": n,
        "super-instances": k,
        "columns": d,
        "CPU s": round(seconds, 2),
        "memory MB": round(memory),
        "reading once s": round(4 * n * d / speeds[0], 4),
        "multiplying once s": round(2 * n * k * d / speeds[1], 4),
        "reading GB/s": round(speeds[0] / 1e9, 1),
        "multiplying GFLOP/s": round(speeds[1] / 1e9, 1),
    }
    print(found, flush=True)
    return found


def hundred_million(speeds):
    """Return the rows of the largest runs, if `scale_stream` has made them."""
    rows = []
    for kind, what in (("npy", "likewise"), ("parquet", FROM_PARQUET)):
        stream = saved(f"scale_stream_100M_{kind}")
        if not stream:
            continue
        found = stream[0]
        seconds = float(found.get("job CPU s") or found["job wall s"])
        memory = float(found["memory MB"])
        rows.append(row("rows", what, int(found["rows"]), 200, 32, seconds, memory, speeds))
    return rows


def main():
    speeds = limits()
    rows = []
    for sweep, points in SWEEPS.items():
        for n, k, d in points:
            path = _scale.npy(n, d)
            found = in_process(f"measure({k}, {str(path)!r})")
            if found is not None:
                rows.append(row(sweep, "likewise", n, k, d, found[1], found[2], speeds))
        if sweep == "rows":
            rows += hundred_million(speeds)
        save("scale_growth", rows)
    for n in (10_000, 100_000, 1_000_000):
        found = in_process(f"measure_cobras({n}, 32)")
        if found is None:
            break
        rows.append(row("rows", "cobras-ts, 50 questions", n, 50, 32, *found[1:], speeds))
    save("scale_growth", rows)
    save("scale_growth_slopes", slopes(rows))
    plot(rows)


def redraw():
    """Draw the saved results, with the largest run if there is a newer one."""
    numbers = {"rows": int, "super-instances": int, "columns": int, "CPU s": float}
    numbers |= {"memory MB": lambda text: round(float(text))}
    numbers |= dict.fromkeys(("reading once s", "multiplying once s"), float)
    rows = [
        {name: numbers.get(name, str)(value) for name, value in found.items()}
        for found in saved("scale_growth")
    ]
    speeds = float(rows[0]["reading GB/s"]) * 1e9, float(rows[0]["multiplying GFLOP/s"]) * 1e9
    largest = hundred_million(speeds)
    rows = [r for r in rows if r["rows"] < 10**8]
    last = max(i for i, r in enumerate(rows) if r["sweep"] == "rows" and r["what"] == "likewise")
    rows[last + 1 : last + 1] = largest
    save("scale_growth", rows)
    save("scale_growth_slopes", slopes(rows))
    plot(rows)


def slopes(rows):
    """Return the exponents of growth, of the upper half of every sweep."""
    found = []
    for sweep in SWEEPS:
        for what in dict.fromkeys(r["what"] for r in rows if r["sweep"] == sweep):
            points = [r for r in rows if r["sweep"] == sweep and r["what"] == what]
            if len(points) < 2:
                continue
            exponent = round(slope(points, sweep), 2)
            found.append({"sweep": sweep, "what": what, "CPU s grow with the power": exponent})
    return found


def slope(points, axis):
    """Return the exponent of growth over the upper half of a sweep."""
    upper = points[-(len(points) // 2 + 1) :]
    x = np.log([p[axis] for p in upper])
    return float(np.polyfit(x, np.log([p["CPU s"] for p in upper]), 1)[0])


OURS, THEIRS, LIMIT = "#0b5cad", "#c2410c", "#6b7280"
BESIDE = {"textcoords": "offset points", "fontsize": 9}


def label(area, x, y, text, color, dy=6):
    area.annotate(
        text,
        (x[-1], y[-1]),
        xytext=(0, dy),
        textcoords="offset points",
        ha="right",
        va="bottom" if dy > 0 else "top",
        color=color,
        fontsize=9,
    )


def plot(rows):
    try:
        from matplotlib import pyplot
    except ImportError:
        print('no plot: pip install "likewise[plot]"')
        return
    style = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 9}
    with pyplot.rc_context(style):
        figure, areas = pyplot.subplots(2, len(SWEEPS), figsize=(12, 6.6), sharey="row")
        for column, sweep in enumerate(SWEEPS):
            plot_sweep(areas[:, column], sweep, [r for r in rows if r["sweep"] == sweep])
        areas[0, 0].set_ylabel("CPU seconds, one thread")
        areas[1, 0].set_ylabel("memory beyond the mapped file, MB")
        figure.suptitle(
            "Time grows no faster than the data; memory hardly grows with the rows",
            x=0.01,
            ha="left",
            fontsize=13,
            weight="bold",
        )
        figure.tight_layout(rect=(0, 0, 1, 0.97))
        figure.savefig(PICTURE, dpi=110)


def plot_sweep(areas, sweep, rows):
    time, memory = areas
    ours = [r for r in rows if r["what"] == "likewise"]
    theirs = [r for r in rows if not r["what"].startswith("likewise")]
    x = [r[sweep] for r in ours]
    for area in areas:
        area.set(xscale="log", yscale="log", xlabel=sweep)
        area.grid(alpha=0.2)
    seconds = [r["CPU s"] for r in ours]
    time.plot(x, seconds, "o-", color=OURS)
    said = f"likewise, all passes: slope {slope(ours, sweep):.2f}"
    parquet = [r for r in rows if r["what"] == FROM_PARQUET]
    if parquet:  # its point lies where the name would
        time.annotate(said, (x[0], seconds[0]), **BESIDE, xytext=(0, -8), va="top", color=OURS)
    else:
        label(time, x, seconds, said, OURS)
    limit = [r["multiplying once s"] + r["reading once s"] for r in ours]
    time.plot(x, limit, "--", color=LIMIT)
    is_steep = limit[-1] > 1000 * limit[0]
    label(time, x, limit, "limit: read and multiply once", LIMIT, -75 if is_steep else -44)
    held = [r["memory MB"] for r in ours]
    memory.plot(x, held, "o-", color=OURS)
    data = [4 * r["rows"] * r["columns"] / 1e6 for r in ours]
    memory.plot(x, data, "--", color=LIMIT)
    label(memory, x, held, "likewise", OURS, -8 if data[-1] > held[-1] else 6)
    label(memory, x, data, "the data itself", LIMIT, 6 if data[-1] > held[-1] else -30)
    for r in parquet:
        for area, name in ((time, "CPU s"), (memory, "memory MB")):
            here, left = (r["rows"], r[name]), {"xytext": (-7, 0), "ha": "right", "va": "center"}
            area.plot(*here, "D", color=OURS, mfc="none")
            area.annotate("from Parquet", here, **BESIDE, **left, color=OURS)
    if theirs:
        where = [r["rows"] for r in theirs]
        for area, name in ((time, "CPU s"), (memory, "memory MB")):
            values = [max(r[name], 1) for r in theirs]
            area.plot(where, values, "s-", color=THEIRS)
            area.annotate(
                f"cobras-ts: slope {slope(theirs, sweep):.2f}" if area is time else "cobras-ts",
                (where[-1], values[-1]),
                xytext=(-6, 6),
                ha="right",
                textcoords="offset points",
                color=THEIRS,
                fontsize=9,
            )


if __name__ == "__main__":
    redraw() if "plot" in sys.argv[1:] else main()
