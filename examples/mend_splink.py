"""Mend the clusters of Splink: merge those that are one customer, and keep the cluster ids.

pip install splink
"""

import numpy as np
import pandas as pd
import splink.comparison_library as cl
from sklearn.metrics import adjusted_rand_score
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

from likewise import LabelOracle, Likewise, open_items, run
from likewise.project import mended_labels

COMPANIES = (
    "Northern Light Bakery", "Harbor Street Books", "Blue Door Cycles", "Old Mill Brewery",
    "Green Valley Seeds", "Red Brick Pottery", "Silver Birch Dental", "Copper Kettle Cafe",
)  # fmt: skip
TOWNS = ("Leeds", "York", "Hull", "Bath")


def customers(n=160, seed=0):
    """Return a table of customers with typing errors, and the company of each."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % len(COMPANIES)
    names = []
    for k in truth:
        words = COMPANIES[k].split()
        if rng.random() < 0.3:
            words = words[:2]
        name = list(" ".join(words))
        for _ in range(rng.integers(0, 4)):
            place = int(rng.integers(len(name)))
            name[place] = rng.choice(list("aeiorst"))
        names.append("".join(name))
    towns = [TOWNS[k % len(TOWNS)] if rng.random() < 0.9 else "" for k in truth]
    return pd.DataFrame({"unique_id": np.arange(n), "name": names, "town": towns}), truth


def main():
    frame, truth = customers()
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.95, 0.85]),
            cl.ExactMatch("town"),
        ],
        blocking_rules_to_generate_predictions=[block_on("town"), block_on("substr(name, 1, 3)")],
        probability_two_random_records_match=0.1,
    )
    linker = Linker(DuckDBAPI().register(frame), settings, log_level="ERROR")
    linker.training.estimate_u_using_random_sampling(max_pairs=1e5, seed=1)
    for rule in (block_on("town"), block_on("substr(name, 1, 3)")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    pairs = linker.inference.predict(threshold_match_probability=0.5)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        pairs, threshold_match_probability=0.8
    ).as_pandas_dataframe()
    frame = frame.merge(clusters[["unique_id", "cluster_id"]], on="unique_id")
    frame = frame.sort_values("unique_id", ignore_index=True)
    score = adjusted_rand_score(truth, frame["cluster_id"])
    print(f"Splink: {frame['cluster_id'].nunique()} clusters, ARI {score:.2f}")

    # Names are compared by their letters. The clusters are a belief; answers correct it.
    items = open_items(frame[["name"]], columns=["name"])
    session = Likewise(max_queries=40, random_state=0).start(items, groups=frame["cluster_id"])
    run(session, LabelOracle(truth))

    # A cluster keeps its id, so tables that refer to the id stay valid.
    frame["cluster_id"] = mended_labels(session)
    score = adjusted_rand_score(truth, frame["cluster_id"])
    n = frame["cluster_id"].nunique()
    print(f"after {session.n_asked} answers: {n} clusters, ARI {score:.2f}")
    return frame, truth


if __name__ == "__main__":
    main()
