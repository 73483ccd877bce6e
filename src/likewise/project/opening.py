"""From a path to a project: open the items, and begin a session or go on with the one there is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from likewise.core.session import Session
from likewise.errors import CannotGrowError, InputError, SessionFileError
from likewise.files import cache_folder
from likewise.items import KINDS, Features, Items, open_items
from likewise.items.kinds import refuse_nothing
from likewise.items.texts import is_built_in
from likewise.project import large
from likewise.project.beginning import begin_session, check_ways, sample_of
from likewise.project.given import items_without, labels_of
from likewise.project.growing import (
    JOINED,
    LEARNED,
    Changes,
    ids_of_rows,
    match_items,
    take_in,
)
from likewise.project.large import SETUP, OnProgress
from likewise.project.packing import (
    pack,
    pack_session,
    readable,
    unpack,
    unpack_session,
)
from likewise.project.project import ROWS, Project, apply_entries, stored_rows
from likewise.project.store import Store
from likewise.words import many, plural

SUFFIX = ".likewise"
DEFAULT_SEED = 0
"""Decides what is random in a session, if no seed is given."""
Say = Callable[[str], None]


def _silent(*_: object) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Opened:
    """A project and how it was opened.

    Attributes
    ----------
    project : Project
        The project.
    path : Path
        The session file.
    is_new : bool
        Whether it was begun just now.
    changes : Changes
        What happened to the items since the last time, and was taken in.
    refused : str
        Why what happened could not be taken in, or nothing.
    """

    project: Project
    path: Path
    is_new: bool
    changes: Changes
    refused: str = ""


def session_path(path: str | os.PathLike[str]) -> Path:
    """Return where the session of an input lives: beside it, with ``.likewise`` added."""
    whole = Path(os.path.abspath(path))
    return whole.with_name(f"{whole.name}{SUFFIX}") if whole.name else Path(f"{whole}root{SUFFIX}")


def open_project(
    path: str | os.PathLike[str],
    *,
    session: str | os.PathLike[str] | None = None,
    strategy: str | None = None,
    questions: str | None = None,
    n_super_instances: int | None = None,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    groups: str | None = None,
    instruction: str | None = None,
    grows: bool = True,
    say: Say = _silent,
    checked: Callable[[Path], None] = _silent,
    progress: OnProgress = _silent,
) -> Opened:
    """Open a path as a project: go on with its session, or begin one.

    Parameters
    ----------
    path : path
        What `likewise.items.open_items` opens.
    session : path, optional
        The session file; by default beside `path`, or in the cache where that cannot be written.
    strategy : str, optional
        Which strategy asks: a name of `likewise.core.strategy.STRATEGIES`, or
        ``package.module:Class``.
    questions : {"choices", "pairs"}, optional
        Which questions `Likewise` asks. By default choices.
    n_super_instances, seed : int, optional
        How to begin. Where there is a session with answers, these must be those it was begun with;
        one without answers is replaced.
    options : mapping, optional
        Further arguments of `open_items`. Those not given are taken from the session.
    groups : str, optional
        Groups that are there already, a belief that answers correct: a column of the table, a file
        with a table of id and group, or "folders". They are kept in the session.
    instruction : str, optional
        What belongs together, in words such as "the same person?". It can be changed at any time.
    grows : bool
        Whether items that joined, left or changed since the last time are taken in.
    say : callable
        Called with one line for everything that is worth knowing.
    checked : callable
        Called with the session file after all checks that do not need to read the items.
    progress : callable
        Called as ``progress(step, done, of)``; `of` is 0 where the amount is unknown.
    """
    check_ways(strategy, questions, n_super_instances, groups)
    wanted = _plain_options(options)
    where = place_of_session(path, session, say)
    ways: dict[str, Any] = {
        "strategy": strategy,
        "questions": questions,
        "n_super_instances": n_super_instances,
    }
    begin = {**ways, "groups": groups, "seed": seed}
    if "kind" in wanted:
        KINDS.find(wanted["kind"])
    is_there = where.exists()
    replaces = is_there and _is_replaced(where, wanted, begin, say)
    if not is_there:
        refuse_nothing(path, wanted)
    checked(where)
    progress(f"Reading {Path(path).name}", 0, 0)
    if is_there and not replaces:
        opened = _go_on(path, where, wanted, say, grows=grows)
        if instruction is not None:
            opened.project.instruction = instruction
        return opened
    items = items_without(_open(path, wanted, say), groups)
    labels = None if groups is None else labels_of(items, groups, say)
    step = f"Describing {many(items.noun)}"
    progress(step, 0, 0)
    features = items.features(lambda done, of: progress(step, done, of))
    for line in (features.description, *features.notes):
        say(f"features: {line}")
    _say_problems(features, say)
    progress("Finding small groups", 0, 0)
    seed = DEFAULT_SEED if seed is None else seed
    # A copy is never asked about: the session is about the first of identical items.
    first = first_alike(items, features, labels)
    places = sorted(set(first))
    if len(places) < items.n:
        say(f"{plural(items.n - len(places), 'copy')} of other items, not asked about")
    numbers = None if strategy is not None else sample_of(features.aligned(places), seed)
    if numbers is not None:
        say(f"{len(numbers)} of {plural(items.n, items.noun)} are asked about, drawn at random")
        places = np.array(places)[numbers].tolist()
    copies = _copies(items, first, places)
    about = features.aligned(places)
    unshown = [problem.item for problem in about.problems if problem.item is not None]
    given = None if labels is None else [labels[k] for k in places]
    begun = begin_session(about, [items.ids[k] for k in places], **ways, seed=seed, given=given)
    begun.row_numbers = None if numbers is None else np.array(places, dtype=np.intp)
    if replaces:
        _remove(where, wanted, begin, say)
    store = Store.create(
        where,
        settings={
            "path": os.path.abspath(path),
            # Stored with the defaults chosen here, because another machine or release may choose
            # others.
            "options": {**items.decided, **wanted},
            **begin,
            "seed": seed,
            "features": features.description,
            **({"copies": copies} if copies else {}),
            **({"unshown": unshown} if unshown else {}),
        },
        items=items.content_hashes(),
        payloads={
            SETUP: pack_session(begun),
            **({} if begun.strategy.X is None else {ROWS: pack({"X": about.X})}),
            **({} if (learned := items.learned()) is None else {LEARNED: pack(learned)}),
        },
    )
    project = Project(
        begun,
        items,
        store,
        features=lambda: features,
        where=places,
        copies=copies,
        unshown=unshown,
        path=where,
        seed=seed,
    )
    if instruction is not None:
        project.instruction = instruction
    return Opened(project, where, True, Changes())


def _copies(items: Items, first: Sequence[int], places: Sequence[int]) -> dict[int, list[str]]:
    """Return the ids of copies by the row of the first of them; rows are at `places`."""
    row = {place: k for k, place in enumerate(places)}
    copies: dict[int, list[str]] = {}
    for place, same in enumerate(first):
        if same != place and same in row:
            copies.setdefault(row[same], []).append(items.ids[place])
    return copies


def first_alike(items: Items, features: Features, labels: Sequence[str] | None = None) -> list[int]:
    """Return for every item the first one that is the same, in content, features and label."""
    if features.metric == "precomputed":
        return list(range(items.n))
    places: dict[tuple[str, bytes, str], int] = {}
    labels = [""] * items.n if labels is None else labels
    return [
        places.setdefault((items.content(i), features.X[i].tobytes(), labels[i]), i)
        for i in range(items.n)
    ]


def open_large_project(
    paths: Sequence[str | os.PathLike[str]],
    *,
    session: str | os.PathLike[str] | None = None,
    questions: str | None = None,
    n_super_instances: int | None = None,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    say: Say = _silent,
    checked: Callable[[Path], None] = _silent,
    progress: OnProgress = _silent,
) -> Opened:
    """Open files of which a sample is read; see `open_project`.

    Parameters
    ----------
    paths : sequence of path
        Parquet files, folders of them, or one ``.npy`` file.
    session, questions, n_super_instances, seed, options, say, checked, progress
        As for `open_project`; of the options only `columns` and `show`.
    """
    check_ways(None, questions, n_super_instances)
    wanted = _plain_options(options)
    for name in wanted:
        if name not in ("columns", "show"):
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} is not for files that are read in batches")
    for path in map(Path, paths):
        if not path.is_dir() and path.suffix not in (".parquet", ".pq", ".npy"):
            raise InputError(
                f"{path} cannot be read in batches: several files must be "
                "Parquet (or one .npy). Give one file, or convert them."
            )
    folders = [os.path.dirname(os.path.abspath(path)) for path in paths]
    beside = paths[0] if len(paths) == 1 else os.path.commonpath(folders)
    where = place_of_session(beside, session, say)
    ways: dict[str, Any] = {"questions": questions, "n_super_instances": n_super_instances}
    begin = {**ways, "seed": seed}
    is_there = where.exists()
    replaces = is_there and _is_replaced(where, wanted, begin, say)
    if is_there and not replaces:
        checked(where)
        return Opened(large.go_on(where), where, False, Changes())
    for source in paths:
        if not os.path.isdir(source):  # what a folder has of Parquet files is seen below
            refuse_nothing(source, {"kind": "rows"})
    checked(where)
    settings = {
        "paths": [os.path.abspath(path) for path in paths],
        "options": wanted,
        **ways,
        "seed": DEFAULT_SEED if seed is None else seed,
    }
    progress(f"Reading a sample of {Path(beside).name}", 0, 0)
    numbers, features, records = large.sample_of(settings)
    say(f"{plural(len(numbers), 'row')} of {settings['n_rows']} are asked about")
    progress("Finding small groups", 0, 0)
    ids = [str(number) for number in numbers.tolist()]
    begun = begin_session(features, ids, strategy=None, **ways, seed=settings["seed"])
    begun.row_numbers = numbers
    items = large.items_of(where, numbers.tolist(), records)
    if replaces:
        _remove(where, wanted, begin, say)
    Store.create(
        where,
        settings=settings,
        items=items.content_hashes(),
        payloads={SETUP: pack_session(begun), **large.payloads_of(numbers, features, records)},
    ).close()
    return Opened(large.go_on(where), where, True, Changes())


def open_session_file(
    path: str | os.PathLike[str], *, strategy: str | None = None, kind: str | None = None
) -> Opened:
    """Open a session by its file alone; the input is where it was when the session was begun.

    A strategy or a kind of items that no package registers is found by `strategy` and `kind`, as
    for `open_project`. A file could come from a stranger, so nothing that it names is imported.
    """
    with Store.open(path) as store:
        settings = store.settings
    if "paths" in settings:
        return Opened(large.go_on(Path(path)), Path(path), False, Changes())
    source = settings.get("path")
    shown = settings.get("options", {}).get("items", source)
    if source is None or not Path(shown).exists():
        raise InputError(
            f"{path} belongs to {source}, which is no longer there. "
            f"Say where it is now: likewise label PATH --session {path}"
        )
    options: Any = {"options": {"kind": kind}, "grows": False}
    return open_project(source, session=path, strategy=strategy, **options)


def _go_on(
    path: str | os.PathLike[str], where: Path, wanted: Mapping[str, Any], say: Say, *, grows: bool
) -> Opened:
    store = Store.open(where)
    try:
        settings, before = store.settings, store.items
        options = _options_in(where, settings)
        items = items_without(_open(path, options, say), settings.get("groups"))
        session, position = unpack_session(store.payload(SETUP), stored_rows(store)), 0
        for position in apply_entries(session, store, 0):  # noqa: B007  (the last one is needed)
            pass
        with readable(f"the list of copies in {where}"):
            ids = ids_of_rows(session, settings, list(before))
        now = items.content_hashes()
        if session.row_numbers is not None:  # of the others, those that stayed are no news
            sample = {name for names in ids for name in names}
            now = {k: v for k, v in now.items() if k in sample or before.get(k) != v}
        match = match_items(ids, session.removed, before, now)
        held, changes, refused = match.held, match.changes, ""

        def features() -> Features:
            return _features(items, options, wanted, store)

        if changes:
            try:
                if not grows:
                    raise CannotGrowError(f"likewise update {path} does that")
                held = take_in(session, store, items, match, ids, features, position)
            except CannotGrowError as error:
                say(f"{changes} since last time, not taken in: {error}")
                held, changes, refused = match.as_before(ids), Changes(), str(error)
            else:
                position, settings = position + 1, store.settings
                say(f"{changes} since last time")
        place = {name: k for k, name in enumerate(items.ids)}
        places = [place[held[r][0]] if r in held else None for r in range(session.strategy.n_rows)]
        has_grown = session.strategy.n_rows > session.n_first_rows
        project = Project(
            session,
            items,
            store,
            features=lambda: (
                _candidates(session)
                or _features(items, options, wanted, store if has_grown else None)
            ),
            where=places,
            copies={row: names[1:] for row, names in held.items() if len(names) > 1},
            unshown=settings.get("unshown", ()),
            path=where,
            seed=int(settings.get("seed", DEFAULT_SEED)),
            position=position,
            joined=settings.get(JOINED, ()),
        )
        with readable(f"the strategy in {where}"):
            project.ask()  # so that damage shows now; the question is kept
    except BaseException:
        store.close()
        raise
    return Opened(project, where, False, changes, refused)


def _candidates(session: Session) -> Features | None:
    """Return the candidate pairs that a session keeps, as features; None if it has others."""
    strategy = session.strategy
    if strategy.candidates is None:
        return None
    about = "the candidate pairs in the session file"
    return Features(strategy.candidates, about, "precomputed", partition=strategy.partition)


def _options_in(where: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a file has for `open_items`; nothing they name is imported."""
    options = settings.get("options", {})
    if not isinstance(options, dict) or "source" in options:
        raise SessionFileError(f"{where} is damaged: its options are {options!r}")
    if options.get("kind") is not None:
        KINDS.known(options["kind"])
    # A file does not say where on this machine something is written.
    return {**options, "cache": options.get("cache", True) is not False}


def _features(
    items: Items,
    options: Mapping[str, Any],
    wanted: Mapping[str, Any],
    store: Store | None = None,
) -> Features:
    """Return the features of items, unless only a file names their model, which can hold code.

    They are made as those of the first items if a file has what that needs.
    """
    model = options.get("text_features")
    if model is not None and model != wanted.get("text_features") and not is_built_in(model):
        raise CannotGrowError(
            f"this needs the model {model!r}, which the session file names. A file could come from "
            f"a stranger, so it is not loaded. If you trust it, run the command again with "
            f"--text-features {model}."
        )
    if store is None:
        return items.features()
    has_learned = LEARNED in store.payload_names
    return items.features_like(unpack(store.payload(LEARNED)) if has_learned else None)


def _is_replaced(
    where: Path, wanted: Mapping[str, Any], begin: Mapping[str, Any], say: Say = _silent
) -> bool:
    """Return whether a session was begun with other options; refuse them if it has answers."""
    with Store.open(where) as store:
        for note in store.notes:
            say(note)
        settings = store.settings
        # Only options of data in memory have a strategy.
        if ("strategy" in begin) == ("paths" in settings):
            raise InputError(
                f"{where} is a session about other data: begin another with --session FILE"
            )
        before = {**settings.get("options", {}), **{name: settings.get(name) for name in begin}}
        now = {**wanted, **{name: value for name, value in begin.items() if value is not None}}
        other = next((name for name, value in now.items() if before.get(name) != value), None)
        if other and any(entry.op.get("do") != "grow" for entry in store.read()):
            flag = other.removeprefix("n_").replace("_", "-")
            old = before.get(other)
            begun = f"without --{flag}" if old is None else f"with --{flag} {old}"
            raise InputError(
                f"{where} was begun {begun}, not {now[other]}. Leave the option out to go on with "
                "it, or begin another session with --session FILE."
            )
    return other is not None


def _remove(where: Path, wanted: Mapping[str, Any], begin: Mapping[str, Any], say: Say) -> None:
    """Remove a session that is replaced; refuse that if somebody has answered in it meanwhile."""
    if _is_replaced(where, wanted, begin):
        where.unlink()
        say(f"{where} had no answers and was begun with other options; a new one is begun")


def place_of_session(
    path: str | os.PathLike[str], session: str | os.PathLike[str] | None, say: Say
) -> Path:
    """Return where the session of a path is or will be: beside it, or in the cache."""
    if session is not None:
        return Path(session)
    beside = session_path(path)
    if beside.exists() or os.access(beside.parent, os.W_OK):
        return beside
    name = hashlib.blake2b(os.fsencode(beside), digest_size=8).hexdigest()
    place = cache_folder() / "sessions" / f"{beside.stem}-{name}{SUFFIX}"
    place.parent.mkdir(parents=True, exist_ok=True)
    say(f"{beside.parent} cannot be written to, so the session is kept in {place}")
    return place


def _open(path: str | os.PathLike[str], options: Mapping[str, Any], say: Say) -> Items:
    items = open_items(path, **options)
    say(f"{plural(items.n, items.noun)} from {path}")
    for note in items.notes:
        say(f"note: {note}")
    for problem in items.problems:
        if problem.item is None:
            say(f"left out: {problem.message}")
    return items


def _say_problems(features: Features, say: Say, at_most: int = 10) -> None:
    for problem in features.problems[:at_most]:
        say(f"cannot be shown, and is not asked about: {problem.message}")
    if len(features.problems) > at_most:
        say(f"... and {len(features.problems) - at_most} more")


def _plain_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options that are given, as JSON gives them back; paths become absolute."""
    return {k: _plain(v) for k, v in (options or {}).items() if v not in (None, ())}


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)
    return list(value) if isinstance(value, tuple) else value
