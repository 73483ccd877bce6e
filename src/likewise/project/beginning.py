"""How a session begins: what asks, and about which items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.core.candidates import Candidates
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError
from likewise.items import Features, Items
from likewise.learning.given import number_groups
from likewise.rows.sample import draw_rows
from likewise.strategies import CandidatePairs
from likewise.strategies.most_doubt import MAX_GROUPS

QUESTIONS: dict[str, dict[str, int]] = {"choices": {}, "pairs": {"max_groups": 1}}
"""What `Likewise` may ask, the default first, and the options of its strategy for it."""

Say = Callable[[str], None]
"""Called with one line for everything that is worth knowing."""
Step = Callable[[str, int, int], None]
"""Called with a step of the opening, and how much of it is done."""


class Begun(NamedTuple):
    """A new session, its items and their features, and what its file has beside settings."""

    session: Session
    items: Items
    features: Features
    payloads: Mapping[str, bytes]


def begin_session(
    features: Features,
    ids: Sequence[str],
    *,
    strategy: str | None,
    questions: str | None,
    n_super_instances: int | None,
    seed: int,
    given: Sequence[str] | None = None,
) -> Session:
    """Return a new session; COBRA asks if there are super-instances or only distances."""
    if given is not None and features.metric == "precomputed":
        raise InputError("--groups needs features to learn from, and there are only distances")
    if isinstance(features.X, Candidates):
        if strategy is not None or n_super_instances is not None:
            raise InputError(
                "candidate pairs are asked in their order; leave out --strategy, --super-instances"
            )
        max_groups = MAX_GROUPS if (questions or features.questions) == "choices" else 1
        asking = CandidatePairs(features.X, features.partition, max_groups=max_groups)
        return Session(asking, sample_ids=ids, digest=fingerprint(features.X))
    if n_super_instances is not None or features.metric == "precomputed":
        return _cobra(features, ids, n_super_instances, seed)
    begin = STRATEGIES.find(strategy or "most-doubt").from_rows
    options: Any = {} if questions is None else dict(QUESTIONS[questions])
    if given is not None:
        options["given"], options["given_labels"] = number_groups(given, len(given))
    begun = begin(features.X, train_indices=features.askable, seed=seed, n_jobs=-1, **options)
    return Session(begun, sample_ids=ids, digest=fingerprint(features.X))


def check_ways(
    strategy: str | None,
    questions: str | None = None,
    n_super_instances: int | None = None,
    groups: str | None = None,
) -> None:
    """Refuse options that do not exist or exclude each other; see `begin_session`."""
    if groups is not None and (strategy is not None or n_super_instances is not None):
        raise InputError("--groups is for Likewise; leave out --strategy and --super-instances")
    if strategy is not None and n_super_instances is not None:
        raise InputError("--super-instances is for COBRA; leave out --strategy")
    if questions is not None and (strategy is not None or n_super_instances is not None):
        raise InputError("--questions is for Likewise; leave out --strategy and --super-instances")
    if questions is not None and questions not in QUESTIONS:
        raise InputError(f"questions must be one of {', '.join(QUESTIONS)}, got {questions!r}")
    if n_super_instances is not None and n_super_instances < 1:
        raise InputError(f"--super-instances must be 1 or more, got {n_super_instances}")
    if strategy is not None:
        asking: Any = STRATEGIES.find(strategy)
        if not (isinstance(asking, type) and issubclass(asking, Strategy)):
            raise InputError(
                f"{strategy} is not a strategy: it must be a subclass of "
                "likewise.core.strategy.Strategy"
            )


def sample_of(features: Features, seed: int) -> NDArray[np.intp] | None:
    """Return which items are asked about if there are many; None for all."""
    if features.metric == "precomputed":
        return None
    train = features.askable
    return draw_rows(len(features.X), seed, train=None if len(train) == len(features.X) else train)


def _cobra(features: Features, ids: Sequence[str], n: int | None, seed: int) -> Session:
    from likewise.cluster.cobra import COBRA
    from likewise.strategies.closest_first import DEFAULT_SUPER_INSTANCES

    n = DEFAULT_SUPER_INSTANCES if n is None else n
    model = COBRA(n, metric=features.metric, random_state=seed, n_jobs=-1)
    return model.start(features.X, train_indices=features.askable, sample_ids=ids)
