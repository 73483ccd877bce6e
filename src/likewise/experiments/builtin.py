"""The methods that are built in: COBRA and its competitors, `Likewise`, COBRAS, DSL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from likewise.cluster.asking import Asker
from likewise.cluster.cobra import COBRA
from likewise.cluster.cobras import phases
from likewise.cluster.dsl import nearest_shown, tree_labels, trees
from likewise.cluster.likewise import Likewise
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.experiments.link_methods import SelectAndCluster
from likewise.experiments.protocol import Method, State, Trial
from likewise.experiments.session_methods import SessionMethod, estimator_method
from likewise.strategies import ClosestFirst, RandomOrder

NPU_GROWTH = {"MPCKM": 0.25, "COSC": 0.5}
"""NPU as published clusters before every row, which takes most of a day on two cores."""


def _cobra(name: str, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        size = trial.n_super_instances
        return {"n_super_instances": size, "random_state": trial.seed, **parameters}

    settings = f"incomplete={parameters.get('incomplete', 'separate')}"
    if "labels" in parameters:
        settings += f", labels={parameters['labels']}"
    return estimator_method(
        name, COBRA, of_trial, settings=settings, is_sized=True, seeded_as="COBRA"
    )


def _likewise(name: str, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        return {"max_queries": trial.budget, "random_state": trial.seed, **parameters}

    settings = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return estimator_method(name, Likewise, of_trial, settings=settings, plans=True)


cobra = _cobra("COBRA")
cobra_guess = _cobra("COBRA-guess", incomplete="guess")
cobra_learned = _cobra("COBRA-learned", labels="learned")
likewise_plain = _likewise("Likewise")
likewise_careful = _likewise("Likewise-careful", error_rate="estimate")

# Table 1 of the paper: all rows are asked about, not super-instances.
closest_rows = SessionMethod(
    "closest pairs first",
    lambda trial: Session(ClosestFirst(singletons(trial.X))),
    settings="order=closest",
    sources=(ClosestFirst.__module__,),
)
random_groups = SessionMethod(
    "random pairs of groups",
    lambda trial: Session(RandomOrder(singletons(trial.X), over="groups", seed=trial.seed)),
    settings="order=groups",
    sources=(RandomOrder.__module__,),
)
random_rows = SessionMethod(
    "random pairs of rows",
    lambda trial: Session(RandomOrder(singletons(trial.X), over="rows", seed=trial.seed)),
    settings="order=rows",
    sources=(RandomOrder.__module__,),
)

mpckm_minmax = SelectAndCluster("MPCKM", "MinMax")
mpckm_npu = SelectAndCluster("MPCKM", "NPU", growth=NPU_GROWTH["MPCKM"])
cosc_minmax = SelectAndCluster("COSC", "MinMax")
cosc_npu = SelectAndCluster("COSC", "NPU", growth=NPU_GROWTH["COSC"])


class _OneRun(Method):
    """A method that yields clusterings, and whose questions do not depend on their number."""

    is_anytime = True

    def run(self, trial: Trial) -> ArrayLike:
        """Return the last clustering."""
        labels: Any = None
        for _, labels in self.anytime(trial):  # noqa: B007
            pass
        return np.asarray(labels() if callable(labels) else labels)

    def shared_runs(self, trial: Trial, budgets: Sequence[int]) -> list[list[int]]:  # noqa: ARG002
        """Return all budgets in one group."""
        return [list(budgets)]


class CobrasMethod(_OneRun):
    """COBRAS: within a phase the clustering of the last one stays."""

    name = "COBRAS"
    settings = "n_init=10"
    sources = (phases.__module__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering after every phase."""
        may_show = np.zeros(len(trial.X), dtype=bool)
        may_show[trial.train_indices] = True
        rng = np.random.default_rng(int(check_random_state(trial.seed).randint(2**31 - 1)))
        asker = Asker(len(trial.X), trial.oracle, trial.budget)
        for labels in phases(trial.X, may_show, asker, rng):
            yield trial.oracle.n_queries, labels


class DslMethod(_OneRun):
    """DSL, without its stop at the true clustering, which nobody knows."""

    name = "DSL"
    sources = (trees.__module__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield the clustering before every question."""
        shown = np.unique(trial.train_indices)
        nearest = nearest_shown(trial.X, shown)
        for parent in trees(trial.X, shown, Asker(len(trial.X), trial.oracle, trial.budget)):
            yield trial.oracle.n_queries, partial(tree_labels, parent, nearest)
