"""Sessions about a source: the same questions; labels are written to files."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import StreamedSuperInstances, SuperInstances
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.rows.assignment import Kernel
from likewise.rows.labels import (
    Labeling,
    LabelPass,
    RowLabels,
    new_folder,
    no_rows,
    pieces_of_work,
    publish,
    remove_unfinished,
)
from likewise.rows.passes import Cells
from likewise.rows.source import Source
from likewise.rows.sweep import Progress, Sweeper, sweeper_for
from likewise.strategies.representatives import number_groups


class SourceSession(Session):
    """A session about rows that are not in memory.

    It is asked and told like any other. `labels` reads all rows and returns the group of each;
    `write_labels` writes them to files.

    Attributes
    ----------
    source : Source or None
        The rows; None until `attach`.
    label_by : str
        "cells" if rows get the group of their super-instance; "learned" if what was learned from
        the answers labels every row by itself, which takes much longer. The estimator
        decides when it starts the session; it may be changed.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import COBRA, Answer
    >>> from likewise.scale import from_array
    >>> source = from_array(np.array([[0.0], [0.1], [5.0]]))
    >>> session = COBRA(n_super_instances=3).start(source)
    >>> _ = session.tell(Answer.SAME), session.tell(Answer.DIFFERENT)
    >>> session.labels.tolist()
    [0, 0, 1]
    """

    source: Source | None = None
    n_jobs: int | None = None
    label_by: str = "cells"
    _learners: ClassVar[dict[str, Callable[[SourceSession, bool], RowLabels | None]]] = {}

    @classmethod
    def register_labels(
        cls, name: str, learn: Callable[[SourceSession, bool], RowLabels | None]
    ) -> None:
        """Register a way to label rows: ``learn(session, guess)`` returns what labels them.

        It returns None where nothing can be learned yet.
        """
        cls._learners[name] = learn

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], *, X: Any = None, digest: str | None = None
    ) -> Self:
        """Return the session that `to_dict` wrote down.

        Parameters
        ----------
        plain : mapping
            What `to_dict` returned.
        X : Source
            The data that the session was started with; refused if it is other data.
        digest : str, optional
            Its fingerprint, if that is known.
        """
        if not isinstance(X, Source):
            raise InputError(
                f"this session is about a source: pass it as X, got {type(X).__name__}"
            )
        session = super().from_dict(plain, digest=digest or X.fingerprint())
        assert isinstance(session, cls)
        session.label_by = str(plain.get("label_by", "cells"))
        return session.attach(X)

    def state(self) -> dict[str, Any]:
        """Return what `to_dict` returns, with arrays where that has long lists."""
        return {**super().state(), "label_by": self.label_by}

    @property
    def labels(self) -> NDArray[np.intp]:
        """The group of every row by what is known now; this reads all rows."""
        return self.find_labels(self.label_by)

    @property
    def labels_guess(self) -> NDArray[np.intp]:
        """The group of every row if what is undecided is guessed from the answers so far."""
        return self.find_labels(self.label_by, guess=True)

    def find_labels(self, by: str, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row.

        Parameters
        ----------
        by : str
            What `label_by` may be.
        guess : bool, default=False
            Whether undecided groups are joined by a guess.
        """
        rows = self._row_labels(by, guess)
        if rows is None:
            return self.strategy.labels_guess() if guess else self.strategy.labels()
        labeling = Labeling(None, no_rows(), no_rows(), rows)
        return _collect(self._attached_source(), labeling, self.n_jobs)

    def attach(self, source: Source, *, n_jobs: int | None = None) -> Self:
        """Set the source of the rows."""
        self.source = source
        self.n_jobs = n_jobs
        partition = self._partition
        if isinstance(partition, StreamedSuperInstances):
            partition.attach(partial(find_super_instances, source, partition, n_jobs))
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.source is not None:
            self.attach(self.source, n_jobs=self.n_jobs)

    def write_labels(
        self,
        path: str | os.PathLike[str],
        *,
        guess: bool = False,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Write the group of every row as Parquet files with the columns `row` and `label`.

        There is one file for every part of the source, under the same name, and a manifest. They
        appear all together when all are whole, or not at all.

        Parameters
        ----------
        path : path
            A folder that is empty or not there yet.
        guess : bool, default=False
            Whether undecided groups are joined by a guess, as in `labels_guess`.
        overwrite : bool, default=False
            Whether labels that are there already are replaced.
        progress : callable, optional
            Called as ``progress("write", rows_done, n_rows)``.

        Raises
        ------
        InputError
            If the data has changed since the session was started. The session is as it was.
        """
        source = self._attached_source()
        source.check_unchanged()
        folder = new_folder(path, overwrite)
        strategy = self.strategy
        names = (
            strategy.guess_of_representatives() if guess else strategy.group_of_representatives()
        )
        groups, fixed, of_fixed = number_groups(names, self._partition, self.links)
        labeling = replace(
            _labeling(self._partition, groups),
            rows=self._row_labels(self.label_by, guess),
            fixed=fixed,
            of_fixed=of_fixed,
        )
        run = uuid.uuid4().hex
        sweeper = sweeper_for(source, n_jobs=self.n_jobs, progress=progress)
        try:
            files, counts = _write_all(sweeper, source, labeling, str(folder), run)
            source.check_unchanged()
            if not np.array_equal(counts, self._partition.sizes()):
                raise InputError(
                    "the data has changed since the session was started: rows lie in other "
                    "super-instances than they did. Start a new session with this data."
                )
            about = {
                "n_rows": source.n_rows,
                "n_groups": labeling.n_groups,
                "n_answers": len(self.events),
                "is_guess": guess,
                "label_by": self.label_by,
                "digest": self.digest,
            }
            publish(folder, files, about, source.parts)
        finally:
            remove_unfinished(folder, run)

    @property
    def _partition(self) -> SuperInstances:
        return self.strategy.partition

    def _row_labels(self, by: str, guess: bool) -> RowLabels | None:
        """Return what labels every row by itself; None if its super-instance does."""
        if by == "cells":
            return None
        if by not in self._learners:
            known = ", ".join(repr(name) for name in ("cells", *self._learners))
            raise InputError(f"rows are labeled by one of {known}, not by {by!r}")
        self._attached_source()
        return self._learners[by](self, guess)

    def _attached_source(self) -> Source:
        if self.source is None:
            raise InputError("the session has no source; call session.attach(source) first")
        return self.source


def find_super_instances(
    source: Source, partition: SuperInstances, n_jobs: int | None
) -> NDArray[np.intp]:
    """Return the super-instance of every row; this reads all rows."""
    labeling = _labeling(partition, np.arange(partition.n_super_instances))
    return _collect(source, labeling, n_jobs)


def _collect(source: Source, labeling: Labeling, n_jobs: int | None) -> NDArray[np.intp]:
    found = np.empty(source.n_rows, dtype=np.intp)
    at = 0
    for of_span in sweeper_for(source, n_jobs=n_jobs).sweep(LabelPass(labeling)):
        for labels in of_span:
            found[at : at + len(labels)] = labels
            at += len(labels)
    return found


def _write_all(
    sweeper: Sweeper, source: Source, labeling: Labeling, folder: str, run: str
) -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
    files: list[tuple[str, str]] = []
    counts = np.zeros(len(labeling.groups), dtype=np.int64)
    for written in sweeper.write(pieces_of_work(source), labeling, folder, run):
        files += written.files
        counts += written.counts
    return files, counts


def _labeling(partition: SuperInstances, groups: NDArray[np.intp]) -> Labeling:
    if not isinstance(partition, StreamedSuperInstances):
        return Labeling(None, partition.assignment, groups)
    assert partition.centers is not None
    assert partition.cell_owner is not None
    cells = Cells(partition.centers, cast(Kernel, partition.kernel))
    return Labeling(cells, partition.cell_owner, groups)
