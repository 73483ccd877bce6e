"""The table of what a person feels, made of benchmarks/results, in benchmarks/README.md."""

import csv
from pathlib import Path

from benchmarks._results import EARLIER

HERE = Path(__file__).parent
BEGIN, END = "<!-- summary -->\n", "<!-- end of summary -->"
NAMES = ("imports", "first_question", "answers", "scale_fit", "load", "endtoend")
HEADER = """\
| what you feel | `likewise` | compared with | ratio | in 0.1.0 |
|---|---|---|---|---|
"""


def rows_of(name):
    path = HERE / "results" / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines():
    """Yield the cells of every line."""
    for row, before in zip(rows_of("imports")[:3], ("3.0 s", "", "3.1 to 3.9 s"), strict=True):
        floor = f"`{row['floor']}`: {row['floor_ms']} ms"
        yield row["what"], f"{row['cpu_ms']} ms", floor, row["ratio"], before
    for row in rows_of("first_question"):
        floor = f"imports, reading, one computation: {row['floor s']} s"
        yield row["what"], f"{row['CPU s']} s", floor, row["ratio"], row["in 0.1.0"]
    yield from answers()
    for row, before in zip(rows_of("scale_fit"), ("10.5 s", "13.4 s", "44 s"), strict=False):
        title = f"`Likewise(100).fit`, {int(row['rows']):_} rows".replace("_", " ")
        peer = f"`{row['peer']}`: {row['peer CPU s']} s"
        yield title, f"{row['Likewise CPU s']} s", peer, row["ratio"], before
    for row in rows_of("predict"):
        title = f"`predict`, {int(row['rows']):_} rows".replace("_", " ")
        floor = f"its matrix products: {row['float32 products CPU s']} s"
        yield title, f"{row['predict CPU s']} s", floor, row["ratio"], ""
    for row in rows_of("load"):
        alone = f"alone: {row['alone CPU s']} s"
        title = f"{row['what']}, two busy processes per core"
        yield title, f"{row['under load CPU s']} s", alone, row["ratio"], ""
    for row in rows_of("endtoend"):
        when = ", earlier run" if row.get("date") == EARLIER else ""
        peer = f"{row['peer']}{when}: {row['peer wall s']} s"
        yield (
            f"COBRA, {row['data']}, by the clock",
            f"{row['our wall s']} s",
            peer,
            row["wall ratio"],
            "",
        )


def answers():
    """Yield the lines about one answer, and about opening again."""
    rows = rows_of("answers")
    cobra = {row["answers"]: row for row in rows if row["way"] == "COBRA"}
    names = {"pairs": "a pair", "choices": "a choice of six"}
    before = {"first 100": "60 ms", "100 to 300": "400 ms"}
    for row in rows:
        if row["way"] not in names or row["n"] == "0":
            continue
        what, part = names[row["way"]], row["answers"]
        for column, title in (("question", "next question"), ("all", "progress and groups, too")):
            ours, peer = row[f"{column} p95 ms"], cobra[part][f"{column} p95 ms"]
            ratio = round(float(ours) / float(peer), 1)
            earlier = before[part] if column == "question" else ""
            yield f"{title}: {what}, {part}, p95", f"{ours} ms", f"COBRA: {peer} ms", ratio, earlier
    for way, what in names.items():
        own = [row for row in rows if row["way"] == way]
        n = sum(int(row["n"]) for row in own)
        again, ratio = f"{own[0]['open again CPU s']} s", own[0]["open again / that"]
        floor = f"imports and one fit: {own[0]['imports and one fit CPU s']} s"
        yield f"opening again: {n} times {what}", again, floor, ratio, "2.6 s"


def write():
    """Put the table where it stands in the README, with the machine and the dates."""
    path = HERE / "README.md"
    before, _, rest = path.read_text("utf-8").partition(BEGIN)
    table = "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines())
    runs = [row for name in NAMES for row in rows_of(name)]
    dates = sorted({row.get("date") or EARLIER for row in runs} - {EARLIER})
    said = f"\nMeasured {', '.join(dates)} on {runs[0]['machine']}.\n"
    path.write_text(before + BEGIN + HEADER + table + said + END + rest.partition(END)[2], "utf-8")
