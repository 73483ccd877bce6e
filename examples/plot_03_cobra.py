"""
COBRA: which questions it asks
==============================

K-means makes 15 super-instances, small groups of irises. One flower represents each of them. COBRA
asks about the two closest representatives whose relation is open. It never asks what follows from
earlier answers.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from likewise import COBRA, Answer, LabelOracle

X, y = load_iris(return_X_y=True)
model = COBRA(n_super_instances=15, random_state=0).fit(X, oracle=LabelOracle(y))
flat = PCA(2).fit_transform(X)

plt.figure(figsize=(8, 4.5))
plt.scatter(*flat.T, c=model.labels_, cmap="Set2", s=25)
for left, right, answer in model.queries_:
    same = answer is Answer.SAME
    plt.plot(*flat[[left, right]].T, color="black" if same else "tab:red", ls="-" if same else ":")
plt.scatter(*flat[model.representatives_].T, c="black", s=20, zorder=3)
free = model.session_.progress.settled_for_free
plt.title(
    f"{model.n_queries_} questions (black: same, red: different); {free} pairs settled for free"
)
plt.axis("off")
plt.show()
