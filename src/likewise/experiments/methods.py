"""The methods of the comparison by name, and how to bring one's own."""

from __future__ import annotations

from typing import Any

from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.experiments.protocol import Method
from likewise.registry import Registry

_HERE = "likewise.experiments.builtin"

METHODS: Registry[Any] = Registry(
    "method",
    {
        "COBRA": f"{_HERE}:cobra",
        "COBRA-guess": f"{_HERE}:cobra_guess",
        "COBRA-learned": f"{_HERE}:cobra_learned",
        "Likewise": f"{_HERE}:likewise_plain",
        "Likewise-careful": f"{_HERE}:likewise_careful",
        "Likewise-choices": f"{_HERE}:likewise_choices",
        "Likewise-careful-choices": f"{_HERE}:likewise_careful_choices",
        "COBRAS": f"{_HERE}:cobras",
        "COBRAS-published": f"{_HERE}:cobras_published",
        "nCOBRAS": "likewise.strategies.ncobras:CheckedSplitAndMerge",
        "DSL": f"{_HERE}:dsl",
        "ACDM": "likewise.strategies.acdm:DiffusionSkeleton",
        "A3S": "likewise.strategies.a3s:AdaptiveSampling",
        "MPCKM-MinMax": f"{_HERE}:mpckm_minmax",
        "MPCKM-NPU": f"{_HERE}:mpckm_npu",
        "COSC-MinMax": f"{_HERE}:cosc_minmax",
        "COSC-NPU": f"{_HERE}:cosc_npu",
        "random pairs of groups": f"{_HERE}:random_groups",
        "random pairs of rows": f"{_HERE}:random_rows",
        "closest pairs first": f"{_HERE}:closest_rows",
    },
    group="likewise.methods",
)
"""All methods by name: a `Method`, a class of methods, or a class of strategies."""

BUILT_IN = tuple(METHODS.names)
CONTROL = "COBRA"
"""The method that decides how many questions the others may ask."""


def find_method(name: str) -> Method:
    """Return a method by its name, or one of your own as ``package.module:Name``.

    ``Name`` is a `Method`, a subclass of it that is called without arguments, or any subclass of
    `Strategy` that can be made from rows. Modules are also looked for in the working directory.

    Examples
    --------
    >>> find_method("COBRA").name
    'COBRA'
    >>> find_method("likewise.strategies.closest_first:ClosestFirst").name
    'closest-first'
    """
    found = METHODS.find(name)
    if isinstance(found, type) and issubclass(found, Strategy):
        from likewise.experiments.session_methods import strategy_method

        return strategy_method(found)
    method = found() if isinstance(found, type) and issubclass(found, Method) else found
    if not isinstance(method, Method):
        raise InputError(
            f"{name} is not a method: it must be a likewise.experiments.protocol.Method with a "
            f"method run(trial), or a strategy, not {type(method).__name__}"
        )
    return method
