"""Features of time series: their z-normalized values, or distances under time warping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.errors import InputError, MissingExtraError
from likewise.items.cache import FeatureCache, package_versions
from likewise.items.items import Features, digest

RECIPE = "series 1"
"""To be changed with anything that changes the distances, so that old ones are not found."""

LONGEST = 1_024
MOST_WARPED = 5_000
"""Beyond this many series a matrix of all distances no longer fits in memory comfortably."""


def z_normalize(values: np.ndarray) -> np.ndarray:
    """Bring every channel to mean 0 and standard deviation 1; a constant one becomes 0.

    Examples
    --------
    >>> z_normalize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    largest = np.abs(values).max(axis=0)
    scaled = values / np.where(largest > 0, largest, 1.0)  # so that squares stay finite
    spread = scaled.std(axis=0)
    is_flat = spread < 1e-12
    return np.where(is_flat, 0.0, (scaled - scaled.mean(axis=0)) / np.where(is_flat, 1.0, spread))


def euclidean_features(series: Sequence[np.ndarray]) -> Features:
    """Return z-normalized values, all series brought to one length first."""
    lengths = {len(values) for values in series}
    length = min(LONGEST, int(np.median([len(values) for values in series])))
    X = np.stack([z_normalize(_resample(values, length)).ravel() for values in series])
    about = "z-normalized values, compared moment by moment"
    if lengths != {length}:
        about += f", after bringing all series to {length} moments"
    return Features(
        X,
        f"{about}. Series that are alike but shifted in time compare better with "
        '--series-features dtw (pip install "likewise[series]").',
    )


def dtw_features(series: Sequence[np.ndarray], kept: FeatureCache) -> Features:
    """Return the distances of all z-normalized series under dynamic time warping."""
    if len(series) > MOST_WARPED:
        raise InputError(
            f"dynamic time warping compares all pairs, which {len(series)} series are too many "
            f"for (at most {MOST_WARPED}). Use --series-features euclidean."
        )
    lengths = [len(values) for values in series]
    # A tenth of the length, and never less than what the shortest needs to meet the longest.
    window = max(lengths) // 10 + 1 + max(lengths) - min(lengths)
    key = digest(*(part for s in series for part in (str(s.shape), s.tobytes())))
    recipe = f"{RECIPE}, {package_versions('dtaidistance')}"
    return Features(
        kept.get(recipe, key, lambda: _warped(series, window)),
        f"distances of z-normalized series under dynamic time warping, window {window}",
        metric="precomputed",
        notes=kept.notes,
    )


def _warped(series: Sequence[np.ndarray], window: int) -> np.ndarray:
    """Return the distances of all pairs."""
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError:
        raise MissingExtraError("dynamic time warping", "series") from None
    normal = [np.ascontiguousarray(z_normalize(values), dtype=np.float64) for values in series]
    n_channels = normal[0].shape[1]
    if n_channels == 1:
        flat = [values.ravel() for values in normal]
        D = dtw.distance_matrix_fast(flat, window=window, only_triu=False)
    else:
        D = dtw_ndim.distance_matrix_fast(normal, n_channels, window=window, only_triu=False)
    D = np.asarray(D, dtype=np.float64)
    np.fill_diagonal(D, 0.0)
    return D


def _resample(values: np.ndarray, length: int) -> np.ndarray:
    if len(values) == length:
        return values
    old, new = np.linspace(0, 1, len(values)), np.linspace(0, 1, length)
    return np.column_stack([np.interp(new, old, channel) for channel in values.T])
