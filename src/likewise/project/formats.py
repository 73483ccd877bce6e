"""The result as a file: a table of items and their groups, or the session itself."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from likewise.errors import InputError, MissingExtraError
from likewise.project.groups import group_ids
from likewise.project.project import Project
from likewise.strategies import Refine

Columns = dict[str, list[Any]]


def columns_of(project: Project) -> Columns:
    """Return the result as columns, one entry per item.

    ``group`` numbers the groups from 0, the largest first, by what was answered; ``name`` is what
    the person called the group; ``guess`` numbers them if what is still undecided is guessed;
    ``super_instance`` and ``stands_for_it`` say by which item the group was decided; ``marked``
    are the items that were said not to fit.
    """
    with project.lock:
        session = project.session
        ids = group_ids(session)
        by_size = sorted(project.groups(), key=lambda g: (-g.size, g.id))
        number = {group.id: k for k, group in enumerate(by_size)}
        names = {group.id: group.name for group in by_size}
        partition = project.partition
        stands = np.zeros(len(ids), dtype=bool)
        stands[partition.representatives] = True
        misfits = project.misfits
        return {
            "id": list(project.ids),
            "group": [number[g] for g in ids.tolist()],
            "name": [names[g] for g in ids.tolist()],
            "guess": session.labels_guess.tolist(),
            "super_instance": partition.assignment.tolist(),
            "stands_for_it": stands.tolist(),
            "marked": [name in misfits for name in project.ids],
        }


def to_csv(project: Project) -> bytes:
    """Return the result as CSV in UTF-8."""
    columns = columns_of(project)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def to_jsonl(project: Project) -> bytes:
    """Return the result as one JSON object per line."""
    columns = columns_of(project)
    rows = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def to_parquet(project: Project) -> bytes:
    """Return the result as a Parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("writing Parquet files", "tables") from None
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns_of(project)), file)
    return file.getvalue()


def to_session(project: Project) -> bytes:
    """Return the session as JSON, for `likewise.Session.from_dict`."""
    with project.lock:
        return json.dumps(project.session.to_dict(), ensure_ascii=False).encode()


SNIPPET = '''\
"""Load a session exported from likewise as session.json: pip install likewise"""

import json

from likewise import {estimator}, Session

with open("session.json", encoding="utf-8") as file:
    session = Session.from_dict(json.load(file))

print(session.progress)
groups = dict(zip(session.sample_ids, session.labels.tolist()))  # item id -> group

model = {estimator}().adopt(session)  # a fitted scikit-learn estimator
# model.labels_, model.n_clusters_, model.predict(X_new)
'''


def to_snippet(project: Project) -> bytes:
    """Return a Python script that loads the exported session."""
    is_refining = isinstance(project.session.strategy, Refine)
    return SNIPPET.format(estimator="Likewise" if is_refining else "COBRA").encode()


FORMATS: dict[str, tuple[str, Callable[[Project], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
    "jsonl": ("application/x-ndjson", to_jsonl),
    "json": ("application/json", to_session),
    "py": ("text/x-python; charset=utf-8", to_snippet),
}
"""By suffix: the media type and the writer."""


def export(project: Project, format: str) -> bytes:
    """Return the result in one of `FORMATS`."""
    if format not in FORMATS:
        raise InputError(f"the result is exported as {', '.join(FORMATS)}, not {format!r}")
    return FORMATS[format][1](project)
