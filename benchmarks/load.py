"""CPU of the same work alone and beside two busy processes per core: threads that wait cost CPU."""

import os
import subprocess
import sys

from benchmarks._results import felt, save
from benchmarks.imports import cpu_seconds

N_RUNS = 3
BUSY = "while True: pass"
WORK = {
    "`Likewise(100).fit`, 10 000 x 32": """
from benchmarks.scale_fit import mixture
from likewise import LabelOracle, Likewise
X, y = mixture(10_000)
Likewise(100, random_state=0).fit(X, oracle=LabelOracle(y))
""",
    "COBRA(100), 100 000 x 32": """
from benchmarks.scale_fit import mixture
from likewise import COBRA, LabelOracle
X, y = mixture(100_000)
COBRA(100, max_queries=100, random_state=0).fit(X, oracle=LabelOracle(y))
""",
}


def measure(what, code):
    alone = min(cpu_seconds(code) for _ in range(N_RUNS))
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        beside = min(cpu_seconds(code) for _ in range(N_RUNS))
    finally:
        for other in others:
            other.kill()
            other.wait()
    return felt(what, beside, "s", "alone", alone, aim=1.3)


def main():
    save("load", [measure(what, code) for what, code in WORK.items()])


if __name__ == "__main__":
    main()
