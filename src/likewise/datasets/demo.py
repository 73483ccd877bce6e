"""A dataset that needs no download: the handwritten digits that come with scikit-learn."""

from __future__ import annotations

import numpy as np

from likewise.datasets.dataset import Dataset


def load_demo() -> Dataset:
    """Load 1797 handwritten digits of 8 x 8 pixels, with their pictures; needs no download.

    Returns
    -------
    Dataset
        Its features are the 64 gray values, scaled to [0, 1].

    Examples
    --------
    >>> from likewise.datasets import load_demo
    >>> digits = load_demo()
    >>> digits.X.shape, digits.images.shape, digits.target_names[:3]
    ((1797, 64), (1797, 8, 8), ('0', '1', '2'))
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    # Ink is 16 in the file; on a screen it is black.
    images = np.rint((16 - digits.images) * (255 / 16)).astype(np.uint8)
    return Dataset(
        name="digits",
        X=np.ascontiguousarray(digits.data, dtype=np.float64) / 16,
        y=digits.target.astype(np.int64),
        target_names=tuple(str(name) for name in digits.target_names),
        ids=np.arange(len(digits.target)),
        source="scikit-learn load_digits (the test part of UCI 80), pixels divided by 16",
        citation=(
            "Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits "
            "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C50P49"
        ),
        images=images,
    )
