"""Names of a package that are imported when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, from the names in each module."""
    where = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        thing = getattr(import_module(f"{package}.{where[name]}"), name)
        setattr(sys.modules[package], name, thing)
        return thing

    return get, lambda: sorted({*vars(sys.modules[package]), *where})
