"""Describe new items as the first items of a session were described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likewise.core.session import Session
from likewise.items import Aspect, Features, Items
from likewise.items.encoders import check_trusted, named
from likewise.store import Store
from likewise.store.packing import readable, unpack

ASPECTS = "aspects"
"""The payload with what is needed from the first items to make features of new ones."""


def describe_stored(
    items: Items,
    options: Mapping[str, Any],
    wanted: Mapping[str, Any],
    session: Session,
    store: Store,
) -> Features:
    """Return the features of items, made as those of the first ones.

    An encoder that only a file names is not loaded, since the file may come from a stranger.
    """
    strategy = session.strategy
    if strategy.candidates is not None:
        about = "the candidate pairs in the session file"
        return Features(strategy.candidates, about, "precomputed", partition=strategy.partition)
    aspects = stored_aspects(options, wanted, store)
    with readable(f"the payload {ASPECTS!r}"):
        return items.features(aspects=aspects)


def stored_aspects(
    options: Mapping[str, Any], wanted: Mapping[str, Any], store: Store
) -> list[Aspect]:
    """Return the aspects by which the first items of a session were described."""
    check_trusted(named(options.get("encoder") or ()), named(wanted.get("encoder") or ()))
    with readable(f"the payload {ASPECTS!r}"):
        return [Aspect.from_dict(plain) for plain in unpack(store.payload(ASPECTS))]
