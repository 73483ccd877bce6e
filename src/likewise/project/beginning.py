"""What a project asks by: the session it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.cluster import COBRA
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.items import Features
from likewise.strategies import CoarseToFine
from likewise.strategies.coarse_to_fine.cells import cells_of

MANY_ROWS = 20_000
"""From here on somebody would wait for K-means on all rows, which a sample of them replaces: the
small groups are hardly wider, and found in a fraction of the time."""

MAX_ITEMS, N_CELLS = 1000, 150
"""Up to so many items, each is weighed on its own. More are grouped into cells first, and cells are
asked about; refining further splits them. More cells would keep a person waiting for K-means."""

N_REGIONS = (12, 24, 48)
"""What `Likewise` asks about before it says that it is done: more than sixty answers or so are for
those who want to refine further."""


def begin_session(
    features: Features, ids: Sequence[str], *, n_super_instances: int | None, seed: int
) -> Session:
    """Return a new session: by `Likewise`, or as published if super-instances are asked for.

    Distances without features are for COBRA as well, which needs no more than those.
    """
    engine: Any = "sample" if len(features.X) > MANY_ROWS else "auto"
    if n_super_instances is not None or features.metric == "precomputed":
        model = COBRA(
            "auto" if n_super_instances is None else n_super_instances,
            metric=features.metric,
            engine=engine,
            random_state=seed,
            n_jobs=-1,
        )
        return model.start(features.X, train_indices=features.askable, sample_ids=ids)
    partition, is_askable = cells_of(
        features.X,
        MAX_ITEMS if len(features.X) <= MAX_ITEMS else N_CELLS,
        train_indices=features.askable,
        seed=seed,
        n_jobs=-1,
    )
    strategy = CoarseToFine(
        partition, askable=is_askable, n_regions=N_REGIONS, to_the_end=False, seed=seed
    )
    return Session(strategy, sample_ids=ids, digest=fingerprint(features.X))
