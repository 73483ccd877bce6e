"""How often the interval of a model's certificate has the true share, at every time one looks.

python -m benchmarks certificate

Answers fall into two strata, of which one has 30 % of them, and both are checked in turn, up to 60
checks. An interval counts as missed if it misses the true share after any of the checks.
"""

import csv

import numpy as np

from benchmarks._results import FOLDER
from likewise.learning.certificate import certificate

SHARES = ((0.95, 0.8), (0.99, 0.9), (0.9, 0.9), (0.7, 0.5))
RUNS, CHECKS, SIZES = 400, 60, (700, 300)


def main():
    rows = []
    for number, shares in enumerate(SHARES):
        rng = np.random.default_rng(number)
        truth, n_missed, ends = float(np.dot(shares, SIZES)) / sum(SIZES), 0, []
        for _ in range(RUNS):
            checks = [(t % 2, bool(rng.random() < shares[t % 2])) for t in range(CHECKS)]
            found = [certificate(checks[:t], SIZES) for t in range(2, CHECKS + 1, 2)]
            n_missed += any(not one.at_least <= truth <= one.at_most for one in found)
            ends.append((found[-1].at_least, found[-1].estimate, found[-1].at_most))
        low, middle, high = np.mean(ends, axis=0).round(3)
        covered = 1 - n_missed / RUNS
        rows.append({
            "far": shares[0], "near": shares[1], "truth": round(truth, 3),
            "coverage": round(covered, 4), "at_least": low, "estimate": middle, "at_most": high,
        })  # fmt: skip
        print(rows[-1], flush=True)
    with (FOLDER / "certificate.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
