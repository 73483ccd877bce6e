"""
Mend what HDBSCAN made
======================

HDBSCAN leaves a fifth of the digits as noise and makes thirteen groups of the rest. A session can
start from these labels: ``groups=labels``. They are a belief; answers correct it. The curves show
how many answers this saves.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, run
from likewise.project import mended_labels

X, y = load_digits(return_X_y=True)
before = HDBSCAN(min_cluster_size=20, min_samples=1, copy=True).fit_predict(X)
print(f"HDBSCAN: {before.max() + 1} groups, {np.mean(before == -1):.0%} noise")

# %%
# A person answers 60 questions, once from scratch and once starting from these groups.

N_ANSWERS = range(0, 61, 5)


def curve(groups):
    session = Likewise(max_queries=60, random_state=0).start(X, groups=groups)
    scores = []
    for n in N_ANSWERS:
        run(session, LabelOracle(y), max_queries=n - session.n_asked)
        scores.append(adjusted_rand_score(y, session.labels))
    return session, scores


session, mended = curve(before)
nothing = curve(None)[1]

# %%
# The labels go back in the numbering of HDBSCAN: a group keeps the number of the given group whose
# larger part it contains, and new groups get the next numbers.

after = np.array(mended_labels(session))
print(f"{np.sum(before != after)} of {len(X)} labels changed; noise now: {np.sum(after == -1)}")

plt.plot(N_ANSWERS, mended, marker="o", label="from the groups of HDBSCAN")
plt.plot(N_ANSWERS, nothing, marker="o", label="from scratch")
plt.axhline(adjusted_rand_score(y, before), color="gray", ls=":", label="HDBSCAN alone")
plt.xlabel("answers")
plt.ylabel("adjusted Rand index")
plt.legend()
plt.show()
