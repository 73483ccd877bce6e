"""Loops that numba compiles where it is installed (the extra `fast`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def compiled(plain: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a loop that returns the same bits as `plain`, which is used without numba."""

    def decorate(loop: Callable[P, R]) -> Callable[P, R]:
        @cache
        def chosen() -> Callable[P, R]:
            return plain if find_spec("numba") is None else _jit(loop)

        @wraps(plain)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return chosen()(*args, **kwargs)

        return call

    return decorate


def _jit(loop: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    try:
        return numba.njit(cache=True)(loop)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to keep compiled code in
        return numba.njit(loop)  # type: ignore[no-any-return]
