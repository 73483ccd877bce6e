"""The next question with two aspects, beside the same columns as one, in CPU seconds of one run."""

from time import process_time as clock

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks._results import save
from likewise import LabelOracle, Likewise, run

N_ANSWERS = 60
ASPECTS = {"one": slice(0, 30), "other": slice(30, None)}


def seconds(X, y, aspects):
    """Return the CPU seconds of every question after the first ten, with its answer."""
    session, times = Likewise(N_ANSWERS, aspects=aspects, random_state=0).start(X), []
    while not session.is_done:
        began = clock()
        run(session, LabelOracle(y), max_queries=1)
        session.ask()
        times.append(clock() - began)
    return times[10:]


def measured(n_rows):
    X, y = make_blobs(n_rows, 60, centers=8, cluster_std=6.0, random_state=0)
    two, one = (np.mean(seconds(X, y, aspects)) for aspects in (ASPECTS, None))
    return {
        "rows": n_rows,
        "one aspect ms": round(one * 1e3, 1),
        "two aspects ms": round(two * 1e3, 1),
        "ratio": round(two / one, 2),
    }


def main():
    save("aspects_speed", [measured(n_rows) for n_rows in (600, 2000)])


if __name__ == "__main__":
    main()
