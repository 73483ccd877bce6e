"""The machine a cell runs on: its name and versions, time limits, memory."""

from __future__ import annotations

import importlib
import json
import os
import platform
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from threadpoolctl import threadpool_info

import likewise

KERNEL = "OPENBLAS_CORETYPE"
"""Names the code of OpenBLAS to use, as `kernel` returns it."""

HARD_LIMIT = 2.0
"""A cell is cut off after this many time limits; after one, no more questions are answered."""


class CellTimeoutError(BaseException):
    """The cell was cut off. Not an `Exception`, so that no method catches it by mistake."""


@contextmanager
def cut_off(time_limit: float | None) -> Iterator[None]:
    """Raise `CellTimeoutError` if the block runs too long, where the system has signals."""
    if time_limit is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise CellTimeoutError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HARD_LIMIT * time_limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def reset_peak_memory() -> None:
    """Forget the largest resident memory so far, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory_mb() -> float:
    """Return the largest resident memory since the reset, else of the process; NaN on Windows."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return float("nan")
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (2**20 if sys.platform == "darwin" else 2**10)


@cache
def versions() -> str:
    """Return the versions that results depend on, as JSON."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    ours = {"likewise": likewise.__version__, "python": platform.python_version()}
    return json.dumps(packages | ours, sort_keys=True)


@cache
def kernel() -> str:
    """Return which code of OpenBLAS linear algebra runs, such as "SkylakeX"; "" without OpenBLAS.

    It depends on the processor. Another one adds in another order, so last bits may differ. The
    environment variable `KERNEL` chooses one before NumPy is loaded.
    """
    importlib.import_module("scipy.linalg")  # loads what is asked for, in a new process
    kinds = {str(each.get("architecture", "")) for each in threadpool_info()}
    return " ".join(sorted(filter(None, kinds)))


@cache
def machine() -> str:
    """Return the machine in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
