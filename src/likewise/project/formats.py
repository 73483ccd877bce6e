"""The result as a file: a table of items and their groups, or the session itself.

A format is one entry of `FORMATS`. Page, command line and docs read that registry. Add your own
format by an entry point of the group ``likewise.formats`` or by `Registry.register`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likewise.core.arrays import as_base64
from likewise.core.fingerprint import fingerprint
from likewise.errors import InputError, needs_extra
from likewise.items.fields import as_text
from likewise.items.tables import is_number
from likewise.project.groups import group_names, titles_of
from likewise.project.large import model_of
from likewise.project.lives import lives_of, shown_key
from likewise.project.project import Project
from likewise.project.workbook import workbook
from likewise.registry import Registry

if TYPE_CHECKING:
    from likewise.project.handover import Part

Columns = dict[str, list[Any]]

CSV = "text/csv; charset=utf-8"

OURS = (
    "id", "group", "name", "how", "by", "certainty", "marked", "merged", "split_from",
    "instruction",
)  # fmt: skip
"""Our own columns; a column of the items with such a name gets underscores behind it."""


STARTS = ("=", "+", "-", "@")
"""A spreadsheet takes a text that begins with one of these for a formula."""
UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Categories of characters that a spreadsheet may drop at the beginning of a text."""
PLAIN_NAME = re.compile(r"[-+@]|[-+@][\w. -]*[^\W\d][\w. -]*")
"""A name such as ``-dash.png`` is harmless, even if it is taken for a formula."""
CELL = re.compile(r"(?<![\w.])[A-Za-z]{1,3}\d+(?![\w.])")
"""The name of a cell of the sheet, which makes a formula of ``-A1``."""
LOOKED_AT = 1000
"""A formula shows in this many characters; what is longer is not a plain name."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write the result: `write` makes the bytes of a file from a project.

    `file_name` is what a file is called, behind the name of its source: see `file_name_of`. One
    that `needs_before` is for sessions that began from groups. `parts` are the files of one that
    may also be written to a folder: see `likewise.project.handover`.
    """

    title: str
    media_type: str
    file_name: str
    write: Callable[[Project], bytes]
    needs_before: bool = False
    parts: Callable[[Project], Iterable[Part]] | None = None


def written(project: Project, format: Format) -> bytes:
    """Return the result in a format, if all items have joined."""
    if project.rest is not None:
        raise InputError(
            f"nothing is exported yet: {project.rest.line}. likewise export {project.path} waits "
            "for them"
        )
    return format.write(project)


def columns_of(project: Project) -> Columns:
    """Return the result as columns, one entry per item: the items' own columns first."""
    with project.lock:
        ids, places, labels, how, certainty, marked = zip(*rows_of(project), strict=True)
        titles, names = titles_of(project.session), group_names(project.session)
        words, by = project.instruction, _signed(project)
        return {
            "id": list(ids),
            **_item_columns(project, places),
            "group": [titles[label] for label in labels],
            "name": [names[label] for label in labels],
            "how": list(how),
            **({"by": [by.get(place) for place in places]} if any(by.values()) else {}),
            "certainty": [None if math.isnan(share) else round(share, 3) for share in certainty],
            "marked": list(marked),
            **_ancestors(project, labels),
            **({"instruction": [words] * len(ids)} if words else {}),
        }


def _signed(project: Project) -> dict[int | None, str | None]:
    """Return, for the places of items that answers are about, who said where they belong."""
    by: dict[int, str | None] = {}
    for gesture in project.session.events:
        for link in gesture.links:
            if link.answer.is_link:
                by[link.left] = gesture.by
                by.setdefault(link.right, gesture.by)
    of_items = {project.where[row]: name for row, name in by.items()}
    return {place: name for place, name in of_items.items() if place is not None}


def _ancestors(project: Project, labels: Sequence[int]) -> Columns:
    """Return, if there are any, the keys of groups that were merged into others or split."""
    lives = lives_of(project.session)
    numbers = [lives.numbers.get(label, -1) for label in labels]
    merged = [", ".join(shown_key(k) for k in lives.merged.get(n, ())) for n in numbers]
    split_from = [shown_key(lives.split_from.get(n)) for n in numbers]
    columns: Columns = {"merged": merged, "split_from": split_from}
    return {name: values for name, values in columns.items() if any(values)}


class Row(NamedTuple):
    """An item of the result: `place` is where it is among the items, None if it is gone."""

    id: str
    place: int | None
    label: int
    how: str
    certainty: float
    is_marked: bool


def rows_of(project: Project) -> list[Row]:
    """Return all items of the result, those outside of a sample as predicted."""
    with project.lock:
        return _rows(project) if project.session.row_numbers is None else _all_items(project)


def _rows(project: Project) -> list[Row]:
    """Return the items that a session is about, and their copies."""
    labels, marks = project.session.labels.tolist(), project.session.marks
    how, certainty = (values.tolist() for values in project.how_known())
    return [
        Row(name, place, labels[row], how[row], certainty[row], row in marks)
        for name, row, place in project.listed()
    ]


def _all_items(project: Project) -> list[Row]:
    """Return all items: the sample with the groups of the session, the others as predicted."""
    session, numbers = project.session, project.session.row_numbers
    X = project.describe().X
    assert numbers is not None
    if numbers[-1] >= len(X) or fingerprint(X[numbers]) != session.digest:
        raise InputError(
            f"the items of {project.items.source} have changed since the session was begun, so the "
            "groups of those that were not asked about cannot be predicted. Begin another session "
            "with --session FILE."
        )
    model = model_of(session)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        labels, certainty = proba.argmax(axis=1), proba.max(axis=1)
    else:
        labels, certainty = model.predict(X), np.full(len(X), np.nan)
    predicted = zip(project.items.ids, labels.tolist(), certainty, strict=True)
    rows: list[Row] = [
        Row(name, place, label, "learned", float(certain), False)
        for place, (name, label, certain) in enumerate(predicted)
    ]
    for row in _rows(project):
        if row.place is not None:
            rows[row.place] = row
    return rows


def _item_columns(project: Project, places: Sequence[int | None]) -> Columns:
    """Return the columns that the items bring; None where an item is gone."""
    brought = project.items.columns()
    columns: Columns = {}
    for name, values in brought.items():
        new = name
        while new in OURS or (new != name and new in brought) or new in columns:
            new += "_"
        columns[new] = [None if place is None else values[place] for place in places]
    return columns


def _table(write: Callable[[Columns], bytes]) -> Callable[[Project], bytes]:
    """Return what writes the result as a table."""
    return lambda project: write(columns_of(project))


def as_csv(columns: Columns) -> bytes:
    """Return columns as CSV in UTF-8, quoted so that no cell starts a row or runs a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([_harmless(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_harmless(value) for value in row])
    return _utf8(text.getvalue())


def _utf8(text: str) -> bytes:
    """Return a text as bytes; lone surrogates, which JSON can contain, become ``?``."""
    return text.encode("utf-8", "replace")


def _harmless(value: Any) -> Any:
    """Return a cell, with an apostrophe before a text that a spreadsheet would run as a formula."""
    if not isinstance(value, str):
        return as_text(value) if isinstance(value, list | dict) else value
    seen = unicodedata.normalize("NFKC", value[:LOOKED_AT])
    while seen and unicodedata.category(seen[0]) in UNSEEN:
        seen = seen[1:]
    if not seen.startswith(STARTS) or is_number(seen):
        return value
    is_name = len(value) < LOOKED_AT and PLAIN_NAME.fullmatch(seen) and not CELL.search(seen)
    return value if is_name else f"'{value}"


def as_jsonl(columns: Columns) -> bytes:
    """Return columns as one JSON object per line."""
    rows = zip(*columns.values(), strict=True)
    objects = (dict(zip(columns, row, strict=True)) for row in rows)
    lines = (json.dumps(o, ensure_ascii=False, default=str) for o in objects)
    return _utf8("".join(f"{line}\n" for line in lines))


def as_parquet(columns: Columns) -> bytes:
    """Return columns as a Parquet file."""
    with needs_extra("writing Parquet files", "tables"):
        import pyarrow
        import pyarrow.parquet
    file = io.BytesIO()

    def column(values: list[Any]) -> Any:
        """Return values of one type as they are, others as texts."""
        try:
            array = pyarrow.array(values)
        except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
            array = None
        if array is None or "struct<>" in str(array.type):  # which Parquet cannot hold
            array = pyarrow.array([None if v is None else as_text(v) for v in values])
        return array

    arrays = {name: column(values) for name, values in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(arrays), file)
    return file.getvalue()


def to_session(project: Project) -> bytes:
    """Return the session as JSON, for `likewise.Session.from_dict`."""
    with project.lock:
        state = project.session.state()
        if project.instruction:
            state["instruction"] = project.instruction
        return json.dumps(state, ensure_ascii=False, default=as_base64).encode()


def to_names(project: Project) -> bytes:
    """Return the old and the new name of every item, how often the old one occurs, and how known.

    The new name is that of the group or, if it has none, its first and so most frequent name.
    """
    columns = columns_of(project)
    first: dict[str, str] = {}
    named = zip(columns["id"], columns["group"], columns["name"], strict=True)
    new = [name or first.setdefault(group, old) for old, group, name in named]
    counts = columns.get("count", [1] * len(new))
    return as_csv({"old": columns["id"], "new": new, "count": counts, "how": columns["how"]})


SNIPPET = '''\
"""Load a session exported from likewise: python THIS_FILE [SESSION.json]"""

import json
import sys

from likewise import {estimator}, Session
from likewise.project.groups import group_names, titles_of

path = sys.argv[1] if len(sys.argv) > 1 else {file!r}
with open(path, encoding="utf-8") as file:
    session = Session.from_dict(json.load(file))

print(session.progress)
keys = titles_of(session)  # label -> key of the group on the page
groups = {{id: keys[label] for id, label in zip(session.sample_ids, session.labels.tolist())}}
names = {{keys[label]: name for label, name in group_names(session).items()}}  # key -> name

model = {estimator}().adopt(session)  # a fitted scikit-learn estimator
# model.labels_, model.n_clusters_, model.predict(X_new)
'''


def to_snippet(project: Project) -> bytes:
    """Return a Python script that loads the exported session."""
    estimator = type(model_of(project.session)).__name__
    text = SNIPPET.format(estimator=estimator, file=file_name_of(project, "json"))
    return text.encode("utf-8", "replace")


FORMATS: Registry[Format] = Registry(
    "export format",
    {
        "csv": Format("CSV", CSV, "groups.csv", _table(as_csv)),
        "parquet": Format(
            "Parquet", "application/vnd.apache.parquet", "groups.parquet", _table(as_parquet)
        ),
        "xlsx": Format(
            "Excel",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "groups.xlsx",
            _table(workbook),
        ),
        "jsonl": Format("JSON lines", "application/x-ndjson", "groups.jsonl", _table(as_jsonl)),
        "json": Format("Session file", "application/json", "session.json", to_session),
        "py": Format("Python that loads it", "text/x-python", "load_session.py", to_snippet),
        "folders": "likewise.project.handover:FOLDERS",
        "xmp": "likewise.project.handover:XMP",
        "imagefolder": "likewise.project.handover:IMAGEFOLDER",
        "label-studio": "likewise.project.handover:LABEL_STUDIO",
        "splink": "likewise.project.handover:SPLINK",
        "names-csv": Format("Old and new names (CSV)", CSV, "names.csv", to_names),
        "changes-html": "likewise.project.changes:PAGE",
        "changes-csv": "likewise.project.changes:ITEMS",
        "changes-groups-csv": "likewise.project.changes:GROUPS",
        "changes-json": "likewise.project.changes:JSON",
    },
    group="likewise.formats",
)
"""All formats, by the suffix of their files or by name."""


FOR_FILES = ("folders", "xmp", "imagefolder")
"""The formats for pictures in a folder."""


def formats_for(project: Project) -> list[str]:
    """Return the names of the formats that a project can be exported in."""
    has_before = project.session.strategy.given_groups() is not None
    return [
        name
        for name in FORMATS.names
        if (has_before or not FORMATS.find(name).needs_before)
        and (name != "names-csv" or project.items.kind == "names")
        and (name not in FOR_FILES or (project.items.n and project.items.file(0) is not None))
        and (name != "splink" or project.items.kind in ("rows", "names"))
    ]


def format_of(name: str) -> Format:
    """Return a format by its name, which may come from a request, so nothing is imported."""
    if name not in FORMATS:
        raise InputError(f"there is no export format {name!r}, only {', '.join(FORMATS.names)}")
    return FORMATS.find(name)


def file_name_of(project: Project, format: str) -> str:
    """Return what a file is called by default: ``photos-groups.csv`` for groups of photos."""
    source = project.items.source
    name = source.name if source.is_dir() else source.stem
    plain = re.sub(r"[^\w.() -]", "_", name).strip(" .-")
    file_name = format_of(format).file_name
    return f"{plain}-{file_name}" if plain else file_name


def export(project: Project, format: str) -> bytes:
    """Return the result in one of `FORMATS`."""
    return written(project, format_of(format))
