"""
Which rows to check by hand
===========================

``doubts_`` ranks the rows: those with the highest doubt are wrong most often. Checking the top
tenth finds most mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from likewise import LabelOracle, Likewise

data = load_breast_cancer()
X, y = scale(data.data), data.target
model = Likewise(max_queries=30, random_state=0).fit(X, oracle=LabelOracle(y))

# A group counts as what most of its rows are.
majority = {k: np.bincount(y[model.labels_ == k]).argmax() for k in range(model.n_clusters_)}
wrong = np.array([majority[k] for k in model.labels_]) != y
order = np.argsort(-model.doubts_)
found = np.cumsum(wrong[order]) / wrong.sum()

share = np.arange(1, len(y) + 1) / len(y)
plt.plot(share, found, label="highest doubt first")
plt.plot([0, 1], [0, 1], "k:", label="in random order")
plt.xlabel("share of the rows looked through")
plt.ylabel("share of the mistakes found")
plt.title(f"{wrong.sum()} of {len(y)} rows are wrong after {model.n_queries_} answers")
plt.legend()
plt.show()
