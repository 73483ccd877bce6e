"""The page of what a person feels: the rows of some results as a table in benchmarks/README.md."""

from pathlib import Path

from benchmarks._results import code, saved

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- summary -->\n", "<!-- end of summary -->"
PARTS = {
    "imports": "Start",
    "first_question": "First question",
    "answers": "Next question, opening again",
    "scale_fit": "`fit` and `predict`",
    "endtoend": "A million rows",
    "load": "Beside two busy processes per core",
}
"""The benchmarks of the page, with their headings."""

COLUMNS = ("what", "likewise", "compared with", "ratio", "aim", "in 0.1.0")
HEADER = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


def is_current(part):
    """Return whether a part was measured with the code of now."""
    rows = saved(part)
    return bool(rows) and code() != "" and all(row["code"] == code() for row in rows)


def table(part, heading):
    """Return the lines of a part; those that are older than the others say so."""
    rows = [row for row in saved(part) if "compared with" in row]
    newest = max((row["date"] for row in rows), default="")
    lines = [f"| **{heading}** | | | | | |\n"] if rows else []
    for row in rows:
        cells = [row[column] for column in COLUMNS]
        cells[0] += "" if row["date"] == newest else f" ({row['date']})"
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def write():
    """Put the table where it stands in the README, with the machine and the dates."""
    before, _, rest = README.read_text("utf-8").partition(BEGIN)
    tables = "".join(table(part, heading) for part, heading in PARTS.items())
    runs = [row for part in PARTS for row in saved(part) if row["code"]]
    dates = sorted({row["date"] for row in runs})
    measured = f"\nMeasured {', '.join(dates)} on {runs[-1]['machine']}.\n"
    README.write_text(
        f"{before}{BEGIN}{HEADER}{tables}{measured}{END}{rest.partition(END)[2]}", "utf-8"
    )
