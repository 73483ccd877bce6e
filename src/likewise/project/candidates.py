"""Sessions about candidate pairs: no features, only a list of what may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.items import Features
from likewise.strategies import CandidatePairs
from likewise.strategies.most_doubt import MAX_GROUPS


def begin_candidates(features: Features, ids: Sequence[str], questions: str | None) -> Session:
    """Return a new session about candidate pairs, which asks pairs or choices."""
    candidates: Any = features.X
    max_groups = MAX_GROUPS if (questions or features.questions) == "choices" else 1
    asking = CandidatePairs(candidates, features.partition, max_groups=max_groups)
    return Session(asking, sample_ids=ids, digest=fingerprint(candidates))


def candidate_features(session: Session) -> Features | None:
    """Return the candidates that a session keeps, as features; None if it has others."""
    candidates = session.strategy.candidates
    if candidates is None:
        return None
    about = "the candidate pairs in the session file"
    return Features(candidates, about, "precomputed", partition=session.strategy.partition)
