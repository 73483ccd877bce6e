"""The report: one page that needs nothing else, and its tables and figures as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment

from likewise.errors import InputError
from likewise.files import write_whole
from likewise.lab.experiments import budget_tables as tables
from likewise.lab.experiments import comparison_tables as comparisons
from likewise.lab.experiments import figures, paper_tables, run_tables
from likewise.lab.experiments.drawing import save
from likewise.lab.experiments.plan import Plan, profile
from likewise.lab.experiments.results import Results
from likewise.lab.experiments.seconds import PUBLISHED, Seconds
from likewise.lab.experiments.store import Cell, Row
from likewise.lab.experiments.tables import Table


class Section(NamedTuple):
    """A part of the page: a table, a figure above it, or both."""

    title: str
    table: Table | None
    svg: str = ""


SECTIONS: dict[str, tuple[Callable[[Results], Table | None], Callable[[Results], Any] | None]] = {
    "Quality and number of questions": (tables.budgets_table, figures.quality_figure),
    "COBRA with its best size": (tables.sizes_table, None),
    "How many questions": (paper_tables.strategies_table, None),
    "As many questions as COBRA": (comparisons.own_table, figures.differences_figure),
    "Half the questions": (tables.half_table, None),
    "People who are wrong or not sure": (tables.noise_table, figures.noise_figure),
    "Its own end": (tables.end_table, None),
    "Wins and losses": (comparisons.wins_table, None),
    "Paired differences": (comparisons.paired_table, None),
    "Other measures, rows read and seconds": (tables.measures_table, figures.costs_figure),
    "Average ranks": (comparisons.ranks_table, figures.ranks_figure),
    "Estimated and actual number of questions": (
        paper_tables.estimate_table,
        figures.estimate_figure,
    ),
    "Quality over a wider range of questions": (paper_tables.curves_table, figures.curves_figure),
    "Run times": (run_tables.times_table, figures.times_figure),
    "Number of groups": (paper_tables.groups_table, figures.groups_figure),
    "A wrong number of clusters": (paper_tables.wrong_k_table, figures.wrong_k_figure),
    "Stopped after any answer": (paper_tables.anytime_table, figures.anytime_figure),
}
"""The heading of each part, what makes its table and what draws its figure."""
OF_THE_PAPER = ("Estimated and actual number of questions", "Number of groups")
"""Parts about the runs of COBRA that other configurations only take its questions from."""


def write_report(
    rows: Iterable[Row],
    folder: str | Path,
    plan: Plan | None = None,
    seconds: Seconds = PUBLISHED,
    others: Iterable[Row] = (),
) -> Path:
    """Write ``report.html``, tables, figures, points and stale cells; return the page.

    `others` are some of the rows as they came out on another processor.
    """
    given = list(rows)
    if not given:
        raise InputError("there are no results to report on. Run `likewise bench run` first.")
    results, target = Results(given, plan or profile("paper"), seconds), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    left_out = OF_THE_PAPER if results.is_by_budget else ()
    sections = [_section(results, target, title) for title in SECTIONS if title not in left_out]
    if not results.is_by_budget:
        parts = {part.table.name: part.table for part in sections if part.table is not None}
        overview = paper_tables.overview_table(parts)
        sections.insert(0, Section("What the paper shows, and what held", overview))
    for size in results.sizes:
        table = comparisons.task_table(results, size)
        sections.append(Section(f"All tasks, {size} super-instances", table))
    sections.append(Section("What did not go through", run_tables.trouble_table(results)))
    sections.append(Section("Stale rows", run_tables.stale_table(results)))
    sections.append(Section("Another processor", run_tables.kernels_table(given, list(others))))
    if results.is_by_budget:
        results.points.drop(columns="line").to_csv(target / "points.csv", index=False)
    stale = results.rows[results.rows["stale"] != ""]
    columns = [*Cell.__dataclass_fields__, "stale"]
    stale[columns].to_csv(target / "stale-cells.csv", index=False)
    shown = [part for part in sections if part.table is not None or part.svg]
    for part in shown:
        if part.table is not None:
            part.table.write(target)
    template = files("likewise.lab.experiments").joinpath("report.html.jinja").read_text("utf-8")
    text = (
        Environment(autoescape=True)
        .from_string(template)
        .render(
            title=results.plan.title,
            opening=_opening(results),
            versions=run_tables.versions_text(results),
            sections=shown,
        )
    )
    write_whole(target / "report.html", text)
    return target / "report.html"


def _section(results: Results, target: Path, title: str) -> Section:
    table, draw = SECTIONS[title]
    svg = ""
    if draw is not None and (drawn := draw(results)) is not None:
        svg = save(drawn, target, draw.__name__.removesuffix("_figure").replace("_", "-"))
    return Section(title, table(results), svg)


def _opening(results: Results) -> list[str]:
    statuses = results.rows["status"].tolist()
    rules = (
        "No method is told the number of clusters; COBRA is told a number of super-instances."
        if results.is_by_budget
        else "The others ask as many questions as COBRA did in the same fold and are told the true "
        "number of clusters; COBRA is not."
    )
    lists = [
        f"{name.capitalize()} ({len(ts)}): {', '.join(ts)}." for name, ts in results.parts.items()
    ]
    return [
        f"{len(statuses)} results: {statuses.count('ok')} finished, {statuses.count('capped')} "
        f"capped by the time limit, {statuses.count('failed')} failed. {len(results.tasks)} tasks, "
        f"{results.n_folds} folds, {len(results.methods)} methods ({', '.join(results.methods)}). "
        "All rows are clustered, only training rows are asked about, and the adjusted "
        f"Rand index (ARI) is taken on the test part. {rules}",
        " ".join(lists),
    ]
