"""
Rising and falling stock prices
===============================

Five years of a stock price are cut into pieces of 15 trading days. The person says which pieces
rise and which fall. Pieces are compared by their shape.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cbook import get_sample_data
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from likewise import LabelOracle, Likewise

DAYS = 15
price = get_sample_data("goog.npz")["price_data"]["close"]
pieces = price[: len(price) // DAYS * DAYS].reshape(-1, DAYS)
shapes = scale(pieces, axis=1)
rises = (pieces[:, -1] > pieces[:, 0]).astype(int)

model = Likewise(max_queries=25, random_state=0).fit(shapes, oracle=LabelOracle(rises))

# %%
# Each panel shows the pieces of one group; the thick line is their mean.

figure, axes = plt.subplots(
    1, model.n_clusters_, figsize=(9, 3.5), sharey=True, layout="constrained"
)
for group, axis in enumerate(np.atleast_1d(axes)):
    part = shapes[model.labels_ == group]
    axis.plot(part.T, color="tab:blue", alpha=0.2, lw=1)
    axis.plot(part.mean(axis=0), color="black", lw=2.5)
    axis.set_title(f"{len(part)} pieces")
    axis.set_xlabel("trading day")
score = adjusted_rand_score(rises, model.labels_)
figure.suptitle(f"{model.n_queries_} answers, ARI {score:.2f}")
plt.show()
