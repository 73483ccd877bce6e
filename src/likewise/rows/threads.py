"""Keep linear algebra to one thread: for equal results, and because more threads rarely pay."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_WITH_THREADS = ("numpy.linalg", "scipy.linalg", "sklearn.cluster", "torch")
"""Packages whose libraries start threads of their own; they may be imported late."""


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread inside the block, which must not yield."""
    loaded = tuple(name for name in _WITH_THREADS if name in sys.modules)
    own = vars(_of_thread).setdefault("limit", _Limit(is_of_process=False))
    _of_process.enter(loaded)
    own.enter(loaded)
    try:
        yield
    finally:
        own.leave()
        _of_process.leave()


def limited(function: Callable[..., Result], *args: Any) -> Result:
    """Return ``function(*args)``, called with one thread."""
    with one_thread_each():
        return function(*args)


def map_in_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """Return ``function(item)`` for each item, in order, if it mostly runs without the GIL."""
    n = n_threads(n_jobs, len(items))
    with one_thread_each():
        if n == 1:
            return list(map(function, items))
        with ThreadPoolExecutor(n) as pool:
            # OpenMP is limited thread by thread.
            return list(pool.map(partial(limited, function), items))


def n_threads(n_jobs: int | None, at_most: int) -> int:
    """Return how many threads scikit-learn's `n_jobs` means, but no more than there is work for."""
    if n_jobs is None and "joblib" not in sys.modules:
        return 1
    from joblib import effective_n_jobs

    return max(1, min(int(effective_n_jobs(n_jobs)), at_most))


class _Limit:
    """One thread for some libraries, as long as any block needs it."""

    def __init__(self, *, is_of_process: bool) -> None:
        self._is_of_process = is_of_process
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limited: list[tuple[tuple[str, ...], Any]] = []

    def enter(self, loaded: tuple[str, ...]) -> None:
        with self._lock:
            self._n_inside += 1
            # Limit again if a package has brought a library since.
            if not self._limited or self._limited[-1][0] != loaded:
                libraries = _libraries(loaded, self._is_of_process)
                _let_any_thread(libraries)
                self._limited.append((loaded, libraries.limit(limits=1)))

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            while self._n_inside == 0 and self._limited:
                loaded, limiter = self._limited.pop()
                libraries = _libraries(loaded, self._is_of_process)
                _let_any_thread(libraries)
                limiter.restore_original_limits()
                _let_any_thread(libraries)


_of_process = _Limit(is_of_process=True)
_of_thread = threading.local()


@cache
def _libraries(loaded: tuple[str, ...], is_of_process: bool) -> ThreadpoolController:  # noqa: ARG001
    """Return the libraries with one thread count per process, or those with one per thread."""
    all_of_them = ThreadpoolController()
    paths = [
        library.filepath
        for library in all_of_them.lib_controllers
        if is_of_process
        == (library.user_api == "blas" and getattr(library, "threading_layer", "") != "openmp")
    ]
    return all_of_them.select(filepath=paths)


def _let_any_thread(libraries: ThreadpoolController) -> None:
    """Let this thread set limits: threadpoolctl ignores all but the first thread that ever did."""
    for library in libraries.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
