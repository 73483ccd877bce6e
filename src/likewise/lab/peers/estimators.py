"""COBRAS and DSL, which were published as procedures that ask in a loop of their own."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise.cluster.cobra import COBRA
from likewise.cluster.estimator import AskingClusterer
from likewise.core.log import refuse_session
from likewise.core.session import Session
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.dsl import SkeletonTree
from likewise.lab.peers.procedure import Procedure


class ProcedureClusterer(AskingClusterer):
    """An estimator whose labels are those of a procedure, as published."""

    _procedure: ClassVar[type[Procedure]]

    def adopt(self, session: Session, *, X: Any = None) -> Self:  # noqa: ARG002
        """Become the fitted estimator of a session, finished or not."""
        refuse_session(session)
        strategy: Any = session.strategy
        self.labels_ = strategy.labels_as_published()
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._set_queries(session)
        return self

    def _adopt_fitted(self, session: Session, X: Any, *, is_asked: bool) -> Self:
        self.adopt(session)
        if not is_asked:
            self.labels_ = COBRA(random_state=self.random_state).fit(X).labels_
            self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _strategy(
        self, X: NDArray[Any], train: NDArray[np.intp] | None, seed: int, **_: Any
    ) -> Procedure:
        return self._procedure.from_rows(X.astype(np.float64), train_indices=train, seed=seed)


class COBRAS(ProcedureClusterer):
    """Split the largest super-instance, find by asking into how many, and merge again.

    A baseline for comparison. It is as published but for one closure of all answers: what earlier
    phases imply is not asked again. If the questions end within a phase, the labels are those of
    the last phase that was complete, so they need not respect the last answers; those of the
    session do.

    References
    ----------
    T. Van Craenendonck, S. Dumančić, E. Van Wolputte, H. Blockeel, "COBRAS: Interactive Clustering
    with Pairwise Queries", IDA 2018.
    """

    _procedure = SplitAndMerge

    def __init__(
        self,
        max_queries: int | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_queries = max_queries
        self.random_state = random_state


class DSL(ProcedureClusterer):
    """Join all rows to a tree of nearest neighbors and ask about its edges, longest first.

    A baseline for comparison. An edge between rows that differ is cut, and the part below it is
    compared with the groups found so far, the nearest first. After all questions every row is in
    its group.

    Notes
    -----
    The tree is made of the rows that may be asked about; any other row goes with the nearest of
    them.

    References
    ----------
    "Data Skeleton Learning: Scalable Active Clustering with Sparse Graph Structures",
    arXiv 2509.08530.
    """

    _procedure = SkeletonTree
    random_state = 0  # nothing is random

    def __init__(self, max_queries: int | None = None) -> None:
        self.max_queries = max_queries
