"""
A data frame as it is
=====================

Categories, dates and missing values need no preparation. ``open_items`` reports what it did with
each column.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, open_items

wine = load_wine(as_frame=True)
frame = wine.data[["proline", "flavanoids", "hue"]].copy()
frame["color"] = pd.cut(wine.data["color_intensity"], 3, labels=["pale", "medium", "deep"])
frame["tasted"] = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(len(frame)) % 7, "D")
frame.loc[::9, "proline"] = None
print(frame.head(3))

items = open_items(frame)
print(items.features().description)

# %%
# After thirty answers, the groups are a column of the frame:

oracle = LabelOracle(wine.target)
frame["group"] = Likewise(max_queries=30, random_state=0).fit(items, oracle=oracle).labels_
score = adjusted_rand_score(wine.target, frame["group"])

for group, part in frame.groupby("group"):
    plt.scatter(
        part["flavanoids"], part["proline"], s=30, label=f"group {group}: {len(part)} wines"
    )
plt.xlabel("flavanoids")
plt.ylabel("proline")
plt.title(f"ARI {score:.2f}")
plt.legend()
plt.show()
