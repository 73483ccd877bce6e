"""
How quality grows with the answers
==================================

You can stop after any answer. ``Likewise`` is useful early; ``COBRA`` needs most of its questions
before its groups come together. K-means asks nothing but is told the number of groups.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import COBRA, LabelOracle, Likewise, run

data = load_wine()
X, y = minmax_scale(data.data), data.target
sessions = {
    "Likewise": Likewise(random_state=0).start(X),
    "COBRA, 25 super-instances": COBRA(25, random_state=0).start(X),
    "COBRA, 50 super-instances": COBRA(50, random_state=0).start(X),
}
for name, session in sessions.items():
    curve = []
    for _ in range(61):
        curve.append(adjusted_rand_score(y, session.labels))
        run(session, LabelOracle(y), max_queries=1)
    plt.plot(curve, label=name)
kmeans = KMeans(3, n_init=10, random_state=0).fit_predict(X)
plt.axhline(adjusted_rand_score(y, kmeans), color="gray", ls="--", label="K-means, told 3 groups")
plt.xlabel("answers")
plt.ylabel("ARI")
plt.title("178 wines")
plt.legend()
plt.show()
