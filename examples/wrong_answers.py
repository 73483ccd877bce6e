"""Find a wrong answer: check what was settled for free, see why, change it, keep the rest."""

from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, Answer


def main():
    X, y = load_iris(return_X_y=True)
    session = COBRA(n_super_instances=30, random_state=0).start(X)

    # A person who errs once, on the first pair that differs.
    has_erred = False
    while (query := session.ask()) is not None:
        is_same = bool(y[query.left] == y[query.right])
        if not is_same and not has_erred:
            is_same = has_erred = True
        session.tell(Answer.SAME if is_same else Answer.DIFFERENT)
    print(f"with one wrong answer: ARI {adjusted_rand_score(y, session.labels):.2f}")

    # No question can contradict an answer, so ask about pairs that were never asked.
    for check in session.audit(20):
        truth = Answer.SAME if y[check.left] == y[check.right] else Answer.DIFFERENT
        if truth is check.expected:
            continue
        asked = {event.pair: event for event in session.events}
        suspects = [asked[min(g.left, g.right), max(g.left, g.right)] for g in check.chain]
        wrong = next(e for e in suspects if (y[e.left] == y[e.right]) != (e.answer is Answer.SAME))
        other = Answer.DIFFERENT if wrong.answer is Answer.SAME else Answer.SAME
        revision = session.revise(wrong.number, other)
        kept, dropped = len(revision.kept), len(revision.dropped)
        print(f"answer {wrong.number} changed: {kept} kept, {dropped} dropped")
        break

    while (query := session.ask()) is not None:
        is_same = y[query.left] == y[query.right]
        session.tell(Answer.SAME if is_same else Answer.DIFFERENT)
    print(f"after changing it:     ARI {adjusted_rand_score(y, session.labels):.2f}")


if __name__ == "__main__":
    main()
