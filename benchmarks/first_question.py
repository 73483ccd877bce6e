"""From the command to the first question: CPU against what cannot be avoided, in the same run."""

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._results import save
from benchmarks.imports import cpu_seconds
from benchmarks.page import first_question, make_pictures

FLOORS = {
    "50 000 x 50 rows": """
import csv, sqlite3, click, numpy, starlette.applications, uvicorn
from likewise.rows.build import build_super_instances
with open({path!r}, newline="") as file:
    X = numpy.array(list(csv.reader(file))[1:], dtype=float)
build_super_instances(X, 1000, engine="sample")
""",
    "500 pictures": """
import sqlite3, click, starlette.applications, uvicorn
from likewise.items import open_items
open_items({path!r}, image_features="descriptors").features()
""",
}
"""What cannot be avoided: imports, reading, cutting rows into cells or describing pictures."""

BEFORE = {"50 000 x 50 rows": "8.6 to 10 s", "500 pictures": "14.5 to 30 s"}
"""CPU of version 0.1.0."""


def main():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 50))[rng.integers(0, 20, 50_000)] + rng.normal(size=(50_000, 50))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        header = ",".join(f"x{k}" for k in range(50))
        table = work / "rows.csv"
        np.savetxt(table, X, fmt="%.5f", delimiter=",", header=header, comments="")
        make_pictures(work / "small", np.arange(500) % 20, (128, 128))
        commands = ((table,), (work / "small", "--image-features", "descriptors"))
        rows = []
        for (what, floor), command in zip(FLOORS.items(), commands, strict=True):
            os.environ["XDG_CACHE_HOME"] = str(work / "floor")  # no features from other runs
            least = cpu_seconds(floor.format(path=str(command[0])))
            os.environ["XDG_CACHE_HOME"] = str(work / "cache")
            cpu = first_question(what, "", *command)[1]["value"]
            rows.append(
                {
                    "what": f"first question of {what}",
                    "CPU s": cpu,
                    "floor s": round(least, 1),
                    "ratio": round(cpu / least, 1),
                    "in 0.1.0": BEFORE[what],
                }
            )
    save("first_question", rows)


if __name__ == "__main__":
    main()
