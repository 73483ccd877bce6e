"""Choices are under the laws: a strategy that asks to which group a row belongs."""

from likewise.core.strategy import Strategy
from likewise.testing import StrategyLaws

MOST_SHOWN = 3


class ChooseGroups(Strategy):
    """Show one row after another and the groups of the rows before it."""

    name = "choose-groups"

    def next_question(self, answers):
        rows = self.askable().tolist()
        for place, row in enumerate(rows):
            groups: dict[int, list[int]] = {}
            for other in rows[:place]:
                groups.setdefault(answers.links.find(other), []).append(other)
            shown = [tuple(g[:2]) for g in groups.values() if answers.is_open(row, g[0])]
            if shown:
                return row, tuple(shown[:MOST_SHOWN])
        return None


class TestChooseGroups(StrategyLaws):
    strategy = ChooseGroups
