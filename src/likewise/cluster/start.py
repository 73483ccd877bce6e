"""How rows become a session: the one place where that happens.

The estimators' ``start`` and ``fit``, the page, the command line and the laboratory all call
`start_session`. It decides which rows are asked about and passes them to the strategy with what is
known about them. It needs no scikit-learn, so that a page opens quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.cluster.constraints import Pairs, checked_links, checked_pairs, checked_train_rows
from likewise.core.answers import Answer
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.learning.given import number_groups
from likewise.rows.sample import draw_rows
from likewise.rows.source import ArrayRows
from likewise.words import check_text


class Source(Protocol):
    """What rows are taken from: `likewise.rows.source.Rows`, or candidate pairs in their place."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def take(self, numbers: NDArray[np.intp] | None) -> Any:
        """Return the rows of some numbers, which increase; None for all."""


def start_session(
    data: NDArray[Any] | Source,
    begin: Callable[..., Strategy],
    *,
    seed: int,
    train_indices: ArrayLike | None = None,
    sample_ids: Sequence[Hashable] | None = None,
    must_link: Pairs = (),
    cannot_link: Pairs = (),
    row_labels: Sequence[Any] | None = None,
    groups: ArrayLike | None = None,
    group_names: Sequence[str] = (),
    takes_sample: bool = False,
    max_queries: int | None = None,
    read: Callable[[Any, NDArray[np.intp] | None], Any] | None = None,
) -> tuple[Session, Any]:
    """Return a session about rows, and the rows it is about: a sample if there are many.

    Parameters
    ----------
    data : ndarray of shape (n_rows, n_features), Source or Candidates
        The rows, or the pairs that may be asked about; checked by the caller or by `read`.
    begin : callable
        Makes the strategy, as `Strategy.from_rows` does: called with the rows and with
        `train_indices`, `seed` and, if there are groups, `given` and `given_labels`.
    seed : int
        Decides which rows are the sample, and everything random in the strategy.
    train_indices : array-like of int, optional
        The rows that may be asked about. By default all.
    sample_ids : sequence of hashable, optional
        Names of the rows. Those of a sample are numbers in the data if there are no others.
    must_link, cannot_link : pairs of int or of labels
        Links that are certain; `row_labels` are the labels, by default `sample_ids`.
    groups : array-like of shape (n_rows,), optional
        Labels of the groups that are given: a belief.
    group_names : sequence of str
        Names of groups known beforehand, with or without rows in `groups`.
    takes_sample : bool
        Whether a sample of many rows is asked about, not all of them.
    max_queries : int, optional
        The budget of the session.
    read : callable, optional
        Called with the data and the numbers of rows, or None for all, to take and check them.

    Examples
    --------
    >>> from likewise.strategies import ClosestFirst
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> session, rows = start_session(X, ClosestFirst.from_rows, seed=0, cannot_link=[(0, 2)])
    >>> question = session.ask()
    >>> question.left, question.right, len(rows)
    (0, 1, 3)
    """
    source: Source = ArrayRows(data) if isinstance(data, np.ndarray) else data
    n_rows = source.n_rows
    train = checked_train_rows(train_indices, n_rows)
    labels = sample_ids if row_labels is None else row_labels
    must = checked_pairs(n_rows, must_link, "must_link", labels)
    cannot = checked_pairs(n_rows, cannot_link, "cannot_link", labels)
    checked_links(n_rows, must, cannot)  # which names rows by their numbers in the data
    numbers = None
    if takes_sample:
        linked = np.concatenate([must.ravel(), cannot.ravel()])
        numbers = draw_rows(n_rows, seed, train=train, linked=linked.tolist())
    rows = source.take(numbers) if read is None else read(source, numbers)
    given = None if groups is None else number_groups(groups, n_rows)
    if numbers is not None:
        given = None if given is None else (given[0][numbers], given[1])
        must, cannot = np.searchsorted(numbers, must), np.searchsorted(numbers, cannot)
        train = None if train is None else np.flatnonzero(np.isin(numbers, train))
        sample_ids = _ids_in_sample(numbers, sample_ids, n_rows)
    beliefs: Any = {} if given is None else {"given": given[0], "given_labels": given[1]}
    labeled = () if given is None else given[1]
    if names := [name for name in checked_names(group_names) if name not in labeled]:
        beliefs["group_names"] = names
    session = Session(
        begin(rows, train_indices=train, seed=seed, **beliefs),
        sample_ids=sample_ids,
        digest=fingerprint(rows),
        row_numbers=numbers,
        max_queries=max_queries,
    )
    for pairs, answer in ((must, Answer.SAME), (cannot, Answer.DIFFERENT)):
        for left, right in pairs.tolist():
            session.add_link(left, right, answer)
    return session, rows


def checked_names(names: Any) -> list[str]:
    """Return names of groups without white space around them; refuse values that are not names."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"group_names are several names, as ['cats', 'dogs'], got {names!r}")
    texts = [check_text(name, "a name of a group").strip() for name in names]
    if "" in texts:
        raise InputError("group_names: an empty text is not the name of a group")
    for name in texts:
        if texts.count(name) > 1:
            raise InputError(f"group_names has {name!r} twice")
    return texts


def _ids_in_sample(
    numbers: NDArray[np.intp], ids: Sequence[Hashable] | None, n_rows: int
) -> list[Hashable]:
    """Return the ids of the rows of a sample: those given, or their numbers in the data."""
    if ids is None:
        return list(numbers.tolist())
    if len(ids) != n_rows:
        raise InputError(f"sample_ids has {len(ids)} ids, but the data has {n_rows} rows")
    return [ids[k] for k in numbers.tolist()]


def drawn_seed(random_state: int) -> int:
    """Return the seed that estimators draw from a number given as `random_state`."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1))
