"""Every strategy of the package is under all laws."""

import inspect

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from likewise import MPCKMeans
from likewise.core.candidates import Candidates
from likewise.core.strategy import STRATEGIES
from likewise.lab.peers.a3s import AdaptiveSampling
from likewise.lab.peers.acc import CorrelationClustering
from likewise.lab.peers.acdm import DiffusionSkeleton
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.dsl import SkeletonTree
from likewise.lab.peers.lak import LocalKernel
from likewise.lab.peers.random_pairs import RandomOrder, RandomPairs
from likewise.lab.selection.minmax import ExploreConsolidate
from likewise.lab.selection.npu import MostInformative
from likewise.strategies import CandidatePairs, ClosestFirst, MostDoubt
from likewise.testing import Case, StrategyLaws


class TestClosestFirst(StrategyLaws):
    def make(self, case):
        return ClosestFirst(case.partition)


def candidates(case, share=1.0):
    """All pairs of representatives, or a share of them at random."""
    reps = case.partition.representatives
    left, right = (reps[k] for k in np.triu_indices(len(reps), 1))
    kept = np.random.default_rng(case.seed).random(len(left)) < share
    distances = pdist(case.partition.points)
    return Candidates.sorted(len(case.X), left[kept], right[kept], distances[kept])


class TestCandidatePairs(StrategyLaws):
    def make(self, case):
        return CandidatePairs(candidates(case), case.partition)


@pytest.mark.slow
class TestSomeCandidatePairs(StrategyLaws):
    stops_early = True  # a pair that is not listed is never asked about

    def make(self, case):
        return CandidatePairs(candidates(case, 0.4), case.partition)


class TestCandidatesByChoices(StrategyLaws):
    def make(self, case):
        return CandidatePairs(candidates(case), case.partition, questions="choices")


@pytest.mark.slow
class TestRandomGroups(StrategyLaws):
    def make(self, case):
        return RandomOrder(case.X, case.train, seed=case.seed, over="groups")


@pytest.mark.slow
class TestRandomRows(StrategyLaws):
    def make(self, case):
        return RandomOrder(case.X, case.train, seed=case.seed, over="rows")


class TestMostDoubt(StrategyLaws):
    offers_all_groups = True

    def make(self, case):
        return MostDoubt(case.partition, seed=case.seed)


class TestMostDoubtByPairs(StrategyLaws):
    def make(self, case):
        return MostDoubt(case.partition, questions="pairs", seed=case.seed)


class TestMostDoubtByAspects(StrategyLaws):
    def make(self, case):
        return MostDoubt(case.partition, seed=case.seed, aspects={"x": [0], "y": [1]})


@pytest.mark.slow
class TestMostDoubtFromRows(StrategyLaws):
    strategy = MostDoubt


@pytest.mark.slow
class TestRandomPairs(StrategyLaws):
    def make(self, case):
        return RandomPairs(case.X, case.train, case.seed)


class TestExploreConsolidate(StrategyLaws):
    def make(self, case):
        return ExploreConsolidate(case.X, case.train, case.seed, n_clusters=3, infer_last=False)


@pytest.mark.slow
class TestMostInformative(StrategyLaws):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def small_forest(cls):
        """Which rows the forest prefers does not matter here."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("likewise.lab.selection.npu.N_TREES", 2)
            yield

    def make(self, case):
        return MostInformative(
            case.X,
            case.train,
            case.seed,
            n_clusters=3,
            infer_last=False,
            clusterer=MPCKMeans(3, max_iter=3, random_state=case.seed),
        )


@pytest.mark.slow
class TestSplitAndMerge(StrategyLaws):
    stops_early = True  # it never asks about rows that are equal
    splits_when_unsure = True  # as published, it splits a cluster and asks which parts to merge

    def make(self, case):
        return SplitAndMerge(case.X, case.train, seed=case.seed)


class TestSkeletonTree(StrategyLaws):
    def make(self, case):
        return SkeletonTree(case.X, case.train, seed=case.seed)


@pytest.mark.slow
class TestDiffusionSkeleton(StrategyLaws):
    strategy = DiffusionSkeleton
    splits_when_unsure = True  # as published, a row that matches no known group is a new one


@pytest.mark.slow
class TestLocalKernel(StrategyLaws):
    strategy = LocalKernel
    splits_when_unsure = True  # as ACDM


@pytest.mark.slow
class TestCorrelationClustering(StrategyLaws):
    strategy = CorrelationClustering


@pytest.mark.slow
class TestAdaptiveSampling(StrategyLaws):
    strategy = AdaptiveSampling
    stops_early = True  # it does not ask about all rows of a cluster that looks pure


def test_every_strategy_is_under_the_laws():
    suites = [s for s in globals().values() if inspect.isclass(s) and issubclass(s, StrategyLaws)]
    held = {type(s().make(Case.drawn(4, 0))) for s in suites if s is not StrategyLaws}
    known = {STRATEGIES.find(name) for name in STRATEGIES.names}
    assert {strategy for strategy in known if strategy.__module__.startswith("likewise.")} <= held
