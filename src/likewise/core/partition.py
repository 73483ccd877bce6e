"""Super-instances: small groups of rows, each with one row that stands for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError


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
    row_counts : ndarray of shape (n_super_instances,) or None
        How many rows every super-instance has, if the rows here are only some of them.
    """

    assignment: NDArray[np.intp]
    representatives: NDArray[np.intp]
    points: NDArray[Any] | None = None
    distances: NDArray[np.float64] | None = None
    metric: str = "euclidean"
    centers: NDArray[Any] | None = None
    cell_owner: NDArray[np.intp] | None = None
    row_counts: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        reps = self.representatives
        if len(reps) == 0:
            raise InputError("there must be at least one super-instance")
        if np.any(np.diff(reps) <= 0):
            raise InputError("representatives must be increasing rows, one per super-instance")
        if not np.array_equal(self.assignment[reps], np.arange(len(reps))):
            raise InputError("every representative must belong to the super-instance it stands for")

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
        if self.row_counts is not None:
            return self.row_counts
        return np.bincount(self.assignment, minlength=self.n_super_instances)

    def to_dict(self) -> dict[str, Any]:
        """Return the partition as arrays and plain values."""
        arrays = {
            "assignment": self.assignment,
            "representatives": self.representatives,
            "points": self.points,
            "distances": self.distances,
            "centers": self.centers,
            "cell_owner": self.cell_owner,
            "row_counts": self.row_counts,
        }
        there = {name: array for name, array in arrays.items() if array is not None}
        dtype = None if self.points is None else self.points.dtype.name
        return {**there, "metric": self.metric, "dtype": dtype}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SuperInstances:
        """Return the partition that `to_dict` wrote down."""

        def array(name: str, dtype: Any) -> NDArray[Any] | None:
            return np.asarray(plain[name], dtype=dtype) if name in plain else None

        dtype = plain.get("dtype") or "float64"
        if "assignment" not in plain:
            return StreamedSuperInstances(
                int(plain["n_rows"]),
                np.asarray(plain["representatives"], dtype=np.intp),
                points=np.asarray(plain["points"], dtype=dtype),
                metric=plain["metric"],
                centers=np.asarray(plain["centers"], dtype=dtype),
                cell_owner=np.asarray(plain["cell_owner"], dtype=np.intp),
                kernel=plain["kernel"],
                row_counts=np.asarray(plain["row_counts"], dtype=np.intp),
                typical=tuple(np.asarray(rows, dtype=np.intp) for rows in plain["typical"]),
            )
        return cls(
            assignment=np.asarray(plain["assignment"], dtype=np.intp),
            representatives=np.asarray(plain["representatives"], dtype=np.intp),
            points=array("points", dtype),
            distances=array("distances", np.float64),
            metric=plain["metric"],
            centers=array("centers", dtype),
            cell_owner=array("cell_owner", np.intp),
            row_counts=array("row_counts", np.intp),
        )


class StreamedSuperInstances(SuperInstances):
    """Super-instances of more rows than fit in memory.

    The super-instance of each row is not stored: `assignment` reads all rows again to find it.

    Attributes
    ----------
    n_rows : int
        Number of rows of the data.
    kernel : str
        The code that compared rows to centers; the same code must be used again.
    row_counts : ndarray of shape (n_super_instances,)
        Number of rows in every super-instance.
    typical : tuple of ndarray
        For every super-instance, some of its rows, the most central ones first.
    find : callable or None
        Reads the rows and returns their super-instances; None where the rows are not available.
    """

    __slots__ = ("_n_rows", "find", "kernel", "typical")

    _n_rows: int
    kernel: str
    typical: tuple[NDArray[np.intp], ...]
    find: Callable[[], NDArray[np.intp]] | None

    def __init__(
        self,
        n_rows: int,
        representatives: NDArray[np.intp],
        *,
        points: NDArray[Any],
        centers: NDArray[Any],
        cell_owner: NDArray[np.intp],
        kernel: str,
        row_counts: NDArray[np.intp],
        typical: tuple[NDArray[np.intp], ...],
        metric: str = "euclidean",
        find: Callable[[], NDArray[np.intp]] | None = None,
    ) -> None:
        # The parent is frozen, and its `assignment` is a property here.
        values = {
            "representatives": representatives,
            "points": points,
            "distances": None,
            "metric": metric,
            "centers": centers,
            "cell_owner": cell_owner,
            "_n_rows": n_rows,
            "kernel": kernel,
            "row_counts": row_counts,
            "typical": typical,
            "find": find,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> Any:
        # Without the rows, which are not read for this.
        return SuperInstances.from_dict, (self.to_dict(),)

    @property
    def assignment(self) -> NDArray[np.intp]:
        """For every row, the number of its super-instance; this reads all rows."""
        if self.find is None:
            raise InputError(
                f"the {self._n_rows} rows of this session are not at hand, so the groups of "
                "single rows are not either. Open the session together with its source: "
                "SourceSession.from_dict(saved, X=source)."
            )
        return self.find()

    def attach(self, find: Callable[[], NDArray[np.intp]]) -> None:
        """Set the function that finds the super-instance of every row."""
        object.__setattr__(self, "find", find)

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self._n_rows

    def to_dict(self) -> dict[str, Any]:
        """Return the partition as plain values and arrays that are all shorter than the data."""
        assert self.points is not None
        assert self.centers is not None
        assert self.cell_owner is not None
        return {
            "n_rows": self._n_rows,
            "representatives": self.representatives,
            "points": self.points,
            "centers": self.centers,
            "cell_owner": self.cell_owner,
            "kernel": self.kernel,
            "row_counts": self.sizes(),
            "typical": list(self.typical),
            "metric": self.metric,
            "dtype": self.points.dtype.name,
        }


def singletons(points: NDArray[Any], metric: str = "euclidean") -> SuperInstances:
    """Return the partition in which every row is a super-instance of its own."""
    rows = np.arange(len(points), dtype=np.intp)
    return SuperInstances(rows, rows, points=points, metric=metric)
