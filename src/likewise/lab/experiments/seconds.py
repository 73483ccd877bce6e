"""How long answers take a person: a model from published measurements, or from sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from likewise.core.answers import Gesture
from likewise.core.journal import entry_from_dict
from likewise.errors import InputError
from likewise.project.outlook import PAUSE
from likewise.store import Store


@dataclass(frozen=True)
class Seconds:
    """So many seconds for every question, and for every row that it shows."""

    per_question: float
    per_row: float
    source: str

    def __call__(self, n_questions: float, n_rows: float) -> float:
        """Return the seconds of some questions that showed so many rows in all."""
        return self.per_question * n_questions + self.per_row * n_rows

    @property
    def text(self) -> str:
        """The model in a sentence."""
        return (
            f"Minutes: {self.per_question:.3g} s for a question and {self.per_row:.3g} s for every "
            f"row that it shows. {self.source}"
        )


PUBLISHED = Seconds(
    0.0,
    4.15,
    "A pair of news titles took 14 people 8.3 s on average, 4.9 to 12.8 s by person (E. Schild, "
    "annotation time study, github.com/cognitivefactory/interactive-clustering-comparative-study). "
    "That every row of a choice takes as long as one of a pair is our assumption, the least "
    "favorable to choices; nobody was measured with them.",
)
"""The model of the reports unless another is given."""


def read_seconds(path: str | Path) -> Seconds:
    """Return the model of a file such as `likewise bench seconds` writes."""
    try:
        plain = json.loads(Path(path).read_text("utf-8"))
        model = Seconds(float(plain["per_question"]), float(plain["per_row"]), str(plain["source"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is not a model of seconds ({type(error).__name__}: {error}). It is JSON with "
            "the numbers per_question and per_row, and the text source."
        ) from error
    if not (0 <= model.per_question < np.inf and 0 <= model.per_row < np.inf):
        raise InputError(f"{path}: per_question and per_row must be finite and not negative")
    return model


def as_json(model: Seconds) -> str:
    """Return the model as `read_seconds` reads it."""
    return json.dumps(asdict(model), indent=2) + "\n"


def fit_seconds(gestures: Iterable[Gesture]) -> Seconds:
    """Return the model nearest to the times of answers, by non-negative least squares."""
    # If all questions show as many rows, as pairs do, the whole time goes to the question.
    asked = [one for one in gestures if one.source == "asked" and one.seconds is not None]
    timed = [one for one in asked if one.seconds is not None and one.seconds <= PAUSE]
    if not timed:
        raise InputError("there is no answer with a time below a minute to learn from")
    n_rows = np.array([n_shown(gesture) for gesture in timed], dtype=float)
    took = np.array([gesture.seconds for gesture in timed], dtype=float)
    rows = n_rows if np.ptp(n_rows) else np.zeros(len(timed))
    per_question, per_row = nnls(np.column_stack([np.ones(len(timed)), rows]), took)[0]
    return Seconds(
        float(per_question),
        float(per_row),
        f"From {len(timed)} answers of {took.mean():.1f} s on average, {n_rows.min():.0f} to "
        f"{n_rows.max():.0f} rows each; {len(asked) - len(timed)} with a pause of more than "
        f"{PAUSE:.0f} s are left out.",
    )


def timed_gestures(path: str | Path) -> list[Gesture]:
    """Return the answers of a session file that have a time, also those that were undone."""
    try:
        if Path(path).suffix == ".json":
            log = json.loads(Path(path).read_text("utf-8"))["log"]
        else:
            with Store.open(path) as store:
                log = [{**entry.op, "seconds": entry.seconds} for entry in store.read()]
        timed = [op for op in log if op.get("do") == "tell" and op.get("seconds") is not None]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is not a session ({type(error).__name__}: {error}). Sessions are .likewise "
            "files, and the JSON files that `likewise export` makes of them."
        ) from error
    gestures = map(entry_from_dict, timed)
    return [one for one in gestures if isinstance(one, Gesture)]


def n_shown(gesture: Gesture) -> int:
    """Return how many rows the question of a gesture showed: two for a pair."""
    return 1 + sum(map(len, gesture.groups)) if gesture.groups else 2
