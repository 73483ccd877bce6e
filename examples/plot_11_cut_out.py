"""
Cut out a flower with 15 answers
================================

Each of the 68,480 pixels is a row. The person says whether two pixels are both on the flower, or
both not. The number of questions does not grow with the number of rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from likewise import Likewise

photograph = load_sample_image("flower.jpg")[::2, ::2].astype(np.float32) / 255
height, width, _ = photograph.shape
pixels = photograph.reshape(-1, 3)

# The person can tell red and yellow from green.
on_flower = pixels[:, 0] > pixels[:, 1] - 0.02


def same(left, right):
    return bool(on_flower[left] == on_flower[right])


model = Likewise(max_queries=15, random_state=0).fit(pixels, oracle=same)
mask = model.labels_.reshape(height, width)

# %%
# The largest group is the background; everything else is the flower:

background = np.bincount(model.labels_).argmax()
cut = np.where((mask != background)[..., None], photograph, 1)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
axes[0].imshow(photograph)
axes[0].set_title(f"{height * width} pixels")
axes[1].imshow(cut)
axes[1].set_title(f"after {model.n_queries_} answers")
for axis in axes:
    axis.axis("off")
plt.show()
