"""
Thirty questions about wines
============================

The data are 178 wines from three growers, with 13 chemical values each. ``Likewise`` asks 30
questions and groups all wines. Rings mark the wines that the answers are about.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import LabelOracle, Likewise

wine = load_wine()
X = minmax_scale(wine.data)
model = Likewise(max_queries=30, random_state=0).fit(X, oracle=LabelOracle(wine.target))
print(f"{model.n_clusters_} groups, ARI {adjusted_rand_score(wine.target, model.labels_):.2f}")

# %%
# The wines on their first two principal components:

flat = PCA(2).fit_transform(X)
asked = sorted({row for left, right, _ in model.queries_ for row in (left, right)})
plt.scatter(*flat.T, c=model.labels_, cmap="Set2", s=25)
plt.scatter(*flat[asked].T, s=70, facecolors="none", edgecolors="black", linewidths=1)
plt.title(f"{model.n_queries_} questions, {len(asked)} wines looked at, {len(X)} grouped")
plt.axis("off")
plt.show()
