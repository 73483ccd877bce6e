"""CPU of starting a command, as a ratio to importing no more than it cannot do without."""

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._results import felt, save

REPEATS = 9
N_ROWS = 150
FLOOR = "import numpy, scipy.spatial, click, sqlite3"


def cpu_seconds(code):
    """Return the CPU seconds of an interpreter that runs some code."""
    before = _children()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def _children():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def cases(folder):
    """Yield what is measured: its name, the code, the floor, the aim, and how it was in 0.1.0."""
    from likewise.project import open_project

    path = Path(folder) / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{k},{k % 7}\n" for k in range(N_ROWS)), "utf-8")
    opened = open_project(path)
    opened.project.close()
    command = "from likewise.cli import main; main({!r})"
    yield "`likewise --help`", command.format(["--help"]), "import click", 1.5, "3.0 s"
    yield "`import likewise`", "import likewise", "import click", "", ""
    label = "import likewise.cli.label, likewise.cli.terminal"
    yield "all that `likewise label` imports before it reads", label, FLOOR, 2, "3.1 to 3.9 s"
    export = command.format(["export", str(opened.path), "-o", f"{folder}/groups.csv"])
    yield f"`likewise export`, {N_ROWS} rows", export, FLOOR, 2, ""


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, code, floor, aim, before in cases(folder):
            pairs = [(cpu_seconds(code), cpu_seconds(floor)) for _ in range(REPEATS)]
            ours, least = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
            rows.append(felt(what, ours, "ms", f"`{floor}`", least, aim=aim, before=before))
    save("imports", rows)


if __name__ == "__main__":
    main()
