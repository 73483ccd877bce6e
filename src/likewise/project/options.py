"""The options of a project: which there are, and whether a session was begun with the same."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError, SessionFileError
from likewise.items import KINDS
from likewise.items.kinds import PathLike
from likewise.project import large
from likewise.project.beginning import QUESTIONS
from likewise.project.paths import Say
from likewise.store import Store

DEFAULT_SEED = 0
"""Decides what is random in a session, if no seed is given."""


def check_options(
    strategy: str | None,
    questions: str | None = None,
    n_super_instances: int | None = None,
    groups: str | None = None,
    group_names: Sequence[str] | None = None,
) -> None:
    """Refuse options that do not exist or exclude each other."""
    is_likewise = strategy is None and n_super_instances is None and questions != "pairs"
    if group_names and not is_likewise:
        raise InputError(
            "--group-names is for the choices of Likewise; leave out --strategy, "
            "--super-instances and --questions pairs"
        )
    if groups is not None and (strategy is not None or n_super_instances is not None):
        raise InputError("--groups is for Likewise; leave out --strategy and --super-instances")
    if strategy is not None and n_super_instances is not None:
        raise InputError("--super-instances is for COBRA; leave out --strategy")
    if questions is not None and (strategy is not None or n_super_instances is not None):
        raise InputError("--questions is for Likewise; leave out --strategy and --super-instances")
    if questions is not None and questions not in QUESTIONS:
        raise InputError(f"questions must be one of {', '.join(QUESTIONS)}, got {questions!r}")
    if n_super_instances is not None and n_super_instances < 1:
        raise InputError(f"--super-instances must be 1 or more, got {n_super_instances}")
    if strategy is not None:
        asking: Any = STRATEGIES.find(strategy)
        if not (isinstance(asking, type) and issubclass(asking, Strategy)):
            raise InputError(
                f"{strategy} is not a strategy: it must be a subclass of "
                "likewise.core.strategy.Strategy"
            )


def plain_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options that are given, as JSON gives them back; a kind is found by its name."""
    plain = {k: _plain(v) for k, v in (options or {}).items() if v not in (None, ())}
    if "kind" in plain:
        KINDS.find(plain["kind"])
    return plain


def stored_options(where: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a file has for `open_items`; nothing that they name is imported."""
    options = settings.get("options", {})
    if not isinstance(options, dict) or "source" in options:
        raise SessionFileError(f"{where} is damaged: its options are {options!r}")
    if options.get("kind") is not None:
        KINDS.known(options["kind"])
    # A file does not say where on this machine something is written.
    return {**options, "cache": options.get("cache", True) is not False}


def _plain(value: Any) -> Any:
    """Return a value as JSON gives it back; paths become absolute."""
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)
    return list(value) if isinstance(value, tuple) else value


def check_data(store: Store, paths: Sequence[PathLike], wanted: Mapping[str, Any]) -> None:
    """Refuse files of other paths that are read in batches while those of the session are not."""
    settings = store.settings
    is_sample, before = large.is_sample(settings), settings.get("paths", [settings.get("path")])
    if [os.path.abspath(path) for path in paths] == before:
        return
    if large.is_large(paths, {**settings.get("options", {}), **wanted}) != is_sample:
        raise InputError(
            f"{store.path} is a session about other data: begin another with --session FILE"
        )


def is_outdated(store: Store, wanted: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Return whether a session was begun with other options, and may be replaced.

    One that has answers may not: then the options are refused.
    """
    try:
        check_same(store.path, store.settings, wanted, asked)
    except InputError:
        if any(entry.op.get("do") != "grow" for entry in store.read()):
            raise
        return True
    return False


def remove_outdated(
    where: Path, wanted: Mapping[str, Any], asked: Mapping[str, Any], say: Say
) -> None:
    """Remove an outdated session, unless somebody has answered or begun it again meanwhile."""
    with Store.open(where) as store:
        is_gone = is_outdated(store, wanted, asked)
    if is_gone:
        where.unlink()
        say(f"{where} had no answers and was begun with other options; a new one is begun")


def check_same(
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
