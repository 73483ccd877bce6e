"""Rivals that ask choices: to which of all known groups a row belongs, if to any.

Each is a rule, which says what row to ask about next, and a classifier, which labels the others.
The classes are found while asking: the first row begins the first group, without a question; *none
of these* begins a new one; and classifiers know the groups there are. A row that somebody is not
sure about stays unknown and is not asked about again. Rows that may not be asked about are known to
all rules and classifiers as points.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.special import log_softmax, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from likewise.core.answers import Answer, Question
from likewise.core.partition import SuperInstances
from likewise.errors import BudgetExhausted, InputError, needs_extra
from likewise.lab.experiments.protocol import State, Stepwise, Trial
from likewise.learning.learner import Learner, milestone
from likewise.rows.build import build_super_instances, nearest_super_instance

N_FIRST = 10
"""Rules that need a classifier first ask about this many medoids of K-means."""
N_BATCH = 10
"""Rules that were published for batches choose this many rows at a time."""
N_TREES = 25
C = 10.0
"""Of logistic regressions, and of support vector machines while no group has two known rows: the
inverse of their regularization."""
GRID = {"C": (1.0, 10.0, 100.0), "gamma": (0.3, 1.0, 3.0)}
"""Support vector machines choose among these by cross-validation on their known rows; gamma is
relative to scikit-learn's `scale`. Like the kernels of our learner, they are tuned again when an
eighth more rows are known (`milestone`)."""
N_FOLDS = 5
TEMPERATURES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Uncertainty Herding multiplies scores by one of these."""
N_HELD_OUT = 3
"""How many times it leaves out a part of the known rows to choose one."""
N_NEIGHBORS = 10
"""Of label spreading."""
QUANTILES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""ProbCover chooses its radius among these quantiles of the distances between rows."""

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Choices:
    """The rows that were asked about, in order, and the groups that they belong to."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.rows: list[int] = []
        self.groups: list[int] = []
        self.unsure: list[int] = []
        self.tuned: dict[int, dict[str, float]] = {}

    def ask(self, row: int) -> None:
        """Ask to which group a row belongs; each group is shown by its first row."""
        firsts = [self.rows[self.groups.index(group)] for group in range(self.n_groups)]
        chosen: Any = Answer.NONE
        if firsts:
            question = Question(len(self.rows), row, tuple((first,) for first in firsts))
            chosen = question.place(self.trial.oracle.answer(question))
        if chosen is Answer.UNSURE:
            self.unsure.append(row)
            return
        self.rows.append(row)
        self.groups.append(self.n_groups if chosen is Answer.NONE else int(chosen))

    @cached_property
    def learner(self) -> Learner:
        """The learner of `Likewise`, which keeps what it computes of rows."""
        return Learner(self.trial.X)

    @cached_property
    def scaled(self) -> Floats:
        """The rows with columns of equal variance."""
        scaled: Floats = scale(self.trial.X)
        return scaled

    @property
    def n_groups(self) -> int:
        """How many groups were found."""
        return max(self.groups, default=-1) + 1

    def open_rows(self) -> Ints:
        """Return the rows that may be asked about and were not."""
        return np.setdiff1d(self.trial.train_indices, [*self.rows, *self.unsure])


Classifier = Callable[[Choices], Floats]
"""From what is known to a score of every row for every group, of which there are at least two."""
Rule = Callable[[Choices], Iterator[int]]
"""Yields rows to ask about; what it is given grows in between."""


class ChoiceMethod(Stepwise):
    """Ask about rows by a rule, and label the others by a classifier.

    Medoids are planned: as many as there are questions are chosen before the first answer.
    """

    def __init__(
        self,
        name: str,
        rule: Rule,
        classifier: Classifier,
        settings: str = "",
        *,
        plans: bool = False,
    ) -> None:
        self.name = name
        self.rule = rule
        self.classifier = classifier
        self.settings = settings
        self.plans = plans or rule is medoids
        self.seeded_as = "medoids" if self.plans else ""  # all have the same
        self.sources = (__name__,)

    def anytime(self, trial: Trial) -> Iterator[State]:
        """Yield what makes the labels, after every answer."""
        choices = Choices(trial)
        try:
            for row in self.rule(choices):
                choices.ask(int(row))
                yield trial.oracle.n_queries, partial(self._labels, choices)
                if trial.oracle.n_queries == trial.budget:
                    return
        except BudgetExhausted:  # by the time limit
            return

    def _labels(self, choices: Choices) -> Ints:
        labels = np.zeros(len(choices.trial.X), dtype=np.intp)
        if choices.n_groups > 1:
            labels = self.classifier(choices).argmax(axis=1).astype(np.intp)
        labels[choices.rows] = choices.groups
        return labels


# -- classifiers ---------------------------------------------------------------------------------


def svm(choices: Choices) -> Floats:
    """Return the decision values of a support vector machine, one against the rest.

    Columns have equal variance over all rows. C and gamma are those that predict known rows best in
    cross-validation.
    """
    X, rows, groups = choices.scaled, choices.rows, np.array(choices.groups)
    n_tuned = milestone(len(rows))
    tuned = choices.tuned.get(n_tuned)
    if tuned is None:
        tuned = _tuned(X[rows[:n_tuned]], groups[:n_tuned], choices.trial.seed)
        choices.tuned[n_tuned] = tuned
    scores: Floats = SVC(**tuned).fit(X[rows], groups).decision_function(X)
    return np.column_stack([-scores, scores]) if choices.n_groups == 2 else scores


def _tuned(X: Floats, groups: Ints, seed: int) -> dict[str, float]:
    """Return the C and gamma that predict these rows best in cross-validation."""
    gamma = 1.0 / max(X.shape[1] * X.var(), 1e-12)
    paired = np.flatnonzero(np.bincount(groups)[groups] > 1)
    if len(np.unique(groups[paired])) < 2:
        return {"C": C, "gamma": gamma}
    n_folds = min(N_FOLDS, int(np.bincount(groups[paired])[groups[paired]].min()))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    grid = {"C": GRID["C"], "gamma": [gamma * factor for factor in GRID["gamma"]]}
    search = GridSearchCV(SVC(), grid, cv=folds, refit=False)
    best: dict[str, float] = search.fit(X[paired], groups[paired]).best_params_
    return best


def forest(choices: Choices) -> Floats:
    """Return the votes of a random forest."""
    X, rows = choices.trial.X, choices.rows
    model = RandomForestClassifier(N_TREES, random_state=choices.trial.seed)
    votes: Floats = model.fit(X[rows], choices.groups).predict_proba(X)
    return votes


def spreading(choices: Choices) -> Floats:
    """Return the shares of label spreading; where none comes, those of the nearest known row."""
    X, rows = choices.trial.X, choices.rows
    classes = np.full(len(X), -1)
    classes[rows] = choices.groups
    model = LabelSpreading(kernel="knn", n_neighbors=N_NEIGHBORS, max_iter=100)
    with np.errstate(invalid="ignore"):
        shares: Floats = np.nan_to_num(model.fit(X, classes).label_distributions_)
    return np.where(shares.any(axis=1, keepdims=True), shares, nearest(choices))


def nearest(choices: Choices) -> Floats:
    """Return 1 for the group of the nearest known row."""
    X, groups = choices.trial.X, np.array(choices.groups)
    closest = pairwise_distances_argmin(X, X[choices.rows])
    scores: Floats = np.eye(choices.n_groups)[groups[closest]]
    return scores


def learner(choices: Choices) -> Floats:
    """Return the probabilities of the learner of `Likewise`."""
    rows, groups = np.array(choices.rows), np.array(choices.groups)
    return choices.learner.learn(rows, groups).known_proba()


def cells(choices: Choices) -> Floats:
    """Return 1 for the group of the row's super-instance, as COBRA does."""
    partition, representatives = _super_instances(choices.trial, _n_rows(choices.trial))
    groups = nearest(choices)[representatives]
    place = {row: cell for cell, row in enumerate(representatives.tolist())}
    groups[[place[row] for row in choices.rows]] = np.eye(choices.n_groups)[choices.groups]
    return groups[nearest_super_instance(partition, choices.trial.X)]


# -- rules ---------------------------------------------------------------------------------------


def medoids(choices: Choices) -> Iterator[int]:
    """Ask about the medoids of K-means with as many clusters as questions, and one."""
    yield from _super_instances(choices.trial, _n_rows(choices.trial))[1].tolist()


def doubtful(classifier: Classifier, *, is_margin: bool, n_batch: int = 1) -> Rule:
    """Return the rule that asks about rows with the least margin, or the least likely best."""

    def rule(choices: Choices) -> Iterator[int]:
        yield from _first_rows(choices)
        while len(rows := choices.open_rows()):
            best = np.sort(classifier(choices)[rows], axis=1)
            scores = best[:, -1] - (best[:, -2] if is_margin else 0)
            yield from rows[np.argsort(scores, kind="stable")[:n_batch]].tolist()

    return rule


def first_half(then: Rule) -> Rule:
    """Return the rule that asks about medoids of K-means with half of the budget, then by another.

    Like medoids, it has to know the budget.
    """

    def rule(choices: Choices) -> Iterator[int]:
        n = max(2, _n_rows(choices.trial) // 2)
        yield from _super_instances(choices.trial, n)[1].tolist()
        yield from then(choices)

    return rule


def herding(classifier: Classifier) -> Rule:
    """Return the rule of Uncertainty Herding (Bae, Oliveira, Sutherland 2025, arXiv 2412.20644).

    The next row maximizes the sum over x of the doubt about x, times the largest Gaussian kernel
    between x and a known row. The doubt is 1 minus the margin, after the temperature that predicts
    known rows best. The width of the kernel is the smallest distance between known rows. Where
    all doubts are 1 that is MaxHerding (Bae, Noh, Sutherland 2024, arXiv 2407.12212).
    """

    def rule(choices: Choices) -> Iterator[int]:
        train = choices.trial.train_indices
        distances = cdist(choices.scaled[train], choices.scaled[train])
        place = {row: k for k, row in enumerate(train.tolist())}
        temperatures: dict[int, float] = {}
        while len(rows := choices.open_rows()):
            asked = [place[row] for row in (*choices.rows, *choices.unsure)]
            between = distances[np.ix_(asked, asked)]
            some = between[between > 0] if len(asked) > 1 else distances[distances > 0]
            # Before two rows are known, the median distance stands in.
            width = (some.min() if len(asked) > 1 else np.median(some)) if len(some) else 1.0
            kernel = np.exp(-((distances / width) ** 2))
            covered = kernel[asked].max(axis=0, initial=0.0)
            doubt = np.ones(len(train))
            if choices.n_groups > 1:
                n_tuned = milestone(len(choices.rows))
                if n_tuned not in temperatures:
                    temperatures[n_tuned] = _temperature(classifier, choices)
                logits = temperatures[n_tuned] * _logits(classifier(choices)[train])
                two = np.sort(softmax(logits, axis=1), axis=1)[:, -2:]
                doubt = 1.0 - (two[:, 1] - two[:, 0])
            candidates = [place[row] for row in rows.tolist()]
            gains = np.maximum(kernel[candidates] - covered, 0.0) @ doubt
            yield int(rows[int(np.argmax(gains))])

    return rule


def _temperature(classifier: Classifier, choices: Choices) -> float:
    """Return the temperature that fits known rows best when they are left out."""
    groups = np.array(choices.groups)
    paired = np.flatnonzero(np.bincount(groups)[groups] > 1)
    rng = np.random.default_rng(choices.trial.seed)
    losses = np.zeros(len(TEMPERATURES))
    for fold in np.array_split(rng.permutation(paired), N_HELD_OUT):
        kept = np.setdiff1d(np.arange(len(groups)), fold)
        if len(fold) and len(np.unique(groups[kept])) == choices.n_groups:
            fewer = copy(choices)
            fewer.tuned = {}
            fewer.rows, fewer.groups = np.array(choices.rows)[kept].tolist(), groups[kept].tolist()
            logits = _logits(classifier(fewer)[np.array(choices.rows)[fold]])
            own = np.arange(len(fold)), groups[fold]
            losses -= [log_softmax(t * logits, axis=1)[own].sum() for t in TEMPERATURES]
    return TEMPERATURES[int(np.argmin(losses))] if losses.any() else 1.0


def _logits(scores: Floats) -> Floats:
    """Return the logarithms of probabilities, and other scores as they are."""
    is_proba = scores.min() >= 0.0 and np.allclose(scores.sum(axis=1), 1.0)
    return np.log(np.maximum(scores, 1e-6)) if is_proba else scores


def activeml(
    name: str,
    parameters: Callable[[Trial], dict[str, Any]] = lambda _: {},
    query: Callable[[Choices], dict[str, Any]] | None = None,
    n_batch: int = N_BATCH,
) -> Rule:
    """Return a rule of scikit-activeml; `query` makes the classifier of a rule that needs one."""

    def rule(choices: Choices) -> Iterator[int]:
        with needs_extra(f"the rule {name}", "lab"):
            from skactiveml import pool
        trial = choices.trial
        train = trial.train_indices
        strategy = getattr(pool, name)(random_state=trial.seed, **parameters(trial))
        if query is not None:
            yield from _first_rows(choices)
        while len(rows := choices.open_rows()):
            classes = np.full(len(trial.X), np.nan)
            classes[choices.rows] = choices.groups
            with warnings.catch_warnings():  # of models that do not converge in a few steps
                warnings.simplefilter("ignore")
                batch = strategy.query(
                    trial.X[train],
                    classes[train],
                    candidates=np.searchsorted(train, rows),
                    batch_size=min(n_batch, len(rows)),
                    **(query(choices) if query is not None else {}),
                )
            # TypiClust repeats a row where no cluster is left.
            yield from np.intersect1d(train[batch], rows).tolist() or rows[:1].tolist()

    return rule


def _first_rows(choices: Choices) -> Iterator[int]:
    """Yield a few medoids, then rows by chance until two groups are known."""
    yield from _super_instances(choices.trial, N_FIRST)[1].tolist()
    rng = np.random.default_rng(choices.trial.seed)
    while choices.n_groups < 2 and len(rows := choices.open_rows()):
        yield int(rng.choice(rows))


def _super_instances(trial: Trial, n: int) -> tuple[SuperInstances, Ints]:
    """Return super-instances of the rows that may be asked about, and their representatives."""
    train = trial.train_indices
    partition = build_super_instances(trial.X[train], min(n, len(train)), seed=trial.seed)
    return partition, train[partition.representatives]


def _n_rows(trial: Trial) -> int:
    """Return how many rows are known after all questions; the first needs none."""
    if trial.budget is None:
        raise InputError("methods that plan their questions need to be told how many")
    return trial.budget + 1


def _radii(trial: Trial) -> dict[str, Any]:
    """Return what ProbCover is told: radii to choose from, and the true number of classes."""
    sample = trial.X[np.random.default_rng(trial.seed).permutation(trial.train_indices)[:500]]
    radii = np.unique(np.quantile(pdist(sample), QUANTILES))
    return {"deltas": radii, "n_classes": trial.n_clusters}


def _means(trial: Trial) -> dict[str, Any]:
    """Return the seed of DropQuery's K-means, which it does not pass on by itself."""
    return {"cluster_algo_dict": {"random_state": trial.seed}}


def _committee(choices: Choices) -> dict[str, Any]:
    tree = DecisionTreeClassifier(random_state=choices.trial.seed)
    members = (LogisticRegression(C=C), GaussianNB(), tree)
    return {"ensemble": [_wrapped(choices, model) for model in members]}


def _logistic(choices: Choices) -> dict[str, Any]:
    return {"clf": _wrapped(choices, LogisticRegression(C=C))}


def _wrapped(choices: Choices, model: Any) -> Any:
    from skactiveml.classifier import SklearnClassifier

    return SklearnClassifier(model, classes=np.arange(choices.n_groups))


_FIRST = f"{N_FIRST} medoids first"
CHOICE_METHODS = (
    ChoiceMethod("COBRA-choices", medoids, cells),
    ChoiceMethod("medoids-learner", medoids, learner),
    ChoiceMethod("medoids-SVM", medoids, svm),
    ChoiceMethod("medoids-forest", medoids, forest),
    ChoiceMethod("medoids-spreading", medoids, spreading),
    ChoiceMethod("margin-SVM", doubtful(svm, is_margin=True), svm, _FIRST),
    ChoiceMethod("margin-learner", doubtful(learner, is_margin=True), learner, _FIRST),
    ChoiceMethod(
        "half-margin-learner", first_half(doubtful(learner, is_margin=True)), learner, plans=True
    ),
    ChoiceMethod(
        "uncertainty-forest", doubtful(forest, is_margin=False, n_batch=5), forest, _FIRST
    ),
    ChoiceMethod("MaxHerding", activeml("MaxHerding"), svm),
    ChoiceMethod("MaxHerding-learner", activeml("MaxHerding"), learner),
    ChoiceMethod("UHerding", herding(svm), svm),
    ChoiceMethod("UHerding-learner", herding(learner), learner),
    ChoiceMethod("Falcun", activeml("Falcun", query=_logistic), svm, _FIRST),
    ChoiceMethod("Falcun-learner", activeml("Falcun", query=_logistic), learner, _FIRST),
    ChoiceMethod("DropQuery", activeml("DropQuery", _means, query=_logistic), svm, _FIRST),
    ChoiceMethod(
        "DropQuery-learner", activeml("DropQuery", _means, query=_logistic), learner, _FIRST
    ),
    ChoiceMethod("TypiClust", activeml("TypiClust"), svm),
    ChoiceMethod("TypiClust-learner", activeml("TypiClust"), learner),
    ChoiceMethod("ProbCover", activeml("ProbCover", _radii), svm),
    ChoiceMethod("CoreSet", activeml("CoreSet"), svm),
    ChoiceMethod("BADGE", activeml("Badge", query=_logistic), svm, _FIRST),
    ChoiceMethod("committee", activeml("QueryByCommittee", query=_committee, n_batch=3), svm),
)
