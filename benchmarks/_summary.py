"""The table of what a person feels, made of benchmarks/results, in benchmarks/README.md."""

import csv
from pathlib import Path

HERE = Path(__file__).parent
BEGIN, END = "<!-- summary -->\n", "<!-- end of summary -->"
HEADER = """\
| what you feel | `likewise` | compared with | ratio | in 0.1.0 |
|---|---|---|---|---|
"""


def rows_of(name):
    with (HERE / "results" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines():
    """Yield the cells of every line."""
    for row, before in zip(rows_of("imports")[:3], ("3.0 s", "", "3.1 to 3.9 s"), strict=True):
        floor = f"`{row['floor']}`: {row['floor_ms']} ms"
        yield row["what"], f"{row['cpu_ms']} ms", floor, row["ratio"], before
    for row in rows_of("first_question"):
        floor = f"floor: {row['floor s']} s"
        yield row["what"], f"{row['CPU s']} s", floor, row["ratio"], row["in 0.1.0"]
    cobra, pairs, choices = rows_of("answers")
    for row, what in ((pairs, "a pair"), (choices, "a choice of six")):
        ours, peer = row["question p95 ms"], cobra["question p95 ms"]
        ratio = round(float(ours) / float(peer), 1)
        title = f"next question after {what}, p95 of {row['answers']}"
        yield title, f"{ours} ms", f"COBRA: {peer} ms", ratio, "60 ms"
        title = f"the same with progress and groups, {what}"
        peer = f"COBRA: {cobra['all p95 ms']} ms"
        yield title, f"{row['all p95 ms']} ms", peer, row["all p95 / COBRA"], ""
        title = f"opening again after {row['answers']} answers"
        again, ratio = f"{row['open again CPU s']} s", row["open again / that"]
        floor = f"imports and one fit: {row['imports and one fit CPU s']} s"
        yield title, again, floor, ratio, "2.6 s, 300 answers"
    for row, before in zip(rows_of("scale_fit"), ("10.5 s", "13.4 s"), strict=False):
        title = f"`Likewise(100).fit`, {int(row['rows']):_} rows".replace("_", " ")
        peer = f"`{row['peer']}`: {row['peer CPU s']} s"
        yield title, f"{row['Likewise CPU s']} s", peer, row["ratio"], before
    for row in rows_of("endtoend"):
        peer = f"{row['peer']}: {row['peer wall s']} s"
        yield f"COBRA, {row['data']}", f"{row['our wall s']} s", peer, row["wall ratio"], ""


def write():
    """Put the table where it stands in the README."""
    path = HERE / "README.md"
    before, _, rest = path.read_text("utf-8").partition(BEGIN)
    table = "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines())
    path.write_text(before + BEGIN + HEADER + table + END + rest.partition(END)[2], "utf-8")
