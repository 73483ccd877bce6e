"""
Choosing the budget by cross-validation
=======================================

All rows are grouped, questions are about training rows only, and the score is computed on the
held-out rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

from likewise import LabelOracle, Likewise

data = load_breast_cancer()
X, y = scale(data.data), data.target

budgets = (5, 10, 20, 40)
scores = {n: [] for n in budgets}
for train, test in KFold(3, shuffle=True, random_state=0).split(X):
    for n in budgets:
        model = Likewise(max_queries=n, random_state=0)
        model.fit(X, oracle=LabelOracle(y), train_indices=train)
        scores[n].append(adjusted_rand_score(y[test], model.labels_[test]))

plt.boxplot(scores.values(), tick_labels=budgets)
plt.xlabel("questions")
plt.ylabel("ARI on held-out rows")
plt.show()
