"""A table that can be written as CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

CellValue = str | int | float | None

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "<": "$<$",
    ">": "$>$",
}


@dataclass(frozen=True)
class Table:
    """Rows under columns, with a title, a verdict in one sentence and notes.

    Attributes
    ----------
    name : str
        The stem of its files.
    title : str
    columns : sequence of str
    rows : sequence of sequence
        Numbers are written with their own digits, floats with `digits` decimals.
    verdict : str
        What held and what did not.
    notes : sequence of str
    digits : int

    Examples
    --------
    >>> print(Table("t", "A table", ["task", "ARI"], [["iris", 0.5]], digits=2).markdown())
    **A table**
    <BLANKLINE>
    | task | ARI |
    |:-----|-----:|
    | iris | 0.50 |
    <BLANKLINE>
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[CellValue]]
    verdict: str = ""
    notes: Sequence[str] = field(default_factory=tuple)
    digits: int = 2

    def texts(self) -> list[list[str]]:
        """Return the cells as people read them."""
        return [[self._text(value) for value in row] for row in self.rows]

    def csv(self) -> str:
        """Return the cells in full precision."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow("" if value is None else value for value in row)
        return buffer.getvalue()

    def markdown(self) -> str:
        """Return the table for a README."""
        rules = ["-----:" if is_number else ":-----" for is_number in self._are_numbers()]
        lines = [f"**{self.title}**", ""]
        if self.verdict:
            lines += [self.verdict, ""]
        lines.append(f"| {' | '.join(self.columns)} |")
        lines.append(f"|{'|'.join(rules)}|")
        lines += [f"| {' | '.join(row)} |" for row in self.texts()]
        lines.append("")
        for note in self.notes:
            lines += [note, ""]
        return "\n".join(lines)

    def latex(self) -> str:
        """Return the table for a paper (needs booktabs)."""
        align = "".join("r" if is_number else "l" for is_number in self._are_numbers())
        lines = [
            r"\begin{table}",
            rf"\caption{{{latex_text(self.title)}}}",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            " & ".join(latex_text(column) for column in self.columns) + r" \\",
            r"\midrule",
            *(" & ".join(latex_text(text) for text in row) + r" \\" for row in self.texts()),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par {latex_text(note)}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """Return the table for a page."""
        numbers = self._are_numbers()

        def cells(tag: str, texts: Sequence[str]) -> str:
            return "".join(
                f"<{tag}{' class=number' if is_number else ''}>{html.escape(text)}</{tag}>"
                for text, is_number in zip(texts, numbers, strict=True)
            )

        body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in self.texts())
        notes = "".join(f"<p class=note>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<div class=table><table><thead><tr>{cells('th', self.columns)}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></div>{notes}"
        )

    def write(self, folder: Path) -> None:
        """Write the table as CSV, Markdown and LaTeX."""
        for suffix, text in (("csv", self.csv()), ("md", self.markdown()), ("tex", self.latex())):
            (folder / f"{self.name}.{suffix}").write_text(text, encoding="utf-8")

    def _text(self, value: CellValue) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)

    def _are_numbers(self) -> list[bool]:
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return [
            bool(column) and all(isinstance(value, int | float | None) for value in column)
            for column in columns
        ]


def latex_text(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(character, character) for character in text)
