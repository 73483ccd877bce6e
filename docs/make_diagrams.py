"""Draw pictures of the docs: python docs/make_diagrams.py docs/pictures."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import COBRA, LabelOracle, Likewise, open_items, run
from likewise.cli.aquarium import WATER, draw, school

mpl.use("Agg")
import matplotlib.pyplot as plt

N_ANSWERS = 20
"""How many right answers there are about the fish that swim in four places."""
COLORS = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#999999"])


def labels(folder: Path) -> None:
    """Draw what becomes of the same answers: cells, learned labels, and doubt."""
    wine = load_wine()
    X, y = minmax_scale(wine.data), wine.target
    flat = PCA(2).fit_transform(X)
    session = COBRA(25, random_state=0).start(X)
    run(session, LabelOracle(y))
    cells = COBRA(25).adopt(session)
    learned = COBRA(25, labels="learned").adopt(session, X=X)
    asked = run(Likewise(30, random_state=0).start(X), LabelOracle(y), max_queries=30)
    mine = Likewise().adopt(asked, X=X)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), constrained_layout=True)
    for axis, found, title in (
        (axes[0], cells, "by cells"),
        (axes[1], learned, "learned, same answers"),
    ):
        majority = [np.bincount(y[found.labels_ == k]).argmax() for k in range(found.n_clusters_)]
        wrong = np.array(majority)[found.labels_] != y
        axis.scatter(*flat.T, s=14, c=COLORS[found.labels_ % len(COLORS)], linewidths=0, alpha=0.5)
        axis.plot(*flat[wrong].T, "x", color="red", ms=7)
        axis.set_title(f"{title}: {wrong.sum()} of {len(y)} wrong")
    shown = axes[2].scatter(*flat.T, s=14, c=mine.doubts_, cmap="magma_r", vmin=0, linewidths=0)
    figure.colorbar(shown, ax=axes[2])
    axes[2].set_title("doubt of Likewise after 30 answers")
    for axis in axes:
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(folder / "how-it-works-labels.png", dpi=110)


def names_in(guide: str) -> dict[str, Any]:
    """Return the names that the Python of a guide defines."""
    names: dict[str, Any] = {}
    text = (Path(__file__).parent / "guide" / f"{guide}.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, names)
    return names


def answers_until_right(folder: Path, guide: str) -> None:
    """Draw how the groups of a guide become right, by running its Python."""
    names = names_in(guide)
    curve, right = names["curve"], names["until_right"]
    figure, axis = plt.subplots(figsize=(6, 3), constrained_layout=True)
    axis.plot(curve, color=COLORS[0])
    axis.axvline(right, color=COLORS[1], linestyle="--", label=f"right after {right} answers")
    axis.set(
        xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1.02), xlim=(0, len(curve) - 1)
    )
    axis.legend(loc="lower right", frameon=False)
    figure.savefig(folder / f"{guide}-answers.png", dpi=110)


def mending(folder: Path) -> None:
    """Draw the curves that the guide on mending computes."""
    names = names_in("mend")
    figure, axis = plt.subplots(figsize=(7, 4), constrained_layout=True)
    n_answers = 5 * np.arange(len(names["mended"]))
    axis.plot(n_answers, names["mended"], "o-", color=COLORS[0], label="from the groups of HDBSCAN")
    axis.plot(n_answers, names["nothing"], "o-", color=COLORS[1], label="from nothing")
    alone = adjusted_rand_score(names["y"], names["before"])
    axis.axhline(alone, color=COLORS[4], ls=":", label="the labels of HDBSCAN alone")
    axis.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1))
    axis.legend()
    figure.savefig(folder / "mend.png", dpi=110)


def swimming() -> tuple[list[Image.Image], NDArray[np.intp]]:
    """Return the fish of the demo, each in one of the corners of its picture, and which corner."""
    rng = np.random.default_rng(0)
    corners = rng.permutation(np.arange(len(school())) % 4)
    pictures = []
    for fish, corner in zip(school(), corners.tolist(), strict=True):
        picture = Image.new("RGB", (224, 224), WATER)
        x, y = (68 * part + int(rng.integers(-6, 7)) for part in (corner % 2, corner // 2))
        picture.paste(draw(fish).resize((156, 156)), (x, y))
        pictures.append(picture)
    return pictures, corners


def by_two_aspects(folder: Path) -> None:
    """Draw the same fish as two people group them, by what they are and by where they swim."""
    pictures, corners = swimming()
    items = open_items(pictures, kind="images")
    kinds = np.unique([fish.kind for fish in school()], return_inverse=True)[1]
    # Five of each kind and five of each corner, which say nothing about each other.
    both = [np.flatnonzero((kinds == k) & (corners == m)) for k in range(4) for m in range(4)]
    shown = sorted(i for k, found in enumerate(both) for i in found[: 1 + (k % 5 == 0)].tolist())
    panels = plt.figure(figsize=(11, 4.9), constrained_layout=True).subfigures(1, 2, wspace=0.06)
    for panel, truth, meant in (
        (panels[0], kinds, "which fish it is"),
        (panels[1], corners, "where it swims"),
    ):
        session = Likewise(N_ANSWERS, random_state=0).start(items)
        run(session, LabelOracle(truth))
        groups = [[i for i in shown if session.labels[i] == k] for k in range(session.n_groups)]
        axes = panel.subplots(len(groups), max(map(len, groups)), squeeze=False)
        for axis in axes.flat:
            axis.axis("off")
        for row, group in zip(axes, groups, strict=True):
            for axis, i in zip(row, group, strict=False):
                axis.imshow(pictures[i])
        panel.suptitle(f"{N_ANSWERS} answers by {meant}: {session.grouped_by}")
    figure = panels[0].figure
    figure.savefig(folder / "sees-aspects.png", dpi=100)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    labels(target)
    answers_until_right(target, "entities")
    answers_until_right(target, "names")
    mending(target)
    by_two_aspects(target)
