"""Find wrong answers: look at the suspects, change the wrong ones and keep the rest."""

from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, NoisyOracle, run


def main():
    X, y = make_blobs(300, centers=4, cluster_std=0.6, random_state=4)
    session = Likewise(max_queries=60, random_state=0).start(X)

    # This person makes one mistake, on question 40.
    while (question := session.ask()) is not None:
        is_wrong = question.number == 40
        run(session, NoisyOracle(LabelOracle(y), p=float(is_wrong)), max_queries=1)
    before = adjusted_rand_score(y, session.labels)
    print(f"with one wrong answer: ARI {before:.2f}")

    # Look at the suspects again: which of the groups shown does the row belong to?
    for suspect in session.suspects:
        gesture = session.events[suspect.number - 1]
        groups = gesture.groups or ((gesture.right,),)
        fits = [k for k, rows in enumerate(groups) if y[rows[0]] == y[gesture.left]]
        revision = session.revise(suspect.number, fits[0] if fits else Answer.NONE)
        kept, dropped = len(revision.kept), len(revision.dropped)
        print(f"answer {suspect.number} changed: {kept} kept, {dropped} dropped")
        break

    after = adjusted_rand_score(y, session.labels)
    print(f"after changing it:     ARI {after:.2f}")


if __name__ == "__main__":
    main()
