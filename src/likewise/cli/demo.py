"""`likewise demo`: questions about an aquarium on the page, or a simulated person who answers."""

from __future__ import annotations

import base64
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from likewise.cli.aquarium import N_FISH, WATER, school, write_aquarium, write_fish
from likewise.cluster import Likewise
from likewise.files import cache_folder, write_whole
from likewise.items import Items, open_items
from likewise.oracles import LabelOracle, run
from likewise.words import table_lines

if TYPE_CHECKING:
    from PIL import Image

ANSWERS = 40
"""How many answers the simulated person gives for each grouping."""
MILESTONES = (10, 20, ANSWERS)
"""The table has the state after these numbers of answers."""
WAYS = ("kind", "color", "pattern")
"""What the simulated person has in mind, one after another."""
TILE, COLUMNS = 104, 6
"""Pixels of a fish on the page with the result, and how many are side by side."""
PACKAGES = ("starlette", "uvicorn", "PIL")
"""What the page needs; all of it comes with `likewise[app]`."""


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("likewise-demo.html"),
    show_default=True,
    help="Where to write the page with the result.",
)
@click.option("--seed", default=0, show_default=True, help="Another number asks differently.")
@click.option("--auto", is_flag=True, help="Do not ask me: let a simulated person answer.")
@click.option("--no-browser", is_flag=True, help="Serve the page, and only print its address.")
def demo(output: Path, seed: int, auto: bool, no_browser: bool) -> None:
    """Answer questions about pictures on a page, or see a simulated person do it.

    The page needs a screen. Without one, and with --auto, a simulated person groups the same fish
    three times: by kind, by color, by pattern. On a machine without a screen, --no-browser serves
    the page all the same, for a browser elsewhere (ssh -L).
    """
    if auto and no_browser:
        raise click.UsageError("--auto asks nobody, --no-browser asks you: give only one of them")
    has_page = all(find_spec(name) for name in PACKAGES)
    has_browser = has_screen(os.environ, sys.platform) and has_page
    if no_browser or (has_browser and not auto):
        ask_on_page(opens=not no_browser)
    else:
        show(output, seed)
    click.echo(
        "Now with your own: likewise label FOLDER-OF-PICTURES (or a .csv, .jsonl, .npy file)."
    )


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Return whether a browser can be opened."""
    if platform in {"darwin", "win32"}:
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def ask_on_page(*, opens: bool = True) -> None:
    """Ask on the page about fish, which the program draws."""
    from likewise.cli.served import ServedPage
    from likewise.project import open_project

    folder = cache_folder() / "demo" / "aquarium"
    write_fish(folder, 0)  # an empty folder would be refused
    click.echo(f"{N_FISH} fish. By kind, color or pattern: you decide what belongs together.")
    with ServedPage(str(folder), "127.0.0.1", None, (), opens=opens) as page:

        def start(path: Path) -> None:
            page.start(path)  # at once, so that nobody waits for the fish to be drawn
            write_aquarium(folder, lambda done, of: page.progress("Drawing fish", done, of))

        opened = open_project(folder, checked=start, progress=page.progress)
        with closing(opened.project):
            page.show(opened.project)
    click.echo(f"Your answers are in {opened.path}.")


@dataclass(frozen=True)
class Grouping:
    """One grouping that the simulated person had in mind, and how well it was found.

    Attributes
    ----------
    way : str
        What the person looked at.
    curve : sequence of float
        The adjusted Rand index after every answer, from 0 answers on.
    labels : ndarray of int
        The group of every fish in the end.
    k_true : int
        How many groups the person had in mind.
    kmeans : float
        The adjusted Rand index of K-means, which is told this number.
    """

    way: str
    curve: Sequence[float]
    labels: NDArray[np.intp]
    k_true: int
    kmeans: float


def show(output: Path, seed: int) -> None:
    """Let a simulated person group the fish in three ways; write a table and a page of them."""
    click.echo(
        f"{N_FISH} fish, drawn by the program. A simulated person answers “Where does it belong?”, "
        f"{ANSWERS} times for each of three groupings.\n"
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_aquarium(folder)
        items = open_items(folder)
        with click.progressbar(WAYS) as ways:
            groupings = [play(items, way, seed) for way in ways]
        click.echo(table(groupings))
        write_whole(output, _page(folder, groupings))
    click.echo(f"\nThe groups in pictures: {output.resolve()}")


def play(items: Items, way: str, seed: int) -> Grouping:
    """Group the fish by answers about their kind, color or pattern; return how that went."""
    truth = np.unique([getattr(fish, way) for fish in school()], return_inverse=True)[1]
    k_true = len(np.unique(truth))
    session = Likewise(max_queries=ANSWERS, random_state=seed).start(items)
    curve = [0.0]
    while not session.is_done:
        run(session, LabelOracle(truth), max_queries=1)
        curve.append(float(adjusted_rand_score(truth, session.labels)))
    guess = KMeans(k_true, n_init=10, random_state=seed).fit_predict(items.features().X)
    return Grouping(way, curve, session.labels, k_true, float(adjusted_rand_score(truth, guess)))


def table(groupings: Sequence[Grouping]) -> str:
    """Return a table of how well each of the three groupings was found."""
    rows = [("ARI after answers", *map(str, MILESTONES), "groups", "K-means, told their number")]
    for grouping in groupings:
        curve = [f"{grouping.curve[min(n, len(grouping.curve) - 1)]:.2f}" for n in MILESTONES]
        n_groups = str(len(np.unique(grouping.labels)))
        rows.append((f"by {grouping.way}", *curve, n_groups, f"{grouping.kmeans:.2f}"))
    lines = table_lines(rows, right=range(1, len(rows[0])))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _page(folder: Path, groupings: Sequence[Grouping]) -> str:
    """Return the page with the result: one file, no script, nothing fetched."""
    from PIL import Image

    fish = [Image.open(path).resize((TILE, TILE)) for path in sorted(folder.glob("*.png"))]
    parts: list[str] = []
    for grouping in groupings:
        cards: list[str] = []
        sizes = np.bincount(grouping.labels)
        for group in np.argsort(-sizes, kind="stable"):
            members = np.flatnonzero(grouping.labels == group)
            source = base64.b64encode(_sheet([fish[i] for i in members])).decode()
            cards.append(
                f"<section><h3>{len(members)} fish</h3>"
                f'<img alt="A group by {grouping.way}" src="data:image/png;base64,{source}">'
                "</section>"
            )
        parts.append(
            f'<h2>By {grouping.way}</h2>{_chart(grouping)}<div class="groups">'
            f"{''.join(cards)}</div>"
        )
    page = Template(files("likewise.cli").joinpath("demo.html").read_text("utf-8"))
    return page.substitute(n_fish=len(fish), answers=ANSWERS, groupings="\n".join(parts))


def _chart(grouping: Grouping) -> str:
    """Return the ARI after every answer as bars, with K-means as a dashed line across them."""
    curve, kmeans = grouping.curve, grouping.kmeans
    bars = "".join(f'<i style="height: {max(0, 100 * ari):.1f}%"></i>' for ari in curve)
    ticks = "".join(f"<span>{n}</span>" for n in range(0, len(curve), 10))
    return (
        f'<div class="chart" role="img" aria-label="ARI by number of answers, from {curve[0]:.2f} '
        f'to {curve[-1]:.2f}; K-means {kmeans:.2f}"><div class="bars">{bars}</div>'
        f'<div class="peer" style="bottom: {max(0, 100 * kmeans):.1f}%"></div></div>'
        f'<div class="ticks" aria-hidden="true">{ticks}</div>'
        f'<p class="soft">ARI by number of answers: <b>{curve[-1]:.2f}</b> after {len(curve) - 1}. '
        f"Dashed: K-means, which is told that there are {grouping.k_true} groups, {kmeans:.2f}</p>"
    )


def _sheet(pictures: Sequence[Image.Image]) -> bytes:
    """Return pictures side by side as one PNG."""
    from PIL import Image

    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * TILE, rows * TILE), WATER)
    for k, picture in enumerate(pictures):
        sheet.paste(picture, (k % COLUMNS * TILE, k // COLUMNS * TILE))
    file = io.BytesIO()
    sheet.quantize(128).save(file, "png", optimize=True)
    return file.getvalue()
