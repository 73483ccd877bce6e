"""`likewise demo`: questions about an aquarium on the page, or a simulated person who answers."""

from __future__ import annotations

import base64
import io
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise.cli.aquarium import N_FISH, write_aquarium, write_fish
from likewise.cluster import Likewise
from likewise.core.reports import Progress
from likewise.core.session import Session
from likewise.files import cache_folder, write_whole
from likewise.oracles import LabelOracle, run
from likewise.words import plural, table_lines

ANSWERS = 60
"""How many answers the simulated person gives."""
MILESTONES = (20, 40)
"""The table also has the state after these numbers of answers."""
SHOWN_PER_GROUP = 48
"""How many pictures of a group the page with the result shows."""
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

    The page needs a screen and the packages of `likewise[app]`. Without them, and with --auto, a
    simulated person groups 1797 handwritten digits. On a machine without a screen, --no-browser
    serves the page all the same, for a browser elsewhere (ssh -L).
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


def show(output: Path, seed: int) -> None:
    """Let a simulated person group digits; write a table and a page with the result."""
    digits = load_digits()
    X, y = digits.data / 16, digits.target
    # Ink is 16 in the file; on a screen it is black.
    images = np.rint((16 - digits.images) * (255 / 16)).astype(np.uint8)
    click.echo(
        f"{len(X)} pictures of handwritten digits. A simulated person answers "
        "“to which of these groups does it belong?”"
    )
    session = Likewise(max_queries=ANSWERS, questions="choices", random_state=seed).start(X)
    moments = play(session, y)
    k_true = len(digits.target_names)
    kmeans = KMeans(k_true, n_init=10, random_state=seed).fit_predict(X)
    kmeans_ari = float(adjusted_rand_score(y, kmeans))
    click.echo(table(moments, kmeans_ari, k_true))
    if find_spec("PIL") is None:
        click.echo('\nA page with the groups in pictures needs pip install "likewise[app]".')
        return
    chart = _chart([ari for _, ari in moments], kmeans_ari, k_true)
    write_whole(output, _page(images, session, chart))
    click.echo(f"\nThe groups in pictures: {output.resolve()}")


def play(session: Session, truth: NDArray[np.int64]) -> list[tuple[Progress, float]]:
    """Answer a session by labels; return progress and ARI before the first answer, after each."""
    oracle = LabelOracle(truth)

    def moment() -> tuple[Progress, float]:
        return session.progress, float(adjusted_rand_score(truth, session.labels))

    moments = [moment()]
    with click.progressbar(length=ANSWERS, show_pos=True) as bar:
        while not session.is_done:
            run(session, oracle, max_queries=1)
            moments.append(moment())
            bar.update(1)
    return moments


def table(moments: list[tuple[Progress, float]], kmeans_ari: float, k_true: int) -> str:
    """Return the table of the states after 20, 40 and all answers."""
    rows = [("", "answers", "groups", "ARI")]
    stops = [n for n in MILESTONES if n < len(moments) - 1] + [len(moments) - 1]
    for n in stops:
        now, ari = moments[n]
        name = "likewise" if n == stops[0] else ""
        rows.append((name, str(now.answered), str(now.n_groups), f"{ari:.2f}"))
    rows.append((f"K-means, told K = {k_true}", "0", str(k_true), f"{kmeans_ari:.2f}"))
    lines = table_lines(rows, right=range(1, len(rows[0])))
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _page(images: NDArray[np.uint8], session: Session, chart: str) -> str:
    """Return the page with the result: one file, no script, nothing fetched."""
    labels = session.labels
    asked = np.unique([row for event in session.events for row in event.rows])
    stands = np.isin(np.arange(len(labels)), asked)
    sizes = np.bincount(labels)
    groups: list[str] = []
    for group in np.argsort(-sizes, kind="stable"):
        members = np.flatnonzero(labels == group)
        members = members[np.argsort(~stands[members], kind="stable")][:SHOWN_PER_GROUP]
        source = base64.b64encode(_contact_sheet(images[members])).decode()
        number = len(groups) + 1
        groups.append(
            f"<section><h3>Group {number} <span>{plural(int(sizes[group]), 'picture')}</span></h3>"
            f'<img alt="Pictures of group {number}" src="data:image/png;base64,{source}"></section>'
        )
    page = Template(files("likewise.cli").joinpath("demo.html").read_text("utf-8"))
    return page.substitute(
        n_images=len(labels),
        n_groups=len(sizes),
        answered=session.progress.answered,
        asked=len(asked),
        shown=SHOWN_PER_GROUP,
        chart=chart,
        groups="\n".join(groups),
    )


def _chart(curve: list[float], kmeans_ari: float, k_true: int) -> str:
    """Return the ARI after every answer as bars, with K-means as a dashed line across them."""
    bars = "".join(f'<i style="height: {max(0, 100 * ari):.1f}%"></i>' for ari in curve)
    ticks = "".join(f"<span>{n}</span>" for n in range(0, len(curve), 20))
    return (
        f'<div class="chart" role="img" aria-label="ARI by number of answers, from {curve[0]:.2f} '
        f'to {curve[-1]:.2f}; K-means {kmeans_ari:.2f}"><div class="bars">{bars}</div>'
        f'<div class="peer" style="bottom: {100 * kmeans_ari:.1f}%">'
        f"<span>K-means, told K = {k_true}: {kmeans_ari:.2f}</span></div></div>"
        f'<div class="ticks" aria-hidden="true">{ticks}</div>'
        f"<p>After {len(curve) - 1} answers: <b>{curve[-1]:.2f}</b></p>"
    )


def _contact_sheet(images: NDArray[np.uint8], columns: int = 12, gap: int = 1) -> bytes:
    """Return small gray pictures side by side as one PNG."""
    from PIL import Image

    n, height, width = images.shape
    size = columns * (width + gap) - gap, -(-n // columns) * (height + gap) - gap
    sheet = Image.new("L", size, 255)
    for k, image in enumerate(images):
        place = (k % columns) * (width + gap), (k // columns) * (height + gap)
        sheet.paste(Image.fromarray(image), place)
    file = io.BytesIO()
    sheet.save(file, "png")
    return file.getvalue()
