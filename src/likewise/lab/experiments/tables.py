"""A table that can be written as CSV, Markdown and LaTeX, and shown on a page."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from likewise.files import write_whole
from likewise.lab.experiments.protocol import SIZES
from likewise.lab.experiments.statistics import Interval

Line = dict[str, Any]
"""A line of a table: values by column."""
SAME, IN_PART, DIFFERS = "Same", "Same in part", "Differs"
"""What a verdict about something in the paper begins with."""
WARNINGS = {
    "A3S": "A3S: take its rows for a lower bound. It is made for many classes, its authors do not "
    "recommend it for two or three, and ours is not told the number of classes."
}
"""What stands below every table that shows a method."""
_LATEX = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    }
)


def _read(file: str) -> dict[str, Any]:
    text = files("likewise.lab.experiments").joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(text)


TEXTS, PAPER = _read("tables.toml"), _read("paper.toml")
"""What stands above and below our tables; what the paper shows and the numbers printed in it."""


def printed(table: str, method: str, size: int) -> str | None:
    """Return the entry of the paper's Table 2 or 3 for a method and a size, if there is one."""
    entries = PAPER[table].get(method)
    return entries[SIZES.index(size)] if entries and size in SIZES else None


def texts(name: str, /, **values: object) -> dict[str, Any]:
    """Return the title, the notes and the digits of a table, as ``tables.toml`` has them."""
    given = {**TEXTS["shared"], **values}
    entry = {"notes": [], "digits": 3, **TEXTS[name]}
    notes = [note.format(**given) for note in entry["notes"]]
    return {**entry, "title": entry["title"].format(**given), "notes": notes}


@dataclass(frozen=True)
class Table:
    """A table: its file name, title, result in a sentence, and notes; the CSV has all digits."""

    name: str
    title: str
    frame: pd.DataFrame
    verdict: str = ""
    notes: Sequence[str] = ()
    digits: int = 3

    @classmethod
    def of(
        cls, lines: Any, name: str, verdict: str = "", /, *, file: str = "", **values: object
    ) -> Table | None:
        """Return lines with their texts, or None without any; a list that is alone is left out."""
        if not len(lines):
            return None
        frame = pd.DataFrame(lines)
        if "list" in frame and frame["list"].nunique() == 1:
            frame = frame.drop(columns="list")
        table = cls(file or name, frame=frame, verdict=verdict, **texts(name, **values))
        shown = [cell for row in table._rows() for cell in row]
        warnings = [text for name, text in WARNINGS.items() if any(name in cell for cell in shown)]
        return replace(table, notes=[*table.notes, *warnings])

    @property
    def texts(self) -> pd.DataFrame:
        """The values as people read them."""
        return self.frame.map(self._text)

    @property
    def are_numbers(self) -> list[bool]:
        """Whether each column has numbers only."""
        numbers = [self.frame[name].map(_is_number).all() for name in self.frame]
        return [bool(is_number) and len(self.frame) > 0 for is_number in numbers]

    def markdown(self) -> str:
        """Return the table for a README."""
        rules = ["-----:" if is_number else ":-----" for is_number in self.are_numbers]
        lines = [f"**{self.title}**", ""]
        lines += [self.verdict, ""] if self.verdict else []
        names, *rows = [f"| {' | '.join(row)} |" for row in self._rows()]
        lines += [names, f"|{'|'.join(rules)}|", *rows]
        return "\n".join([*lines, "", *(f"{note}\n" for note in self.notes)])

    def latex(self) -> str:
        """Return the table for an article; it needs the package booktabs."""
        align = "".join("r" if is_number else "l" for is_number in self.are_numbers)
        names, *rows = [
            " & ".join(text.translate(_LATEX) for text in row) + r" \\" for row in self._rows()
        ]
        above = [f"% {self.title}", rf"\begin{{tabular}}{{{align}}}", r"\toprule", names]
        below = [r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in self.notes), ""]
        return "\n".join([*above, r"\midrule", *rows, *below])

    def csv(self) -> str:
        """Return all digits; an interval takes three columns."""
        columns: dict[str, Any] = {}
        for name in map(str, self.frame):
            values = self.frame[name].tolist()
            columns[name] = [v.mean if isinstance(v, Interval) else v for v in values]
            if any(isinstance(value, Interval) for value in values):
                for end in ("low", "high"):
                    columns[f"{name}, {end}"] = [getattr(value, end, None) for value in values]
        return str(pd.DataFrame(columns).to_csv(index=False, lineterminator="\n"))

    def write(self, folder: Path) -> None:
        """Write the table as CSV, Markdown and LaTeX."""
        for suffix, as_text in (("csv", self.csv), ("md", self.markdown), ("tex", self.latex)):
            write_whole(folder / f"{self.name}.{suffix}", as_text())

    def _rows(self) -> list[list[str]]:
        """Return the names of the columns, then the lines, as people read them."""
        return [list(map(str, self.frame)), *self.texts.to_numpy().tolist()]

    def _text(self, value: Any) -> str:
        if value is None or value != value:  # noqa: PLR0124  (nan)
            return "-"
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


def words(items: Sequence[object]) -> str:
    """Return items as they stand in a sentence."""
    *first, last = [str(item) for item in items]
    return f"{', '.join(first)} and {last}" if first else last


def sentence(start: str, parts: Sequence[str]) -> str:
    """Return a sentence about several parts, or nothing where there are none."""
    return f"{start} {'; '.join(parts)}." if parts else ""


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, int | float | Interval)
