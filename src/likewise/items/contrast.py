"""An item beside groups of items, field by field: what tells the groups apart comes first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

MOST_CELLS = 4_000
"""At most this many cells of each group are looked at, about 60 ms for six groups."""
N_MEMBERS = (10, 60)
"""The fewest and the most members of a group that are looked at."""
N_SHARES = 3
"""How many values of a category are named."""
MOST_VALUES = 30
"""Fields with more different values than this are free text: their first values are named."""
SOFTNESS = 0.1
"""Added to the spread inside groups, as a share of the range of a field. Otherwise single items, or
groups without any spread, would make every field tell everything."""

View = Mapping[str, Any]


def n_looked_at(n_fields: int) -> int:
    """Return how many members of a group are looked at."""
    least, most = N_MEMBERS
    return min(most, max(least, MOST_CELLS // max(1, n_fields)))


def contrast(item: View, groups: Sequence[Sequence[View]]) -> list[dict[str, Any]]:
    """Return the fields of an item and their values in groups, the most telling first."""
    members = [[dict(view.get("fields", ())) for view in group] for group in groups]
    scales = [[view.get("scales", {}) for view in group] for group in groups]
    own = item.get("scales", {})
    fields = []
    for name, text in item.get("fields", ()):
        texts = [[cells.get(name) or None for cells in group] for group in members]
        shares = [[scale.get(name, math.nan) for scale in group] for group in scales]
        is_number = name in own or not np.isnan(list(chain(*shares))).all()
        tells, entries = (_numbers if is_number else _categories)(texts, shares)
        for entry, cells in zip(entries, texts, strict=True):
            entry["n_missing"] = sum(cell is None for cell in cells)
        field = {"name": name, "value": text or None, "at": own.get(name)}
        fields.append({**field, "tells": round(tells, 4), "groups": entries})
    return sorted(fields, key=lambda field: -field["tells"])


def _numbers(
    texts: Sequence[Sequence[str | None]], shares: Sequence[Sequence[float]]
) -> tuple[float, list[dict[str, Any]]]:
    """Return how far groups of numbers are apart for their spread, and the spread of each."""
    entries: list[dict[str, Any]] = []
    middles, spreads = [], []
    for cells, places in zip(texts, shares, strict=True):
        known = [k for k, place in enumerate(places) if not math.isnan(place)]
        if not known:
            entries.append({"text": None})
            continue
        values = np.array([places[k] for k in known])
        low, middle, high = (round(float(q), 4) for q in np.quantile(values, [0.1, 0.5, 0.9]))
        typical = cells[known[int(np.abs(values - middle).argmin())]]
        entries.append({"text": typical, "low": low, "middle": middle, "high": high})
        middles.append(middle)
        spreads.append(float(values.std()))
    if len(middles) < 2:
        return 0.0, entries
    return float(np.std(middles)) / (float(np.mean(spreads)) + SOFTNESS), entries


def _categories(
    texts: Sequence[Sequence[str | None]], _: Sequence[Sequence[float]]
) -> tuple[float, list[dict[str, Any]]]:
    """Return how far groups differ in their shares of values, and the largest shares of each."""
    counts = [Counter(cell for cell in cells if cell is not None) for cells in texts]
    values = sorted(set(chain(*counts)))
    if len(values) > MOST_VALUES or any(len(value) > MOST_VALUES for value in values):
        return 0.0, [{"texts": list(counter)[:N_SHARES]} for counter in counts]
    table = np.array([[counter[value] for value in values] for counter in counts], dtype=float)
    table /= np.maximum(1.0, table.sum(axis=1, keepdims=True))
    apart = float(np.sqrt(table.var(axis=0).sum())) if values else 0.0
    within = float(np.sqrt((table * (1 - table)).sum(axis=1)).mean())
    entries: list[dict[str, Any]] = [
        {"shares": [[value, round(n / counter.total(), 3)] for value, n in _first(counter)]}
        for counter in counts
    ]
    return apart / (within + SOFTNESS), entries


def _first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:N_SHARES]
