"""
Pieces of two photographs
=========================

Photographs of a temple and a flower are cut into pieces of 80 x 80 pixels. The pieces are pictures
in a folder, as yours would be. The person says which pieces come from the same photograph.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, open_items

SIDE = 80
pieces, truth = [], []
for number, photograph in enumerate(load_sample_images().images):
    for top in range(0, photograph.shape[0] - SIDE + 1, SIDE):
        for left in range(0, photograph.shape[1] - SIDE + 1, SIDE):
            pieces.append(photograph[top : top + SIDE, left : left + SIDE])
            truth.append(number)

with TemporaryDirectory() as folder:
    for number, piece in enumerate(pieces):
        Image.fromarray(piece).save(Path(folder) / f"piece-{number:03d}.png")
    items = open_items(folder, encoder="layout", cache=False)
    model = Likewise(max_queries=20, random_state=0).fit(items, oracle=LabelOracle(truth))

# %%
# The groups:

figure, axes = plt.subplots(1, model.n_clusters_, figsize=(9, 5), layout="constrained")
for group, axis in enumerate(np.atleast_1d(axes)):
    members = np.flatnonzero(model.labels_ == group)
    sheet = np.full((9 * 84, 5 * 84, 3), 255, np.uint8)
    for place, row in enumerate(members[:45]):
        top, left = place // 5 * 84, place % 5 * 84
        sheet[top : top + SIDE, left : left + SIDE] = pieces[row]
    axis.imshow(sheet)
    axis.set_title(f"{len(members)} pieces")
    axis.axis("off")
score = adjusted_rand_score(truth, model.labels_)
figure.suptitle(f"{len(pieces)} pieces, {model.n_queries_} answers, ARI {score:.2f}")
plt.show()
