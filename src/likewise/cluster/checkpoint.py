"""Checkpoints: every answer of a `fit` goes into a session file as it arrives.

It has the session as it began, the parameters of the estimator, and every answer as an entry of its
log. `likewise check` and `likewise backup` work on it, too.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.fingerprint import fingerprint
from likewise.core.journal import entry_to_dict
from likewise.core.session import Session
from likewise.errors import InputError, SessionFileError
from likewise.store import SETUP, Store
from likewise.store.packing import pack, readable, unpack
from likewise.store.schema import understood

RowsOf = Callable[[NDArray[np.intp] | None], NDArray[Any]]
"""From row numbers to rows; None for all."""

PARAMETERS = "parameters of fit"
"""The setting with the parameters of the estimator, as Python writes them."""
ABOUT = "arguments of fit"
"""The setting with a digest of each other argument about the rows that was passed to `fit`."""
ESTIMATOR, BUDGET, SEED = "estimator", "max_queries", "random_state"
MAY_DIFFER = ("verbose", "warm_start", "n_jobs")
"""Parameters that no question depends on."""


class Checkpoint:
    """A file that a `fit` writes its answers to, and from which the next `fit` continues."""

    def __init__(
        self, path: str | os.PathLike[str], estimator: Any, about: Mapping[str, Any]
    ) -> None:
        self._path = Path(path)
        self._about = {name: _digest(value) for name, value in about.items() if np.size(value)}
        self._parameters = _written({ESTIMATOR: type(estimator).__name__, **estimator.get_params()})
        self._budget = estimator.max_queries
        self._store: Store | None = None
        self._position = 0

    def load(self, rows_of: RowsOf) -> tuple[Session, NDArray[Any]] | None:
        """Return the session in the file and its rows, or None if there is no file."""
        if not self._path.exists():
            return None
        store = self._store = Store.open(self._path)
        settings = store.settings
        if PARAMETERS not in settings:
            raise InputError(
                f"{self._path} is a session file, but not the checkpoint of a fit: choose another"
            )
        self._refuse_others(settings[PARAMETERS], settings[BUDGET], settings[ABOUT])
        plain = unpack(store.payload(SETUP))
        with readable(f"the session in {self._path}"):
            numbers = plain.get("row_numbers")
            try:
                rows = rows_of(None if numbers is None else np.asarray(numbers, dtype=np.intp))
            except IndexError:
                rows = rows_of(None)
        try:
            session = Session.from_dict(plain, digest=fingerprint(rows))
        except SessionFileError as error:
            raise SessionFileError(
                f"{self._path} cannot be continued: {error} Or choose another checkpoint."
            ) from error
        for entry, op in understood(store.read(), lambda name: unpack(store.payload(name))):
            with readable(f"entry {entry.seq} of {self._path}"):
                session.apply(op)
            self._position = entry.seq
        if settings[BUDGET] != self._budget:
            store.set(BUDGET, self._budget)
        return session, rows

    def begin(self, session: Session) -> None:
        """Write down a session as it is now, with what it is about."""
        try:
            data = pack(session.state())
        except TypeError as error:
            raise InputError(
                f"checkpoint= needs sample_ids that are texts or numbers: {error}"
            ) from error
        settings = {PARAMETERS: self._parameters, BUDGET: self._budget, ABOUT: self._about}
        self._store = Store.create(self._path, settings=settings, payloads={SETUP: data})

    def append(self, session: Session) -> None:
        """Write down the last answer."""
        assert self._store is not None
        entry = entry_to_dict(session.events[-1])
        self._position = self._store.append(entry, after=self._position)

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def _refuse_others(
        self, theirs: Mapping[str, str], budget: Any, about: Mapping[str, str]
    ) -> None:
        """Refuse to continue with other parameters or arguments, or with fewer questions."""
        ours = dict(self._parameters)
        if ours.get(SEED) == "None":  # any seed will do
            ours[SEED] = theirs.get(SEED, "None")
        for name in {**theirs, **ours}:
            if theirs.get(name) != ours.get(name):
                raise InputError(
                    f"{self._path} is the checkpoint of a fit with {name}={theirs.get(name)}, not "
                    f"{name}={ours.get(name)}: choose another file, or fit as before"
                )
        for name, digest in self._about.items():
            if about.get(name) != digest:
                had = f"another {name}=" if name in about else f"no {name}="
                raise InputError(
                    f"{self._path} is the checkpoint of a fit with {had}: choose another file, or "
                    f"fit as before. Without {name}=, this fit goes on as the first one began"
                )
        if self._budget is not None and (budget is None or budget > self._budget):
            raise InputError(
                f"{self._path} is the checkpoint of a fit with {BUDGET}={budget}; with "
                f"{BUDGET}={self._budget} it cannot go on. Choose another file, or at least as "
                "many questions"
            )


def _digest(value: Any) -> str:
    """Return a digest of the entries of an argument, the same for a list and an array of them."""
    entries = np.asarray(value, dtype=object).ravel().tolist()
    return hashlib.sha256(repr(list(map(str, entries))).encode()).hexdigest()


def _written(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as text, without addresses in memory."""
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
        if name not in (*MAY_DIFFER, BUDGET)
    }
    return {name: re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)) for name, value in plain.items()}
