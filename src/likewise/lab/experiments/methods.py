"""The methods of the comparison by name: COBRA, its competitors, `Likewise`, and your own."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from likewise.cluster.cobra import COBRA
from likewise.cluster.likewise import Likewise
from likewise.cluster.start import drawn_seed
from likewise.core.partition import singletons
from likewise.core.session import Session
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError
from likewise.lab.experiments.choice_methods import CHOICE_METHODS
from likewise.lab.experiments.link_methods import SelectAndCluster
from likewise.lab.experiments.protocol import Method, Trial
from likewise.lab.experiments.session_methods import (
    SessionMethod,
    estimator_method,
    starting,
    strategy_method,
)
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.dsl import SkeletonTree
from likewise.lab.peers.procedure import Procedure
from likewise.lab.peers.random_pairs import RandomOrder
from likewise.lab.peers.rows import Array, Ints
from likewise.registry import Registry, module_of
from likewise.strategies import ClosestFirst
from likewise.words import plural

CONTROL = "COBRA"
"""The method that decides how many questions the others may ask."""

NPU_GROWTH = {"MPCKM": 0.25, "COSC": 0.5}
"""By how much the number of answers grows before NPU clusters again. NPU as published clusters
before every row, which takes most of a day on two cores."""


def _cobra(name: str, settings: str, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        size = trial.n_super_instances
        return {"n_super_instances": size, "random_state": trial.seed, **parameters}

    return estimator_method(
        name, COBRA, of_trial, settings=settings, is_sized=True, seeded_as="COBRA"
    )


def _likewise(name: str, *, has_aspects: bool = False, **parameters: Any) -> SessionMethod:
    def of_trial(trial: Trial) -> dict[str, Any]:
        aspects = trial.aspects if has_aspects else None
        about = {"max_queries": trial.budget, "random_state": trial.seed, "aspects": aspects}
        return {**about, **parameters}

    settings = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return estimator_method(name, Likewise, of_trial, settings=settings)


def _as_published(name: str, procedure: type[Procedure], settings: str = "") -> SessionMethod:
    """Return a procedure with the labels that its authors published, which may lag behind."""

    def labels(session: Session, _: Trial) -> ArrayLike:
        strategy: Any = session.strategy
        return strategy.labels_as_published(session.answers)  # type: ignore[no-any-return]

    # Rows of COBRAS were made with seeds drawn as estimators draw theirs.
    start = starting(procedure.from_rows, drawn_seed)
    return SessionMethod(name, start, labels, settings=settings, sources=(procedure.__module__,))


def _random(over: Literal["groups", "rows"]) -> SessionMethod:
    def begin(X: Array, train_indices: Ints, seed: int) -> Strategy:
        return RandomOrder(X, train_indices, seed, over=over)

    return SessionMethod(
        f"random pairs of {over}",
        starting(begin),
        settings=f"order={over}",
        sources=(RandomOrder.__module__,),
    )


def _closest_pairs(X: Array, **_: Any) -> Strategy:
    """Return COBRA's order over all rows, each a super-instance."""
    return ClosestFirst(singletons(X))


_MADE = (
    _cobra("COBRA", "incomplete=separate"),
    _cobra("COBRA-guess", "incomplete=guess", incomplete="guess"),
    _cobra("COBRA-learned", "incomplete=separate, labels=learned", labels="learned"),
    _likewise("Likewise", questions="choices"),
    _likewise("Likewise-pairs", questions="pairs"),
    _likewise("Likewise-aspects", has_aspects=True, questions="choices"),
    # Within a phase of COBRAS the clustering of the last one stays.
    _as_published("COBRAS", SplitAndMerge, settings="n_init=10"),
    # DSL as published stops at the true clustering, which no user knows; here it does not.
    _as_published("DSL", SkeletonTree),
    *CHOICE_METHODS,
    SelectAndCluster("MPCKM", "MinMax"),
    SelectAndCluster("MPCKM", "NPU", growth=NPU_GROWTH["MPCKM"]),
    SelectAndCluster("COSC", "MinMax"),
    SelectAndCluster("COSC", "NPU", growth=NPU_GROWTH["COSC"]),
    # Table 1 of the paper: all rows are asked about, not super-instances.
    _random("groups"),
    _random("rows"),
    SessionMethod(
        "closest pairs first",
        starting(_closest_pairs),
        settings="order=closest",
        sources=(ClosestFirst.__module__,),
    ),
)
METHODS: Registry[Any] = Registry(
    "method",
    {
        **{method.name: method for method in _MADE},
        "nCOBRAS": "likewise.lab.experiments.noisy_methods:NoisyCobras",
        "ACDM": "likewise.lab.peers.acdm:DiffusionSkeleton",
        "A3S": "likewise.lab.peers.a3s:AdaptiveSampling",
        "LAK": "likewise.lab.peers.lak:LocalKernel",
        "ACC": "likewise.lab.peers.acc:CorrelationClustering",
    },
    group="likewise.methods",
)
"""All methods by name: a `Method`, a class of methods, or a class of strategies."""

BUILT_IN = tuple(METHODS.names)


def find_method(name: str) -> Method:
    """Return a method by its name, or one of your own as ``package.module:Name``.

    ``Name`` is a `Method`, a subclass of it that is called without arguments, or any subclass of
    `Strategy` that can be made from rows. Modules are also looked for in the working directory. A
    strategy that is registered is also found by its short name. ``file.py`` is the only method in
    a file, ``file.py:Name`` one of several.
    """
    if name.endswith(".py"):
        name = _only_method_in(name)
    is_strategy = name in STRATEGIES and name not in METHODS
    method = STRATEGIES.find(name) if is_strategy else METHODS.find(name)
    if isinstance(method, type) and issubclass(method, Strategy):
        return strategy_method(method)
    if isinstance(method, type) and issubclass(method, Method):
        method = method()
    if not isinstance(method, Method):
        raise InputError(
            f"{name} is not a method: it must be a likewise.lab.experiments.protocol.Method with a "
            f"method run(trial), or a strategy, not {type(method).__name__}"
        )
    return method


def _only_method_in(file: str) -> str:
    """Return the address of the only method or strategy that a file defines."""
    module = module_of(file)
    own = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Method | Strategy)
        and value.__module__ == module.__name__
    ]
    if len(own) != 1:
        raise InputError(
            f"{file} defines {plural(len(own), 'method')}{': ' if own else ''}{', '.join(own)}; "
            f"name one as {file}:Name"
        )
    return f"{file}:{own[0]}"
