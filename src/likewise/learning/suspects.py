"""Answers that are worth a second look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer
from likewise.core.reports import Suspect


def surprising_answers(
    log: Iterable[tuple[int, int, Answer]], chances: Mapping[int, NDArray[np.float64]]
) -> list[Suspect]:
    """Return the answers that are less likely than not, the least credible first.

    Parameters
    ----------
    log : iterable of (int, int, Answer)
        All answers.
    chances : mapping of int to ndarray
        For rows whose group is known, how likely they are in each group by what is known of the
        others.

    Examples
    --------
    >>> import numpy as np
    >>> chances = {0: np.array([0.9, 0.1]), 1: np.array([0.2, 0.8])}
    >>> log = [(0, 1, Answer.SAME), (0, 2, Answer.SAME)]
    >>> [(s.number, round(s.credibility, 2)) for s in surprising_answers(log, chances)]
    [(1, 0.26)]
    """
    found = []
    for k, (left, right, answer) in enumerate(log):
        if answer.is_link and left in chances and right in chances:
            same = float(chances[left] @ chances[right])
            right_by = same if answer is Answer.SAME else 1.0 - same
            if right_by < 0.5:
                found.append(Suspect(k + 1, left, right, answer, right_by))
    return sorted(found, key=lambda suspect: (suspect.credibility, suspect.number))
