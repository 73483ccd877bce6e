"""CPU of starting a command, as a ratio to importing no more than it cannot do without."""

import resource
import statistics
import subprocess
import sys

from benchmarks._results import save

REPEATS = 15

HELP = "from likewise.cli import main; main(['--help'])"
CASES = {
    "likewise --help": (HELP, "import click"),
    "import likewise": ("import likewise", "import click"),
    "all that likewise label imports before it reads": (
        "import likewise.cli.label, likewise.cli.terminal",
        "import numpy, scipy.spatial, click, sqlite3",
    ),
    "from likewise import COBRA": (
        "from likewise import COBRA",
        "from sklearn.cluster import KMeans",
    ),
}
"""By name: what is measured, and the floor it is compared to."""


def cpu_seconds(code):
    """Return the CPU seconds of an interpreter that runs some code."""
    before = _children()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def _children():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main():
    rows = []
    for name, (code, floor) in CASES.items():
        pairs = [(cpu_seconds(code), cpu_seconds(floor)) for _ in range(REPEATS)]
        ours, least = (statistics.median(column) for column in zip(*pairs, strict=True))
        rows.append(
            {
                "what": name,
                "cpu_ms": round(1000 * ours),
                "floor": floor,
                "floor_ms": round(1000 * least),
                "ratio": round(ours / least, 2),
            }
        )
    save("imports", rows)


if __name__ == "__main__":
    main()
