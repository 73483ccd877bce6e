"""Everything that `likewise` raises on purpose, under one root.

Errors about a value a caller passed are also `ValueError`s, so that code written for scikit-learn
catches them without knowing this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.core.answers import Link


class LikewiseError(Exception):
    """The root of every error of this package."""


class InputError(LikewiseError, ValueError):
    """Data or a parameter that cannot be used; the message says which, why and what to do."""


class CannotGrowError(InputError):
    """A session, a strategy or a kind of items cannot accept new rows."""


class AnswerError(LikewiseError, ValueError):
    """An oracle returned something that is not an answer."""


class ModelError(AnswerError):
    """A model, or its server, gives no usable answer; the message says what to do."""


class ContradictionError(LikewiseError, ValueError):
    """An answer clashes with what earlier answers imply; nothing was changed.

    Attributes
    ----------
    answer : Link
        The answer that was refused.
    chain : tuple of Link
        The shortest chain of earlier answers that implies the opposite. Together with `answer` it
        is a cycle with exactly one *different* in it: at least one of these answers is wrong.
    """

    def __init__(self, answer: Link, chain: tuple[Link, ...]) -> None:
        self.answer = answer
        self.chain = chain
        steps = ", ".join(f"{g.left} {g.answer.value} {g.right}" for g in chain)
        super().__init__(
            f"{answer.left} {answer.answer.value} {answer.right} contradicts earlier answers: "
            f"{steps}. Withdraw or change one of them."
        )

    def renumbered(self, numbers: Any) -> ContradictionError:
        """Return the error about other rows: row k becomes ``numbers[k]``."""
        chain = tuple(link.renumbered(numbers) for link in self.chain)
        return ContradictionError(self.answer.renumbered(numbers), chain)


class StaleQueryError(LikewiseError):
    """An answer is to a question that is no longer open; nothing was changed."""


class SessionFileError(LikewiseError, ValueError):
    """A saved session cannot be read: truncated, of a newer version, or made from other data."""


class BudgetExhausted(LikewiseError):  # noqa: N818  (an end, not a mistake)
    """The oracle gave all the answers it was allowed to give."""


class InterruptedFitError(LikewiseError):
    """The oracle failed in the middle of `fit`; the answers it gave before are on `session`.

    Attributes
    ----------
    session : Session
        The session with every answer so far. Go on with ``run(error.session, oracle)`` and make
        an estimator of it with ``estimator.adopt(error.session)``, or go on by ``session.ask()``.
    """

    def __init__(self, message: str, session: Any) -> None:
        self.session = session
        super().__init__(message)


class ClusterLostError(LikewiseError):
    """The cluster that did the work is gone; nothing was written, and no answer is lost."""


class MissingExtraError(LikewiseError, ImportError):
    """A feature needs packages that are not installed; the message has the command."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs more packages: pip install "likewise[{extra}]"')


@contextmanager
def needs_extra(feature: str, extra: str) -> Iterator[None]:
    """Say how to get the packages that a feature needs, where importing them fails."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("likewise"):  # that one is not missing but broken
            raise
        raise MissingExtraError(feature, extra) from error


class WriteError(LikewiseError, OSError):
    """A file cannot be written: a full disk, a folder without permission. Nothing was changed."""


class UnusedLabelsWarning(UserWarning):
    """`fit` was given labels but no oracle; the labels are not used."""


class SilentOracleWarning(UserWarning):
    """A function that answers returned None to all of its first questions."""


class NothingAskedWarning(UserWarning):
    """`run` should ask some questions, but the session has ended; `extend` lets it ask more."""


class DatasetError(LikewiseError):
    """A dataset is missing, cannot be fetched, or is not what it should be; nothing was kept."""
