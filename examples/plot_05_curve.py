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

from likewise import COBRA, LabelOracle, Likewise
from likewise.plotting import plot_curve

data = load_wine()
X, y = minmax_scale(data.data), data.target
oracle = LabelOracle(y)
models = {
    "Likewise": Likewise(60, random_state=0),
    "COBRA, 25 super-instances": COBRA(25, random_state=0),
    "COBRA, 50 super-instances": COBRA(50, random_state=0),
}
fig, ax = plt.subplots()
for name, model in models.items():
    plot_curve(model.fit(X, oracle=oracle), y, ax=ax, label=name)
kmeans = KMeans(3, n_init=10, random_state=0).fit_predict(X)
ax.axhline(adjusted_rand_score(y, kmeans), color="gray", ls="--", label="K-means, told 3 groups")
ax.set_title("178 wines")
ax.legend()
plt.show()
