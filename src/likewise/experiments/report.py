"""The report: one page that needs nothing else, and its tables and figures as files."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from likewise.errors import InputError
from likewise.experiments import (
    figures,
    flagship_figures,
    flagship_statistics,
    flagship_tables,
    other_tables,
    paper_tables,
)
from likewise.experiments.flagship_results import FlagshipResults, write_points
from likewise.experiments.results import Results
from likewise.experiments.store import Row
from likewise.experiments.tables import Table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #111; background: #fff }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.5rem }
.table { overflow-x: auto } table { border-collapse: collapse; font-size: 14px }
th, td { padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #111; vertical-align: bottom } .number { text-align: right }
.note { font-size: 13px; color: #444; max-width: 48rem } .verdict { font-weight: 600 }
figure { margin: 1rem 0 } svg { max-width: 100%; height: auto }
"""

Section = tuple[str, Table | None, str, Callable[[], Any] | None]
"""A title, a table, the name of a figure and what draws it."""


def write_report(rows: Iterable[Row], folder: str | Path, *, profile: str = "paper") -> Path:
    """Write ``report.html``, the tables and the figures.

    Parameters
    ----------
    rows : iterable of Row
        Of a store; parts for which there are no rows are left out.
    folder : path
        It is made if it is not there.
    profile : {"paper", "flagship"}
        Which experiments to report on.

    Returns
    -------
    Path
        The page.
    """
    found = list(rows)
    if not found:
        raise InputError("there are no results to report on. Run `likewise bench run` first.")
    if profile == "flagship":
        flagship = FlagshipResults(found)
        if not flagship.tasks:
            raise InputError(
                "there are no results of the profile flagship. Run `likewise bench run --profile "
                "flagship` first."
            )
        page = _write(flagship_opening(flagship), flagship_sections(flagship), Path(folder))
        write_points(flagship, Path(folder) / "flagship-points.csv")
        return page
    results = Results(found)
    return _write(_opening(results), _sections(results), Path(folder))


def _write(opening: str, sections: Iterable[Section], target: Path) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    body = [opening]
    for title, table, name, drawing in sections:
        figure = None if drawing is None else drawing()
        if table is None and figure is None:
            continue
        body.append(f"<h2>{html.escape(title)}</h2>")
        if table is not None:
            table.write(target)
            if table.verdict:
                body.append(f"<p class=verdict>{html.escape(table.verdict)}</p>")
        if figure is not None:
            svg = figures.save(figure, target, name)
            body.append(f'<figure role="img" aria-label="{html.escape(title)}">')
            body.append(svg[svg.index("<svg") :] + "</figure>")
        if table is not None and table.rows:
            body.append(table.html())
    page = target / "report.html"
    page.write_text(_page("\n".join(body)), encoding="utf-8")
    return page


def _sections(results: Results) -> list[Section]:
    """Return the parts of the paper's page in order."""
    return [
        ("Overview", None, "overview", partial(figures.overview_figure, results)),
        ("How many questions", paper_tables.strategies_table(results), "", None),
        ("Wins and losses", paper_tables.wins_table(results), "", None),
        ("Average ranks", paper_tables.ranks_table(results), "", None),
        (
            "Estimated and actual number of questions",
            other_tables.estimate_table(results),
            "estimate",
            partial(figures.estimate_figure, results),
        ),
        (
            "Quality and number of questions",
            other_tables.curves_table(results),
            "curves",
            partial(figures.curves_figure, results),
        ),
        (
            "Run times",
            other_tables.times_table(results),
            "times",
            partial(figures.times_figure, results),
        ),
        (
            "Number of groups",
            other_tables.groups_table(results),
            "groups",
            partial(figures.groups_figure, results),
        ),
        (
            "A wrong number of clusters",
            other_tables.wrong_k_table(results),
            "wrong-k",
            partial(figures.wrong_k_figure, results),
        ),
        (
            "Stopped after any answer",
            other_tables.anytime_table(results),
            "anytime",
            partial(figures.anytime_figure, results),
        ),
        *(
            (
                f"All tasks, {size} super-instances",
                paper_tables.scores_table(results, size),
                "",
                None,
            )
            for size in results.sizes
        ),
        ("What did not go through", other_tables.trouble_table(results), "", None),
    ]


def flagship_sections(results: FlagshipResults) -> list[Section]:
    """Return the parts of the page on `Likewise` in order."""
    tables, tests, draw = flagship_tables, flagship_statistics, flagship_figures
    trouble = other_tables.trouble_table(Results(results.rows))
    return [
        (
            "Quality and number of questions",
            tables.budgets_table(results),
            "flagship-anytime",
            partial(draw.anytime_figure, results),
        ),
        (
            "As many questions as COBRA",
            tables.own_table(results),
            "flagship-differences",
            partial(draw.differences_figure, results),
        ),
        ("Half the questions", tables.half_table(results), "", None),
        (
            "Wrong answers",
            tables.noise_table(results),
            "flagship-noise",
            partial(draw.noise_figure, results),
        ),
        ("Wins and losses", tests.wins_table(results), "", None),
        ("Wins by the number of questions", tests.budget_wins_table(results), "", None),
        ("Average ranks", tests.ranks_table(results), "", None),
        ("Time to the next question", tables.times_table(results), "", None),
        *((table.title, table, "", None) for table in tables.task_tables(results)),
        ("What did not go through", trouble, "", None),
    ]


def flagship_opening(results: FlagshipResults) -> str:
    """Return what stands at the top of the page on `Likewise`."""
    parts = [
        f"{name.capitalize()} ({len(tasks)}): {', '.join(tasks)}"
        for name, tasks in results.parts.items()
    ]
    return (
        "<h1>Likewise, COBRA and others: quality by the number of questions</h1>"
        f"<p>{len(results.tasks)} tasks, {results.n_folds} folds: all rows are clustered, only "
        "pairs of training rows are asked about, and the adjusted Rand index (ARI) is taken on "
        "the test part. No method is told the number of clusters; COBRA is told a number of "
        "super-instances.</p>"
        f"<p>{html.escape('. '.join(parts))}.</p>"
        f"<p class=note>Made with {html.escape(_versions(results))}.</p>"
    )


def _versions(results: FlagshipResults) -> str:
    return other_tables.versions_text(Results(results.rows))


def _opening(results: Results) -> str:
    statuses = [row.status for row in results.rows]
    return (
        "<h1>Active clustering: the COBRA paper's experiments, run again</h1>"
        f"<p>{len(results.rows)} results: {statuses.count('ok')} finished, "
        f"{statuses.count('capped')} capped by the time limit, {statuses.count('failed')} failed. "
        f"{len(results.tasks)} tasks, {len(results.methods)} methods "
        f"({html.escape(', '.join(results.methods))}). Five folds: all rows are clustered, only "
        "pairs of training rows are asked about, and the adjusted Rand index (ARI) is taken on "
        "the test part. The others ask as many questions as COBRA did in the same fold and are "
        "told the true number of clusters; COBRA is not.</p>"
        f"<p class=note>Made with {html.escape(other_tables.versions_text(results))}.</p>"
    )


def _page(body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>likewise: benchmark report</title><style>{STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )
