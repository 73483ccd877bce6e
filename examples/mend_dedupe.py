"""Mend the clusters of dedupe, and use the answers to train it.

pip install dedupe "BTrees<6.5"  (dedupe 3.0.3 does not work with later versions, dedupe#1230)
"""

import io
import json

import dedupe
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, open_items, run
from likewise.project import mended_labels

COMPANIES = (
    "Northern Light Bakery", "Harbor Street Books", "Blue Door Cycles", "Old Mill Brewery",
    "Green Valley Seeds", "Red Brick Pottery", "Silver Birch Dental", "Copper Kettle Cafe",
)  # fmt: skip


def customers(n=120, seed=0):
    """Return customers with typing errors, and the company of each."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % len(COMPANIES)
    records = {}
    for row, k in enumerate(truth):
        name = list(COMPANIES[k])
        for _ in range(rng.integers(0, 5)):
            name[int(rng.integers(len(name)))] = rng.choice(list("aeiorst"))
        records[row] = {"name": "".join(name), "town": ("Leeds", "York", "Hull")[k % 3]}
    return records, truth


def trained(records, pairs):
    """Return dedupe, trained on pairs of rows as its console would collect them."""
    fields = [dedupe.variables.String("name"), dedupe.variables.ShortString("town")]
    deduper = dedupe.Dedupe(fields, num_cores=0)
    marked = {
        word: [(records[a], records[b]) for a, b, is_same in pairs if is_same is wanted]
        for word, wanted in {"match": True, "distinct": False}.items()
    }
    file = io.StringIO(json.dumps(marked))
    deduper.prepare_training(records, training_file=file)
    deduper.train(index_predicates=False)
    return deduper


def clusters_of(deduper, records):
    """Return the cluster of every record."""
    labels = np.empty(len(records), dtype=int)
    for number, (rows, _) in enumerate(deduper.partition(records, threshold=0.5)):
        labels[list(rows)] = number
    return labels


def main():
    records, truth = customers()
    few = [(row, row + 8, True) for row in range(6)] + [(row, row + 1, False) for row in range(6)]
    before = clusters_of(trained(records, few), records)
    score = adjusted_rand_score(truth, before)
    print(f"dedupe, trained on {len(few)} pairs: {before.max() + 1} clusters, ARI {score:.2f}")

    # The clusters are a belief; answers correct it. A record alone in its cluster has no group.
    # Names are compared by their letters.
    items = open_items(pd.DataFrame(records.values()), columns=["name"])
    groups = np.where(np.bincount(before)[before] > 1, before, -1)
    session = Likewise(max_queries=40, random_state=0).start(items, groups=groups)
    run(session, LabelOracle(truth))
    after = np.array(mended_labels(session))
    score = adjusted_rand_score(truth, after)
    print(f"after {session.n_asked} answers: {len(set(after))} clusters, ARI {score:.2f}")

    # The answers are also training pairs for the next file.
    pairs = [(link.left, link.right, link.answer is Answer.SAME) for link in session.links]
    again = clusters_of(trained(records, [*few, *pairs]), records)
    score = adjusted_rand_score(truth, again)
    print(f"dedupe, trained on {len(pairs)} pairs from the answers: ARI {score:.2f}")
    return before, after, again, truth


if __name__ == "__main__":
    main()
