"""
When to stop
============

``completeness`` estimates the share of rows that are right, with a lower bound at 95% confidence.
The plot compares both with the truth, which a user does not have.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import scale

from likewise import LabelOracle, Likewise, run

data = load_breast_cancer()
X, y = scale(data.data), data.target


def share_right(labels):
    """Return the share of right rows, with groups matched to classes as well as possible."""
    table = confusion_matrix(y, labels)
    return table[linear_sum_assignment(-table)].sum() / len(y)


session = Likewise(random_state=0).start(X)
answers, said, bound, true = [], [], [], []
for n in range(5, 61, 5):
    run(session, LabelOracle(y), max_queries=5)
    found = session.completeness
    if found is not None:
        answers.append(n)
        said.append(found.estimate)
        bound.append(found.at_least)
        true.append(share_right(session.labels))

plt.fill_between(answers, bound, 1, alpha=0.2, label="at least, with 95% confidence")
plt.plot(answers, said, "o-", label="estimate")
plt.plot(answers, true, "k--", label="truth")
plt.axhline(0.9, color="gray", lw=0.8)
plt.ylim(np.min(bound) - 0.05, 1.02)
plt.xlabel("answers")
plt.ylabel("share of rows that are right")
plt.legend(loc="lower right")
plt.show()
