"""Which cells there are: the paper's experiments, those of `Likewise`, and the profiles.

Experiments
-----------
main
    The paper's protocol: five folds, three sizes, COBRA and its competitors.
strategies
    Table 1: how many questions four strategies take on six datasets.
curves
    Quality against the number of questions, over a wider range.
wrong-k
    Competitors that are told a wrong number of clusters.
anytime
    Quality after every answer.
budgets
    Quality at many numbers of questions, COBRA's own among them, out of one run.
noise-5, noise-10
    The same at 100 questions, of which 5 or 10 are answered wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from likewise.datasets.catalog import TASKS, find_task
from likewise.errors import InputError
from likewise.experiments.budgets import NOISE, SIZES
from likewise.experiments.methods import CONTROL, METHODS, SIZED, STRATEGIES, find_method
from likewise.experiments.protocol import N_FOLDS
from likewise.experiments.store import Cell

PAPER_EXPERIMENTS = ("main", "strategies", "curves", "wrong-k", "anytime")
FLAGSHIP_EXPERIMENTS = ("budgets", *NOISE)
EXPERIMENTS = (*PAPER_EXPERIMENTS, *FLAGSHIP_EXPERIMENTS)
FLAGSHIP_METHODS = (
    "COBRA",
    "COBRA-learned",
    "Likewise",
    "Likewise-careful",
    "COBRAS",
    "DSL",
)
NOISE_METHODS = ("COBRA", "Likewise", "Likewise-careful", "COBRAS")
PAPER_METHODS = ("COBRA", "MPCKM-MinMax", "MPCKM-NPU", "COSC-MinMax", "COSC-NPU")
STRATEGY_TASKS = ("iris", "wine", "dermatology", "hepatitis", "ecoli", "optdigits389")
STRATEGY_RUNS = 5
STRATEGY_SIZE = 25
CURVE_TASKS = ("dermatology", "ionosphere", "optdigits389", "ecoli")
CURVE_SIZES = (25, 50, 100, 150, 200, 250)
CURVE_METHODS = ("COBRA", "MPCKM-MinMax", "COSC-MinMax")
WRONG_K_METHODS = ("MPCKM-MinMax", "COSC-MinMax")
K_SHIFTS = (-1, 1, 2)
ANYTIME_METHODS = ("COBRA", "COBRA-guess", "MPCKM-MinMax")
MIDDLE_SIZE = 50


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    tasks, methods : tuple of str
    sizes : tuple of int
        Numbers of super-instances.
    experiments : tuple of str
    curve_tasks : tuple of str
        The tasks of the curves.
    n_folds : int
        How many of the five folds to run, from the first.
    """

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    sizes: tuple[int, ...] = (25, 50, 100)
    experiments: tuple[str, ...] = PAPER_EXPERIMENTS
    curve_tasks: tuple[str, ...] = CURVE_TASKS
    n_folds: int = N_FOLDS

    def __post_init__(self) -> None:
        for task in (*self.tasks, *self.curve_tasks):
            find_task(task)
        for method in self.methods:
            find_method(method)
        for experiment in self.experiments:
            if experiment not in EXPERIMENTS:
                raise InputError(
                    f"there is no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}"
                )
        if any(size < 1 for size in self.sizes):
            raise InputError(f"numbers of super-instances must be positive, got {self.sizes}")
        if not 1 <= self.n_folds <= N_FOLDS:
            raise InputError(f"there are {N_FOLDS} folds; n_folds cannot be {self.n_folds}")

    def cells(self) -> list[Cell]:
        """Return all cells, COBRA's first, then method by method."""
        builders: dict[str, Callable[[Plan], Iterable[Cell]]] = {
            "main": _main,
            "strategies": _strategies,
            "curves": _curves,
            "wrong-k": _wrong_k,
            "anytime": _anytime,
            "budgets": lambda plan: _at_budgets(plan, "budgets", plan.methods),
        }
        for name in NOISE:
            known = [m for m in self.methods if m in NOISE_METHODS or m not in METHODS]
            builders[name] = partial(_at_budgets, experiment=name, methods=known)
        return [cell for name in self.experiments for cell in builders[name](self)]

    def only(self, **changes: Sequence[str] | Sequence[int] | int | None) -> Plan:
        """Return the plan with some of its parts replaced; None leaves a part as it is."""
        given = {
            name: tuple(value) if isinstance(value, Sequence) else value
            for name, value in changes.items()
            if value is not None
        }
        return replace(self, **given)  # type: ignore[arg-type]


def needed_first(cell: Cell) -> list[Cell]:
    """Return the cells that decide how many questions this one may ask."""
    if cell.experiment == "budgets":
        return [Cell("main", CONTROL, cell.task, size, cell.fold) for size in SIZES]
    has_its_own = cell.experiment in ("strategies", *NOISE)
    if has_its_own or cell.method == CONTROL or cell.budget:
        return []
    return [Cell("main", CONTROL, cell.task, cell.n_super_instances, cell.fold)]


def _main(plan: Plan) -> Iterable[Cell]:
    for method in plan.methods:
        for task in plan.tasks:
            for size in plan.sizes:
                for fold in range(plan.n_folds):
                    yield Cell("main", method, task, size, fold)


def _strategies(plan: Plan) -> Iterable[Cell]:
    for task in STRATEGY_TASKS:
        if task not in plan.tasks:
            continue
        for name in STRATEGIES:
            for run in range(1 if name == "closest pairs first" else STRATEGY_RUNS):
                yield Cell("strategies", name, task, 0, run)
        for run in range(STRATEGY_RUNS):
            yield Cell("strategies", CONTROL, task, STRATEGY_SIZE, run)


def _curves(plan: Plan) -> Iterable[Cell]:
    for method in CURVE_METHODS:
        if method not in plan.methods:
            continue
        for task in plan.curve_tasks:
            for size in CURVE_SIZES:
                # A fifth of the rows cannot be a representative; more sizes than rows are no use.
                if size > 0.8 * TASKS[task].shape[0]:
                    continue
                for fold in range(plan.n_folds):
                    if method == CONTROL:
                        yield Cell("curves", method, task, size, fold)
                    else:
                        yield Cell("curves", method, task, 0, fold, budget=size)


def _wrong_k(plan: Plan) -> Iterable[Cell]:
    for method in WRONG_K_METHODS:
        if method not in plan.methods:
            continue
        for task in plan.tasks:
            for shift in K_SHIFTS:
                if TASKS[task].shape[2] + shift < 2:
                    continue
                for fold in range(plan.n_folds):
                    yield Cell("wrong-k", method, task, MIDDLE_SIZE, fold, k_shift=shift)


def _anytime(plan: Plan) -> Iterable[Cell]:
    candidates = [*ANYTIME_METHODS, *(name for name in plan.methods if name not in METHODS)]
    for method in candidates:
        if method in METHODS and method not in (*plan.methods, "COBRA-guess"):
            continue
        if not hasattr(find_method(method), "anytime"):
            continue
        for task in plan.tasks:
            for fold in range(plan.n_folds):
                yield Cell("anytime", method, task, MIDDLE_SIZE, fold)


def _at_budgets(plan: Plan, experiment: str, methods: Sequence[str]) -> Iterable[Cell]:
    for task in plan.tasks:
        for method in methods:
            for size in plan.sizes if method in SIZED else (0,):
                for fold in range(plan.n_folds):
                    yield Cell(experiment, method, task, size, fold)


PROFILES = ("paper", "quick", "flagship")


def profile(name: str) -> Plan:
    """Return a ready-made plan.

    Examples
    --------
    >>> len(profile("quick").cells())
    80
    """
    if name == "paper":
        return Plan(tasks=tuple(TASKS), methods=PAPER_METHODS)
    if name == "quick":
        return Plan(
            tasks=("iris", "wine", "hepatitis", "ecoli"),
            methods=("COBRA", "MPCKM-MinMax"),
            sizes=(25, 50),
            experiments=("main",),
        )
    if name == "flagship":
        return Plan(
            tasks=tuple(TASKS),
            methods=FLAGSHIP_METHODS,
            sizes=SIZES,
            experiments=FLAGSHIP_EXPERIMENTS,
        )
    raise InputError(f"there is no profile {name!r}; there are {', '.join(PROFILES)}")
