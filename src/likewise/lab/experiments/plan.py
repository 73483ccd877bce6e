"""Which cells each experiment has (see ``docs/benchmark.md``), and how they are combined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from likewise.errors import InputError
from likewise.lab.datasets.catalog import TASKS
from likewise.lab.datasets.fourth import FOURTH
from likewise.lab.datasets.third import THIRD
from likewise.lab.experiments.choice_methods import CHOICE_METHODS
from likewise.lab.experiments.methods import BUILT_IN, CONTROL, find_method
from likewise.lab.experiments.protocol import N_FOLDS, NOISE, PEOPLE, SIZES
from likewise.lab.experiments.store import Cell
from likewise.lab.experiments.tasks import check_task
from likewise.words import did_you_mean

PAPER_EXPERIMENTS = ("main", "strategies", "curves", "wrong-k", "anytime")
FLAGSHIP_EXPERIMENTS = ("budgets", *NOISE)
RIVAL_EXPERIMENTS = ("rivals", "own-end")
EXPERIMENTS = (*PAPER_EXPERIMENTS, *FLAGSHIP_EXPERIMENTS, *RIVAL_EXPERIMENTS, *PEOPLE)
PAPER_METHODS = ("COBRA", "MPCKM-MinMax", "MPCKM-NPU", "COSC-MinMax", "COSC-NPU")
LIKEWISE = ("Likewise", "Likewise-pairs")
NOISE_METHODS = ("COBRA", *LIKEWISE, "COBRAS", "nCOBRAS", "DSL", "ACDM", "A3S")
FLAGSHIP_METHODS = (*NOISE_METHODS, "COBRA-learned")
RIVALS = (*LIKEWISE, "COBRA", "COBRA-learned", *(method.name for method in CHOICE_METHODS))
RIVAL_SIZES = (8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)
"""COBRA's numbers of super-instances beside rivals: with few, it is complete early."""
FOURTH_METHODS = (
    *("Likewise", "Likewise-aspects", "Likewise-pairs", "COBRA", "half-margin-learner"),
    *("UHerding-learner", "medoids-learner", "medoids-SVM"),
)
"""`Likewise` and its nearest rivals."""
PEOPLE_METHODS = (*LIKEWISE, "COBRA", "margin-learner", "medoids-learner", "margin-SVM")
"""`Likewise`, COBRA, the two best rivals that ask choices, and the best without our learner."""
ORDERS = ("random pairs of groups", "random pairs of rows", "closest pairs first")
"""The strategies of Table 1 beside COBRA; only the last is not random."""
STRATEGY_TASKS = ("iris", "wine", "dermatology", "hepatitis", "ecoli", "optdigits389")
STRATEGY_RUNS = 5
"""Runs of each random strategy, as in the paper."""
STRATEGY_SIZE = 25
"""COBRA's number of super-instances in Table 1 of the paper."""
CURVE_TASKS = ("iris", "wine", "dermatology", "ionosphere", "optdigits389", "ecoli")
CURVE_SIZES = (25, 50, 100, 150, 200, 250)
"""COBRA's numbers of super-instances in the curves."""
WRONG_K_METHODS = ("MPCKM-MinMax", "COSC-MinMax")
K_SHIFTS = (-1, 1, 2)
"""What is added to the true number of clusters in the experiment `wrong-k`."""
ANYTIME_METHODS = ("COBRA", "COBRA-guess", "MPCKM-MinMax")
MIDDLE_SIZE = 50
"""The number of super-instances in experiments that have only one."""
DEVELOPED_ON = (
    *("iris", "wine", "glass", "ionosphere", "optdigits389", "segmentation"),
    *("column_2C", "yeast", "newsgroups-sim3", "faces-pose"),
)
"""The tasks that `Likewise` was developed on; the others were kept for the report."""


@dataclass(frozen=True)
class Plan:
    """A configuration of the experiment: what to run, and how to report on it.

    Reports list its methods first, in their order, and test the others against `reference`. The
    first `n_folds` of the five folds are run. Tasks that a method was developed on are
    `kept_apart`: tables show them, the other tasks, and all tasks.
    """

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    title: str = "Active clustering"
    reference: str = CONTROL
    sizes: tuple[int, ...] = SIZES
    experiments: tuple[str, ...] = PAPER_EXPERIMENTS
    curve_tasks: tuple[str, ...] = CURVE_TASKS
    n_folds: int = N_FOLDS
    kept_apart: tuple[str, ...] = ()
    holds_sizes: bool = False
    """Whether experiments that have sizes of their own are held to `sizes`, too."""
    holds_methods: bool = False
    """Whether experiments that have methods of their own are held to `methods`, too."""

    def __post_init__(self) -> None:
        for task in (*self.tasks, *self.curve_tasks):
            check_task(task)
        for method in self.methods:
            find_method(method)
        for experiment in self.experiments:
            if experiment not in EXPERIMENTS:
                raise InputError(
                    f"there is no experiment {experiment!r}."
                    f"{did_you_mean(experiment, EXPERIMENTS)} There are {', '.join(EXPERIMENTS)}."
                )
        if any(size < 1 for size in self.sizes):
            raise InputError(f"numbers of super-instances must be positive, got {self.sizes}")
        if not 1 <= self.n_folds <= N_FOLDS:
            raise InputError(f"there are {N_FOLDS} folds; n_folds cannot be {self.n_folds}")

    def cells(self) -> list[Cell]:
        """Return all cells, experiment by experiment."""
        builders = {
            "main": _main,
            "strategies": _strategies,
            "curves": _curves,
            "wrong-k": _wrong_k,
            "anytime": _anytime,
        }
        cells = [
            cell
            for name in self.experiments
            for cell in (builders[name](self) if name in builders else _at_budgets(self, name))
        ]
        # A curve has a number of questions for each size of COBRA.
        sizes = {0, *self.sizes}
        return [
            cell
            for cell in cells
            if not self.holds_sizes or (cell.n_super_instances or cell.budget) in sizes
            if not self.holds_methods or cell.method in self.methods
        ]

    def only(self, **changes: Sequence[str] | Sequence[int] | int | None) -> Plan:
        """Return the plan with some of its parts replaced; None leaves a part as it is."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, Sequence) else value
            for name, value in changes.items()
            if value is not None
        }
        for name in {"sizes", "methods"} & set(given):
            given[f"holds_{name}"] = True
        return replace(self, **given)

    def and_methods(self, names: Sequence[str]) -> Plan:
        """Return the plan with some more methods."""
        return replace(self, methods=(*self.methods, *names))

    def own_methods(self) -> list[str]:
        """Return the methods that are not built in."""
        return [name for name in self.methods if name not in BUILT_IN]


def needed_first(cell: Cell) -> list[Cell]:
    """Return the cells that decide how many questions this one may ask."""
    if cell.experiment == "budgets":
        return [Cell("main", CONTROL, cell.task, size, cell.fold) for size in SIZES]
    has_its_own = cell.experiment in ("strategies", *NOISE, *RIVAL_EXPERIMENTS, *PEOPLE)
    if has_its_own or cell.method == CONTROL or cell.budget:
        return []
    return [Cell("main", CONTROL, cell.task, cell.n_super_instances, cell.fold)]


def _main(plan: Plan) -> Iterator[Cell]:
    for key in product(plan.methods, plan.tasks, plan.sizes, range(plan.n_folds)):
        yield Cell("main", *key)


def _strategies(plan: Plan) -> Iterator[Cell]:
    for task in [name for name in STRATEGY_TASKS if name in plan.tasks]:
        for name in ORDERS:
            for run in range(1 if name == ORDERS[-1] else STRATEGY_RUNS):
                yield Cell("strategies", name, task, 0, run)
        for run in range(STRATEGY_RUNS):
            yield Cell("strategies", CONTROL, task, STRATEGY_SIZE, run)


def _curves(plan: Plan) -> Iterator[Cell]:
    methods = [name for name in PAPER_METHODS if name in plan.methods]
    tasks = [name for name in plan.curve_tasks if name in plan.tasks]
    for method, task, size in product(methods, tasks, CURVE_SIZES):
        # Rows of the test part (a fifth) cannot be representatives; larger sizes are left out.
        if task in TASKS and size <= 0.8 * TASKS[task].shape[0]:
            n, budget = (size, 0) if method == CONTROL else (0, size)
            for fold in range(plan.n_folds):
                yield Cell("curves", method, task, n, fold, budget=budget)


def _wrong_k(plan: Plan) -> Iterator[Cell]:
    methods = [name for name in WRONG_K_METHODS if name in plan.methods]
    for method, task, shift in product(methods, plan.tasks, K_SHIFTS):
        if task in TASKS and TASKS[task].shape[2] + shift >= 2:
            for fold in range(plan.n_folds):
                yield Cell("wrong-k", method, task, MIDDLE_SIZE, fold, k_shift=shift)


def _anytime(plan: Plan) -> Iterator[Cell]:
    own = [name for name in plan.own_methods() if find_method(name).is_anytime]
    ready = [name for name in ANYTIME_METHODS if name in (*plan.methods, "COBRA-guess")]
    for method, task, fold in product([*ready, *own], plan.tasks, range(plan.n_folds)):
        yield Cell("anytime", method, task, MIDDLE_SIZE, fold)


def _at_budgets(plan: Plan, experiment: str) -> Iterable[Cell]:
    methods = list(plan.methods)
    if experiment in NOISE:
        methods = [name for name in methods if name in (*NOISE_METHODS, *plan.own_methods())]
    if experiment == "own-end":
        methods = [name for name in methods if name in LIKEWISE]
    for task, method in product(plan.tasks, methods):
        for size in plan.sizes if find_method(method).is_sized else (0,):
            for fold in range(plan.n_folds):
                yield Cell(experiment, method, task, size, fold)


PROFILES: dict[str, dict[str, Any]] = {
    "paper": {
        "tasks": tuple(TASKS),
        "methods": PAPER_METHODS,
        "title": "Active clustering: the COBRA paper's experiments, run again",
    },
    "quick": {
        "tasks": ("iris", "wine", "hepatitis", "ecoli"),
        "methods": ("COBRA", "MPCKM-MinMax"),
        "sizes": (25, 50),
        "experiments": ("main",),
    },
    "flagship": {
        "tasks": tuple(TASKS),
        "methods": FLAGSHIP_METHODS,
        "title": "Likewise, COBRA and others: quality by the number of questions",
        "reference": "Likewise",
        "experiments": FLAGSHIP_EXPERIMENTS,
        "kept_apart": DEVELOPED_ON,
    },
    "rivals": {
        "tasks": (*TASKS, *THIRD),
        "methods": RIVALS,
        "title": "Likewise and rivals that ask choices",
        "reference": "Likewise",
        "experiments": RIVAL_EXPERIMENTS,
        "sizes": RIVAL_SIZES,
        "n_folds": 2,
        "kept_apart": DEVELOPED_ON,
    },
    "fourth": {
        "tasks": tuple(FOURTH),
        "methods": FOURTH_METHODS,
        "title": "Pictures, texts and tables that nobody developed on",
        "reference": "Likewise",
        "experiments": ("rivals",),
        "sizes": RIVAL_SIZES,
        "n_folds": 2,
    },
    "people": {
        "tasks": tuple(THIRD),
        "methods": PEOPLE_METHODS,
        "title": "People who are wrong, or not sure",
        "reference": "Likewise",
        "sizes": (50,),
        "experiments": tuple(PEOPLE),
        "n_folds": 1,
    },
}
"""The parts of each ready-made configuration that are not the default."""


def profile(name: str) -> Plan:
    """Return a ready-made configuration."""
    if name not in PROFILES:
        raise InputError(f"there is no profile {name!r}; there are {', '.join(PROFILES)}")
    return Plan(**PROFILES[name])
