"""cobras-ts, the authors' package of COBRA's successor, made to run on today's NumPy."""

import sys
import types

import numpy as np


def cobras(X, labels, n_queries):
    """Let cobras-ts, which must be installed, cluster rows by so many questions."""
    if not hasattr(np, "int"):
        setattr(np, "int", int)  # noqa: B010  # the released package needs NumPy 1.19
    # Its queriers import a whole plotting stack, of which nothing is needed here.
    for name in ("visualquerier", "visualquerier_images"):
        module = types.ModuleType(f"cobras_ts.querier.{name}")
        module.VisualQuerier = module.VisualImageQuerier = object
        sys.modules[module.__name__] = module
    from cobras_ts.cobras_kmeans import COBRAS_kmeans
    from cobras_ts.querier.querier import Querier

    class ByLabel(Querier):
        def __init__(self):
            super().__init__()
            self.n = 0

        def query_limit_reached(self):
            return self.n >= n_queries

        def query_points(self, i, j):
            self.n += 1
            return bool(labels[i] == labels[j])

    return COBRAS_kmeans(X, ByLabel(), n_queries, store_intermediate_results=False).cluster()
