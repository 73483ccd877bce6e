"""Measure `Likewise` on the practice sets; every run is a row, and runs that are there are kept.

python -m benchmarks.practice quality           # choices and pairs at 30, 60, 100 questions
python -m benchmarks.practice cobra             # pairs against COBRA with the same learner
python -m benchmarks.practice people            # not sure, wrong answers, suspects
python -m benchmarks.practice groups            # from groups that are there, right or wrong
python -m benchmarks.practice end               # without a budget: where it ends
python -m benchmarks.practice statements        # what sessions say of themselves, and the truth
python -m benchmarks.practice stop              # when one can stop
python -m benchmarks.practice unseen            # both on tasks that nothing was fitted to
python -m benchmarks.practice merges            # which groups are suggested as one
python -m benchmarks.practice report            # the tables, from the rows
"""

import csv
import sys
import time

from sklearn.metrics import adjusted_rand_score

from benchmarks._results import FOLDER, code
from benchmarks.practice import groups, merges, statements, stop, unseen
from benchmarks.practice.people import CONDITIONS, Person
from benchmarks.practice.report import write_report
from benchmarks.practice.sets import folds, load, names
from likewise import COBRA, Likewise, run

AT = (30, 60, 100)
SIZES = (25, 50, 100)
N_MOST = 200
OUT = FOLDER / "practice"


def quality(keep):
    """Choices and pairs of a truthful person."""
    for name, fold, X, y, train, test in runs():
        for questions in ("choices", "pairs"):
            if keep.has(what="quality", method=questions, set=name, fold=fold):
                continue
            began = time.process_time()
            person = Person(X, y, seed=fold)
            scores = scores_at(X, y, train, test, person, questions, AT)
            seconds = time.process_time() - began
            keep.add(what="quality", method=questions, set=name, fold=fold, **scores, cpu=seconds)


def people(keep):
    """The same with people who are not sure or wrong, and which answers are suspected."""
    for name, fold, X, y, train, test in runs():
        for questions in ("choices", "pairs"):
            for condition, how in CONDITIONS.items():
                row = {"what": condition, "method": questions, "set": name, "fold": fold}
                if keep.has(**row):
                    continue
                person = Person(X, y, seed=fold, **how)
                scores = scores_at(X, y, train, test, person, questions, AT)
                keep.add(**row, **scores)


def cobra(keep):
    """COBRA with the learner, and pairs of `Likewise` with as many questions."""
    for name, fold, X, y, train, test in runs():
        for size in SIZES:
            row = {"what": "cobra", "set": name, "fold": fold, "size": size}
            if size > len(train) or keep.has(**row):
                continue
            person = Person(X, y, seed=fold)
            model = COBRA(size, labels="learned", random_state=0)
            model.fit(X, oracle=person, train_indices=train)
            n = model.n_queries_
            scores = scores_at(X, y, train, test, Person(X, y, seed=fold), "pairs", (n,))
            ari = adjusted_rand_score(y[test], model.labels_[test])
            keep.add(**row, questions=n, cobra=ari, pairs=scores[f"ari{n}"])


def end(keep):
    """Without a budget: where it ends."""
    for name in names():
        X, y = load(name)
        row = {"what": "end", "set": name}
        if keep.has(**row):
            continue
        session = Likewise(random_state=0).start(X)
        session.extend()
        person, n_end = Person(X, y), None
        while session.n_asked < min(N_MOST, len(X)) and session.ask() is not None:
            run(session, person, max_queries=1)
            if n_end is None and session.assessment.is_enough():
                n_end = session.n_asked
                keep.add(**row, questions=n_end, ari=adjusted_rand_score(y, session.labels))
        last = adjusted_rand_score(y, session.labels)
        keep.add(what="last", set=name, questions=session.n_asked, ari=last)


def runs():
    """Yield every set and fold."""
    for name in names():
        X, y = load(name)
        for fold, (train, test) in enumerate(folds(len(X))):
            yield name, fold, X, y, train, test


def scores_at(X, y, train, test, person, questions, at):
    """Return the test ARI after some numbers of questions, and which suspects were wrong."""
    most = [n for n in at if n <= 0.6 * len(train)] or list(at[:1])
    model = Likewise(most[-1], questions=questions, random_state=0)
    session, scores = model.start(X, train_indices=train), {}
    for n in most:
        run(session, person, max_queries=n - session.n_asked)
        scores[f"ari{n}"] = adjusted_rand_score(y[test], session.labels[test])
    if person.wrong:
        suspects = {suspect.number for suspect in session.suspects}
        wrong = {number for number, is_wrong in person.wrong.items() if is_wrong}
        scores |= {"suspects": len(suspects), "wrong": len(wrong), "hits": len(suspects & wrong)}
    return scores


class Rows:
    """The rows that were measured, in a file that grows."""

    FIELDS = (
        "what", "method", "set", "fold", "size", "questions", "ari30", "ari60", "ari100",
        "suspects", "wrong", "hits", "cobra", "pairs", "ari", "cpu", "code",
    )  # fmt: skip

    def __init__(self, path, fields=FIELDS):
        self.path, self.fields = path, fields
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rows = list(csv.DictReader(path.open())) if path.exists() else []
        if not self.rows or tuple(self.rows[0]) != tuple(fields):
            # Rows of other fields, which an earlier revision measured, would not fit below these.
            self.rows = []
            path.write_text(",".join(fields) + "\n")

    def has(self, **keys):
        wanted = {k: str(v) for k, v in keys.items()}
        return any(
            all(row[k] == v for k, v in wanted.items()) and row["code"] == code()
            for row in self.rows
        )

    def add(self, **values):
        shown = {k: f"{v:.4f}" if isinstance(v, float) else str(v) for k, v in values.items()}
        row = {field: shown.get(field, "") for field in self.fields} | {"code": code()}
        self.rows.append(row)
        with self.path.open("a") as out:
            csv.DictWriter(out, self.fields, lineterminator="\n").writerow(row)
        print(" ".join(f"{k}={v}" for k, v in shown.items()), flush=True)


FIELDS = {
    "groups": groups.FIELDS,
    "merges": (*merges.FIELDS, "code"),
    "statements": (*statements.FIELDS, "code"),
    "stop": (*stop.FIELDS, "code"),
    "unseen": (*unseen.FIELDS, "code"),
}
PARTS = {
    "quality": quality,
    "people": people,
    "cobra": cobra,
    "end": end,
    "groups": groups.groups,
    "statements": statements.statements,
    "stop": stop.stop,
    "unseen": unseen.unseen,
    "merges": merges.merges,
}


def main(arguments):
    """Measure the parts that are named, then write the report."""
    for part in arguments or PARTS:
        if part in PARTS:
            fields = FIELDS.get(part, Rows.FIELDS)
            PARTS[part](Rows(OUT / f"{part}.csv", fields))
    write_report(OUT)


if __name__ == "__main__":
    main(sys.argv[1:])
