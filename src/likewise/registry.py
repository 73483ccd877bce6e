"""Named things that are loaded when they are first used: built in, installed, or your own.

There is one registry each for strategies, kinds of items, export formats and methods of the
experiment. Other packages add to them by entry points, scripts by `Registry.register`, and the
command line by an address such as ``package.module:Name`` or ``file.py:Name``.

A person may give an address, and its module is imported. A file may not, since it could come from a
stranger: names from files are looked up by `Registry.known`, which imports only what is registered.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from likewise.errors import InputError, SessionFileError
from likewise.words import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Things by name, or by the address of what is not loaded yet; `what` names one in messages."""

    def __init__(self, what: str, built_in: Mapping[str, T | str], *, group: str) -> None:
        self.what = what
        self.group = group
        self._known: dict[str, Any] = dict(built_in)
        self._by_address: dict[str, T] = {}
        self._has_looked = False

    @property
    def names(self) -> list[str]:
        """All names: built-in ones first, in their order, then others."""
        if not self._has_looked:
            self._has_looked = True
            for entry in entry_points(group=self.group):
                self._known.setdefault(entry.name, entry.value)
        return list(self._known)

    def __contains__(self, name: str) -> bool:
        return name in self._known or name in self.names

    def register(self, name: str, thing: T | str) -> None:
        """Add a thing, or its address, under a name; what had that name before is replaced."""
        self._known[name] = thing

    def find(self, name: str) -> T:
        """Return a thing by its name, or by its address."""
        if name in self:
            return self.known(name)
        if ":" in name:
            here = str(Path.cwd())
            if here not in sys.path:
                sys.path.append(here)
            self._by_address[name] = self._load(name)
            return self._by_address[name]
        raise InputError(
            f"there is no {self.what} {name!r}.{did_you_mean(name, self.names)} There are "
            f"{', '.join(self.names)}; one of your own is package.module:Name."
        )

    def known(self, name: Any) -> T:
        """Return a thing by a name from a file, which can never make anything be imported."""
        if isinstance(name, str) and name in self._by_address:
            return self._by_address[name]
        if not isinstance(name, str) or name not in self:
            raise SessionFileError(
                f"the file names the {self.what} {repr(name)[:80]}, which is not known here; "
                f"known are {', '.join(self.names)}. A file could come from a stranger, so nothing "
                "that it names is imported. If this one is yours, name it yourself or import the "
                "module that registers it."
            )
        if isinstance(self._known[name], str):
            self._known[name] = self._load(self._known[name])
        return cast(T, self._known[name])

    def _load(self, address: str) -> T:
        module, _, attribute = address.rpartition(":")
        if not module or (module.startswith(".") and not module.endswith(".py")):
            raise InputError(
                f"the address of a {self.what} is package.module:Name or file.py:Name, not "
                f"{address!r}"
            )
        try:
            is_file = module.endswith(".py")
            loaded = module_of(module) if is_file else importlib.import_module(module)
            return cast(T, getattr(loaded, attribute))
        except (ModuleNotFoundError, AttributeError) as error:
            raise InputError(f"cannot find the {self.what} {address!r}: {error}") from error


def module_of(path: str | Path) -> ModuleType:
    """Return a Python file as a module, which is loaded once."""
    where = Path(path).resolve()
    name = str(where)  # files of the same name must not be taken for each other
    if name not in sys.modules:
        spec = spec_from_file_location(name, where)
        if spec is None or spec.loader is None or not where.is_file():
            raise InputError(f"there is no Python file {path}")
        sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
