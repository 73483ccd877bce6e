"""`likewise demo`: a ready-made data set, a simulated person, the result as a table and a page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.cli.demo_page import demo_page
from likewise.cluster import COBRA
from likewise.core.reports import Progress
from likewise.core.session import Session
from likewise.datasets import load_demo
from likewise.oracles import LabelOracle, run
from likewise.words import table_lines

SUPER_INSTANCES = 60
MILESTONES = (25, 50, 100)


@dataclass(frozen=True)
class Moment:
    """What stood after so many answers."""

    progress: Progress
    ari: float


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("likewise-demo.html"),
    show_default=True,
    help="Where to write the page with the result.",
)
@click.option("--seed", default=0, show_default=True, help="Which super-instances to start from.")
def demo(output: Path, seed: int) -> None:
    """Group 1797 handwritten digits with a simulated person who answers."""
    digits = load_demo()
    assert digits.images is not None
    click.echo(
        f"{len(digits.X)} pictures of handwritten digits. A simulated person answers "
        "“do these two show the same digit?”\n"
    )
    session = COBRA(SUPER_INSTANCES, random_state=seed).start(digits.X)
    moments = play(session, digits.y)
    k_true = len(digits.target_names)
    kmeans = KMeans(k_true, n_init=10, random_state=seed).fit_predict(digits.X)
    kmeans_ari = float(adjusted_rand_score(digits.y, kmeans))
    click.echo(table(moments, kmeans_ari, k_true))
    page = demo_page(
        images=np.asarray(digits.images),
        labels=session.labels,
        representatives=COBRA().adopt(session).representatives_,
        curve=[m.ari for m in moments],
        progress=session.progress,
        kmeans_ari=kmeans_ari,
        k_true=k_true,
    )
    output.write_text(page, encoding="utf-8")
    click.echo(f"\nThe groups in pictures: {output.resolve()}")
    click.echo(
        "Now with your own: likewise label FOLDER-OF-PICTURES (or a .csv, .jsonl, .npy file)."
    )


def play(session: Session, truth: NDArray[np.int64]) -> list[Moment]:
    """Let labels answer a session; return what stood before the first and after every answer."""
    oracle = LabelOracle(truth)
    is_live = sys.stdout.isatty()
    moments = [_moment(session, truth)]
    while not session.is_done:
        run(session, oracle, max_queries=1)
        moments.append(_moment(session, truth))
        if is_live:
            click.echo(f"\r\033[K{session.progress}", nl=False)
    click.echo(("\r\033[K" if is_live else "") + f"{session.progress}\n")
    return moments


def table(moments: list[Moment], kmeans_ari: float, k_true: int) -> str:
    """Return the table of what stood after 25, 50, 100 and all answers."""
    header = ("", "questions asked", "settled for free", "groups", "ARI")
    stops = [n for n in MILESTONES if n < len(moments) - 1] + [len(moments) - 1]
    rows = [
        (
            "likewise" if n == stops[0] else "",
            str(moments[n].progress.answered),
            str(moments[n].progress.settled_for_free),
            str(moments[n].progress.n_groups),
            f"{moments[n].ari:.2f}",
        )
        for n in stops
    ]
    rows.append((f"K-means, told K = {k_true}", "0", "", str(k_true), f"{kmeans_ari:.2f}"))
    lines = table_lines([header, *rows], right=range(1, len(header)))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _moment(session: Session, truth: NDArray[np.int64]) -> Moment:
    return Moment(session.progress, float(adjusted_rand_score(truth, session.labels)))
