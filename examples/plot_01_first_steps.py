"""
Thirty questions about wines
============================

The data are 178 wines from three growers, with 13 chemical values each. ``Likewise`` asks 30
questions and groups all wines. Rings mark the wines that the answers are about.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import LabelOracle, Likewise
from likewise.plotting import plot_map

wine = load_wine()
X = minmax_scale(wine.data)
model = Likewise(max_queries=30, random_state=0).fit(X, oracle=LabelOracle(wine.target))
print(f"{model.n_clusters_} groups, ARI {adjusted_rand_score(wine.target, model.labels_):.2f}")

# %%
# The wines along the two directions that separate the groups best. Pale points are in doubt:

plot_map(model)
plt.show()
