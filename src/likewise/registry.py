"""Named things that are loaded when they are first used: built in, installed, or your own.

There is one registry each for strategies, kinds of items, export formats and methods of the
experiment. Other packages add to them by entry points, scripts by `Registry.register`, and the
command line by an address such as ``package.module:Name``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from likewise.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Things by name.

    Parameters
    ----------
    what : str
        What one of them is called in messages, such as "strategy".
    built_in : mapping
        Every thing that is built in, or its address, by name.
    group : str
        The group of entry points that add to them.

    Examples
    --------
    >>> formats = Registry("format", {"decoder": "json:JSONDecoder"}, group="none.at.all")
    >>> formats.register("encoder", "json:JSONEncoder")
    >>> formats.names, formats.find("encoder").__name__
    (['decoder', 'encoder'], 'JSONEncoder')
    """

    def __init__(self, what: str, built_in: Mapping[str, T | str], *, group: str) -> None:
        self.what = what
        self.group = group
        self._known: dict[str, Any] = dict(built_in)
        self._has_looked = False

    @property
    def names(self) -> list[str]:
        """All names: built-in ones first, in their order, then others."""
        self._look_for_installed()
        return list(self._known)

    def __contains__(self, name: str) -> bool:
        return name in self._known or name in self.names

    def register(self, name: str, thing: T | str) -> None:
        """Add a thing, or its address, under a name; what had that name before is replaced."""
        self._known[name] = thing

    def find(self, name: str) -> T:
        """Return a thing by its name, or by an address of the form ``package.module:Name``.

        Raises
        ------
        InputError
            If there is no such thing.
        """
        if name not in self._known:
            self._look_for_installed()
        if name in self._known:
            if isinstance(self._known[name], str):
                self._known[name] = self._load(self._known[name])
            return cast(T, self._known[name])
        if ":" in name:
            return self._load(name)
        raise InputError(
            f"there is no {self.what} {name!r}. There are {', '.join(self.names)}; one of your own "
            "is package.module:Name."
        )

    def _load(self, address: str) -> T:
        module, _, attribute = address.partition(":")
        if not module or module.startswith("."):
            raise InputError(
                f"the address of a {self.what} is package.module:Name, not {address!r}"
            )
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)
        try:
            return cast(T, getattr(importlib.import_module(module), attribute))
        except (ModuleNotFoundError, AttributeError) as error:
            raise InputError(f"cannot find the {self.what} {address!r}: {error}") from error

    def _look_for_installed(self) -> None:
        if not self._has_looked:
            self._has_looked = True
            for entry in entry_points(group=self.group):
                self._known.setdefault(entry.name, entry.value)
