"""Questions with a budget, for methods that ask in a loop of their own."""

from __future__ import annotations

from typing import Any

from likewise.core.answers import Answer, Query
from likewise.core.links import LinkGraph
from likewise.errors import BudgetExhausted
from likewise.oracles.oracle import answer_to, as_oracle


class Asker:
    """Ask an oracle, never about what is implied, and keep count.

    Parameters
    ----------
    n_rows : int
        Number of rows of the data.
    oracle : Oracle or callable
        Who answers.
    max_queries : int, optional
        After this many questions `BudgetExhausted` is raised.
    """

    def __init__(self, n_rows: int, oracle: Any, max_queries: int | None) -> None:
        self.links = LinkGraph(n_rows)
        self.oracle = None if oracle is None else as_oracle(oracle)  # None: nothing is asked
        self.max_queries = max_queries
        self.queries: list[tuple[int, int, Answer]] = []
        self._unsure: set[tuple[int, int]] = set()

    def ask(self, left: int, right: int) -> Answer:
        """Return whether two rows belong together, by what is known or by asking."""
        known = Answer.SAME if left == right else self.links.implied(left, right)
        if known is not None:
            return known
        pair = (min(left, right), max(left, right))
        if pair in self._unsure:
            return Answer.UNSURE
        is_spent = self.max_queries is not None and len(self.queries) >= self.max_queries
        if self.oracle is None or is_spent:
            raise BudgetExhausted(f"all {len(self.queries)} questions were asked")
        query = Query(len(self.queries) + 1, *pair)
        answer = answer_to(query, self.oracle.answer(query))
        self.queries.append((*pair, answer))
        if answer.is_link:
            self.links.add(*pair, answer)
        else:
            self._unsure.add(pair)
        return answer
