"""Corrections of the result as links: moving items, merging, splitting and confirming groups.

`Mending` and `split` return the links of one gesture. A session takes them with
``overrules=True``: the person looks at the result, so these links overrule earlier answers that
contradict them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Link
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.items import Features
from likewise.project.groups import Group, groups_of, said_rows
from likewise.rows.threads import one_thread_each

N_ROUNDS = 20
"""The most rounds of power iteration for the widest direction, and of 2-means. Both usually need
fewer."""


class Mending:
    """Gestures on the groups of a session, as links."""

    def __init__(self, session: Session) -> None:
        self.links = session.links
        self.groups = groups_of(session)
        self.labels = session.labels
        self.answered = said_rows(session)

    def move(self, rows: Sequence[int], to: Group | None) -> list[Link]:
        """Return the links that put rows into a group, or, if that is None, into a new one."""
        if to is None:
            anchor, left = rows[0], self.groups
        else:
            found = self._anchor(to, rows)
            if found is None:
                raise InputError("all items of that group are selected: none is left to join")
            anchor = found
            sources = {int(self.labels[row]) for row in rows} - {int(self.labels[anchor])}
            left = [group for group in self.groups if group.label in sources]
        differing = [a for g in left if (a := self._anchor(g, rows)) is not None]
        return [
            *(Link(row, anchor, Answer.SAME) for row in rows if row != anchor),
            *(Link(anchor, other, Answer.DIFFERENT) for other in differing),
            *self._staying(rows),
        ]

    def take_out(self, rows: Sequence[int]) -> list[Link]:
        """Return the links that take rows out of their groups."""
        links = []
        for group in self.groups:
            inside = [row for row in rows if self.labels[row] == group.label]
            anchor = self._anchor(group, rows) if inside else None
            if inside and anchor is None:
                raise InputError("a whole group is selected: move it into another one instead")
            links += [Link(row, int(anchor or 0), Answer.DIFFERENT) for row in inside]
        return [*links, *self._staying(rows)]

    def merge(self, groups: Sequence[Group]) -> list[Link]:
        """Return the links that make several groups one, with all rows that answers are about."""
        wanted = {group.label for group in groups}
        if len(wanted) < 2:
            raise InputError("merging needs two groups or more")
        anchors = [a for g in groups if (a := self._anchor(g, ())) is not None]
        heads = {self.links.find(row): row for row in anchors}
        for row in (row for link in self.links for row in link.pair):
            if int(self.labels[row]) in wanted:
                heads.setdefault(self.links.find(row), row)
        first, *others = heads.values()
        return [Link(first, other, Answer.SAME) for other in others]

    def confirm(self, group: Group, right: Sequence[int], wrong: Sequence[int]) -> list[Link]:
        """Return the links that say which rows belong to a group and which do not."""
        if not set(right).isdisjoint(wrong):
            raise InputError("an item cannot be right and wrong in a group at once")
        anchor = self._anchor(group, wrong)
        if anchor is None:
            raise InputError("no item would be left in the group: move its items instead")
        return [
            *(Link(row, anchor, Answer.SAME) for row in right if row != anchor),
            *(Link(row, anchor, Answer.DIFFERENT) for row in wrong),
            *self._staying(wrong),
        ]

    def _anchor(self, group: Group, moved: Collection[int]) -> int | None:
        """Return a row that stays in a group, if possible one that answers put there."""
        is_inside = self.labels == group.label
        answered = (row for row in self.answered if is_inside[row])
        candidates = (*answered, *group.standing, *np.flatnonzero(is_inside).tolist())
        return next((row for row in candidates if row not in moved), None)

    def _staying(self, moved: Collection[int]) -> Iterator[Link]:
        """Return links that keep rows together that were joined only through the moved rows."""
        roots = {self.links.find(row) for row in moved}
        left: dict[int, list[int]] = {}
        for row in self.answered:
            root = self.links.find(row)
            if root in roots and row not in moved:
                left.setdefault(root, []).append(row)
        for first, *others in left.values():
            yield from (Link(first, other, Answer.SAME) for other in others)


def changed_rows(
    before: NDArray[np.intp], after: NDArray[np.intp], moved: Sequence[int] = ()
) -> NDArray[np.intp]:
    """Return the rows that changed groups when a person `moved` some of them.

    Each group is matched to the earlier one with which it shares most rows. Groups that share no
    moved row are matched first.
    """
    pairs = list(zip(before.tolist(), after.tolist(), strict=True))
    shared, n_moved = Counter(pairs), Counter(pairs[row] for row in moved)
    old_of: dict[int, int] = {}
    rank = {p: (n_moved[p] > 0, n_moved[p] - n, -n) for p, n in shared.items()}
    for old, new in sorted(shared, key=rank.__getitem__):
        if new not in old_of and old not in old_of.values():
            old_of[new] = old
    return np.flatnonzero(before != np.array([old_of.get(k, -1) for k in after.tolist()]))


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
    labels, askable = session.labels, session.askable
    fellows = askable[(labels[askable] == labels[row]) & (askable != row)]
    if len(fellows) == 0:
        raise InputError(f"row {row} stands alone already")
    if features.metric == "precomputed":
        distances = features.X[row, fellows]
    else:
        distances = np.linalg.norm(features.X[fellows] - features.X[row], axis=1)
    return int(fellows[np.argmin(distances)])


def split(parts: Sequence[Sequence[int]]) -> list[Link]:
    """Return the links that split a group into parts, given by rows; the largest keeps its id."""
    if len(parts) < 2 or not all(parts):
        raise InputError("splitting needs two parts, each with an item or more")
    if len(set(chain(*parts))) < sum(map(len, parts)):
        raise InputError("an item can be in one part only")
    parts = sorted(parts, key=len, reverse=True)
    return [
        *(Link(part[0], row, Answer.SAME) for part in parts for row in part[1:]),
        *(Link(b[0], a[0], Answer.DIFFERENT) for a, b in combinations(parts, 2)),
    ]


def parts_of(
    session: Session, features: Features, rows: NDArray[np.intp]
) -> list[NDArray[np.intp]]:
    """Return the two most likely parts of a list of rows, the larger first, answered rows first."""
    is_second = likeliest_parts(features, rows)
    order = np.argsort(~np.isin(rows, said_rows(session)), kind="stable")
    parts = [rows[order][is_second[order] == is_it] for is_it in (False, True)]
    return sorted(parts, key=len, reverse=True)


def likeliest_parts(features: Features, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which rows are in the second part, by 2-means or the two rows farthest apart."""
    if features.metric == "precomputed":
        D = features.X[np.ix_(rows, rows)]
        first, second = np.unravel_index(int(D.argmax()), D.shape)
        is_second: NDArray[np.bool_] = D[second] < D[first]
    else:
        with one_thread_each():
            is_second = _halves(features.X[rows].astype(np.float64))
    return ~is_second if len(is_second) and is_second[0] else is_second


def _halves(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are in the second half, by 2-means from a cut across the widest axis."""
    X -= X.mean(axis=0)
    axis = X[int((X**2).sum(axis=1).argmax())].copy()
    for _ in range(N_ROUNDS):
        axis = X.T @ (X @ axis)
        axis /= max(float(np.linalg.norm(axis)), 1e-300)
    is_second: NDArray[np.bool_] = X @ axis > 0
    for _ in range(N_ROUNDS):
        if is_second.all() or not is_second.any():
            break
        # Whether a row is nearer to the second center, without computing both distances.
        low, high = X[~is_second].mean(axis=0), X[is_second].mean(axis=0)
        before, is_second = is_second, X @ (high - low) > (high @ high - low @ low) / 2
        if np.array_equal(before, is_second):
            break
    return is_second
