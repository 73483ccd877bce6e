"""Begin from groups that are there: how much they bring, and what wrong ones cost."""

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.practice.people import Person
from benchmarks.practice.sets import load, names
from likewise import LabelOracle, Likewise, run

AT = (10, 30, 60)
FIELDS = ("what", "set", "ari0", "ari10", "ari30", "ari60", "code")
LEFT_OUT = ("contraceptive", "letter", "led7digit")
"""Sets on which 100 answers tell nothing apart, or that have fewer rows than answers."""
SEVERAL = "split in two, several chosen"
"""Who sees both halves of a group chooses both, which makes them one."""


def given(X, y):
    """Return groups as tools and people leave them, by name; None begins from nothing."""
    n_groups = int(y.max()) + 1
    rng = np.random.default_rng(0)
    merged = np.where(y % 2 == 1, y - 1, y) if n_groups > 2 else np.zeros_like(y)
    split = 2 * y + rng.integers(0, 2, len(y))
    return {
        "nothing": None,
        "truth": y,
        "5 % misplaced": misplaced(y, 0.05),
        "10 % misplaced": misplaced(y, 0.10),
        "20 % misplaced": misplaced(y, 0.20),
        "merged by two": merged,
        "split in two": split,
        SEVERAL: split,
        "K-means": KMeans(n_groups, n_init=3, random_state=0).fit_predict(X),
        "HDBSCAN": HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X),
        "random": rng.integers(0, n_groups, len(y)),
    }


def misplaced(y, share):
    """Return classes of which a share is another one."""
    rng = np.random.default_rng(1)
    n_groups = int(y.max()) + 1
    is_wrong = rng.random(len(y)) < share
    return np.where(is_wrong, (y + rng.integers(1, n_groups, len(y))) % n_groups, y)


def groups(keep):
    """ARI of all rows after some answers, from nothing and from each of these groups."""
    for name in (name for name in names() if name not in LEFT_OUT):
        X, y = load(name)
        for what, labels in given(X, y).items():
            row = {"what": what, "set": name}
            if keep.has(**row):
                continue
            session = Likewise(AT[-1], random_state=0).start(X, groups=labels)
            alone = 0.0 if labels is None else adjusted_rand_score(y, labels)
            person = LabelOracle(y, several=True) if what == SEVERAL else Person(X, y)
            scores = {"ari0": alone}
            for n in AT:
                run(session, person, max_queries=n - session.n_asked)
                scores[f"ari{n}"] = adjusted_rand_score(y, session.labels)
            keep.add(**row, **scores)
