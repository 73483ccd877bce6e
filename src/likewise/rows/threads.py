"""Keep linear algebra to one thread: for equal results, and because more threads rarely pay."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_WITH_THREADS = ("numpy.linalg", "scipy.linalg", "sklearn.cluster", "faiss", "torch")
"""Packages that bring libraries with threads of their own; they may be imported late."""


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread inside the block.

    Sums in another order end in other bits, so results would depend on the number of cores. On
    small matrices, and where all cores are busy, threads also cost more than they gain.

    Blocks may be nested, and may overlap in several threads: the limit is lifted when the last
    one ends. Inside another block it costs a microsecond.
    """
    loaded = tuple(name for name in _WITH_THREADS if name in sys.modules)
    # The number of BLAS threads belongs to the process, that of OpenMP to the calling thread.
    own = vars(_of_thread).setdefault("openmp", _Limit("openmp"))
    _blas.enter(loaded)
    own.enter(loaded)
    try:
        yield
    finally:
        own.leave()
        _blas.leave()


def map_in_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order; each call has one thread for itself.

    For functions that do nearly all of their work outside of the interpreter's lock.
    """

    def limited(item: Item) -> Result:
        with one_thread_each():
            return function(item)

    n_threads = min(effective_n_jobs(n_jobs), len(items))
    with one_thread_each():
        if n_threads <= 1:
            yield from map(function, items)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            yield from pool.map(limited, items)


class _Limit:
    """One thread for some libraries, while anybody wants it."""

    def __init__(self, user_api: str) -> None:
        self._user_api = user_api
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limited: list[tuple[tuple[str, ...], Any]] = []

    def enter(self, loaded: tuple[str, ...]) -> None:
        with self._lock:
            self._n_inside += 1
            # Limit again if a package has brought a library since.
            if not self._limited or self._limited[-1][0] != loaded:
                limiter = _libraries(loaded, self._user_api).limit(limits=1)
                self._limited.append((loaded, limiter))

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            while self._n_inside == 0 and self._limited:
                self._limited.pop()[1].restore_original_limits()


_blas = _Limit("blas")
_of_thread = threading.local()


@cache
def _libraries(loaded: tuple[str, ...], user_api: str) -> ThreadpoolController:  # noqa: ARG001
    """Return the libraries that have threads; finding them takes milliseconds."""
    return ThreadpoolController().select(user_api=user_api)
