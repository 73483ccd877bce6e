"""A person and a simulated model: questions to the person until the groups are as good as with 60.

python -m benchmarks.practice.models            # to results/practice/models.csv, resumable
python -m benchmarks.practice.models at-once    # 64 answers, one at a time and eight
python -m benchmarks.practice report            # the tables

A model is wrong in 5, 10 or 20 % of its answers: anywhere (uniform), or four times as often in the
half of the rows that lie between two classes (near). It answers up to 200 questions about 400 rows,
eight at a time; then the person answers what the page puts to them: samples, what was learned
against the model, and further questions. Counted are the answers of the person until the adjusted
Rand index is that of a person alone after 60, or 60 if it never is. The person goes on to 60, and
`held` is 1 if the certificate had the true share of right answers at every moment.
"""

import csv
import sys
from functools import lru_cache
from itertools import product
from types import SimpleNamespace

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks._results import FOLDER, code
from benchmarks.practice.sets import load, names
from likewise import Answer, LabelOracle, Likewise, run
from likewise.project.model import ModelAtWork, certified, said_by
from likewise.project.people import Team

OUT = FOLDER / "practice" / "models.csv"
FIELDS = (
    "set", "errors", "where", "ari_person_60", "questions", "ari_model_alone", "n_model", "checks",
    "right", "at_least", "estimate", "at_most", "held", "code",
)  # fmt: skip
N_PERSON, N_MODEL, N_ROWS = 60, 200, 400
ERRORS = (0.1, 0.2, 0.05)
AT = "model:simulated"
AT_ONCE = ("one_at_a_time", "eight_at_once")


class Simulated:
    """A model that is wrong about some rows, always the same."""

    can_choose = True
    by = AT

    def __init__(self, X, y, errors, where):
        self.labels, rng = LabelOracle(y), np.random.default_rng(7)
        chances = np.full(len(X), errors)
        if where == "near":
            is_near = _is_near(X, y)
            # Four times as often there; the mean stays.
            chances = np.where(is_near, 1.6 * errors, 0.4 * errors)
        self.is_wrong = rng.random(len(X)) < chances
        self.rng = rng

    def answer(self, question):
        right = question.place(self.labels.answer(question))
        if not self.is_wrong[question.row]:
            return _answer(right, question)
        places = [*range(len(question.groups)), Answer.NONE]
        # The likeliest other group, as of a model that is misled by what is alike.
        return _answer(next(p for p in places if p != right), question)

    def close(self):
        pass


def _answer(place, question):
    if len(question.groups) > 1 or isinstance(place, Answer):
        return place
    return Answer.SAME


def _is_near(X, y):
    """Return the half of the rows whose nearest row of another class is relatively close."""
    distances = np.sqrt(np.maximum(((X[:, None, :] - X[None]) ** 2).sum(axis=2), 0.0))
    np.fill_diagonal(distances, np.inf)
    same = y[:, None] == y[None]
    own = np.where(same, distances, np.inf).min(axis=1)
    other = np.where(~same, distances, np.inf).min(axis=1)
    ratio = own / np.maximum(other, 1e-12)
    return ratio >= np.median(ratio)


def main():
    """Measure what is not measured yet."""
    OUT.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if OUT.exists():
        with OUT.open(newline="") as file:
            done = {
                (row["set"], float(row["errors"]), row["where"]) for row in csv.DictReader(file)
            }
    with OUT.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for errors, name, where in product(ERRORS, names(), ("uniform", "near")):
            if (name, errors, where) in done:
                continue
            row = measured(*begun_at(name), errors, where)
            writer.writerow({"set": name, "errors": errors, "where": where, **row})
            file.flush()
            print(name, errors, where, row, flush=True)


@lru_cache(1)
def begun_at(name):
    """Return some rows of a set, and the adjusted Rand index of a person alone after 60."""
    X, y = load(name)
    rows = np.random.default_rng(0).permutation(len(X))[:N_ROWS]
    X, y = X[rows], y[rows]
    alone = begun(X, N_PERSON)
    run(alone, LabelOracle(y))
    return X, y, adjusted_rand_score(y, alone.labels)


def begun(X, n=None):
    session = Likewise(max_queries=n, random_state=0).start(X)
    if n is None:
        session.extend()
    return session


def measured(X, y, goal, errors, where):
    """Return how many questions the person is asked."""
    session, person, model = begun(X), LabelOracle(y), Simulated(X, y, errors, where)
    run(session, model, max_queries=N_MODEL, n_at_once=8)
    first = adjusted_rand_score(y, session.labels)
    rows = [one.gesture.left for one in said_by(session, AT) if one.is_sure]
    right = 1 - float(np.mean(model.is_wrong[rows]))
    work, team = ModelAtWork(SimpleNamespace(session=session), SimpleNamespace(by=AT)), Team()
    questions, held = None, True
    for n in range(N_PERSON + 1):
        found = certified(session, AT)
        held = held and found.at_least <= right <= found.at_most
        if questions is None and adjusted_rand_score(y, session.labels) >= goal:
            questions = n
        question = team.ask(session, None, work) if n < N_PERSON else None
        if question is None:
            break
        session.choose(question.place(person.answer(question)), question=question, by="person")
    return {
        "ari_person_60": round(goal, 4), "questions": N_PERSON if questions is None else questions,
        "ari_model_alone": round(first, 4), "n_model": session.answerers[AT], "checks": found.n,
        "right": round(right, 3), "at_least": round(found.at_least, 3),
        "estimate": round(found.estimate, 3), "at_most": round(found.at_most, 3),
        "held": int(held), "code": code(),
    }  # fmt: skip


def table(rows):
    """Return how many questions the person is asked, for every kind of errors."""
    if not rows:
        return ""
    n_sets, n_held = len({row["set"] for row in rows}), sum(int(row["held"]) for row in rows)
    lines = [
        f"## A person and a simulated model ({n_sets} sets)\n",
        "Answers of the person until the groups are as good as those of a person alone after 60; 60"
        " counts where they never are.\n",
        "| wrong answers | where | questions | share of 60 | sets where the model alone is enough "
        "| sets where 60 are not |",
        "|---|---|---|---|---|---|",
    ]
    for errors in sorted({row["errors"] for row in rows}):
        for where in ("uniform", "near"):
            chosen = [row for row in rows if (row["errors"], row["where"]) == (errors, where)]
            n = np.array([int(row["questions"]) for row in chosen])
            lines.append(
                f"| {float(errors):.0%} | {where} | {n.mean():.1f} | {n.mean() / N_PERSON:.2f} | "
                f"{np.sum(n == 0)} | {np.sum(n == N_PERSON)} |"
            )
    lines.append(
        f"\nThe interval of the certificate had the true share of right answers after every answer "
        f"of the person in {n_held} of {len(rows)} sessions."
    )
    return "\n".join(lines) + "\n"


def at_once_table(rows):
    """Return what eight questions at once lose."""
    if not rows:
        return ""
    scores = np.array([[float(row[name]) for name in AT_ONCE] for row in rows])
    one, eight = scores.mean(axis=0)
    return (
        f"## Eight questions at once\n\nAfter 64 answers the adjusted Rand index is {one:.3f} one "
        f"at a time and {eight:.3f} eight at once: {one - eight:.3f} less ({len(rows)} sets; at "
        f"worst {np.max(scores[:, 0] - scores[:, 1]):.3f} less, at best "
        f"{np.max(scores[:, 1] - scores[:, 0]):.3f} more).\n"
    )


def at_once(n_answers=64):
    """Measure the adjusted Rand index after 64 answers, one at a time and eight, on every set."""
    path = OUT.with_name("at_once.csv")
    rows = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    rows = [row for row in rows if row.get("code") == code()]
    for name in names():
        if name in {row["set"] for row in rows}:
            continue
        X, y = load(name)
        scores = []
        for n in (1, 8):
            some = []
            for seed in range(2):
                drawn = np.random.default_rng(seed).permutation(len(X))[: int(0.8 * len(X))]
                drawn.sort()
                session = begun(X[drawn], n_answers)
                run(session, LabelOracle(y[drawn]), n_at_once=n)
                some.append(adjusted_rand_score(y[drawn], session.labels))
            scores.append(f"{np.mean(some):.4f}")
        rows.append({"set": name, **dict(zip(AT_ONCE, scores, strict=True)), "code": code()})
        print(*rows[-1].values(), flush=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ("set", *AT_ONCE, "code"), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    {"at-once": at_once}.get((sys.argv[1:] or [""])[0], main)()
