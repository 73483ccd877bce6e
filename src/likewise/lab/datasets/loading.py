"""Load a task by its name: features, classes, and what is needed to show and cite it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError, InputError
from likewise.items.latent import DECIMALS
from likewise.lab.datasets.catalog import Task, expectations, find_task
from likewise.lab.datasets.faces import Faces, face_features, read_faces
from likewise.lab.datasets.folder import VARIABLE, data_folder
from likewise.lab.datasets.newsgroups import load_corpus, message_facts, read_messages
from likewise.lab.datasets.tables import Table, check, encode, preprocess, read_table

PREPROCESSING = ("authors", "paper")
READERS: dict[str, tuple[Any, Any]] = {
    ".csv": (read_table, Table.facts),
    ".npz": (read_faces, Faces.facts),
    ".gz": (read_messages, message_facts),
}
"""By suffix: what reads a file, and what describes its content."""

Parts = tuple[NDArray[np.float64], tuple[str, ...], NDArray[Any], str, dict[str, Any]]
"""Rows, their classes and ids, how they were made, and what can be shown of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A clustering task: rows, their true classes, and where both come from.

    Attributes
    ----------
    name : str
        One of `task_names()`, or ``"digits"`` for the demonstration.
    X : ndarray of float64, shape (n_rows, n_features)
        The preprocessed features.
    y : ndarray of int64, shape (n_rows,)
        The class of every row, as an index into `target_names`.
    target_names : tuple of str
        The names of the classes as they stand in the original data.
    ids : ndarray, shape (n_rows,)
        What each row is called in the original data: a row number for tables, a file name for
        pictures and messages.
    source : str
        Where the values come from, how they were preprocessed and which features were used.
        Results made with different sources must not be compared one to one.
    citation : str
        What to cite.
    images : ndarray of uint8, shape (n_rows, height, width), or None
        The pictures, 0 is black and 255 is white.
    texts : sequence of str, or None
        The whole messages.
    aspects : dict of str to slice, or None
        The columns of each aspect, if there are several.

    Examples
    --------
    >>> from likewise.lab.datasets import load_demo
    >>> load_demo()
    Dataset('digits', 1797 rows, 64 features, 10 classes)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    target_names: tuple[str, ...]
    ids: NDArray[Any]
    source: str
    citation: str
    images: NDArray[np.uint8] | None = None
    texts: Sequence[str] | None = None
    aspects: dict[str, slice] | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.target_names)

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return f"Dataset({self.name!r}, {rows} rows, {features} features, {self.n_classes} classes)"


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    preprocessing: str = "authors",
    features: str = "auto",
    download: bool = True,
) -> Dataset:
    """Load one of the paper's tasks.

    Parameters
    ----------
    name : str
        One of `task_names()`.
    data_home : path, optional
        The folder of the original data. Without it the variable ``LIKEWISE_DATA`` counts, and
        without that a folder in the user's cache.
    preprocessing : {"authors", "paper"}, default="authors"
        For tables: what the authors did, or what the text of the paper says. They differ for
        parkinsons, sonar and optdigits389; see ``docs/datasets.md``.
    features : {"auto", "inception-v3", "efficientnet-lite2", "pixels"}, default="auto"
        For faces: where the features come from. "auto" takes the first that is available without
        a download.
    download : bool, default=True
        Fetch what is not in the folder from its official place, into the folder.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        No task, preprocessing or features of that name.
    DatasetError
        The data are not there and cannot be fetched, or they are not what they should be.
    MissingExtraError
        An optional package is needed; the message has the command.

    Examples
    --------
    ``load("iris")`` gives ``Dataset('iris', 147 rows, 4 features, 3 classes)``, after fetching it
    the first time. A name that does not exist is answered with those that do:

    >>> from likewise.lab.datasets import load
    >>> load("irises")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: There is no task 'irises'. Did you mean iris? The tasks are: ...
    """
    task = find_task(name)
    if preprocessing not in PREPROCESSING:
        raise InputError(f"preprocessing is {preprocessing!r}; it can be 'authors' or 'paper'.")
    if task.kind != "faces" and features != "auto":
        raise InputError(f"features is {features!r}; only the faces tasks have a choice of them.")
    path = _present(task, data_folder(data_home), download)
    if task.kind == "table":
        parts = _table(task, path, preprocessing)
    elif task.kind == "faces":
        parts = _faces(task, path, features, download)
    else:
        parts = _messages(task, path)
    X, labels, ids, how, shown = parts
    y, target_names = encode(labels)
    source = f"{task.origin}, {how}"
    return Dataset(task.name, X, y, target_names, ids, source, task.citation, **shown)


def load_demo() -> Dataset:
    """Load 1797 handwritten digits of 8 x 8 pixels, with their pictures; needs no download.

    Returns
    -------
    Dataset
        Its features are the 64 gray values, scaled to [0, 1].

    Examples
    --------
    >>> from likewise.lab.datasets import load_demo
    >>> digits = load_demo()
    >>> digits.X.shape, digits.images.shape, digits.target_names[:3]
    ((1797, 64), (1797, 8, 8), ('0', '1', '2'))
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    # Ink is 16 in the file; on a screen it is black.
    images = np.rint((16 - digits.images) * (255 / 16)).astype(np.uint8)
    return Dataset(
        name="digits",
        X=np.ascontiguousarray(digits.data, dtype=np.float64) / 16,
        y=digits.target.astype(np.int64),
        target_names=tuple(str(name) for name in digits.target_names),
        ids=np.arange(len(digits.target)),
        source="scikit-learn load_digits (the test part of UCI 80), pixels divided by 16",
        citation=(
            "Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits "
            "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C50P49"
        ),
        images=images,
    )


def _present(task: Task, folder: Path, download: bool) -> Path:
    path = folder / task.file
    if path.is_file():
        return path
    if download:
        from likewise.lab.datasets.download import fetch_file

        fetch_file(task.file, folder)
        return path
    raise DatasetError(
        f"{task.name} needs {task.file}, which is not in {folder}. Run `likewise data fetch "
        f"{task.name}`, or point {VARIABLE} or data_home= at a folder that holds it."
    )


def _table(task: Task, path: Path, preprocessing: str) -> Parts:
    is_authors = preprocessing == "authors"
    parts = preprocess(read_stored(path), drop=task.drop, pick=task.pick, authors=is_authors)
    return *parts, f"preprocessing={preprocessing}", {}


def _faces(task: Task, path: Path, features: str, download: bool) -> Parts:
    faces = read_stored(path)
    X, description = face_features(faces, path.parent, features, download=download)
    labels = tuple(getattr(faces, task.target).tolist())
    return X, labels, faces.names, f"features={description}", {"images": faces.pictures()}


def _messages(task: Task, path: Path) -> Parts:
    corpus = load_corpus(path, task.groups, lambda: read_stored(path))
    how = f"tf-idf, LSI to {corpus.X.shape[1]}, unit rows, {DECIMALS} decimals"
    return corpus.X, corpus.labels, np.array(corpus.ids), how, {"texts": corpus.texts}


def read_stored(path: Path) -> Any:
    """Return a table, pictures or messages, checked against the committed expectations."""
    read, facts = READERS[path.suffix]
    content = read(path)
    check(str(path), facts(content), expected(path.name))
    return content


def verify(path: Path) -> str:
    """Check a file of the data folder and say what was checked."""
    read_stored(path)
    facts = expected(path.name)
    features = f", {facts['features']} features" if "features" in facts else ""
    return (
        f"{facts['rows']} rows{features}, {len(facts['classes'])} classes, "
        f"digest {facts['digest'][:12]}"
    )


def expected(file: str) -> dict[str, Any]:
    """Return what a file of the data folder must look like."""
    facts: dict[str, Any] = expectations()["files"][file]
    return facts
