"""What can be observed of a session, and what the laws check in it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Link, Question
from likewise.core.journal import Revised
from likewise.core.links import LinkGraph, add_links
from likewise.core.session import Session
from likewise.errors import ContradictionError


def visible(session: Session) -> dict[str, Any]:
    """Return all that can be seen of a session."""
    doubts = session.assessment.doubts()
    return {
        "question": session.ask(),
        "progress": session.progress,
        "events": session.events,
        "log": session.log,
        "labels": session.labels.tolist(),
        "guess": session.labels_guess.tolist(),
        "open": session.open_pairs,
        "links": session.links.closure(),
        "names": session.names,
        "marks": session.marks,
        "checks": session.checks,
        "agreement": session.agreement,
        "completeness": session.completeness,
        "suspects": session.suspects,
        "doubts": None if doubts is None else doubts.tolist(),
        "n_asked": session.n_asked,
    }


def check_labels(session: Session) -> None:
    """Check that labels are numbered from 0 and respect every answer that was not overruled."""
    links, labels, guess = session.links, session.labels, session.labels_guess
    for groups in (labels, guess):
        assert groups.shape == (session.strategy.n_rows,)
        assert np.array_equal(np.unique(groups), np.arange(groups.max() + 1))
        for link in links:
            assert (groups[link.left] == groups[link.right]) == (link.answer is Answer.SAME), link
    there = np.delete(labels, sorted(session.removed))
    assert session.progress.n_groups == len(np.unique(there))
    for link in (link for gesture in session.events for link in gesture.links):
        is_kept = not link.answer.is_link or links.implied(*link.pair) is link.answer
        assert is_kept, f"{link} was overruled"


def rows_of(question: Question) -> set[int]:
    """Return all rows that a question shows."""
    return {question.row, *(row for group in question.groups for row in group)}


def is_settled(session: Session) -> bool:
    """Return whether something is known about every two rows that may be asked about."""
    pairs = combinations(session.askable.tolist(), 2)
    return all(session.links.implied(left, right) is not None for left, right in pairs)


def groups_at_random(n: int, seed: int) -> NDArray[np.intp]:
    """Return up to three groups at random."""
    return np.random.default_rng(seed).integers(0, 3, n).astype(np.intp)


def is_same_grouping(labels: NDArray[np.intp], others: NDArray[np.intp]) -> bool:
    """Return whether two labelings are the same up to the numbers of the groups."""
    pairs = np.unique(np.stack([labels, others]), axis=1).shape[1]
    return bool(pairs == len(np.unique(labels)) == len(np.unique(others)))


def certain_links(session: Session) -> list[Link]:
    """Return the links that are certain, and that no later one contradicts."""
    certain: list[tuple[Link, ...]] = []
    for entry in session.log:
        if isinstance(entry, Gesture) and entry.is_certain:
            certain.append(entry.links)
        elif isinstance(entry, Revised):
            pairs = {link.pair for link in entry.links}
            others = [links for links in certain if pairs.isdisjoint(link.pair for link in links)]
            if len(others) < len(certain):
                certain = [*others, entry.links]
    newest_first: list[Link] = []
    for links in reversed(certain):
        if not fit_together([*newest_first, *links]):
            break
        newest_first += [link for link in links if link.answer.is_link]
    return newest_first


def fit_together(links: Iterable[Link]) -> bool:
    """Return whether no links contradict others."""
    definite = [link for link in links if link.answer.is_link]
    try:
        add_links(LinkGraph(1 + max((max(link.pair) for link in definite), default=0)), definite)
    except ContradictionError:
        return False
    return True
