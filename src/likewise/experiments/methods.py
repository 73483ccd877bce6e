"""The methods of the comparison, and how to bring one's own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.cluster.cobra import COBRA
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.experiments.competitors import NPU_GROWTH, SelectAndCluster
from likewise.experiments.protocol import GuardedOracle, Method, State
from likewise.experiments.refiners import (
    CarefulMethod,
    CobrasMethod,
    DslMethod,
    LikewiseMethod,
    answer_by_answer,
)
from likewise.oracles import run
from likewise.strategies import ClosestFirst, RandomOrder


class CobraMethod:
    """COBRA, which asks what it needs and is told no number of clusters.

    Parameters
    ----------
    name : str
    is_guess : bool, default=False
        Whether groups that are undecided when it is stopped are joined by a guess.
    is_learned : bool, default=False
        Whether rows follow a learner instead of the representative of their cell.
    """

    def __init__(
        self, name: str = "COBRA", *, is_guess: bool = False, is_learned: bool = False
    ) -> None:
        self.name = name
        self.is_guess = is_guess
        self.is_learned = is_learned
        self.settings = "incomplete=" + ("guess" if is_guess else "separate")
        if is_learned:
            self.settings += ", labels=learned"

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        n_clusters: int,  # noqa: ARG002  (COBRA finds it)
        n_super_instances: int,
        seed: int,
    ) -> NDArray[np.intp]:
        """Cluster all rows."""
        session = self._start(X, train_indices, n_super_instances, seed)
        run(session, oracle, max_queries=budget)
        return self._labels(session, X)

    def anytime(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],
        budget: int | None,
        n_clusters: int,  # noqa: ARG002
        n_super_instances: int,
        seed: int,
    ) -> Iterator[State]:
        """Yield the clustering after every answer."""
        session = self._start(X, train_indices, n_super_instances, seed)
        return answer_by_answer(session, oracle, budget, lambda: self._labels(session, X))

    def shared_runs(
        self,
        X: NDArray[np.float64],  # noqa: ARG002
        *,
        train_indices: NDArray[np.intp],  # noqa: ARG002
        budgets: Sequence[int],
        n_super_instances: int,  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> list[list[int]]:
        """Return all budgets in one group: its questions do not depend on how many there are."""
        return [list(budgets)]

    def _start(
        self, X: NDArray[np.float64], train: NDArray[np.intp], n_super_instances: int, seed: int
    ) -> Session:
        return COBRA(n_super_instances, random_state=seed).start(X, train_indices=train)

    def _labels(self, session: Session, X: NDArray[np.float64]) -> NDArray[np.intp]:
        model = COBRA(
            incomplete="guess" if self.is_guess else "separate",
            labels="learned" if self.is_learned else "cells",
        )
        return model.adopt(session, X=X).labels_


class StrategyMethod:
    """Ask about all rows, not super-instances, in some order (the paper's Table 1).

    Parameters
    ----------
    name : str
    order : {"closest", "groups", "rows"}
        The closest pair first, or at random over pairs of groups or pairs of rows.
    """

    def __init__(self, name: str, order: str) -> None:
        self.name = name
        self.order = order
        self.settings = f"order={order}"

    def run(
        self,
        X: NDArray[np.float64],
        *,
        oracle: GuardedOracle,
        train_indices: NDArray[np.intp],  # noqa: ARG002  (all rows are asked about)
        budget: int | None,
        n_clusters: int,  # noqa: ARG002
        n_super_instances: int,  # noqa: ARG002
        seed: int,
    ) -> NDArray[np.intp]:
        """Cluster all rows."""
        partition = singletons(X)
        strategy: Strategy
        if self.order == "closest":
            strategy = ClosestFirst(partition)
        elif self.order == "groups":
            strategy = RandomOrder(partition, over="groups", seed=seed)
        else:
            strategy = RandomOrder(partition, over="rows", seed=seed)
        return run(Session(strategy), oracle, max_queries=budget).labels


STRATEGIES: dict[str, Callable[[], Method]] = {
    "random pairs of groups": lambda: StrategyMethod("random pairs of groups", "groups"),
    "random pairs of rows": lambda: StrategyMethod("random pairs of rows", "rows"),
    "closest pairs first": lambda: StrategyMethod("closest pairs first", "closest"),
}
METHODS: dict[str, Callable[[], Method]] = {
    "COBRA": CobraMethod,
    "COBRA-guess": lambda: CobraMethod("COBRA-guess", is_guess=True),
    "COBRA-learned": lambda: CobraMethod("COBRA-learned", is_learned=True),
    "Likewise": LikewiseMethod,
    "Likewise-careful": CarefulMethod,
    "COBRAS": CobrasMethod,
    "DSL": DslMethod,
    "MPCKM-MinMax": lambda: SelectAndCluster("MPCKM", "MinMax"),
    "MPCKM-NPU": lambda: SelectAndCluster("MPCKM", "NPU", growth=NPU_GROWTH["MPCKM"]),
    "COSC-MinMax": lambda: SelectAndCluster("COSC", "MinMax"),
    "COSC-NPU": lambda: SelectAndCluster("COSC", "NPU", growth=NPU_GROWTH["COSC"]),
    **STRATEGIES,
}
SAME_SEED = {"COBRA-guess": "COBRA", "COBRA-learned": "COBRA"}
"""Methods that differ only in what they make of the answers make the same super-instances."""
SIZED = ("COBRA", "COBRA-guess", "COBRA-learned")
"""The methods that are told a number of super-instances."""
CONTROL = "COBRA"
"""The method that decides how many questions the others may ask."""


def find_method(name: str) -> Method:
    """Return a method by its name, or one of your own as ``package.module:Name``.

    ``Name`` is a class, which is called without arguments, or an object with a name and a
    method ``run``. Modules are also looked for in the working directory.

    Examples
    --------
    >>> find_method("COBRA").name
    'COBRA'
    """
    if name in METHODS:
        return METHODS[name]()
    if ":" not in name:
        raise InputError(
            f"there is no method {name!r}. Ready-made are {', '.join(METHODS)}; one of your own "
            "is package.module:Name."
        )
    return _imported(name)


def _imported(address: str) -> Method:
    module_name, _, attribute = address.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"cannot find the method {address!r}: {error}") from error
    method = found() if isinstance(found, type) else found
    if not isinstance(method, Method):
        raise InputError(
            f"{address} is not a method: it needs an attribute `name` and a method "
            "run(X, *, oracle, train_indices, budget, n_clusters, n_super_instances, seed)"
        )
    return method
