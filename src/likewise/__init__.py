"""Clustering by asking: a few answers to "do these belong together?" become a grouping."""

from likewise.cluster import COBRA, COSC, Likewise, MPCKMeans
from likewise.core.answers import Answer, Event, Query
from likewise.core.session import Session
from likewise.errors import LikewiseError
from likewise.oracles import (
    BudgetedOracle,
    CallbackOracle,
    LabelOracle,
    NoisyOracle,
    ReplayOracle,
    TerminalOracle,
    run,
)
from likewise.selection import NPU, MinMax, Random

__all__ = [
    "COBRA",
    "COSC",
    "NPU",
    "Answer",
    "BudgetedOracle",
    "CallbackOracle",
    "Event",
    "LabelOracle",
    "Likewise",
    "LikewiseError",
    "MPCKMeans",
    "MinMax",
    "NoisyOracle",
    "Query",
    "Random",
    "ReplayOracle",
    "Session",
    "TerminalOracle",
    "run",
]
__version__ = "0.1.0"
