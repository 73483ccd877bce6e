"""The laws, as test suites for strategies, items and oracles.

Each suite is a class with one test method per law. Make a subclass that says how to make your
thing, in a file that pytest collects. Examples are drawn by hypothesis, so the suites need the
extra ``likewise[testing]``.

Examples
--------
>>> from likewise import LabelOracle
>>> from likewise.testing import OracleLaws
>>> class TestLabels(OracleLaws):
...     n_rows = 4
...
...     def make(self):
...         return LabelOracle([0, 1, 0, 1])
"""

from likewise.errors import MissingExtraError

try:
    import hypothesis as _  # noqa: F401
except ImportError as error:
    raise MissingExtraError("likewise.testing", "testing") from error

from likewise.testing.items import ItemsLaws
from likewise.testing.oracles import OracleLaws
from likewise.testing.strategies import StrategyLaws
from likewise.testing.walks import Case

__all__ = ["Case", "ItemsLaws", "OracleLaws", "StrategyLaws"]
