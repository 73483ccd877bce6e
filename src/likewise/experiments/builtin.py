"""The methods that are built in: COBRA and its competitors, `Likewise`, COBRAS, DSL."""

from __future__ import annotations

from typing import Any, Literal

from likewise.cluster.cobra import COBRA
from likewise.cluster.likewise import Likewise
from likewise.cluster.procedures import COBRAS, DSL
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.experiments.link_methods import SelectAndCluster
from likewise.experiments.protocol import Trial
from likewise.experiments.session_methods import PublishedCOBRAS, SessionMethod, estimator_method
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
likewise_choices = _likewise("Likewise-choices", questions="choices")
likewise_careful_choices = _likewise(
    "Likewise-careful-choices", questions="choices", error_rate="estimate"
)


def _random(over: Literal["groups", "rows"]) -> SessionMethod:
    return SessionMethod(
        f"random pairs of {over}",
        lambda trial: Session(RandomOrder(singletons(trial.X), over=over, seed=trial.seed)),
        settings=f"order={over}",
        sources=(RandomOrder.__module__,),
    )


# Table 1 of the paper: all rows are asked about, not super-instances.
random_groups, random_rows = _random("groups"), _random("rows")
closest_rows = SessionMethod(
    "closest pairs first",
    lambda trial: Session(ClosestFirst(singletons(trial.X))),
    settings="order=closest",
    sources=(ClosestFirst.__module__,),
)

mpckm_minmax = SelectAndCluster("MPCKM", "MinMax")
mpckm_npu = SelectAndCluster("MPCKM", "NPU", growth=NPU_GROWTH["MPCKM"])
cosc_minmax = SelectAndCluster("COSC", "MinMax")
cosc_npu = SelectAndCluster("COSC", "NPU", growth=NPU_GROWTH["COSC"])

# Within a phase of COBRAS the clustering of the last one stays.
cobras = estimator_method(
    "COBRAS", COBRAS, lambda trial: {"random_state": trial.seed}, settings="n_init=10"
)
cobras_published = PublishedCOBRAS()
# DSL is without its stop at the true clustering, which nobody knows.
dsl = estimator_method("DSL", DSL, lambda _: {})
