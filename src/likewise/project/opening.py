"""From a path to a project: begin a session, or open the one in the file again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from likewise.errors import InputError, SessionFileError
from likewise.items import Features
from likewise.items.kinds import PathLike, refuse_nothing
from likewise.project import large
from likewise.project.beginning import Begun, Step, begin
from likewise.project.describing import describe_stored, stored_aspects
from likewise.project.given import items_without
from likewise.project.growing import JOINED, REST, Present, catch_up
from likewise.project.matching import Changes, ids_of_rows
from likewise.project.options import (
    DEFAULT_SEED,
    check_data,
    check_options,
    check_same,
    is_outdated,
    plain_options,
    remove_outdated,
    stored_options,
)
from likewise.project.paths import Say, common_path, place_of_session, read_items
from likewise.project.project import Project
from likewise.project.record import session_in
from likewise.project.rest import Rest
from likewise.store import SETUP, Store
from likewise.store.packing import pack_session, readable


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
        The changes to the items since the last time that were taken in.
    refused : str
        Why changes could not be taken in; empty if they could.
    """

    project: Project
    path: Path
    is_new: bool
    changes: Changes = field(default_factory=Changes)
    refused: str = ""


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
    group_names: Sequence[str] | None = None,
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
        Existing groups, a belief that answers correct: a column of the table, a file with a table
        of id and group, or "folders". They are kept in the session.
    group_names : sequence of str, optional
        Names of groups that are known beforehand. Every question offers them.
    instruction : str, optional
        What belongs together, in words such as "the same person?". It can be changed at any time.
    grows : bool
        Whether items that joined, left or changed since the last time are taken in.
    say : callable
        Called with one line of text for everything worth knowing.
    checked : callable
        Called with the session file after all checks that do not need to read the items.
    progress : callable
        Called as ``progress(step, done, of)``; `of` is 0 where the amount is unknown.
    """
    check_options(strategy, questions, n_super_instances, groups, group_names)
    wanted = plain_options(options)
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    where = place_of_session(common_path(paths), session, say)
    asked: dict[str, Any] = {
        "strategy": strategy,
        "questions": questions,
        "n_super_instances": n_super_instances,
        "groups": groups,
        "group_names": None if group_names is None else list(group_names),
        "seed": seed,
    }
    is_first = not where.exists()
    if is_first:
        is_new, is_sample = True, large.is_large(paths, wanted)
    else:
        with Store.open(where) as store:
            is_sample = large.is_sample(store.settings)
            check_data(store, paths, wanted)
            is_new = is_outdated(store, wanted, asked)
    if is_sample:
        large.check_batches(paths, {**wanted, "strategy": strategy, "groups": groups})
    if is_first:
        for one in paths:
            refuse_nothing(one, {"kind": "rows"} if is_sample else wanted)
    checked(where)
    begun = None
    if is_new:
        settings = {**asked, "options": wanted, "seed": DEFAULT_SEED if seed is None else seed}
        if is_sample:
            begun = large.begin(paths, settings, say, progress)
        else:
            begun = begin(paths[0], settings, say, progress)
        if not is_first:
            remove_outdated(where, wanted, asked, say)
        payloads = {SETUP: pack_session(begun.session), **begun.payloads}
        hashes = begun.items.content_hashes()
        store = Store.create(where, settings=settings, items=hashes, payloads=payloads)
    else:
        progress(f"Reading {Path(paths[0]).name}", 0, 0)
        store = Store.open(where)
    opened = _resume(paths[0], store, wanted, say, grows=grows, begun=begun)
    if instruction is not None:
        opened.project.instruction = instruction
    return opened


def open_session_file(
    path: PathLike, *, strategy: str | None = None, kind: str | None = None
) -> Opened:
    """Open a session by its file alone; the input is where it was when the session was begun.

    A strategy or a kind of items that no package registers is found by `strategy` and `kind`, as
    for `open_project`. A file could come from a stranger, so nothing that it names is imported.
    """
    where, wanted = Path(path), plain_options({"kind": kind})
    check_options(strategy)
    with Store.open(where) as store:
        settings = store.settings
        check_same(where, settings, wanted, {"strategy": strategy})
    source = settings.get("path", "")
    shown = stored_options(where, settings).get("items", source)
    if not isinstance(shown, str):
        raise SessionFileError(f"{path} is damaged: its items are in {shown!r}")
    if not large.is_sample(settings) and not (source and Path(shown).exists()):
        raise InputError(
            f"{path} belongs to {source}, which is no longer there. "
            f"Say where it is now: likewise label PATH --session {path}"
        )
    return _resume(source, Store.open(where), wanted, _silent, grows=False)


def _resume(
    path: PathLike,
    store: Store,
    wanted: Mapping[str, Any],
    say: Say,
    *,
    grows: bool,
    begun: Begun | None = None,
) -> Opened:
    """Open the project in a file, and take in how its items changed since the last time."""
    where = store.path
    with ExitStack() as on_error:
        on_error.enter_context(store)
        settings = store.settings
        session, position = session_in(store) if begun is None else (begun.session, 0)
        with readable(f"the list of copies in {where}"):
            had = ids_of_rows(session, settings, list(store.items))
        now = Present(dict(enumerate(had)), position)
        describe: Callable[[], Features]
        if begun is not None:
            items, describe = begun.items, lambda: begun.features
            if settings.get(REST):
                options = settings["options"]
                describe = partial(describe_stored, items, options, wanted, session, store)
        elif large.is_sample(settings):
            items, describe = large.sample_in(store)
        else:
            options = stored_options(where, settings)
            items = items_without(read_items(path, options, say), settings.get("groups"))
            describe = partial(describe_stored, items, options, wanted, session, store)
            refusal = "" if grows else f"likewise update {path} does that"
            now = catch_up(session, store, items, had, describe, position, refusal)
            if now.news:
                say(now.news)
        place = {name: k for k, name in enumerate(items.ids)}
        settings, n_rows = store.settings, session.strategy.n_rows
        project = Project(
            session,
            items,
            store,
            features=describe,
            where=[place[now.held[row][0]] if row in now.held else None for row in range(n_rows)],
            copies={row: names[1:] for row, names in now.held.items() if len(names) > 1},
            unshown=settings.get("unshown", ()),
            path=where,
            seed=int(settings.get("seed", DEFAULT_SEED)),
            position=now.position,
            joined=settings.get(JOINED, ()),
        )
        if settings.get(REST):
            aspects = partial(stored_aspects, settings.get("options", {}), wanted, store)
            project.rest = Rest(project, aspects, None if begun is None else begun.features)
        with readable(f"the strategy in {where}"):
            project.ask()  # so that damage shows now; the question is kept
        on_error.pop_all()
    return Opened(project, where, begun is not None, now.changes, now.refused)
