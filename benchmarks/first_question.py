"""From the command to the first question: CPU against what cannot be avoided."""

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._results import save
from benchmarks.page import first_question, make_pictures

FLOORS = {"50 000 x 50 rows": (4.5, "8.6 to 10 s"), "500 pictures": (3.5, "14.5 to 30 s")}
"""CPU s of the imports and the one computation that cannot be avoided; and what 0.1.0 took."""


def main():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 50))[rng.integers(0, 20, 50_000)] + rng.normal(size=(50_000, 50))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")  # no features from earlier runs
        header = ",".join(f"x{k}" for k in range(50))
        table = work / "rows.csv"
        np.savetxt(table, X, fmt="%.5f", delimiter=",", header=header, comments="")
        make_pictures(work / "small", np.arange(500) % 20, (128, 128))
        commands = ((table,), (work / "small", "--image-features", "descriptors"))
        rows = []
        for (what, (floor, before)), command in zip(FLOORS.items(), commands, strict=True):
            cpu = first_question(what, "", *command)[1]["value"]
            rows.append(
                {
                    "what": f"first question of {what}",
                    "CPU s": cpu,
                    "floor s": floor,
                    "ratio": round(cpu / floor, 1),
                    "in 0.1.0": before,
                }
            )
    save("first_question", rows)


if __name__ == "__main__":
    main()
