"""The 21 tasks of the paper: what they are, where they come from, what they must look like."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from likewise.errors import InputError

CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class Task:
    """One of the paper's tasks."""

    name: str
    kind: Literal["table", "faces", "newsgroups"]
    file: str
    uci: int  # its number at UCI; 0 for newsgroups
    citation: str
    license: str = CC_BY
    target: str = "target"  # of faces: person, pose, expression or eyes
    groups: tuple[str, ...] = ()  # of newsgroups
    pick: tuple[str, ...] = ()  # labels whose rows belong to the task; none means all
    drop: tuple[str, ...] = ()  # columns in which too many values are missing

    @property
    def origin(self) -> str:
        """Where it comes from, in a few words."""
        return f"UCI {self.uci}" if self.uci else "20 newsgroups, bydate"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, features and classes after preprocessing (for faces, with pixels as features)."""
        rows, features, classes = expectations()["tasks"][self.name]
        return rows, features, classes


def _uci(authors: str, year: int, title: str, doi: str) -> str:
    return f"{authors} ({year}). {title} [Dataset]. UCI Machine Learning Repository. {doi}"


def _table(
    name: str,
    uci: int,
    authors: str,
    year: int,
    title: str,
    doi: str,
    *,
    file: str = "",
    pick: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
) -> Task:
    citation = _uci(authors, year, title, f"https://doi.org/10.24432/{doi}")
    return Task(name, "table", file or f"{name}.csv", uci, citation, pick=pick, drop=drop)


def _faces(target: str, name: str) -> Task:
    citation = _uci("Mitchell, T.", 1999, "CMU Face Images", "https://doi.org/10.24432/C5JC79")
    return Task(name, "faces", "cmu_faces.npz", 124, citation, target=target)


def _newsgroups(name: str, *groups: str) -> Task:
    return Task(
        name,
        "newsgroups",
        "newsgroups20.jsonl.gz",
        0,
        "Lang, K. (1995). NewsWeeder: Learning to filter netnews. Proceedings of the 12th "
        "International Conference on Machine Learning, 331-339.",
        license="none stated",
        groups=groups,
    )


_TASKS = (
    _table("iris", 53, "Fisher, R.", 1936, "Iris", "C56C76"),
    _table("wine", 109, "Aeberhard, S. & Forina, M.", 1992, "Wine", "C5PC7J"),
    _table("dermatology", 33, "Ilter, N. & Guvenir, H.", 1998, "Dermatology", "C5FK5P"),
    _table("hepatitis", 46, "Anonymous", 1983, "Hepatitis", "C5Q59J", drop=("protime",)),
    _table("glass", 42, "German, B.", 1987, "Glass Identification", "C5WW2P"),
    _table("ionosphere", 52, "Sigillito, V. et al.", 1989, "Ionosphere", "C5W01B"),
    _table(
        "optdigits389",
        80,
        "Alpaydin, E. & Kaynak, C.",
        1998,
        "Optical Recognition of Handwritten Digits",
        "C50P49",
        file="optdigits_tra.csv",
        pick=("3", "8", "9"),
    ),
    _table("ecoli", 39, "Nakai, K.", 1996, "Ecoli", "C5388M"),
    _table(
        "breast-cancer-wisconsin",
        15,
        "Wolberg, W.",
        1990,
        "Breast Cancer Wisconsin (Original)",
        "C5HP4Z",
    ),
    _table("segmentation", 50, "Anonymous", 1990, "Image Segmentation", "C5GP4N"),
    _table("column_2C", 212, "Barreto, G. & Neto, A.", 2005, "Vertebral Column", "C5K89B"),
    _table("parkinsons", 174, "Little, M.", 2007, "Parkinsons", "C59C74"),
    _table("spambase", 94, "Hopkins, M. et al.", 1999, "Spambase", "C53G6X"),
    _table(
        "sonar",
        151,
        "Sejnowski, T. & Gorman, R.",
        1988,
        "Connectionist Bench (Sonar, Mines vs. Rocks)",
        "C5T01Q",
    ),
    _table("yeast", 110, "Nakai, K.", 1996, "Yeast", "C5KG68"),
    _faces("person", "faces-identity"),
    _faces("pose", "faces-pose"),
    _faces("expression", "faces-expression"),
    _faces("eyes", "faces-eyes"),
    _newsgroups("newsgroups-diff3", "alt.atheism", "rec.sport.baseball", "sci.space"),
    _newsgroups("newsgroups-sim3", "comp.graphics", "comp.os.ms-windows.misc", "comp.windows.x"),
)
TASKS = {task.name: task for task in _TASKS}


def task_names() -> list[str]:
    """Return the names of the paper's 21 tasks, in the paper's order.

    Examples
    --------
    >>> from likewise.lab.datasets import task_names
    >>> len(task_names()), task_names()[:3]
    (21, ['iris', 'wine', 'dermatology'])
    """
    return list(TASKS)


def find_task(name: str) -> Task:
    """Return the task of that name, or raise with the names there are."""
    try:
        return TASKS[name]
    except (KeyError, TypeError):
        raise InputError(f"There is no task {name!r}. The tasks are: {', '.join(TASKS)}.") from None


@cache
def expectations() -> dict[str, Any]:
    """Return what the files and the tasks must look like, as committed with the code."""
    text = files("likewise.lab.datasets").joinpath("expected.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
