"""
When one answer in ten is wrong
===============================

``Likewise`` takes every answer as given. ``suspects_`` lists those that the learner would not have
expected from all the others. Here a person looks at them again, one after another, and changes the
wrong ones with ``session_.revise``. All other answers stay.

How much this helps varies: a wrong answer that started a group, or that no other answer bears on,
is not among the suspects.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from likewise import Answer, LabelOracle, Likewise, NoisyOracle

data = load_wine()
X, y = minmax_scale(data.data), data.target


def looked_at_again(session):
    """Answer the suspects again, this time by the truth."""
    for number in [suspect.number for suspect in session.suspects]:
        gesture = session.events[number - 1]
        groups = gesture.groups or ((gesture.right,),)
        fits = [k for k, rows in enumerate(groups) if y[rows[0]] == y[gesture.left]]
        if session.preview(number, fits[0] if fits else Answer.NONE).dropped:
            continue  # it would contradict other answers: leave it as it is
        session.revise(number, fits[0] if fits else Answer.NONE)
    return session.labels


for seed in range(4):
    oracle = NoisyOracle(LabelOracle(y), p=0.1, random_state=seed)
    model = Likewise(60, random_state=0).fit(X, oracle=oracle)
    before = adjusted_rand_score(y, model.labels_)
    after = adjusted_rand_score(y, looked_at_again(model.session_))
    plt.plot([0, 1], [before, after], "o-", color="tab:blue")
plt.xticks([0, 1], ["60 answers, one in ten wrong", "suspects looked at again"])
plt.xlim(-0.3, 1.3)
plt.ylabel("ARI")
plt.title("178 wines, four people")
plt.show()

# %%
# The suspects of one of them, the least credible first, before anything is changed:

oracle = NoisyOracle(LabelOracle(y), p=0.1, random_state=2)
model = Likewise(60, random_state=0).fit(X, oracle=oracle)
for suspect in model.suspects_:
    print(f"answer {suspect.number}, {suspect.answer.value}: right with {suspect.credibility:.0%}")
