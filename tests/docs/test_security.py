"""SECURITY.md promises only what a test holds."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_security_names_is_there():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert [name for name in sorted(named) if f"def {name}(" not in code] == []
