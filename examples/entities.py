"""Entity resolution after Splink or dedupe: a person decides what their scores leave open.

    pip install splink   # or dedupe "BTrees<6.5", without which dedupe 3.0.3 fails
    python examples/entities.py splink

The records are made up. Splink or dedupe scores pairs of them. Clear scores decide their pairs;
likewise asks about the others, the likeliest first.
"""

import csv
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle
from likewise.project import open_project

FIRST = "Anna Bela Carl Dina Emil Fina Gina Hans Iris Jens Kati Luis Mara Nils Olga Paul Rosa Sven"
LAST = "Adler Braun Conrad Dietrich Engel Fischer Gruber Hoffmann Imhof Jansen Keller Lehmann Maier"
CITIES = "Aachen Bonn Dresden Erfurt Fulda Gera Halle Jena Kiel Ulm"


def records(n_people=150, seed=0):
    """Return made-up records, some people several times with errors, and who each record is."""
    rng = np.random.default_rng(seed)
    people, who = [], []
    for person in range(n_people):
        first, last, city = (str(rng.choice(names.split())) for names in (FIRST, LAST, CITIES))
        born = str(rng.integers(1940, 2005))
        for copy in range(int(rng.integers(1, 4))):
            name = misspelled(last, rng) if copy and rng.random() < 0.4 else last
            given = first[0] + "." if copy and rng.random() < 0.2 else first
            home = str(rng.choice(CITIES.split())) if copy and rng.random() < 0.2 else city
            people.append({"first": given, "last": name, "city": home, "born": born})
            who.append(person)
    for number, record in enumerate(people):
        record["unique_id"] = f"r{number}"
    return people, who


def misspelled(word, rng):
    """Return a word without one of its letters."""
    k = int(rng.integers(1, len(word)))
    return word[:k] + word[k + 1 :]


def by_splink(people, folder):
    """Score pairs with Splink and write its predictions to a Parquet file unchanged."""
    import pandas as pd
    import splink.comparison_library as compare
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            compare.JaroWinklerAtThresholds("first"),
            compare.JaroWinklerAtThresholds("last"),
            compare.ExactMatch("city"),
            compare.ExactMatch("born"),
        ],
        blocking_rules_to_generate_predictions=[block_on("born"), block_on("first", "last")],
    )
    linker = Linker(DuckDBAPI().register(pd.DataFrame(people)), settings)
    exact = [block_on("first", "last", "born")]
    linker.training.estimate_probability_two_random_records_match(exact, recall=0.5)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e5)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("born"))
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("first", "last"))
    path = folder / "pairs.parquet"
    linker.inference.predict().as_pandas_dataframe().to_parquet(path)
    return path


def by_dedupe(people, who, folder):
    """Score pairs with dedupe and write what its `score` returns to an .npy file unchanged."""
    import dedupe
    from dedupe import variables

    data = {record["unique_id"]: record for record in people}
    person = {record["unique_id"]: k for record, k in zip(people, who, strict=True)}
    names = ("first", "last", "city", "born")
    deduper = dedupe.Dedupe([variables.String(name) for name in names], num_cores=0)
    deduper.prepare_training(data, sample_size=2000)
    known = {"match": [], "distinct": []}
    ids = list(data)
    rng = np.random.default_rng(0)
    for a, b in [*pairwise(ids), *rng.choice(ids, (100, 2))]:
        if a != b:
            known["match" if person[a] == person[b] else "distinct"].append((data[a], data[b]))
    deduper.mark_pairs({name: pairs[:100] for name, pairs in known.items()})
    deduper.train()
    path = folder / "scores.npy"
    np.save(path, deduper.score(deduper.pairs(data)))
    return path


def main(tool="splink"):
    """Score pairs with a tool, answer with the truth, and return the ARI by number of answers."""
    people, who = records()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, people[0])
            writer.writeheader()
            writer.writerows(people)
        pairs = by_splink(people, folder) if tool == "splink" else by_dedupe(people, who, folder)
        options = {"items": folder / "people.csv", "id": "unique_id", "pairs": "auto"}
        if tool == "splink":  # its scores are probabilities
            options |= {"same_above": 0.95, "different_below": 0.05}
        project = open_project(pairs, options=options, say=print).project
        oracle, curve = LabelOracle(who), []
        while (question := project.ask()) is not None:
            curve.append((len(curve), adjusted_rand_score(who, project.session.labels)))
            chosen = question.place(oracle.answer(question))
            project.choose(chosen, number=question.number, position=project.position)
        curve.append((len(curve), adjusted_rand_score(who, project.session.labels)))
        project.close()
    for n, ari in curve[:: max(1, len(curve) // 10)] + curve[-1:]:
        print(f"{n:4} answers: ARI {ari:.3f}")
    return curve


if __name__ == "__main__":
    main(*sys.argv[1:])
