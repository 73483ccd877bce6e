"""Page, estimator and saved session label the same session the same way."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise import LabelOracle, Likewise, Session
from likewise.project.groups import group_ids

X, Y = make_blobs(900, centers=6, n_features=5, cluster_std=2.5, random_state=0)
MUST, CANNOT = [(0, 700), (1, 2)], [(3, 4), (3, 700)]


@pytest.mark.parametrize("n_asked", [3, 12, 40])
def test_one_session_has_one_labeling(n_asked):
    model = Likewise(n_asked, random_state=0).fit(
        X, oracle=LabelOracle(Y), must_link=MUST, cannot_link=CANNOT
    )
    session = model.session_
    assert np.array_equal(model.labels_, session.labels)
    assert model.n_clusters_ == session.progress.n_groups == int(model.labels_.max()) + 1
    loaded = Session.from_dict(session.to_dict())
    assert np.array_equal(Likewise().adopt(loaded).labels_, model.labels_)
    ids = group_ids(session)
    assert len(set(zip(ids.tolist(), model.labels_.tolist(), strict=True))) == model.n_clusters_


def test_predictions_are_labels_where_nothing_was_answered():
    model = Likewise(40, random_state=0).fit(X, oracle=LabelOracle(Y))
    asked = {row for left, right, _ in model.queries_ for row in (left, right)}
    rest = np.setdiff1d(np.arange(len(X)), list(asked))
    assert np.array_equal(model.predict(X[rest]), model.labels_[rest])
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-6)
