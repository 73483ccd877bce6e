"""Write a benchmark's rows to benchmarks/results and to the screen."""

import csv
import os
import platform
import subprocess
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
ADDED = ("machine", "date", "code")
"""Columns that every table of results has beside its own."""


def machine():
    packages = ("numpy", "scipy", "scikit-learn")
    versions = " ".join(f"{name} {version(name)}" for name in packages)
    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    return f"{cores}, Python {platform.python_version()}, {versions}"


def today():
    return time.strftime("%Y-%m-%d", time.gmtime())


@cache
def code():
    """Return the git tree of ``src``, short, with + if files differ from it; "" without git."""
    tree = _git("rev-parse", "--short", "HEAD:src")
    return tree and tree + ("+" if _git("status", "--porcelain", "--", "src") else "")


def _git(*arguments):
    command = ["git", "-C", str(FOLDER.parents[1]), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def saved(name):
    """Return the rows of results/NAME.csv, as text; none if it is not there."""
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        # Results of earlier versions have no date and no code.
        return [{**dict.fromkeys(ADDED, ""), **row} for row in csv.DictReader(file)]


def felt(what, ours, unit, peer, theirs, *, aim="", before=""):
    """Return a row of the page: what it takes here and elsewhere, the ratio and what it should be.

    `before` is what it took in version 0.1.0, on a machine of the same kind.
    """
    digits = 0 if unit == "ms" and ours >= 10 else 1 if unit == "ms" or ours >= 10 else 2
    return {
        "what": what,
        "likewise": f"{ours:.{digits}f} {unit}",
        "compared with": f"{peer}: {theirs:.{digits}f} {unit}",
        "ratio": f"{ours / theirs:.2g}" if ours < theirs else f"{ours / theirs:.1f}",
        "aim": aim,
        "in 0.1.0": before,
    }


def save(name, rows):
    """Print rows (dictionaries with the same keys) and write them to results/NAME.csv.

    A row of an earlier run has its own machine, date and code.
    """
    FOLDER.mkdir(exist_ok=True)
    own = [key for key in rows[0] if key not in ADDED]
    added = dict(zip(ADDED, (machine(), today(), code()), strict=True))
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*own, *ADDED])
        writer.writeheader()
        writer.writerows({**added, **row} for row in rows)
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in own}
    print("  ".join(key.ljust(width) for key, width in widths.items()))
    for row in rows:
        print("  ".join(str(row[key]).ljust(width) for key, width in widths.items()), flush=True)
