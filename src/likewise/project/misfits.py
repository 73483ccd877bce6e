"""Items that do not seem to fit their group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.items import Features


def answers_behind(session: Session, row: int) -> list[int]:
    """Return the numbers of the answers by which a row is in one group with others."""
    implied = session.links.implied
    return [
        gesture.number
        for gesture in session.events
        for link in gesture.links
        if link.answer is Answer.SAME and row in (link.left, link.right)
        if implied(link.left, link.right) is Answer.SAME
    ]


def nearest_fellow(session: Session, features: Features, row: int) -> int:
    """Return the nearest row of the same group that can be asked about."""
    labels, askable = session.labels, session.strategy.askable()
    fellows = askable[(labels[askable] == labels[row]) & (askable != row)]
    if len(fellows) == 0:
        raise InputError(f"row {row} stands alone already")
    return int(fellows[np.argmin(_distances(features.X, row, fellows, features.metric))])


def _distances(
    X: NDArray[Any], row: int, rows: NDArray[np.intp], metric: str
) -> NDArray[np.float64]:
    away = X[row, rows] if metric == "precomputed" else np.linalg.norm(X[rows] - X[row], axis=1)
    return np.asarray(away)
