"""What a project asks by: the session it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.core.strategy import STRATEGIES
from likewise.errors import InputError
from likewise.items import Features

QUESTIONS: dict[str, dict[str, int]] = {"choices": {}, "pairs": {"max_groups": 1}}
"""What `Likewise` may ask, the default first, and the options of its strategy for it."""


def begin_session(
    features: Features,
    ids: Sequence[str],
    *,
    strategy: str | None,
    questions: str | None,
    n_super_instances: int | None,
    seed: int,
) -> Session:
    """Return a new session about rows, or about the distances between them.

    `strategy` is a name of `likewise.core.strategy.STRATEGIES` or ``package.module:Class``, by
    default that of `Likewise`, which asks `questions` by "choices" or "pairs". A number of
    super-instances asks for COBRA as published, which is also for distances, since it needs no more
    than those.
    """
    if n_super_instances is not None or features.metric == "precomputed":
        return _cobra(features, ids, n_super_instances, seed)
    begin = STRATEGIES.find(strategy or "row-by-row").from_rows
    options: Any = {} if questions is None else QUESTIONS[questions]
    begun = begin(features.X, train_indices=features.askable, seed=seed, n_jobs=-1, **options)
    return Session(begun, sample_ids=ids, digest=fingerprint(features.X))


def check_ways(strategy: str | None, questions: str | None, n_super_instances: int | None) -> None:
    """Refuse ways to ask that there are not, or that exclude each other; see `begin_session`."""
    if strategy is not None and n_super_instances is not None:
        raise InputError("--super-instances is for COBRA; leave out --strategy")
    if questions is not None and (strategy is not None or n_super_instances is not None):
        raise InputError("--questions is for Likewise; leave out --strategy and --super-instances")
    if questions is not None and questions not in QUESTIONS:
        raise InputError(f"questions must be one of {', '.join(QUESTIONS)}, got {questions!r}")
    if n_super_instances is not None and n_super_instances < 1:
        raise InputError(f"--super-instances must be 1 or more, got {n_super_instances}")
    if strategy is not None:
        STRATEGIES.find(strategy)


def _cobra(features: Features, ids: Sequence[str], n: int | None, seed: int) -> Session:
    from likewise.cluster.cobra import COBRA
    from likewise.strategies.closest_first import DEFAULT_SUPER_INSTANCES

    n = DEFAULT_SUPER_INSTANCES if n is None else n
    model = COBRA(n, metric=features.metric, random_state=seed, n_jobs=-1)
    return model.start(features.X, train_indices=features.askable, sample_ids=ids)
