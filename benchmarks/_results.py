"""Write a benchmark's rows to benchmarks/results and to the screen."""

import csv
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

EARLIER = "earlier"
"""The date of a line that was not measured in this run."""

FOLDER = Path(__file__).parent / "results"


def machine():
    packages = ("numpy", "scipy", "scikit-learn")
    versions = " ".join(f"{name} {version(name)}" for name in packages)
    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    return f"{cores}, Python {platform.python_version()}, {versions}"


def today():
    return time.strftime("%Y-%m-%d", time.gmtime())


def save(name, rows):
    """Print rows (dictionaries with the same keys) and write them to results/NAME.csv.

    A row of an earlier run has its own machine and date.
    """
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], "machine", "date"])
        writer.writeheader()
        writer.writerows({"machine": machine(), "date": today(), **row} for row in rows)
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in rows[0]}
    print("  ".join(key.ljust(width) for key, width in widths.items()))
    for row in rows:
        print("  ".join(str(row[key]).ljust(width) for key, width in widths.items()), flush=True)
