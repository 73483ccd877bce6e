"""From a path to a project: open the items, and begin a session or go on with the one there is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from likewise.core.session import Session
from likewise.errors import CannotGrowError, InputError, SessionFileError
from likewise.files import cache_folder
from likewise.items import KINDS, Aspect, Features, Items, open_items
from likewise.items.kinds import PathLike, refuse_nothing
from likewise.items.texts import is_built_in
from likewise.project import large
from likewise.project.beginning import Begun, Say, Step, begin_session, check_ways, sample_of
from likewise.project.growing import (
    ASPECTS,
    JOINED,
    Changes,
    ids_of_rows,
    match_items,
    take_in,
)
from likewise.project.known import items_without, labels_of
from likewise.project.project import ROWS, SETUP, Project, session_in
from likewise.store import Store
from likewise.store.packing import pack, pack_session, readable, unpack
from likewise.words import many, plural

SUFFIX = ".likewise"
DEFAULT_SEED = 0
"""Decides what is random in a session, if no seed is given."""
MOST_SAID = 10
"""How many items that cannot be shown are named."""


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
    changes: Changes = field(default_factory=Changes)
    refused: str = ""


def session_path(path: PathLike) -> Path:
    """Return where the session of an input lives: beside it, with ``.likewise`` added."""
    whole = Path(os.path.abspath(path))
    return whole.with_name(f"{whole.name}{SUFFIX}") if whole.name else Path(f"{whole}root{SUFFIX}")


def open_project(
    path: PathLike | Sequence[PathLike],
    *,
    session: PathLike | None = None,
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
    progress: Step = _silent,
) -> Opened:
    """Open a path as a project: go on with its session, or begin one.

    Parameters
    ----------
    path : path, or sequence of path
        What `likewise.items.open_items` opens. Of several Parquet files, and of Parquet and
        ``.npy`` files that do not fit in memory, only a sample is read.
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
        Further arguments of `open_items`. Those not given are taken from the session. If only a
        sample is read, `columns` and `show`.
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
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    folders = [os.path.dirname(os.path.abspath(one)) for one in paths]
    beside = paths[0] if len(paths) == 1 else os.path.commonpath(folders)
    where = place_of_session(beside, session, say)
    is_there = where.exists()
    begin: dict[str, Any] = {
        "strategy": strategy,
        "questions": questions,
        "n_super_instances": n_super_instances,
        "groups": groups,
        "seed": seed,
    }
    if is_there:
        is_sampled, is_new = _is_sampled_and_other(where, paths, wanted, begin)
    else:
        is_sampled, is_new = large.is_large(paths, wanted), True
    if is_sampled:
        large.check_batches(paths, {**wanted, "strategy": strategy, "groups": groups})
    if not is_there:
        for one in paths:
            refuse_nothing(one, {"kind": "rows"} if is_sampled else wanted)
    checked(where)
    begun = None
    if is_new:
        settings = {**begin, "options": wanted, "seed": DEFAULT_SEED if seed is None else seed}
        start = large.begin if is_sampled else _begin
        begun = start(paths, settings, say, progress)
        # Somebody may have answered in the old one meanwhile.
        if is_there and _is_sampled_and_other(where, paths, wanted, begin)[1]:
            where.unlink()
            say(f"{where} had no answers and was begun with other options; a new one is begun")
        payloads = {SETUP: pack_session(begun.session), **begun.payloads}
        hashes = begun.items.content_hashes()
        store = Store.create(where, settings=settings, items=hashes, payloads=payloads)
    else:
        progress(f"Reading {Path(paths[0]).name}", 0, 0)
        store = Store.open(where)
    opened = _go_on(paths[0], store, wanted, say, grows=grows, begun=begun)
    if instruction is not None:
        opened.project.instruction = instruction
    return opened


def _begin(paths: Sequence[PathLike], settings: dict[str, Any], say: Say, progress: Step) -> Begun:
    """Begin a session about items that are all read."""
    path = paths[0]
    progress(f"Reading {Path(path).name}", 0, 0)
    groups, seed = settings["groups"], settings["seed"]
    items = items_without(_open(path, settings["options"], say), groups)
    labels = None if groups is None else labels_of(items, groups, say)
    step = f"Describing {many(items.noun)}"
    progress(step, 0, 0)
    features = items.features(lambda done, of: progress(step, done, of))
    for line in (features.description, *features.notes):
        say(f"features: {line}")
    for problem in features.problems[:MOST_SAID]:
        say(f"cannot be shown, and is not asked about: {problem.message}")
    if len(features.problems) > MOST_SAID:
        say(f"... and {len(features.problems) - MOST_SAID} more")
    progress("Finding small groups", 0, 0)
    # A copy is never asked about: the session is about the first of identical items.
    same = alike(items, features, labels)
    if len(same) < items.n:
        say(f"{plural(items.n - len(same), 'copy')} of other items, not asked about")
    ways: Any = {name: settings[name] for name in ("strategy", "questions", "n_super_instances")}
    first = [places[0] for places in same]
    numbers = None if ways["strategy"] else sample_of(features.aligned(first), seed)
    if numbers is not None:
        say(f"{len(numbers)} of {plural(items.n, items.noun)} are asked about, drawn at random")
        same = [same[k] for k in numbers]
    copies = {row: [items.ids[k] for k in more] for row, (_, *more) in enumerate(same) if more}
    places = [places[0] for places in same]
    about = features.aligned(places)
    unshown = [problem.item for problem in about.problems if problem.item is not None]
    given = None if labels is None else [labels[k] for k in places]
    session = begin_session(about, [items.ids[k] for k in places], **ways, seed=seed, given=given)
    session.row_numbers = None if numbers is None else np.array(places, dtype=np.intp)
    settings |= {
        "path": os.path.abspath(path),
        "features": features.description,
        **({"copies": copies} if copies else {}),
        **({"unshown": unshown} if unshown else {}),
    }
    payloads = {} if session.strategy.X is None else {ROWS: pack({"X": about.X})}
    payloads[ASPECTS] = pack([aspect.to_dict() for aspect in features.aspects])
    return Begun(session, items, features, payloads)


def alike(items: Items, features: Features, labels: Sequence[str] | None = None) -> list[list[int]]:
    """Return the places of items that are the same in content, features and label, together."""
    if features.metric == "precomputed":
        return [[place] for place in range(items.n)]
    labels = [""] * items.n if labels is None else labels
    same: dict[tuple[str, bytes, str], list[int]] = {}
    for k, label in enumerate(labels):
        same.setdefault((items.content(k), features.X[k].tobytes(), label), []).append(k)
    return list(same.values())


def open_session_file(
    path: PathLike, *, strategy: str | None = None, kind: str | None = None
) -> Opened:
    """Open a session by its file alone; the input is where it was when the session was begun.

    A strategy or a kind of items that no package registers is found by `strategy` and `kind`, as
    for `open_project`. A file could come from a stranger, so nothing that it names is imported.
    """
    where, wanted = Path(path), _plain_options({"kind": kind})
    check_ways(strategy)
    with Store.open(where) as store:
        settings = store.settings
        _check_same(where, settings, wanted, {"strategy": strategy})
    source = settings.get("path", "")
    shown = settings.get("options", {}).get("items", source)
    if "paths" not in settings and not (source and Path(shown).exists()):
        raise InputError(
            f"{path} belongs to {source}, which is no longer there. "
            f"Say where it is now: likewise label PATH --session {path}"
        )
    return _go_on(source, Store.open(where), wanted, _silent, grows=False)


def _go_on(
    path: PathLike,
    store: Store,
    wanted: Mapping[str, Any],
    say: Say,
    *,
    grows: bool,
    begun: Begun | None = None,
) -> Opened:
    """Open the project in a file; what happened to its items since the last time is taken in."""
    where = store.path
    with ExitStack() as on_error:
        on_error.enter_context(store)
        settings, before = store.settings, store.items
        session, position = session_in(store) if begun is None else (begun.session, 0)
        with readable(f"the list of copies in {where}"):
            had = ids_of_rows(session, settings, list(before))
        held, changes, refused = dict(enumerate(had)), Changes(), ""
        describe: Callable[[], Features]
        if "paths" in settings:
            items, describe = large.sample_in(store, session)
        elif begun is not None:
            items, describe = begun.items, lambda: begun.features
        else:
            options = _options_in(where, settings)
            items = items_without(_open(path, options, say), settings.get("groups"))
            describe = partial(_features, items, options, wanted, session, store)
            now = items.content_hashes()
            if session.row_numbers is not None:  # of the others, those that stayed are no news
                sample = {name for names in had for name in names}
                now = {k: v for k, v in now.items() if k in sample or before.get(k) != v}
            match = match_items(had, session.removed, before, now)
            held, changes = match.held, match.changes
            if changes:
                try:
                    if not grows:
                        raise CannotGrowError(f"likewise update {path} does that")
                    held = take_in(session, store, items, match, describe, position)
                    position, settings = position + 1, store.settings
                    say(f"{changes} since last time")
                except CannotGrowError as error:
                    say(f"{changes} since last time, not taken in: {error}")
                    held, changes, refused = match.as_before(), Changes(), str(error)
        place = {name: k for k, name in enumerate(items.ids)}
        n_rows = session.strategy.n_rows
        project = Project(
            session,
            items,
            store,
            features=describe,
            where=[place[held[row][0]] if row in held else None for row in range(n_rows)],
            copies={row: names[1:] for row, names in held.items() if len(names) > 1},
            unshown=settings.get("unshown", ()),
            path=where,
            seed=int(settings.get("seed", DEFAULT_SEED)),
            position=position,
            joined=settings.get(JOINED, ()),
        )
        with readable(f"the strategy in {where}"):
            project.ask()  # so that damage shows now; the question is kept
        on_error.pop_all()
    return Opened(project, where, begun is not None, changes, refused)


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
    session: Session,
    store: Store,
) -> Features:
    """Return the features of items, made as those of the first ones.

    A model that only a file names is not loaded, since it can hold code.
    """
    strategy = session.strategy
    if strategy.candidates is not None:
        about = "the candidate pairs in the session file"
        return Features(strategy.candidates, about, "precomputed", partition=strategy.partition)
    model = options.get("text_features")
    if model is not None and model != wanted.get("text_features") and not is_built_in(model):
        raise CannotGrowError(
            f"this needs the model {model!r}, which the session file names. A file could come from "
            f"a stranger, so it is not loaded. If you trust it, run the command again with "
            f"--text-features {model}."
        )
    with readable(f"the payload {ASPECTS!r}"):
        aspects = [Aspect.from_dict(plain) for plain in unpack(store.payload(ASPECTS))]
        return items.features(aspects=aspects)


def _is_sampled_and_other(
    where: Path,
    paths: Sequence[PathLike],
    wanted: Mapping[str, Any],
    begin: Mapping[str, Any],
) -> tuple[bool, bool]:
    """Return whether a session is about a sample, and was begun with other options.

    Other options are refused if it has answers, and so is other data.
    """
    with Store.open(where) as store:
        settings = store.settings
        is_sampled, before = "paths" in settings, settings.get("paths", [settings.get("path")])
        if [os.path.abspath(path) for path in paths] != before:
            options = {**settings.get("options", {}), **wanted}
            if large.is_large(paths, options) != is_sampled:
                raise InputError(
                    f"{where} is a session about other data: begin another with --session FILE"
                )
        try:
            _check_same(where, settings, wanted, begin)
        except InputError:
            if any(entry.op.get("do") != "grow" for entry in store.read()):
                raise
            return is_sampled, True
    return is_sampled, False


def _check_same(
    where: Path, settings: Mapping[str, Any], wanted: Mapping[str, Any], begin: Mapping[str, Any]
) -> None:
    """Refuse options that are not those a session was begun with."""
    before = {**settings.get("options", {}), **{name: settings.get(name) for name in begin}}
    now = {**wanted, **{name: value for name, value in begin.items() if value is not None}}
    other = next((name for name, value in now.items() if before.get(name) != value), None)
    if other is not None:
        flag = other.removeprefix("n_").replace("_", "-")
        old = before.get(other)
        begun = f"without --{flag}, not with" if old is None else f"with --{flag} {old}, not"
        raise InputError(
            f"{where} was begun {begun} {now[other]}. Leave the option out to go on with "
            "it, or begin another session with --session FILE."
        )


def place_of_session(path: PathLike, session: PathLike | None, say: Say) -> Path:
    """Return where the session of a path is or will be: beside it, or in the cache."""
    if Path(path).suffix == SUFFIX and Path(path).is_file():
        raise InputError(
            f"{path} is a session. To go on with it, give what it is about, such as "
            f"{Path(path).with_suffix('')}"
        )
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


def _open(path: PathLike, options: Mapping[str, Any], say: Say) -> Items:
    items = open_items(path, **options)
    say(f"{plural(items.n, items.noun)} from {path}")
    for note in items.notes:
        say(f"note: {note}")
    for problem in items.problems:
        if problem.item is None:
            say(f"left out: {problem.message}")
    return items


def _plain_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options that are given, as JSON gives them back; a kind is found by its name."""
    plain = {k: _plain(v) for k, v in (options or {}).items() if v not in (None, ())}
    if "kind" in plain:
        KINDS.find(plain["kind"])
    return plain


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back; paths become absolute."""
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)
    return list(value) if isinstance(value, tuple) else value
