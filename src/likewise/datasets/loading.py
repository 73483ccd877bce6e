"""`load`: one line from the name of a task to the matrix of the paper."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from likewise.datasets.catalog import Task, find_task
from likewise.datasets.dataset import Dataset
from likewise.datasets.faces import face_features
from likewise.datasets.folder import VARIABLE, data_folder
from likewise.datasets.newsgroups import DECIMALS, load_corpus
from likewise.datasets.stored import read_stored_faces, read_stored_messages, read_stored_table
from likewise.datasets.tables import encode, preprocess
from likewise.errors import DatasetError, InputError, needs_extra

if TYPE_CHECKING:
    import pandas as pd

PREPROCESSING = ("authors", "paper")


@overload
def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = ...,
    preprocessing: str = ...,
    features: str = ...,
    raw: Literal[False] = ...,
    download: bool = ...,
) -> Dataset: ...
@overload
def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = ...,
    preprocessing: str = ...,
    features: str = ...,
    raw: Literal[True],
    download: bool = ...,
) -> pd.DataFrame: ...
def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    preprocessing: str = "authors",
    features: str = "auto",
    raw: bool = False,
    download: bool = True,
) -> Dataset | pd.DataFrame:
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
    raw : bool, default=False
        Return the table as it came, as a data frame, instead of a `Dataset`. Needs pandas.
    download : bool, default=True
        Fetch what is not in the folder from its official place, into the folder.

    Returns
    -------
    Dataset or pandas.DataFrame

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

    >>> from likewise.datasets import load
    >>> load("irises")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: There is no task 'irises'. The tasks are: iris, wine, ...
    """
    task = find_task(name)
    if preprocessing not in PREPROCESSING:
        raise InputError(f"preprocessing is {preprocessing!r}; it can be 'authors' or 'paper'.")
    if task.kind != "faces" and features != "auto":
        raise InputError(f"features is {features!r}; only the faces tasks have a choice of them.")
    path = _present(task, data_folder(data_home), download)
    if raw:
        return _raw(task, path)
    if task.kind == "table":
        return _load_table(task, path, preprocessing)
    if task.kind == "faces":
        return _load_faces(task, path, features, download)
    return _load_newsgroups(task, path)


def _present(task: Task, folder: Path, download: bool) -> Path:
    path = folder / task.file
    if path.is_file():
        return path
    if download:
        from likewise.datasets.download import fetch_file

        fetch_file(task.file, folder)
        return path
    raise DatasetError(
        f"{task.name} needs {task.file}, which is not in {folder}. Run `likewise data fetch "
        f"{task.name}`, or point {VARIABLE} or data_home= at a folder that holds it."
    )


def _load_table(task: Task, path: Path, preprocessing: str) -> Dataset:
    done = preprocess(
        read_stored_table(path), drop=task.drop, pick=task.pick, authors=preprocessing == "authors"
    )
    y, target_names = encode(done.labels)
    return Dataset(
        name=task.name,
        X=done.values,
        y=y,
        target_names=target_names,
        ids=done.rows,
        source=f"{task.origin}, preprocessing={preprocessing}",
        citation=task.citation,
    )


def _load_faces(task: Task, path: Path, features: str, download: bool) -> Dataset:
    faces = read_stored_faces(path)
    X, description = face_features(faces, path.parent, features, download=download)
    y, target_names = encode(tuple(getattr(faces, task.target).tolist()))
    return Dataset(
        name=task.name,
        X=X,
        y=y,
        target_names=target_names,
        ids=faces.names,
        source=f"{task.origin}, features={description}",
        citation=task.citation,
        images=faces.pictures(),
    )


def _load_newsgroups(task: Task, path: Path) -> Dataset:
    corpus = load_corpus(path, task.groups, lambda: read_stored_messages(path))
    y, target_names = encode(corpus.labels)
    return Dataset(
        name=task.name,
        X=corpus.X,
        y=y,
        target_names=target_names,
        ids=np.array(corpus.ids),
        source=f"{task.origin}, tf-idf, LSI to {corpus.X.shape[1]}, unit rows, {DECIMALS} decimals",
        citation=task.citation,
        texts=corpus.texts,
    )


def _raw(task: Task, path: Path) -> pd.DataFrame:
    with needs_extra("raw=True", "tables"):
        import pandas as pd
    if task.kind == "table":
        read_stored_table(path)
        frame = pd.read_csv(path)
        return frame[frame["target"].astype(str).isin(task.pick)] if task.pick else frame
    if task.kind == "faces":
        faces = read_stored_faces(path)
        columns = ("names", "person", "pose", "expression", "eyes")
        return pd.DataFrame({column: getattr(faces, column) for column in columns})
    messages = read_stored_messages(path)
    return pd.DataFrame([asdict(m) for m in messages if m.newsgroup in task.groups])
