"""From the command to the first question: CPU against what cannot be avoided, in the same run.

With ``many`` behind it, only that of 5000 photographs of 640 x 480 pixels, which are compared by
their content: the session begins when 2000 are described. That may take 20 s on a quiet machine.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._results import felt, save
from benchmarks.imports import FLOOR, cpu_seconds
from benchmarks.page import make_pictures, to_first_question

SERVER = f"{FLOOR}, starlette.applications, uvicorn"
READ = """
import csv
from likewise.rows.build import build_super_instances
with open({path!r}, newline="") as file:
    X = numpy.array(list(csv.reader(file))[1:], dtype=float)
build_super_instances(X, 1000)
"""
DESCRIBE = """
from likewise.items import open_items
open_items({path!r}%s).features()
"""
BY_LAYOUT, BY_CONTENT, OF_TEXTS = (
    DESCRIBE % option for option in (', encoder="layout"', "", ', text="note"')
)
CASES = {
    "150 x 4 rows": ("", "imports", "3.1 to 3.9 s"),
    "50 000 x 50 rows": (READ, "imports, reading, 1000 cells", "8.6 to 10 s"),
    "500 pictures": (BY_LAYOUT, "imports, describing", "14.5 to 30 s"),
    "500 pictures, by content": (BY_CONTENT, "imports, describing", ""),
    "500 texts, by meaning": (OF_TEXTS, "imports, describing", ""),
    "500 rows with texts": (DESCRIBE % "", "imports, describing", ""),
}
"""What cannot be avoided beside the imports, in code and in words, and CPU of version 0.1.0."""

WORDS = ["account", "bill", "broken", "delivery", "login", "order", "parcel", "price", "refund"]

OPEN = f"""
{SERVER}, likewise.web.app, time
from likewise.project import open_project
opened = open_project({{path!r}})
assert opened.project.ask() is not None and opened.project.rest.n == 3000
print(time.process_time())
"""
ENCODE = f"""
{SERVER}, time
from likewise.items import open_items
items = open_items({{path!r}})
items.features_of(range(2000))
print(time.process_time())
"""
MULTIPLY = f"""
{FLOOR}, time
from likewise.rows.threads import limited
matrix = numpy.random.default_rng(0).random((730, 730), dtype=numpy.float32)
limited(lambda: [matrix @ matrix for _ in range(2000)])
print(time.process_time())
"""
"""Each picture needs 0.39 billion multiplications, and so does each product."""


def commands(work):
    """Yield the arguments of `likewise label` for every case."""
    rng = np.random.default_rng(2)
    for n, d in ((150, 4), (50_000, 50)):
        X = rng.normal(size=(20, d))[rng.integers(0, 20, n)] + rng.normal(size=(n, d))
        path = work / f"{n}.csv"
        header = ",".join(f"x{k}" for k in range(d))
        np.savetxt(path, X, fmt="%.5f", delimiter=",", header=header, comments="")
        yield (path,)
    for name, encoder in (("pictures", "layout"), ("photographs", "efficientnet-lite0")):
        make_pictures(work / name, np.arange(500) % 20, (128, 128))
        yield work / name, "--encoder", encoder
    # Texts of their own for each, since what was read once is kept.
    for name, options in (("texts", ("--text", "note")), ("rows", ())):
        notes = [" ".join(rng.choice(WORDS, 12)) for _ in range(500)]
        lines = [f"{number},{note}" for number, note in enumerate(notes)]
        (work / f"{name}.csv").write_text("\n".join(["number,note", *lines]))
        yield work / f"{name}.csv", *options


def said(code, cache):
    """Return the CPU seconds that an interpreter says it has used."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, check=True, env=environment, capture_output=True).stdout)


def many():
    """Yield the rows about 5000 photographs."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_pictures(work / "photographs", np.arange(5000) % 20, (640, 480))
        path = str(work / "photographs")
        ours = said(OPEN.format(path=path), work / "ours")
        least = said(ENCODE.format(path=path), work / "least")
        products = said(MULTIPLY, work)
        what = "5000 photographs, by content"
        yield felt(what, ours, "s", "imports, decoding and describing 2000", least, aim=1.2)
        yield felt(what, ours, "s", "2000 products that cost as much as a picture", products, aim=3)


def main():
    if sys.argv[1:] == ["many"]:
        save("first_question_many", [*many()])
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for (what, case), command in zip(CASES.items(), commands(work), strict=True):
            computation, words, before = case
            os.environ["XDG_CACHE_HOME"] = str(work / "floor")  # no features from other runs
            least = cpu_seconds(SERVER + computation.format(path=str(command[0])))
            os.environ["XDG_CACHE_HOME"] = str(work / "cache")
            _, cpu = to_first_question(*command)
            rows.append(felt(what, cpu, "s", words, least, aim=2, before=before))
    save("first_question", rows)


if __name__ == "__main__":
    main()
