"""Tasks by name: the paper's, those of later lists, scikit-learn's, and your own files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra
from likewise.lab.datasets import Dataset, load, task_names
from likewise.lab.datasets.catalog import find_task
from likewise.lab.datasets.fourth import FOURTH, how_to_install, load_fourth
from likewise.lab.datasets.third import THIRD, load_third, missing_package
from likewise.registry import Registry

SUFFIXES = (".npz", ".parquet")
TARGET = "y"
"""The array of a .npz file, or the column of a Parquet file, that has the classes."""

_FUNCTIONS: Registry[Any] = Registry("task", {}, group="likewise.tasks")


def check_task(name: str) -> None:
    """Raise `InputError` if there can be no task with this name."""
    if ":" not in name and not name.endswith(SUFFIXES) and name not in THIRD | FOURTH:
        find_task(name)


def missing_for(name: str) -> str:
    """Return what a task needs and how to install it, or "" if it is here."""
    if name in FOURTH:
        how = how_to_install(name)
        return f"{FOURTH[name].package}. {how}" if how else ""
    package = missing_package(name)
    return f'{package}. pip install "likewise[lab]"' if package else ""


def tasks_in(folder: str | Path) -> list[str]:
    """Return the tasks of a folder: the names of its .npz and Parquet files."""
    names = sorted(path.name for path in Path(folder).glob("*") if path.suffix in SUFFIXES)
    if not names:
        raise InputError(f"there is no .npz or .parquet file in {folder}")
    return names


def in_order(names: Iterable[str]) -> list[str]:
    """Return the names of tasks, each once: the paper's in its order, then others by name."""
    wanted = set(names)
    paper = [name for name in task_names() if name in wanted]
    return [*paper, *sorted(wanted - set(paper))]


@lru_cache(maxsize=2)
def dataset(task: str, data_home: str | None = None, folder: str | None = None) -> Dataset:
    """Return a task of the paper or of a later list, of a function, or of a file in `folder`."""
    if ":" in task:
        data = _FUNCTIONS.find(task)()
        X, y = (data.data, data.target) if hasattr(data, "target") else data
        return _checked(task, X, y)
    if task.endswith(SUFFIXES):
        if folder is None:
            raise InputError(f"{task} is a file: say in which folder it is by --tasks-from")
        return _checked(task, *_from_file(Path(folder, task)))
    if task in THIRD:
        return _checked(task, *load_third(task))
    if task in FOURTH:
        described = load_fourth(task)
        return replace(_checked(task, described.X, described.y), aspects=described.aspects)
    return load(task, data_home=data_home)


def _from_file(path: Path) -> tuple[Any, Any]:
    if not path.is_file():
        raise InputError(f"there is no task {path}")
    if path.suffix == ".npz":
        return _from_archive(path)
    with needs_extra(f"{path}", "tables"):
        import pyarrow.parquet as pq
    try:
        table = pq.read_table(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise InputError(f"{path} cannot be read as Parquet: {error}. Write it again.") from error
    if TARGET not in table.column_names:
        raise InputError(f"{path} has no column {TARGET!r} with the classes")
    y = np.asarray(table[TARGET])
    features = table.drop_columns([TARGET])
    return np.column_stack([np.asarray(column) for column in features.columns]), y


def _from_archive(path: Path) -> tuple[Any, Any]:
    try:
        # Opened here, because numpy forgets to close what turns out to be broken.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            missing = [name for name in ("X", TARGET) if name not in arrays]
            if missing:
                raise InputError(f"{path} has no array {missing[0]!r}; it needs X and y")
            return arrays["X"], arrays[TARGET]
    except InputError:
        raise
    except Exception as error:  # headers are read as Python text, which can fail in any way
        raise InputError(
            f"{path} cannot be read: {error}. Write it again with numpy.savez(path, X=X, y=y); "
            "arrays of Python objects are not read, since that could run code."
        ) from error


def _checked(name: str, X: Any, y: Any) -> Dataset:
    try:
        rows: NDArray[np.float64] = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the features of {name} are not all numbers: {error}") from error
    if rows.ndim != 2 or len(rows) != len(y) or not np.isfinite(rows).all():
        raise InputError(
            f"{name} needs a row of finite numbers for every class: X has shape {rows.shape}, "
            f"y has length {len(y)}"
        )
    names, codes = np.unique(np.asarray(y), return_inverse=True)
    digest = sha256(rows.tobytes() + codes.tobytes()).hexdigest()
    return Dataset(
        name=name,
        X=rows,
        y=codes.reshape(-1).astype(np.int64),
        target_names=tuple(map(str, names)),
        ids=np.arange(len(rows)),
        source=f"{name}, SHA-256 {digest[:12]}",
        citation="",
    )
