"""Who answers: people, labels, functions, rules, language models, other sessions."""

from likewise.oracles.chat import ChatOracle
from likewise.oracles.oracle import CallbackOracle, Oracle, as_oracle, can_choose
from likewise.oracles.rules import RuleOracle
from likewise.oracles.run import arun, run, run_for_fit
from likewise.oracles.simulated import BudgetedOracle, LabelOracle, NoisyOracle, ReplayOracle
from likewise.oracles.terminal import TerminalOracle

__all__ = [
    "BudgetedOracle",
    "CallbackOracle",
    "ChatOracle",
    "LabelOracle",
    "NoisyOracle",
    "Oracle",
    "ReplayOracle",
    "RuleOracle",
    "TerminalOracle",
    "arun",
    "as_oracle",
    "can_choose",
    "run",
    "run_for_fit",
]
