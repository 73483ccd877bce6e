"""
Links for a constrained clusterer
=================================

``MPCKMeans`` takes the number of clusters, must-links and cannot-links. ``MinMax`` chooses which
pairs to ask about.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, MinMax, MPCKMeans

X, y = load_iris(return_X_y=True)
select = MinMax(n_clusters=3, max_queries=25, random_state=0)
must, cannot = select.select(X, oracle=LabelOracle(y))
found = {
    "K-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
    "MPCKMeans with links": MPCKMeans(3, random_state=0)
    .fit(X, must_link=must, cannot_link=cannot)
    .labels_,
}

flat = PCA(2).fit_transform(X)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
for axis, (name, labels) in zip(axes, found.items(), strict=True):
    axis.scatter(*flat.T, c=labels, cmap="Set2", s=20)
    axis.set_title(f"{name}: ARI {adjusted_rand_score(y, labels):.2f}")
    axis.axis("off")
for left, right in must:
    axes[1].plot(*flat[[left, right]].T, color="black", lw=0.6)
plt.show()
