"""The report: one page that needs nothing else, and its tables and figures as files."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from likewise.benchmark import figures, other_tables, paper_tables
from likewise.benchmark.results import Results
from likewise.benchmark.store import Row
from likewise.benchmark.tables import Table
from likewise.errors import InputError

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

Drawing = Callable[[Results], Any]


def write_report(rows: Iterable[Row], folder: str | Path) -> Path:
    """Write ``report.html``, the tables and the figures.

    Parameters
    ----------
    rows : iterable of Row
        Of a store; parts for which there are no rows are left out.
    folder : path
        It is made if it is not there.

    Returns
    -------
    Path
        The page.
    """
    results = Results(rows)
    if not results.rows:
        raise InputError("there are no results to report on. Run `likewise bench run` first.")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    body = [_opening(results)]
    for title, table, name, drawing in _sections(results):
        if table is None and drawing is None:
            continue
        figure = None if drawing is None else drawing(results)
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


def _sections(results: Results) -> list[tuple[str, Table | None, str, Drawing | None]]:
    """Return titles, tables, names of figures and what draws them, in the order of the page."""
    return [
        ("Overview", None, "overview", figures.overview_figure),
        ("How many questions", paper_tables.strategies_table(results), "", None),
        ("Wins and losses", paper_tables.wins_table(results), "", None),
        ("Average ranks", paper_tables.ranks_table(results), "", None),
        (
            "Estimated and actual number of questions",
            other_tables.estimate_table(results),
            "estimate",
            figures.estimate_figure,
        ),
        (
            "Quality and number of questions",
            other_tables.curves_table(results),
            "curves",
            figures.curves_figure,
        ),
        ("Run times", other_tables.times_table(results), "times", figures.times_figure),
        ("Number of groups", other_tables.groups_table(results), "groups", figures.groups_figure),
        (
            "A wrong number of clusters",
            other_tables.wrong_k_table(results),
            "wrong-k",
            figures.wrong_k_figure,
        ),
        (
            "Stopped after any answer",
            other_tables.anytime_table(results),
            "anytime",
            figures.anytime_figure,
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
