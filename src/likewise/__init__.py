"""Clustering by asking: a few answers to "do these belong together?" become a grouping."""

from typing import TYPE_CHECKING

from likewise.lazy import lazily

if TYPE_CHECKING:
    from likewise.cluster import COBRA, Likewise
    from likewise.core.answers import Answer, Gesture, Link, Question
    from likewise.core.session import Session
    from likewise.errors import LikewiseError
    from likewise.items import open_items
    from likewise.lab.baselines import COSC, MPCKMeans
    from likewise.lab.selection import NPU, MinMax, Random
    from likewise.oracles import (
        BudgetedOracle,
        CallbackOracle,
        LabelOracle,
        NoisyOracle,
        ReplayOracle,
        TerminalOracle,
        run,
    )

__all__ = [
    "COBRA",
    "COSC",
    "NPU",
    "Answer",
    "BudgetedOracle",
    "CallbackOracle",
    "Gesture",
    "LabelOracle",
    "Likewise",
    "LikewiseError",
    "Link",
    "MPCKMeans",
    "MinMax",
    "NoisyOracle",
    "Question",
    "Random",
    "ReplayOracle",
    "Session",
    "TerminalOracle",
    "open_items",
    "run",
]
__version__ = "0.3.0"

_HOMES = {
    "cluster": ("COBRA", "Likewise"),
    "core.answers": ("Answer", "Gesture", "Link", "Question"),
    "core.session": ("Session",),
    "errors": ("LikewiseError",),
    "items": ("open_items",),
    "oracles": (
        "BudgetedOracle",
        "CallbackOracle",
        "LabelOracle",
        "NoisyOracle",
        "ReplayOracle",
        "TerminalOracle",
        "run",
    ),
    "lab.baselines": ("COSC", "MPCKMeans"),
    "lab.selection": ("NPU", "MinMax", "Random"),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
