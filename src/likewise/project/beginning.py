"""How the session of a project begins, by `likewise.cluster.start.start_session`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.cluster.start import drawn_seed, start_session
from likewise.core.candidates import Candidates
from likewise.core.session import Session
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError
from likewise.items import Features, Items
from likewise.learning.aspects import find_columns
from likewise.project.describing import ASPECTS
from likewise.project.given import items_without, labels_of
from likewise.project.growing import REST
from likewise.project.paths import Say, read_items
from likewise.rows.sample import SAMPLE_ROWS
from likewise.store.packing import pack
from likewise.strategies import CandidatePairs, ClosestFirst
from likewise.strategies.closest_first import DEFAULT_SUPER_INSTANCES
from likewise.strategies.most_doubt import MostDoubt
from likewise.words import many, plural

QUESTIONS: dict[str, dict[str, str]] = {"choices": {}, "pairs": {"questions": "pairs"}}
"""What `Likewise` may ask, the default first, and the options of its strategy for it."""
MOST_SAID = 10
"""How many items that cannot be shown are named."""

Step = Callable[[str, int, int], None]
"""Called with a step of the opening, and how much of it is done."""


FIRST = 2_000
"""If describing takes long, a session begins with this many items. The next question is found by
comparing as many (`MAX_CANDIDATES`), so beginning with more would not make questions better."""


class Begun(NamedTuple):
    """A new session, its items and their features, and what its file has beside settings.

    Where items wait for being described (`Rest`), the features are those of the session's rows.
    """

    session: Session
    items: Items
    features: Features
    payloads: Mapping[str, bytes]


def begin(
    path: str | os.PathLike[str], settings: dict[str, Any], say: Say, progress: Step
) -> Begun:
    """Begin a session about items that are all read; `settings` gets what its file must say."""
    progress(f"Reading {Path(path).name}", 0, 0)
    groups, seed = settings["groups"], settings["seed"]
    items = items_without(read_items(path, settings["options"], say), groups)
    labels = None if groups is None else labels_of(items, groups, say)
    if (some := _first_ones(items, settings)) is not None:
        return _begin_with(some, path, items, settings, say, progress)
    features = _described(items, say, progress)
    progress("Finding small groups", 0, 0)
    # A copy is never asked about: the session is about the first of identical items.
    same = alike(items, features, labels)
    if len(same) < items.n:
        say(f"{plural(items.n - len(same), 'copy')} of other items, not asked about")
    first = np.array([places[0] for places in same], dtype=np.intp)
    distinct = features.aligned(first.tolist())
    session, _ = start_session(
        distinct.X,
        strategy_for(distinct, settings),
        seed=seed,
        train_indices=_shown(distinct),
        sample_ids=[items.ids[k] for k in first],
        groups=None if labels is None else [labels[k] for k in first],
        group_names=settings["group_names"] or (),
        takes_sample=settings["strategy"] is None and features.metric != "precomputed",
    )
    asked = np.arange(len(first))
    if session.row_numbers is not None:
        asked = session.row_numbers
        session.row_numbers = first[asked]
        say(f"{len(asked)} of {plural(items.n, items.noun)} are asked about, drawn at random")
    copies = {
        row: [items.ids[k] for k in same[place][1:]]
        for row, place in enumerate(asked.tolist())
        if len(same[place]) > 1
    }
    unshown = np.flatnonzero(~np.isin(asked, distinct.askable)).tolist()
    settings |= {
        "path": os.path.abspath(path),
        "features": features.description,
        **({"copies": copies} if copies else {}),
        **({"unshown": unshown} if unshown else {}),
    }
    payloads = {ASPECTS: pack([aspect.to_dict() for aspect in features.aspects])}
    return Begun(session, items, features, payloads)


def _first_ones(items: Items, settings: Mapping[str, Any]) -> list[list[int]] | None:
    """Return the items that a session begins with, each with its copies; None for all.

    They depend on the seed and on how many there are, not on what was described before or on how
    fast this machine is.
    """
    is_plain = all(settings[name] is None for name in ("strategy", "n_super_instances", "groups"))
    if not is_plain or items.n <= FIRST or not items.takes_long(items.aspects()):
        return None
    broken = {problem.item for problem in items.problems}
    same: dict[str, list[int]] = {}
    for k in range(items.n):
        same.setdefault(items.content(k), []).append(k)
    whole = [places for places in same.values() if places[0] not in broken]
    if not FIRST < len(whole) <= len(same) <= SAMPLE_ROWS:
        return None
    drawn = np.random.default_rng(settings["seed"]).choice(len(whole), FIRST, replace=False)
    return [whole[k] for k in np.sort(drawn).tolist()]


def _begin_with(
    some: Sequence[Sequence[int]],
    path: str | os.PathLike[str],
    items: Items,
    settings: dict[str, Any],
    say: Say,
    progress: Step,
) -> Begun:
    """Begin a session about some items, each with its copies; the others join it later."""
    say(f"the first questions are about {len(some)} of {plural(items.n, items.noun)}")
    places = [copies[0] for copies in some]
    features = _described(items, say, progress, places)
    progress("Finding small groups", 0, 0)
    session, _ = start_session(
        features.X,
        strategy_for(features, settings),
        seed=settings["seed"],
        train_indices=_shown(features),
        sample_ids=[items.ids[k] for k in places],
    )
    copies = {row: [items.ids[k] for k in one[1:]] for row, one in enumerate(some) if len(one) > 1}
    unshown = np.setdiff1d(np.arange(len(some)), features.askable).tolist()
    settings |= {
        "path": os.path.abspath(path),
        "features": features.description,
        "copies": copies,
        "unshown": unshown,
        REST: True,
    }
    payloads = {ASPECTS: pack([aspect.to_dict() for aspect in features.aspects])}
    return Begun(session, items, features, payloads)


def _described(
    items: Items, say: Say, progress: Step, places: Sequence[int] | None = None
) -> Features:
    """Return the features of items, and say what they are and which items have none."""
    step = f"Describing {many(items.noun)}"
    progress(step, 0, 0)

    def shown(done: int, of: int) -> None:
        progress(step, done, of)

    features = items.features(shown) if places is None else items.features_of(places, shown)
    for line in (features.description, *features.notes):
        say(f"features: {line}")
    for problem in features.problems[:MOST_SAID]:
        say(f"cannot be shown, and is not asked about: {problem.message}")
    if len(features.problems) > MOST_SAID:
        say(f"... and {len(features.problems) - MOST_SAID} more")
    return features


def _shown(features: Features) -> NDArray[np.intp] | None:
    """Return the rows that may be asked about, or None for all."""
    rows = features.askable
    is_all = len(rows) == len(features.X) or isinstance(features.X, Candidates)
    return None if is_all else rows


def alike(items: Items, features: Features, labels: Sequence[str] | None = None) -> list[list[int]]:
    """Return the places of items that are the same in content, features and label, together."""
    if features.metric == "precomputed":
        return [[place] for place in range(items.n)]
    labels = [""] * items.n if labels is None else labels
    same: dict[tuple[str, bytes, str], list[int]] = {}
    for k, label in enumerate(labels):
        same.setdefault((items.content(k), features.X[k].tobytes(), label), []).append(k)
    return list(same.values())


def strategy_for(features: Features, settings: Mapping[str, Any]) -> Callable[..., Strategy]:
    """Return what makes the strategy that settings ask for from rows, as `Strategy.from_rows`.

    COBRA asks if there are super-instances or only distances; candidate pairs are asked in order.
    """
    strategy, n_super_instances = settings["strategy"], settings["n_super_instances"]
    questions = settings["questions"]
    if settings["groups"] is not None and features.metric == "precomputed":
        raise InputError("--groups needs features to learn from, and there are only distances")
    if settings["group_names"] and features.metric == "precomputed":
        raise InputError("--group-names needs features to learn from: there are only distances")
    if isinstance(features.X, Candidates):
        if strategy is not None or n_super_instances is not None:
            raise InputError(
                "candidate pairs are asked in their order; leave out --strategy, --super-instances"
            )
        about: Any = {"partition": features.partition}
        return partial(CandidatePairs.from_rows, questions=questions or features.questions, **about)
    if n_super_instances is not None or features.metric == "precomputed":
        n = DEFAULT_SUPER_INSTANCES if n_super_instances is None else n_super_instances
        return partial(_cobra, n_super_instances=n, metric=features.metric)
    options: Any = {} if questions is None else dict(QUESTIONS[questions])
    if (strategy or MostDoubt.name) == MostDoubt.name:
        options["aspects"] = find_columns(features.columns, features.X.shape[1])
        options["main_aspect"] = features.main_aspect
    return partial(STRATEGIES.find(strategy or MostDoubt.name).from_rows, n_jobs=-1, **options)


def _cobra(X: NDArray[Any], *, seed: int, **options: Any) -> ClosestFirst:
    """Return what ``COBRA(random_state=seed)`` asks."""
    return ClosestFirst.from_rows(X, seed=drawn_seed(seed), n_jobs=-1, **options)
