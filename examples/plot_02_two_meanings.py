"""
The same pictures, grouped in two ways
======================================

No method can know whether you want to group by digit or by even and odd. Your answers decide.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise

digits = load_digits(n_class=6)
meanings = {"which digit is it?": digits.target, "is it even?": digits.target % 2}

# %%
# Each row shows eight members of a group.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, (question, truth) in zip(axes, meanings.items(), strict=True):
    model = Likewise(max_queries=60, random_state=0).fit(digits.data, oracle=LabelOracle(truth))
    score = adjusted_rand_score(truth, model.labels_)
    sure = np.argsort(model.doubts_, kind="stable")
    rows = []
    for group in np.argsort(-np.bincount(model.labels_))[:6]:
        members = sure[model.labels_[sure] == group]
        members = members[:: max(1, len(members) // 8)][:8]
        pictures = [16 - digits.images[row] for row in members]
        pictures += [np.full((8, 8), 16.0)] * (8 - len(pictures))
        rows.append(np.hstack(pictures))
    axis.imshow(np.vstack(rows), cmap="gray", interpolation="bicubic")
    axis.set_title(
        f"{question}\n{model.n_queries_} answers, {model.n_clusters_} groups, ARI {score:.2f}"
    )
    axis.axis("off")
plt.show()
