"""`likewise demo`: questions about real pictures on the page, or a simulated person who answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.cli.demo_page import demo_page
from likewise.cluster import Likewise
from likewise.core.reports import Progress
from likewise.core.session import Session
from likewise.datasets import load_demo
from likewise.files import cache_folder
from likewise.oracles import LabelOracle, run
from likewise.words import plural, table_lines

ANSWERS = 60
MILESTONES = (20, 40)
PIECE, STEP = 106, 53
"""Pixels of a piece of a photograph, and from one piece to the next."""


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
@click.option("--seed", default=0, show_default=True, help="Another number, other questions.")
@click.option("--auto", is_flag=True, help="Do not ask me: play a simulated person.")
def demo(output: Path, seed: int, auto: bool) -> None:
    """Answer questions about pictures on a page, or see a simulated person do it.

    The page needs a screen and the packages of `likewise[app]`. Without them, and with --auto, a
    simulated person groups 1797 handwritten digits.
    """
    if not auto and has_screen(os.environ, sys.platform) and _has_page():
        ask_on_page()
    else:
        show(output, seed)
    click.echo(
        "Now with your own: likewise label FOLDER-OF-PICTURES (or a .csv, .jsonl, .npy file)."
    )


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a browser could be shown."""
    if platform in {"darwin", "win32"}:
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def _has_page() -> bool:
    return all(find_spec(name) for name in ("starlette", "uvicorn", "jinja2", "PIL"))


def ask_on_page() -> None:
    """Open the page on pieces of two photographs, which come with scikit-learn."""
    from likewise.cli.served import ServedPage
    from likewise.project import open_project

    folder = cache_folder() / "demo" / "photographs"
    n = write_pieces(folder)
    click.echo(f"{n} pieces of two photographs. Which belong together? You decide what that means.")
    with ServedPage(str(folder), "127.0.0.1", None, (), opens=True) as page:
        opened = open_project(
            folder,
            options={"image_features": "descriptors"},
            checked=page.start,
            progress=page.progress,
        )
        with closing(opened.project):
            page.show(opened.project)
    click.echo(f"Your answers are in {opened.path}.")


def write_pieces(folder: Path) -> int:
    """Write overlapping pieces of two photographs as pictures; return how many there are."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    folder.mkdir(parents=True, exist_ok=True)
    sample = load_sample_images()
    n = 0
    for name, photograph in zip(("temple", "flower"), sample.images, strict=True):
        height, width, _ = photograph.shape
        for top in range(0, height - PIECE + 1, STEP):
            for left in range(0, width - PIECE + 1, STEP):
                piece = Image.fromarray(photograph[top : top + PIECE, left : left + PIECE])
                # Three times as large, so that the page need not blow it up.
                piece = piece.resize((3 * PIECE, 3 * PIECE), Image.Resampling.LANCZOS)
                piece.save(folder / f"{name}-{top:03d}-{left:03d}.png")
                n += 1
    return n


def show(output: Path, seed: int) -> None:
    """Let a simulated person group digits; write a table and a page with the result."""
    digits = load_demo()
    assert digits.images is not None
    click.echo(
        f"{len(digits.X)} pictures of handwritten digits. A simulated person answers "
        "“do these two show the same digit?”\n"
    )
    session = Likewise(max_queries=ANSWERS, random_state=seed).start(digits.X)
    moments = play(session, digits.y)
    k_true = len(digits.target_names)
    kmeans = KMeans(k_true, n_init=10, random_state=seed).fit_predict(digits.X)
    kmeans_ari = float(adjusted_rand_score(digits.y, kmeans))
    click.echo(table(moments, kmeans_ari, k_true))
    page = demo_page(
        images=np.asarray(digits.images),
        labels=session.labels,
        asked=np.unique([row for event in session.events for row in event.rows]),
        curve=[m.ari for m in moments],
        progress=session.progress,
        kmeans_ari=kmeans_ari,
        k_true=k_true,
    )
    output.write_text(page, encoding="utf-8")
    click.echo(f"\nThe groups in pictures: {output.resolve()}")


def play(session: Session, truth: NDArray[np.int64]) -> list[Moment]:
    """Let labels answer a session; return what stood before the first and after every answer."""
    oracle = LabelOracle(truth)
    is_live = sys.stdout.isatty()
    moments = [_moment(session, truth)]
    while len(moments) <= ANSWERS and not session.is_done:
        run(session, oracle, max_queries=1)
        moments.append(_moment(session, truth))
        if is_live:
            click.echo(f"\r\033[K{_line(session)}", nl=False)
    click.echo(("\r\033[K" if is_live else "") + f"{_line(session)}\n")
    return moments


def table(moments: list[Moment], kmeans_ari: float, k_true: int) -> str:
    """Return the table of what stood after 20, 40 and all answers."""
    header = ("", "answers", "groups", "ARI")
    stops = [n for n in MILESTONES if n < len(moments) - 1] + [len(moments) - 1]
    rows = [
        (
            "likewise" if n == stops[0] else "",
            str(moments[n].progress.answered),
            str(moments[n].progress.n_groups),
            f"{moments[n].ari:.2f}",
        )
        for n in stops
    ]
    rows.append((f"K-means, told K = {k_true}", "0", str(k_true), f"{kmeans_ari:.2f}"))
    lines = table_lines([header, *rows], right=range(1, len(header)))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _line(session: Session) -> str:
    now = session.progress
    return f"{plural(now.answered, 'answer')} · {plural(now.n_groups, 'group')}"


def _moment(session: Session, truth: NDArray[np.int64]) -> Moment:
    return Moment(session.progress, float(adjusted_rand_score(truth, session.labels)))
