"""Super-instances: small groups of rows, each with one row that stands for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.arrays import KINDS, whole_numbers
from likewise.errors import InputError
from likewise.inputs import refuse_rows


@dataclass(frozen=True, eq=False, slots=True)
class SuperInstances:
    """A partition of the rows into super-instances.

    Super-instances are numbered by the row that stands for them, smallest first, so that the
    numbering does not depend on how they were found.

    Attributes
    ----------
    assignment : ndarray of shape (n_rows,)
        For every row, the number of its super-instance.
    representatives : ndarray of shape (n_super_instances,)
        For every super-instance, the row that stands for it; increasing.
    points : ndarray of shape (n_super_instances, n_features) or None
        The representatives themselves. None if the data were distances.
    distances : ndarray of shape (n_super_instances, n_super_instances) or None
        Distances between representatives, if the data were distances.
    metric : str
        How representatives are compared.
    centers : ndarray of shape (n_cells, n_features) or None
        The K-means centers, to which new rows are compared.
    cell_owner : ndarray of shape (n_cells,) or None
        For every center, its super-instance. A cell without a row that may be shown belongs to the
        nearest super-instance.
    """

    assignment: NDArray[np.intp]
    representatives: NDArray[np.intp]
    points: NDArray[Any] | None = None
    distances: NDArray[np.float64] | None = None
    metric: str = "euclidean"
    centers: NDArray[Any] | None = None
    cell_owner: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        reps = self.representatives
        if len(reps) == 0:
            raise InputError("there must be at least one super-instance")
        if np.any(np.diff(reps) <= 0):
            raise InputError("representatives must be increasing rows, one per super-instance")
        first, last = int(self.assignment.min(initial=0)), int(self.assignment.max(initial=0))
        if first < 0 or last >= len(reps):
            raise InputError(
                f"assignment must have numbers from 0 to {len(reps) - 1}, those of the "
                f"super-instances, got {first if first < 0 else last}"
            )
        if reps[0] < 0 or reps[-1] >= len(self.assignment):
            raise InputError(f"representatives must be rows from 0 to {len(self.assignment) - 1}")
        if not np.array_equal(self.assignment[reps], np.arange(len(reps))):
            raise InputError("every representative must belong to the super-instance it stands for")
        n, points = len(reps), self.points
        if points is not None and (points.ndim != 2 or len(points) != n):
            raise InputError(f"points must have {n} rows and columns, got shape {points.shape}")
        if points is not None and not np.isfinite(points).all():
            raise InputError("points must be finite numbers")
        if self.distances is not None and self.distances.shape != (n, n):
            raise InputError(f"distances must have shape {(n, n)}, got {self.distances.shape}")

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return len(self.assignment)

    @property
    def n_super_instances(self) -> int:
        """Number of super-instances."""
        return len(self.representatives)

    def sizes(self) -> NDArray[np.intp]:
        """Return the number of rows in every super-instance."""
        return np.bincount(self.assignment, minlength=self.n_super_instances)

    def first_cells(self, n: int) -> SuperInstances:
        """Return the partition before rows joined that are super-instances of their own."""
        if n == self.n_super_instances:
            return self
        if self.points is None or not 0 < n < self.n_super_instances:
            raise InputError(f"there are no first {n} of {self.n_super_instances} super-instances")
        return replace(
            self,
            assignment=self.assignment[: self.representatives[n]],
            representatives=self.representatives[:n],
            points=self.points[:n],
        )

    def with_rows(self, points: NDArray[Any]) -> SuperInstances:
        """Return the partition with further rows, each of which is a super-instance of its own."""
        if self.points is None:
            raise InputError("a session about distances cannot take further rows")
        new = np.arange(len(points), dtype=np.intp)
        points = np.asarray(points, dtype=self.points.dtype).reshape(-1, self.points.shape[1])
        return replace(
            self,
            assignment=np.append(self.assignment, self.n_super_instances + new),
            representatives=np.append(self.representatives, self.n_rows + new),
            points=np.vstack([self.points, points]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the partition as arrays and plain values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        there = {name: value for name, value in values.items() if value is not None}
        return {**there, "dtype": None if self.points is None else self.points.dtype.name}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SuperInstances:
        """Return the partition that `to_dict` wrote down."""
        dtype = np.dtype(plain.get("dtype") or "float64")
        if dtype.kind not in KINDS:
            raise InputError(f"points must be numbers, not {dtype}")
        dtypes = {"points": dtype, "centers": dtype, "distances": np.dtype(np.float64)}
        arrays: Any = {
            name: np.asarray(plain[name], dtype=kind)
            for name, kind in dtypes.items()
            if name in plain
        }
        for array in arrays.values():
            refuse_rows(array)
        for name in ("assignment", "representatives", "cell_owner"):
            if name in plain:
                arrays[name] = whole_numbers(plain[name], name)
        return cls(**arrays, metric=plain["metric"])


def standing_for_rows(
    X: NDArray[Any], train_indices: NDArray[np.intp] | None = None
) -> SuperInstances:
    """Return the partition in which every row that may be asked about stands for its nearest rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    train_indices : ndarray of int, optional
        The rows that may be asked about. By default all: then each row stands for itself.
    """
    if train_indices is None:
        return singletons(X)
    standing = np.unique(train_indices).astype(np.intp)
    points = X[standing]
    nearest = [int(((points - row) ** 2).sum(axis=1).argmin()) for row in X]
    assignment = np.array(nearest, dtype=np.intp)
    assignment[standing] = np.arange(len(standing))
    return SuperInstances(assignment, standing, points=points)


def singletons(points: NDArray[Any], metric: str = "euclidean") -> SuperInstances:
    """Return the partition in which every row is a super-instance of its own."""
    rows = np.arange(len(points), dtype=np.intp)
    return SuperInstances(rows, rows, points=points, metric=metric)
